"""The live page: who may ask, and what may be asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import fake_worker
import pytest
from hypothesis import given
from hypothesis import strategies as st
from live_page import Client, ready, served

from hyperlens.dashboard import create_app, serving
from hyperlens.dashboard.questions import LONG, QUICK, SURROGATES, NotAsked, Question, parse
from hyperlens.dashboard.sources import Source
from hyperlens.errors import SourceError


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
NAMES = list(asdict(Question("data")))
likely = st.sampled_from(
    [
        *QUICK,
        *LONG,
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
def test_a_question_holds_only_what_the_run_knows(body: dict[str, Any]) -> None:
    seen = fake_worker.SEEN
    try:
        question = parse(body, seen, runs=2)
    except NotAsked:
        return
    assert question.card in (*QUICK, *LONG)
    assert question.objective in (None, *(name for name, _ in seen.objectives))
    assert question.budget in (None, "all", *seen.budgets)
    assert question.surrogate in (None, *SURROGATES)
    assert {question.parameter, question.other} <= {None, *seen.parameters}
    assert question.trial in (None, *seen.explained)
    assert 0 <= question.splits <= 20
    assert all(what in ("split", "merge") and id >= 0 for what, id in question.steps)
    assert set(question.beside) <= {0, 1}


@pytest.mark.parametrize(
    "body",
    [
        {"card": "/etc/passwd"},
        {"card": "effect", "parameter": "lr' OR 1=1"},
        {"card": "effect", "parameter": ["lr"]},
        {"card": "effect", "budget": True},
        {"card": "regions", "steps": [["split", "0; DROP"]]},
        {"card": "regions", "steps": [["run", 0]]},
        {"card": "regions", "splits": 10**9},
        {"card": "beside", "beside": [0, 99]},
        {"card": "beside", "beside": [0]},
        {"card": "proposals", "trial": 5},
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
    assert fake.post("/api/ask", {"run": run, "card": "data"}).status_code == 400


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
    assert fake.post("/api/ask", {"run": 0, "card": "data"}, headers).status_code == 403


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
        assert (first.status_code, first.headers["location"]) == (303, "/")
        cookie = first.headers["set-cookie"]
        assert "httponly" in cookie.lower()
        assert "samesite=strict" in cookie.lower()
        assert client.get("/", {"Cookie": cookie.split(";")[0]}).status_code == 200
        assert client.get("/", {"Cookie": "hyperlens=wrong"}).status_code == 401
        assert client.get("/", {"Host": "evil.example"}).status_code == 421


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
    assert serving.reachable(host) is others
    assert ("evil.example" in serving.names(host)) is False
    assert host in serving.names(host)


def test_the_address_is_what_a_browser_opens() -> None:
    with serving.bind("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        assert serving.address("127.0.0.1", listening, None) == f"http://127.0.0.1:{port}/"
        assert serving.address("0.0.0.0", listening, "t") == f"http://127.0.0.1:{port}/?token=t"
        with pytest.raises(SourceError, match="choose another --port"):
            serving.bind("127.0.0.1", port)


def test_what_cannot_be_served_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SourceError, match="There is no file"):
        serving.check([Source(str(tmp_path / "no.db"))])
    monkeypatch.setattr("hyperlens.dashboard.serving.find_spec", lambda name: None)
    with pytest.raises(SourceError, match=r"pip install hyperlens\[dashboard\]"):
        serving.check([])
