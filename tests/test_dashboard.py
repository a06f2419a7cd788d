"""The live page: answers come, once for all who ask, and are the report's own."""

from __future__ import annotations

import http.client
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import fake_worker
import numpy as np
import optuna
import pandas as pd
import pytest
from live_page import PATIENCE, Client, ready, served, until
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

import hyperlens as hl
from hyperlens.dashboard import create_app
from hyperlens.dashboard.access.server import each_run
from hyperlens.dashboard.cache import Cache
from hyperlens.dashboard.catalogue import Part, Run, Source
from hyperlens.dashboard.jobs import DIED
from hyperlens.dashboard.query import SECTIONS
from hyperlens.dashboard.reader import Reader, digest
from hyperlens.dashboard.worker import _for_the_page
from hyperlens.errors import AnalysisError, SourceError
from hyperlens.importers.optuna.study_names import studies
from hyperlens.importers.optuna.study_sizes import study_sizes
from hyperlens.reports.render import card_html
from hyperlens.sections.parameters.regions import regions_card
from hyperlens.sections.run.overview import trace_card

optuna.logging.set_verbosity(optuna.logging.ERROR)


def objective(trial: optuna.Trial) -> float:
    lr = trial.suggest_float("lr", 1e-4, 1.0, log=True)
    kind = trial.suggest_categorical("kind", ["a", "b"])
    return (math.log10(lr) + 2) ** 2 + (kind == "b") * trial.suggest_float("wd", 0.0, 1.0)


def study(path: Path, name: str = "one", trials: int = 25) -> optuna.Study:
    made = optuna.create_study(
        study_name=name,
        storage=f"sqlite:///{path}",
        load_if_exists=True,
        sampler=optuna.samplers.RandomSampler(seed=0),
    )
    made.optimize(objective, n_trials=trials)
    return made


