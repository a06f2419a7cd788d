"""Where the live page can be: below a path of a proxy, beside a notebook; and splits that cannot be."""

from __future__ import annotations

import http.client
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import optuna
import pytest
from browsing import EVERYTHING, PHONE, Open, eventually, plain, quick_only, settled, violations
from live_page import served

import hyperlens as hl
from hyperlens.dashboard import create_app

PATH = "/user/ada/proxy"
NAME = "hub.localhost"  # a browser takes every name below localhost for this machine


@contextmanager
def proxy(strips: bool) -> Iterator[ThreadingHTTPServer]:
    """A proxy that serves one page below PATH and nothing else, and hands its own name on, as nginx
    does; it may strip the path, as JupyterHub's proxy does where it is told to. Who is asked is set as
    `upstream` once that is known."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if not self.path.startswith(f"{PATH}/"):
                self.send_error(404)
                return
            asked = http.client.HTTPConnection("127.0.0.1", self.server.upstream)  # type: ignore[attr-defined]
            path = self.path.removeprefix(PATH) if strips else self.path
            asked.request(self.command, path, body, dict(self.headers.items()))
            found = asked.getresponse()
            content = found.read()
            self.send_response(found.status)
            for name, value in found.getheaders():
                if name.lower() not in (
                    "content-length",
                    "transfer-encoding",
                    "connection",
                    "date",
                    "server",
                ):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            asked.close()

        do_GET = do_POST = answer

        def log_message(self, *_: object) -> None:
            """Nothing is said."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("strips", [True, False])
def test_the_page_of_a_notebook_below_the_path_of_a_proxy(
    watch: Open, tmp_path: Path, strips: bool
) -> None:
    for name in ("one", "two"):
        plain(tmp_path / "runs.db", name, 6)
    with proxy(strips) as between:
        host = f"{NAME}:{between.server_port}"
        storage = str(tmp_path / "runs.db")
        with hl.serve(storage, token=True, root_path=PATH, allowed_hosts=(host,)) as live:
            parts = urlsplit(live.url)
            assert parts.path == f"{PATH}/"
            setattr(between, "upstream", parts.port)  # noqa: B010
            seen = watch()
            page = seen.page
            quick_only(page)
            page.goto(f"http://{host}{PATH}{EVERYTHING}&{parts.query}#data")
            settled(page, "overview", "data")
            assert "token" not in page.url  # it is a cookie by now
            page.get_by_label("Run", exact=True).select_option("two (runs.db)")
            settled(page, "overview", "data")
            chosen = page.url
            assert chosen.startswith(f"http://{host}{PATH}/?")
            page.reload()
            settled(page, "overview", "data")
            assert page.locator("h1").inner_text() == "Optuna study 'two' in runs.db"
            page.locator("#runs").evaluate("(fold) => { fold.open = true; }")
            page.locator("#runs tbody a").first.click()  # a relative link
            eventually(page, "document.querySelector('h1').textContent.includes(`'one'`)")
            loaded = [r for r in seen.requests if not r.startswith(("data:", "blob:"))]
            assert all(r.startswith(f"http://{host}{PATH}/") for r in loaded)
            assert seen.complaints == []


def test_a_history_of_a_notebook_is_served(watch: Open) -> None:
    made = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    made.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=7)
    with hl.serve(hl.read(made), token=False) as live:
        seen = watch(PHONE)
        page = seen.page
        quick_only(page)
        page.goto(live.url + EVERYTHING.removeprefix("/"))
        settled(page, "overview", "data")
        assert page.locator("#seen").inner_text() == "7 trials"
        assert violations(page) == []
        assert seen.complaints == []


def test_a_split_that_cannot_be_made_keeps_the_card_and_says_so(
    watch: Open, tmp_path: Path
) -> None:
    path = tmp_path / "runs.db"
    made = optuna.create_study(
        storage=f"sqlite:///{path}", sampler=optuna.samplers.RandomSampler(seed=0)
    )
    made.optimize(
        lambda t: t.suggest_float("lr", 0, 1) * (2 * t.suggest_int("depth", 0, 1) - 1), n_trials=24
    )
    with served(create_app([str(path)])) as client:
        seen = watch()
        page = seen.page
        page.goto(f"{client.address}{EVERYTHING}&parameter=lr&surrogate=gp#section-effects")
        settled(page, "regions")
        splits = page.locator("[data-section=regions] button[data-hand=split]")
        refused = page.locator("[data-section=regions]", has_text="cannot be split further")
        for _ in range(8):  # the last leaf, again and again, until it is too small
            before = page.locator("[data-section=regions] .card").inner_text()
            splits.last.click()
            page.wait_for_selector(".slot[data-section=regions]:not([aria-busy])")
            eventually(
                page,
                "document.querySelector('[data-section=regions] .card').innerText"
                f" !== {before!r}".replace("\\xa0", "\\u00a0"),
            )
            if refused.count():
                break
        assert refused.count() == 1
        assert splits.count() > 1  # what was grown is still there, and can be grown elsewhere
        left = splits.count()
        page.reload()  # the steps are in the address
        settled(page, "regions")
        assert refused.count() == 1
        assert splits.count() == left
        page.go_back()
        eventually(
            page,
            "!document.querySelector('[data-section=regions]').textContent.includes"
            "('cannot be split further')",
        )
        assert seen.complaints == []


