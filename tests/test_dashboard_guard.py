"""The live page: who may ask, and what may be asked."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import fake_worker
import pytest
from hypothesis import given
from hypothesis import strategies as st
from live_page import Client, ready, served

from hyperlens.cli import load
from hyperlens.dashboard import create_app
from hyperlens.dashboard.access import connections, server
from hyperlens.dashboard.access.root_path import clean
from hyperlens.dashboard.catalogue import WHOLE, Source
from hyperlens.dashboard.query import SECTIONS, SURROGATES, BadQuery, parse
from hyperlens.errors import SourceError
from hyperlens.sections.choices import Choices


@pytest.fixture(scope="module")
def fake() -> Iterator[Client]:
    """The page with workers that compute nothing."""
    with served(create_app(["nowhere"], worker=fake_worker.work)) as client:
        ready(client)
        yield client


# What may be asked

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=5,
)
NAMES = ["section", "budget", "runs", "part", "together", *asdict(Choices())]
likely = st.sampled_from(
    [
        *SECTIONS,
        *SURROGATES,
        "lr",
        "loss",
        1.0,
        9,
        3,
        "../../etc/passwd",
        "'; DROP TABLE trials; --",
    ]
)


@given(st.dictionaries(st.sampled_from(NAMES), likely | anything))
def test_a_query_holds_only_what_the_run_knows(body: dict[str, Any]) -> None:
    state = fake_worker.STATE
    try:
        query = parse(body, state, runs=2)
    except BadQuery:
        return
    choices = query.choices
    by = SECTIONS[query.section].by
    assert choices.objective in (None, *(name for name, _ in state.objectives))
    assert query.budget in (None, "largest", *state.budgets)
    assert choices.surrogate in (None, *SURROGATES)
    assert {choices.parameter, choices.other} <= {None, *state.parameters}
    assert choices.trial in (None, *state.explained)
    assert 0 <= choices.splits <= 20
    assert all(what in ("split", "merge") and id >= 0 for what, id in choices.steps)
    assert set(query.runs) <= {0, 1}
    assert query.part == WHOLE or isinstance(body["part"], dict)
    assert query.together in (False, body.get("together"))
    others = {f.name for f in fields(Choices)} - {"objective", *by}
    assert all(getattr(choices, name) == getattr(Choices(), name) for name in others)


@pytest.mark.parametrize(
    "body",
    [
        {"section": "/etc/passwd"},
        {"section": "effects", "parameter": "lr' OR 1=1"},
        {"section": "effects", "parameter": ["lr"]},
        {"section": "effects", "budget": True},
        {"section": "regions", "steps": [["split", "0; DROP"]]},
        {"section": "regions", "steps": [["run", 0]]},
        {"section": "regions", "splits": 10**9},
        {"section": "comparison", "runs": [0, 99]},
        {"section": "comparison", "runs": [0]},
        {"section": "proposals", "trial": 5},
        {"section": "data", "part": ["where"]},
        {"section": "data", "part": {"where": 3}},
        {"section": "data", "part": {"where": "a" * 501}},
        {"section": "data", "part": {"maximize": "yes"}},
        {"section": "data", "part": {"cost": "loss"}},
        {"section": "data", "part": {"cost": [""]}},
        {"section": "data", "part": {"limits": ["x < 1"] * 9}},
        [1, 2],
    ],
)
def test_what_no_run_knows_is_refused(fake: Client, body: Any) -> None:
    sent = {"run": 0, **body} if isinstance(body, dict) else body
    answer = fake.post("/api/ask", sent)
    assert answer.status_code == 400
    assert answer.json()["problem"]


@pytest.mark.parametrize("run", ["-1", "99", "1e9", "../x", "%D9%A3", "", "1" * 50])
def test_a_run_has_a_number_and_nothing_else(fake: Client, run: str) -> None:
    assert fake.get(f"/api/state?run={run}").status_code == 400
    assert fake.post("/api/ask", {"run": run, "section": "data"}).status_code == 400


@pytest.mark.parametrize("part", ["{", "[1]", '{"where": 1}', "[" * 5000])
def test_a_part_of_a_run_is_said_in_json(fake: Client, part: str) -> None:
    assert fake.get(f"/api/state?run=0&part={quote(part)}").status_code == 400


@pytest.mark.parametrize(
    "path",
    ["/report.css/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/front/live.js", "/static"],
)
def test_no_path_is_served(fake: Client, path: str) -> None:
    assert fake.get(path).status_code == 404


def test_bodies_are_small_json_objects(fake: Client) -> None:
    assert fake.post("/api/ask", {}, {"Content-Type": "text/plain"}).status_code == 400
    assert fake.post("/api/ask", b"{").status_code == 400
    assert fake.post("/api/ask", b"[" * 70_000).status_code == 400
    assert fake.get("/api/ask").status_code == 405


# Who may ask


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "0.0.0.0", "a b"])
def test_other_names_are_not_answered(fake: Client, host: str) -> None:
    assert fake.get("/", {"Host": host}).status_code == 421


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:8450", "localhost:1", "[::1]:8450", "LOCALHOST"]
)
def test_its_own_names_are_answered(fake: Client, host: str) -> None:
    assert fake.get("/", {"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_pages_are_not_answered(fake: Client, headers: dict[str, str]) -> None:
    assert fake.get("/api/runs", headers).status_code == 403
    assert fake.post("/api/ask", {"run": 0, "section": "data"}, headers).status_code == 403


def test_a_link_on_another_page_opens_this_one_and_nothing_else(fake: Client) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    window, frame = link | {"Sec-Fetch-Dest": "document"}, link | {"Sec-Fetch-Dest": "iframe"}
    assert fake.get("/?run=a", window).status_code == 200
    assert fake.get("/", frame).status_code == 403
    assert fake.get("/api/runs", window).status_code == 403
    assert fake.post("/", {}, window).status_code == 403


def test_its_own_page_is_answered(fake: Client) -> None:
    own = {"Origin": fake.address, "Sec-Fetch-Site": "same-origin"}
    assert fake.get("/api/runs", own).status_code == 200


def test_every_answer_is_guarded(fake: Client) -> None:
    for path in ("/", "/front.js", "/plotly.js", "/report.css", "/api/runs", "/nothing"):
        headers = fake.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe-eval" not in headers["content-security-policy"]
        assert "'unsafe-inline'" not in headers["content-security-policy"].split("style-src")[0]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"


def test_a_token_is_asked_for_where_others_can_reach() -> None:
    app = create_app(["nowhere"], token="right", hosts=("*",), worker=fake_worker.work)
    with served(app) as client:
        for path in ("/", "/api/runs", "/plotly.js"):
            assert client.get(path).status_code == 401
        assert client.get("/?token=wrong").status_code == 401
        assert client.get("/api/runs?token=right").status_code == 401  # only the page takes it
        assert client.get("/", {"Authorization": "Bearer right"}).status_code == 200
        first = client.get("/?token=right")
        assert (first.status_code, first.headers["location"]) == (303, "./")
        linked = client.get("/?token=right&run=a&parameter=l%20r")
        assert linked.headers["location"] == "./?run=a&parameter=l+r"
        cookie = first.headers["set-cookie"]
        assert "httponly" in cookie.lower()
        assert "samesite=lax" in cookie.lower()
        assert client.get("/", {"Cookie": cookie.split(";")[0]}).status_code == 200
        assert client.get("/", {"Cookie": "hyperlens=wrong"}).status_code == 401
        assert client.get("/", {"Host": "evil.example"}).status_code == 421


def test_behind_a_proxy_and_below_a_path() -> None:
    app = create_app(
        ["nowhere"],
        token="right",
        proxies=("hub.example:8443", "runs.example"),
        path="/user/ada",
        worker=fake_worker.work,
    )
    bearer = {"Authorization": "Bearer right"}
    with served(app) as client:
        for host in ("hub.example:8443", "hub.example", "runs.example", "127.0.0.1"):
            assert client.get("/", bearer | {"Host": host}).status_code == 200
        assert client.get("/", bearer | {"Host": "other.example"}).status_code == 421
        # a proxy may hand on its own name or ours; the origin is what the browser sees
        for origin, expected in {
            "https://hub.example:8443": 200,
            "https://runs.example": 200,
            "https://hub.example": 403,
            "https://runs.example:444": 403,
            "https://other.example": 403,
        }.items():
            assert client.get("/api/runs", bearer | {"Origin": origin}).status_code == expected
        # with the path or without it
        for path in ("/user/ada/", "/user/ada/api/runs", "/user/ada/front.js", "/api/runs"):
            assert client.get(path, bearer).status_code == 200
        for path in ("/user/adam/", "/user/", "/user/ada/user/ada/"):
            assert client.get(path, bearer).status_code == 404
        assert client.get("/user/ada/api/runs").status_code == 401
        bare = client.get("/user/ada?run=a", bearer)
        assert (bare.status_code, bare.headers["location"]) == (307, "/user/ada/?run=a")
        first = client.get("/user/ada/?token=right", {"X-Forwarded-Proto": "https"})
        assert first.headers["location"] == "./"
        cookie = first.headers["set-cookie"].lower()
        assert cookie.startswith("__secure-")
        assert "path=/user/ada/" in cookie
        assert "; secure" in cookie


def test_addresses_on_the_page_are_relative(fake: Client) -> None:
    found = re.findall(r'(?:href|src)="([^"]*)"', fake.get("/").text)
    assert "front.js" in found
    assert not [address for address in found if address.startswith("/") or "//" in address]
    assert not re.findall(r'(?:fetch|request)\([`"\']/', fake.get("/front.js").text)


@pytest.mark.parametrize(("given", "path"), [("", ""), ("/", ""), ("a/b/", "/a/b"), ("/x", "/x")])
def test_a_root_path_is_written_in_any_way(given: str, path: str) -> None:
    assert clean(given) == path


@pytest.mark.parametrize("given", ["/a b", "/a?b", "a#b", "/a//b", "/a/../b", "https://hub/a"])
def test_a_root_path_that_is_none_is_refused(given: str) -> None:
    with pytest.raises(SourceError, match="--root-path"):
        clean(given)


def test_a_token_where_others_could_open_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "shared", lambda: False)
    assert server.token_for("127.0.0.1", None) is None
    assert server.token_for("127.0.0.1", None, ("hub.example",))
    assert (
        server.token_for("127.0.0.1", False, ("hub.example",)) is None
    )  # the proxy asks who it is
    assert server.token_for("0.0.0.0", None)
    with pytest.raises(SourceError, match="leave out --no-token"):
        server.token_for("0.0.0.0", False)


def test_a_cookie_is_of_one_port() -> None:
    apps = [
        create_app(["nowhere"], token=name, hosts=("*",), worker=fake_worker.work)
        for name in ("one", "other")
    ]
    with served(apps[0]) as one, served(apps[1]) as other:
        pairs = zip((one, other), ("one", "other"), strict=True)
        got = [c.get(f"/?token={t}").headers["set-cookie"].split(";")[0] for c, t in pairs]
        assert len({cookie.split("=")[0] for cookie in got}) == 2
        both = {"Cookie": "; ".join(got)}  # as a browser sends them, to either port
        assert [client.get("/", both).status_code for client in (one, other)] == [200, 200]


def test_brackets_in_brackets_and_budgets_without_end_are_refused(fake: Client) -> None:
    deep = b'{"run": 0, "section": ' + b"[" * 30_000 + b"]" * 30_000 + b"}"
    answer = fake.post("/api/ask", deep)
    assert (answer.status_code, answer.json()) == (400, {"problem": "Send JSON."})
    state = replace(fake_worker.STATE, budgets=(1.0, float("inf")))
    assert json.loads(json.dumps(state.public(), allow_nan=False))["budgets"] == [1.0]


def test_connections_that_say_nothing_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEADER_TIME", 0.3)
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 20)
    with served(create_app(["nowhere"], worker=fake_worker.work)) as client:
        halves = [socket.create_connection(("127.0.0.1", client.port)) for _ in range(60)]
        for half in halves:
            with suppress(OSError):
                half.sendall(b"GET / HTTP/1.1\r\n")
        for half in halves:
            half.settimeout(10)
            with suppress(ConnectionError):
                assert half.recv(1) == b""
            half.close()
        assert client.get("/").status_code == 200


@pytest.mark.parametrize(
    ("host", "others"),
    [
        ("127.0.0.1", False),
        ("localhost", False),
        ("::1", False),
        ("0.0.0.0", True),
        ("my.net", True),
    ],
)
def test_only_this_machine_without_a_token(host: str, others: bool) -> None:
    assert server.reachable(host) is others
    assert ("evil.example" in server.names(host)) is False
    assert host in server.names(host)


def test_the_address_is_what_a_browser_opens() -> None:
    with server.bind("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        assert server.address("127.0.0.1", listening, None) == f"http://127.0.0.1:{port}/"
        assert server.address("0.0.0.0", listening, "t") == f"http://127.0.0.1:{port}/?token=t"
        with pytest.raises(SourceError, match="choose another --port"):
            server.bind("127.0.0.1", port)


def test_what_cannot_be_served_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="There is no file"):
        server.check([Source(str(tmp_path / "no.db"))])


def test_how_a_run_is_read_is_said_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.csv").write_text("x,loss\n1,2\n")
    handed: list[Source] = []
    monkeypatch.setattr(server, "check", handed.extend)
    monkeypatch.setattr(server, "token_for", lambda *_: None)

    def stop(*_: object) -> None:
        raise SourceError("far enough")

    monkeypatch.setattr(server, "bind", stop)
    words = [str(tmp_path / "t.csv"), "--objective", "loss", "--minimize", "--constraint", "x < 3"]
    with pytest.raises(SourceError, match="far enough"):
        load("serve").main(words, standalone_mode=False)
    (source,) = {*handed}  # they are told apart by their hash
    assert (source.objective, source.constraint) == (("loss",), ("x < 3",))