def asked(client: Client, section: str, **more: Any) -> dict[str, Any]:
    answer = client.post("/api/ask", {"run": 0, "section": section, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def answered(client: Client, section: str, **more: Any) -> dict[str, Any]:
    """The answer, waited for."""
    found = asked(client, section, **more)
    if found["state"] in ("waiting", "running"):
        job = client.app.state.dispatcher.job(found["ticket"])
        assert job.finished.wait(PATIENCE)
        found = client.get(f"/api/job?ticket={found['ticket']}").json()
    return found


@pytest.fixture(scope="module")
def fake() -> Iterator[Client]:
    """The page with workers that compute nothing."""
    with served(create_app(["nowhere"], worker=fake_worker.work)) as client:
        ready(client)
        yield client


# Background work


def test_the_same_question_is_computed_once(fake: Client) -> None:
    first = answered(fake, "importance", surrogate="gp")
    again = asked(fake, "importance", surrogate="gp")
    assert first["state"] == again["state"] == "done"
    assert again["html"] == first["html"]  # which counts the answers of its process
    other = answered(fake, "importance", surrogate="gp", objective="time")
    assert other["html"] != first["html"]


def test_quick_answers_come_while_a_long_one_is_computed_and_cancelled(fake: Client) -> None:
    slow = asked(fake, "effects", parameter=fake_worker.SLOW)
    assert asked(fake, "effects", parameter=fake_worker.SLOW)["ticket"] == slow["ticket"]
    job = fake.app.state.dispatcher.job(slow["ticket"])
    step: dict[str, Any] = until(
        lambda: (
            found
            if (found := fake.get(f"/api/job?ticket={slow['ticket']}").json())["what"]
            == "being slow"
            else None
        )
    )
    assert (step["state"], step["part"]) == ("running", 0.5)
    waiting = asked(fake, "effects", parameter="lr", budget=9)
    assert waiting["state"] == "waiting"
    assert answered(fake, "overview", objective="loss")["state"] == "done"
    fake.post("/api/cancel", {"ticket": slow["ticket"], "waiting": True})
    assert not job.finished.is_set()  # only what waits is dropped
    fake.post("/api/cancel", {"ticket": slow["ticket"]})
    assert job.finished.wait(PATIENCE)
    told = fake.get(f"/api/job?ticket={slow['ticket']}").json()
    assert (told["state"], told["problem"]) == ("cancelled", "This was cancelled.")
    assert answered(fake, "effects", parameter="lr", budget=9)["state"] == "done"


def test_what_waits_can_be_dropped(fake: Client) -> None:
    slow = asked(fake, "regions", parameter=fake_worker.SLOW)
    behind = asked(fake, "regions", parameter="lr", splits=7)
    fake.post("/api/cancel", {"ticket": behind["ticket"], "waiting": True})
    assert fake.get(f"/api/job?ticket={behind['ticket']}").json()["state"] == "cancelled"
    fake.post("/api/cancel", {"ticket": slow["ticket"]})
    assert answered(fake, "regions", parameter="lr", splits=7)["state"] == "done"


def test_a_process_that_dies_is_replaced(fake: Client) -> None:
    dead = answered(fake, "effects", parameter=fake_worker.DEADLY)
    assert (dead["state"], dead["problem"]) == ("failed", DIED)
    assert answered(fake, "pairs", parameter="lr", other=fake_worker.SLOW)["state"] == "done"


def test_a_problem_is_said_and_not_kept(fake: Client) -> None:
    for _ in range(2):
        told = answered(fake, "effects", parameter=fake_worker.BROKEN)
        assert (told["state"], told["problem"]) == ("failed", "It is broken.")


def test_fifty_clients_at_once(fake: Client) -> None:
    def one(k: int) -> tuple[int, str]:
        fake.get("/")
        fake.get("/api/state?run=0")
        found = answered(fake, "summary", objective="time")
        return 200, found["html"]

    with ThreadPoolExecutor(50) as pool:
        found = list(pool.map(one, range(50)))
    assert len(set(found)) == 1  # nobody was refused, and it was computed once


def test_the_page_has_a_place_for_every_card(fake: Client) -> None:
    page = fake.get("/").text
    for section in SECTIONS.values():
        assert f'data-section="{section.id}"' in page
    script = fake.get("/front.js").text
    assert "JSON.parse" in script
    assert "eval(" not in script
    assert fake.get("/plotly.js").headers["cache-control"].startswith("public")


def test_the_cache_forgets_what_was_not_used() -> None:
    cache = Cache(most=10)
    cache.put("a", {"html": "12345"})
    cache.put("b", {"html": "12345"})
    assert cache.get("a") is not None
    cache.put("c", {"html": "12345"})
    assert cache.get("b") is None
    assert cache.get("a") is not None
    cache.put("a", {"html": "1"})
    cache.put("d", {"html": "123"})
    assert cache.get("c") is not None


# Real runs


def test_a_digest_is_of_the_content(tmp_path: Path) -> None:
    made = study(tmp_path / "a.db", trials=4)
    first = digest(hl.read(made))
    assert digest(hl.read(made)) == first
    made.optimize(objective, n_trials=1)
    assert digest(hl.read(made)) != first


def test_a_digest_tells_spaces_apart_that_are_shown_alike() -> None:
    def run(upper: float, last: str) -> hl.History:
        choices = (*"abcdefg", last)
        space = hl.Space.of(
            [
                hl.Parameter("x", "float", 0.0, upper),
                hl.Parameter("y", "categorical", choices=choices),
            ]
        )
        return hl.History(
            space, (hl.Objective("loss"),), (hl.Trial(0, {"x": 0.5, "y": "a"}, (1.0,)),)
        )

    assert repr(run(1.0, "h").space) == repr(run(1.0 + 1e-9, "i").space)
    assert len({digest(run(1.0, "h")), digest(run(1.0 + 1e-9, "h")), digest(run(1.0, "i"))}) == 3


def test_a_run_is_read_again_only_when_it_changed(tmp_path: Path) -> None:
    made = study(tmp_path / "a.db", trials=4)
    reader = Reader((Source(str(tmp_path / "a.db")),))
    run = Run(0, "one", "one")
    first = reader.read(run)
    assert reader.read(run) is first
    made.optimize(objective, n_trials=1)
    assert reader.read(run).state.trials == 5


def test_studies_of_a_storage_are_listed(tmp_path: Path) -> None:
    for name in ("one", "two <b>"):
        study(tmp_path / "a.db", name, trials=1)
    names = ("one", "two <b>")
    assert studies(str(tmp_path / "a.db")) == names
    assert studies(f"sqlite:///{tmp_path / 'a.db'}") == names
    journal = JournalStorage(JournalFileBackend(str(tmp_path / "j.log")))
    for name in ("gone", "kept"):
        optuna.create_study(study_name=name, storage=journal)
    optuna.delete_study(study_name="gone", storage=journal)
    assert studies(str(tmp_path / "j.log")) == ("kept",)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert studies(str(tmp_path / "t.csv")) == ()
    reader = Reader((Source(str(tmp_path / "a.db")), Source(str(tmp_path / "t.csv"))))
    assert [r.title for r in reader.runs()] == ["one (a.db)", "two <b> (a.db)", "t.csv"]


def test_a_storage_tells_how_large_its_studies_are(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'a.db'}"
    down = study(tmp_path / "a.db", "down", trials=6)
    up = optuna.create_study(study_name="up", storage=storage, direction="maximize")
    for value in (1.0, 3.0, 2.0, math.inf):
        up.tell(up.ask(), value)
    up.tell(up.ask(), state=optuna.trial.TrialState.FAIL)
    up.ask()  # runs
    two = optuna.create_study(study_name="two", storage=storage, directions=["minimize"] * 2)
    two.tell(two.ask(), (1.0, 2.0))
    kept = optuna.create_study(study_name="kept", storage=storage)
    trial = kept.ask()
    kept._storage.set_trial_system_attr(trial._trial_id, "constraints", [1.0])
    kept.tell(trial, 0.5)
    optuna.create_study(study_name="empty", storage=storage)
    sizes = study_sizes(storage)
    assert sizes == study_sizes(str(tmp_path / "a.db"))
    assert {name: (s.trials, s.running, s.objectives, s.best) for name, s in sizes.items()} == {
        "down": (6, 0, 1, down.best_value),
        "up": (6, 1, 1, 3.0),
        "two": (1, 0, 2, None),
        "kept": (1, 0, 1, None),  # limits decide which counts
        "empty": (0, 0, 1, None),
    }
    assert sizes["empty"].changed is None
    assert sizes["up"].changed is not None
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert study_sizes(str(tmp_path / "t.csv")) == study_sizes(str(tmp_path / "no.db")) == {}


def test_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    places = [tmp_path / "a" / "run_1", tmp_path / "b" / "run_1", tmp_path / "c" / "other"]
    for place in places:
        place.mkdir(parents=True)
    reader = Reader(tuple(Source(str(place)) for place in places))
    assert [r.title for r in reader.runs()] == ["a/run_1", "b/run_1", "other"]


def listed(client: Client) -> list[tuple[int, str]]:
    return [(run["id"], run["title"]) for run in client.get("/api/runs").json()["runs"]]


def test_a_run_keeps_its_number_and_is_listed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hyperlens.dashboard.dispatcher.LIST_EVERY", 0.0)
    path = tmp_path / "a.db"
    optuna.storages.RDBStorage(f"sqlite:///{path}")  # without a study
    with served(create_app([str(path), str(path)])) as client:
        until(lambda: listed(client) == [(0, "a.db")])
        study(path, "one", trials=2)
        assert until(lambda: (seen := ready(client))["trials"] == 2 and seen)
        assert listed(client) == [(0, "a.db")]
        first = client.get("/api/runs").json()
        key, sizes = first["runs"][0]["key"], [run["size"] for run in first["runs"]]
        assert [size["trials"] for size in sizes] == [2]
        assert "runs" not in client.get(f"/api/runs?known={first['edition']}").json()  # no news
        study(path, "two", trials=3)
        until(lambda: len(listed(client)) > 1)
        assert listed(client) == [(0, "one (a.db)"), (1, "two (a.db)")]
        later = client.get(f"/api/runs?known={first['edition']}").json()
        assert [run["size"]["trials"] for run in later["runs"]] == [2, 3]
        assert later["runs"][0]["key"] == key != later["runs"][1]["key"]
        assert [ready(client, k)["trials"] for k in (0, 1)] == [2, 3]


def test_a_run_without_trials_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    study(path, "new", trials=0)
    with served(create_app([str(path)])) as client:
        seen = ready(client)
        assert (seen["title"], seen["trials"], seen["problem"]) == ("a.db", 0, None)
        assert seen["parameters"] == seen["objectives"] == seen["explained"] == []
        study(path, "new", trials=2)
        until(lambda: ready(client)["trials"] == 2)
        assert ready(client)["objectives"] == [["value", False]]


def test_the_largest_budget_alone_as_by_the_command(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.random(60)
    frame = pd.DataFrame({"x": x, "loss": x**2, "budget": np.tile([1.0, 25 / 9, 9.0], 20)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    source = Source(str(tmp_path / "t.csv"), objective="loss", maximize=False)
    history = hl.read(tmp_path / "t.csv", objective="loss", maximize=False)
    with served(create_app([source])) as client:
        assert ready(client)["budgets"] == [1.0, 25 / 9, 9.0]
        answer = answered(client, "overview", budget="largest")
        expected = trace_card(hl.overview(history.select(budget="largest")))
        assert card_html(expected, live=True) in answer["html"]
        assert (
            "All 60 trials as they were read" in answered(client, "data", budget="largest")["html"]
        )


def test_a_part_of_a_run_is_read_as_by_the_command(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x, kind = rng.random(40), np.tile(["a", "b"], 20)
    frame = pd.DataFrame({"x": x, "kind": kind, "loss": x**2, "score": x, "latency": 30 * x})
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    reader, run = Reader((Source(str(path)),)), Run(0, None, "t.csv")
    whole = reader.read(run)
    other = reader.read(run, Part(cost=("score", "loss"), maximize=True, limits=("latency < 20",)))
    expected = hl.read(path, objective=("score", "loss"), maximize=True, constraint="latency < 20")
    assert digest(other.history) == digest(expected)
    assert other.state.objectives == (("score", True), ("loss", False))
    part = Part(where="kind == 'a' and x < 0.5")
    narrow = reader.read(run, part)
    chosen = whole.history.select(where="kind == 'a' and x < 0.5")
    assert digest(narrow.history) == digest(chosen)
    assert narrow.state.parameters == ("x",)
    assert narrow.state.trials == len(chosen.trials) < whole.state.trials
    assert reader.read(run, part) is narrow  # kept while the run is the same
    frame.iloc[:-1].to_csv(path, index=False)
    assert reader.read(run, part) is not narrow
    with pytest.raises(AnalysisError, match="There is no 'speed' to compare"):
        reader.read(run, Part(where="speed > 1"))


def test_sentences_name_the_fields_of_the_page() -> None:
    said = _for_the_page("Say which with --objective COLUMN (objective= in Python), one of a, b.")
    assert said == "Say which with 'Cost', one of a, b."
    said = _for_the_page(
        "It is open; add --maximize or --minimize (maximize=True or False in Python)."
    )
    assert said == "It is open; choose one under 'Direction'."


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("live") / "runs.db"
    study(path, "one")
    study(path, "two", trials=12)
    return path


@pytest.fixture(scope="module")
def real(storage: Path) -> Iterator[Client]:
    with served(create_app([str(storage)])) as client:
        ready(client)
        yield client


def test_cards_are_those_of_the_report(real: Client, storage: Path) -> None:
    history = hl.read(storage, "one")
    answer = answered(real, "overview")
    assert card_html(trace_card(hl.overview(history)), live=True) in answer["html"]
    assert answer["trials"] == len(history.trials)
    assert 'id="footprint"' in answered(real, "footprint")["html"]


def test_regions_grow_by_hand(real: Client, storage: Path) -> None:
    history = hl.read(storage, "one")
    asked_for = {"parameter": "lr", "surrogate": "gp", "splits": 1}
    answer = answered(real, "regions", **asked_for)
    tree = hl.regions(history, "lr", splits=1, surrogate="gp")
    assert answer["html"] == card_html(regions_card(tree, "regions-2"), live=True)
    leaf = tree.leaves[0].id
    grown = tree.split(leaf)
    answer = answered(real, "regions", **asked_for, steps=[["split", leaf]])
    assert answer["html"] == card_html(regions_card(grown, "regions-2"), live=True)
    back = answered(real, "regions", **asked_for, steps=[["split", leaf], ["merge", 0]])
    assert back["html"] == card_html(regions_card(grown.merge(0), "regions-2"), live=True)
    # what cannot be done leaves the card as it is, and is said until something else is done
    gone = answered(real, "regions", **asked_for, steps=[["merge", 0], ["split", leaf]])
    whole = tree.merge(0)
    said = (*whole.notes, f"There is no region {leaf} any more; choose another one.")
    assert gone["html"] == card_html(
        regions_card(replace(whole, notes=said), "regions-2"), live=True
    )
    again = [["merge", 0], ["split", leaf], ["split", 0]]
    after = answered(real, "regions", **asked_for, steps=again)
    assert after["html"] == card_html(regions_card(whole.split(0), "regions-2"), live=True)
    twice = answered(real, "regions", **asked_for, steps=[["split", 0]])
    assert "cannot be split further" in twice["html"]
    assert 'data-hand="split"' in twice["html"]


def test_an_effect_of_the_most_important_parameter(real: Client) -> None:
    answer = answered(real, "effects", surrogate="forest")
    assert "<h3>lr</h3>" in answer["html"]


def test_runs_are_compared(real: Client) -> None:
    ready(real, 1)
    answer = answered(real, "comparison", runs=[0, 1])
    assert "After 12 trials, as many as each has" in answer["html"]


def test_the_page_follows_a_run(real: Client, storage: Path) -> None:
    before = ready(real, 1)
    assert before["trials"] == 12
    study(storage, "two", trials=3)

    def changed() -> Any:
        found = real.get("/api/state?run=1").json()
        return found if found["version"] != before["version"] else None

    after = until(changed)
    assert after["trials"] == 15
    answer = answered(real, "data", run=1)
    assert answer["trials"] == 15
    assert answer["version"] == after["version"]


def test_a_run_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    (tmp_path / "bad.db").write_bytes(b"SQLite format 3\0" + b"\0" * 100)
    with served(create_app([str(tmp_path / "bad.db")])) as client:
        until(lambda: client.get("/api/runs").json()["ready"])
        told = until(lambda: client.get("/api/state?run=0").json()["problem"])
        assert "bad.db" in told
        refused = client.post("/api/ask", {"run": 0, "section": "data"})
        assert refused.status_code == 400
        assert json.loads(refused.text)["problem"] == told


# From a notebook


def test_a_page_is_served_beside_a_notebook(storage: Path) -> None:
    history = hl.read(storage, "one")
    with hl.serve(history, token=True) as page:
        parts = urlsplit(page.url)
        assert (parts.scheme, parts.hostname, parts.path) == ("http", "127.0.0.1", "/")
        token = parts.query.removeprefix("token=")
        connection = http.client.HTTPConnection("127.0.0.1", parts.port or 0, timeout=PATIENCE)

        def listed_as() -> Any:
            connection.request("GET", "/api/runs", headers={"Authorization": f"Bearer {token}"})
            return json.loads(connection.getresponse().read())["runs"]

        assert [run["title"] for run in until(listed_as)] == ["run"]
        connection.close()
        assert f'href="{page.url}"' in page._repr_html_()
        assert repr(page) == f"LivePage('{page.url}')"
    assert not page.running
    assert repr(page) == "LivePage(stopped)"
    page.stop()  # once more does no harm
    with pytest.raises(OSError, match="refused"):
        http.client.HTTPConnection("127.0.0.1", parts.port or 0, timeout=PATIENCE).connect()


def test_what_cannot_be_served_from_a_notebook_is_said(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nothing to serve"):
        hl.serve()
    with pytest.raises(SourceError, match="There is no file"):
        hl.serve(tmp_path / "no.db")


# The command


def test_the_pages_own_process_loads_nothing_heavy() -> None:
    heavy = ["numpy", "pandas", "sklearn", "optuna", "plotly", "scipy", "numba", "ConfigSpace"]
    code = (
        "import sys, hyperlens.dashboard.app, hyperlens.dashboard.access.server; "
        "hyperlens.dashboard.app.plotly_js(); "
        f"sys.exit(','.join(m for m in {heavy} if m in sys.modules) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_the_command_serves_until_it_is_stopped(storage: Path, host: str) -> None:
    start = [sys.executable, "-c", "from hyperlens.cli import main; main()"]
    words = [*start, "serve", str(storage), "--port", "0", "--host", host]
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            address = said.split()[1]
            parts = urlsplit(address)
            assert (parts.scheme, parts.hostname) == ("http", "127.0.0.1")
            assert bool(parts.query) is (host == "0.0.0.0")
            connection = http.client.HTTPConnection("127.0.0.1", parts.port or 0, timeout=PATIENCE)
            connection.request("GET", "/api/runs")
            expected = 401 if parts.query else 200
            assert connection.getresponse().status == expected
            connection.close()
        finally:
            process.send_signal(signal.SIGINT)
            _, complaint = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert complaint == ""


def test_a_folder_of_runs_is_every_run_in_it(storage: Path, tmp_path: Path) -> None:
    for name in ("b.db", "a.db"):
        (tmp_path / name).write_bytes(storage.read_bytes())
    given = [Source(str(tmp_path), study="one"), Source(str(storage)), Source("mysql://host/runs")]
    found = each_run(given)
    places = [tmp_path / "a.db", tmp_path / "b.db", storage, "mysql://host/runs"]
    assert [source.where for source in found] == [str(place) for place in places]
    assert [source.study for source in found] == ["one", "one", None, None]


def test_a_source_of_the_command_line_can_be_remembered() -> None:
    given: Any = {"objective": ["loss"], "constraint": ["latency < 20"]}
    source = Source("t.csv", **given)
    assert source == Source("t.csv", objective=("loss",), constraint=("latency < 20",))
    assert {source: 1}[source] == 1