def test_the_list_of_runs_says_size_best_and_state(watch: Open, tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    storage = f"sqlite:///{path}"
    done = optuna.create_study(study_name="done", storage=storage)
    for value in (3.0, 0.25, 2.0):
        done.tell(done.ask({"x": optuna.distributions.FloatDistribution(0, 4)}), value)
    up = optuna.create_study(study_name="up", storage=storage, direction="maximize")
    for value in (3.0, 0.25, 2.0):
        up.tell(up.ask({"x": optuna.distributions.FloatDistribution(0, 4)}), value)
    up.ask({"x": optuna.distributions.FloatDistribution(0, 4)})  # still running
    two = optuna.create_study(study_name="two", storage=storage, directions=["minimize"] * 2)
    two.tell(two.ask({"x": optuna.distributions.FloatDistribution(0, 4)}), [1.0, 2.0])
    with served(create_app([str(path)])) as client:
        page = watch().page
        quick_only(page)
        page.goto(client.address)
        page.wait_for_selector("#runs")
        page.locator("#runs").evaluate("(fold) => { fold.open = true; }")
        eventually(page, "document.querySelectorAll('#runs tbody tr').length === 3")
        rows = {
            row.locator("a").inner_text(): row.locator("td").all_inner_texts()[:3]
            for row in page.locator("#runs tbody tr").all()
        }
        assert rows == {
            "done (runs.db)": ["3", "0.25", "at rest"],
            "up (runs.db)": ["4", "3", "1 running"],
            "two (runs.db)": ["1", "2 objectives", "at rest"],
        }


def test_a_folder_of_runs_is_a_list_of_them(watch: Open, tmp_path: Path) -> None:
    for name in ("one", "two"):
        plain(tmp_path / f"{name}.db", name, 6)
    (tmp_path / "notes.txt").write_text("not a run\n")
    with hl.serve(tmp_path, token=False) as live:
        seen = watch()
        page = seen.page
        quick_only(page)
        page.goto(live.url)
        eventually(page, "document.querySelectorAll('#runs tbody tr').length === 2")
        listed = page.locator("#runs tbody a").all_text_contents()
        assert listed == ["one (one.db)", "two (two.db)"]
        page.get_by_label("Run", exact=True).select_option("two (two.db)")
        page.wait_for_selector('#seen:text-is("6 trials")')
        assert seen.complaints == []


def test_thousands_of_runs_are_listed_and_searched_at_once(watch: Open, tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    plain(path, "the one", 6)
    with sqlite3.connect(path) as database:
        studies = [(k, f"run-{k}") for k in range(2, 3002)]
        database.executemany("INSERT INTO studies (study_id, study_name) VALUES (?, ?)", studies)
        database.executemany(
            "INSERT INTO study_directions (direction, study_id, objective) VALUES ('MINIMIZE', ?, 0)",
            [(k,) for k, _ in studies],
        )
    with served(create_app([str(path)])) as client:
        seen = watch()
        page = seen.page
        quick_only(page)
        page.goto(client.address + EVERYTHING)
        page.wait_for_selector('#message:text-is("Choose one of 3001 runs.")')
        page.get_by_label("Search in the runs").fill("the one")
        eventually(page, "document.querySelectorAll('#runs tbody tr:not([hidden])').length === 1")
        took = page.evaluate(
            """() => { const box = document.querySelector('#runs input'), before = performance.now();
            box.value = 'run-29'; box.dispatchEvent(new Event('input', { bubbles: true }));
            document.querySelector('#runs').getBoundingClientRect();
            return performance.now() - before; }"""
        )
        assert took < 1000  # milliseconds; a few on a quiet machine
        page.get_by_label("Search in the runs").fill("the one")
        page.locator("#runs tbody a").first.click()
        settled(page, "overview", "data")
        assert page.locator("#seen").inner_text() == "6 trials"
        assert seen.complaints == []
