"""Round trips through `convert`: every value comes back, exactly."""

from __future__ import annotations

import json
import math
import sqlite3
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import pytest
import tools
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from test_hpo_logs import EXPECTED

import hyperlens as hl
from hyperlens import History, Objective, Parameter, Space, State, Trial
from hyperlens.proposal import Proposal

SPACE = Space.of(
    [
        Parameter("lr", "float", 1e-8, 1.0, log=True),
        Parameter("x", "float", -3.0, 7.5),
        Parameter("units", "integer", 1, 2000, log=True),
        Parameter("size", "ordinal", choices=(8, 16, 64)),
        Parameter("model", "categorical", choices=("svm", "tree", 'a,b\n"c"', "None")),
        Parameter("mixed", "categorical", choices=(None, True, 1.5, "x")),
        Parameter("twins", "categorical", choices=("", "1", "é<b>")),
        Parameter("state", "integer", 0, 9),  # a name that trials have as well
    ],
    {"state": ((("model", "equal", "svm"),),)},
    {"fixed": "yes", "four": 4},
    ["'state' is active when model is svm, which was inferred."],
)

finite = st.floats(allow_nan=False, allow_infinity=False)
times = st.none() | st.floats(1e9, 2e9)
text = st.none() | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12
)


@st.composite
def values(draw: st.DrawFn) -> dict[str, Any]:
    row: dict[str, Any] = {
        "lr": draw(st.floats(1e-8, 1.0)),
        "x": draw(st.floats(-3.0, 7.5)),
        "units": draw(st.integers(1, 2000)),
        **{n: draw(st.sampled_from(SPACE[n].choices)) for n in ("size", "model", "mixed", "twins")},
    }
    if row["model"] == "svm":
        row["state"] = draw(st.integers(0, 9))
    return row | ({"fixed": "yes", "four": 4} if draw(st.booleans()) else {})


proposals = st.builds(
    Proposal,
    kind=st.sampled_from(["initial", "proposed"]),
    optimizer=text.map(lambda name: name or None),
    mean=st.none() | finite,
    surrogate=st.sampled_from([None, "gp", "oracle"]),
    learned=st.sampled_from(["", "0-3,7", "all"]),
    rung=st.none() | st.integers(0, 9),
    final=st.booleans(),
    spans=st.lists(st.tuples(finite, finite).map(lambda s: (min(s), max(s))), max_size=2).map(
        tuple
    ),
)


@st.composite
def trials(draw: st.DrawFn, number: int) -> Trial:
    state = draw(st.sampled_from(list(State)))
    cost = finite if state is State.COMPLETE else finite | st.just(math.nan) | st.just(math.inf)
    return Trial(
        number,
        draw(values()),
        (draw(cost), draw(cost)),
        state,
        draw(st.none() | st.floats(0.001, 1000)),
        draw(st.none() | st.integers(0, 2**31)),
        draw(text),
        draw(times),
        draw(times),
        draw(text),
        draw(text),
        draw(st.none() | proposals),
    )


@st.composite
def histories(draw: st.DrawFn) -> History:
    count = draw(st.integers(1, 6))
    numbers = draw(st.lists(st.integers(0, 999), min_size=count, max_size=count, unique=True))
    objectives = (Objective("error"), Objective("score [%] (maximize)", maximize=True))
    found = tuple(draw(trials(number)) for number in numbers)
    return History(SPACE, objectives, found, draw(st.text(max_size=9)), ("One note.",))


def same(a: History, b: History) -> None:
    assert b.objectives == a.objectives
    assert (b.source, b.notes, b.space.inferred) == (a.source, a.notes, a.space.inferred)
    assert b.space.configspace == a.space.configspace
    assert len(a.trials) == len(b.trials)
    for one, other in zip(a.trials, b.trials, strict=True):
        assert [repr(c) for c in one.costs] == [repr(c) for c in other.costs]
        told = replace(other, costs=one.costs, values=dict(other.values))
        assert told == replace(one, values=dict(one.values))
        kinds = {name: type(value) for name, value in one.values.items()}
        assert {name: type(value) for name, value in other.values.items()} == kinds


@settings(max_examples=60)
@given(histories())
def test_a_table_keeps_everything(history: History) -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = hl.convert(history, "table", Path(folder) / "run")
        assert {p.name for p in out.iterdir()} == {"trials.csv", "configspace.json", "run.json"}
        same(history, hl.read(out))


@settings(max_examples=8, phases=[Phase.explicit, Phase.generate])
@given(histories())
def test_an_optuna_database_keeps_everything(history: History) -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = hl.convert(history, "optuna", Path(folder) / "run.db")
        assert [p.name for p in Path(folder).iterdir()] == ["run.db"]
        same(history, hl.read(out))


@pytest.mark.parametrize("name", EXPECTED)
def test_recorded_runs_survive_both_ways(
    name: str, data: Callable[[str], Path], tmp_path: Path
) -> None:
    history = hl.read(data(f"hpo_logs/{name}"), **EXPECTED[name][0])
    same(history, hl.read(hl.convert(history, "table", tmp_path / "table")))
    again = hl.convert(hl.read(tmp_path / "table"), "optuna", tmp_path / "run.db")
    same(history, hl.read(again))


@pytest.mark.parametrize("kind", tools.WRITERS)
def test_every_tool_converts(kind: str, tmp_path: Path) -> None:
    history = hl.read(tools.WRITERS[kind](tmp_path / "in"), objective=_objective(kind))
    same(history, hl.read(hl.convert(history, "table", tmp_path / "out")))


def _objective(kind: str) -> str | None:
    return "loss" if kind.startswith("ray") else None


def test_optuna_itself_reads_the_database(tmp_path: Path) -> None:
    history = hl.read(tools.WRITERS["smac_object"](tmp_path / "in"))
    hl.convert(history, "optuna", tmp_path / "run.db")
    study = optuna.load_study(study_name="run", storage=f"sqlite:///{tmp_path / 'run.db'}")
    assert study.best_value == min(tools.COSTS)
    assert study.best_params == tools.CONFIGS["3"]
    assert study.metric_names == ["cost"]


def test_another_objective_of_a_converted_run(tmp_path: Path) -> None:
    rows = [tools.smac_list(k, [0.1 * k, 10.0 - k]) for k in (1, 2, 3)]
    history = hl.read(tools.smac_2(tmp_path / "in", rows, ["error", "size"]))
    for to, out in (("table", "run"), ("optuna", "run.db")):
        path = hl.convert(history, to, tmp_path / out)  # type: ignore[arg-type]
        other = hl.read(path, objective="size")
        assert [o.name for o in other.objectives] == ["size", "error"]
        assert other.trials[0].costs == (9.0, 0.1)
        assert hl.read(path).trials[0].costs == (0.1, 9.0)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    history = hl.read(tools.WRITERS["smac_object"](tmp_path / "in"))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("x")
    (tmp_path / "mine.db").write_text("x")
    with pytest.raises(hl.SourceError, match="is not empty"):
        hl.convert(history, "table", tmp_path / "full")
    with pytest.raises(hl.SourceError, match="already"):
        hl.convert(history, "optuna", tmp_path / "mine.db")
    with pytest.raises(hl.SourceError, match="cannot be written"):
        hl.convert(history, "optuna", tmp_path / "nowhere" / "run.db")
    with pytest.raises(hl.SourceError, match="cannot be written"):
        hl.convert(history, "table", tmp_path / "mine.db" / "run")
    with pytest.raises(hl.SourceError, match="choose 'table' or 'optuna'"):
        hl.convert(history, "excel", tmp_path / "x")  # type: ignore[arg-type]
    assert (tmp_path / "mine.db").read_text() == "x"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["full", "in", "mine.db"]


def test_a_parameters_name_cannot_reach_into_sql(tmp_path: Path) -> None:
    name = "x'); DROP TABLE trials; --"
    space = Space.of([Parameter(name, "categorical", choices=("'; DELETE FROM studies; --", "b"))])
    rows = [{name: choice} for choice in space[name].choices]
    found = tuple(Trial(k, row, (float(k),), reason="'); --") for k, row in enumerate(rows))
    history = History(space, (Objective("c'; --"),), found)
    same(history, hl.read(hl.convert(history, "optuna", tmp_path / "run.db")))
    with sqlite3.connect(tmp_path / "run.db") as database:
        assert database.execute("SELECT COUNT(*) FROM trials").fetchone() == (2,)
    database.close()


def test_text_that_is_no_unicode(tmp_path: Path) -> None:
    name = "\ud800x\n"
    space = Space.of([Parameter(name, "categorical", choices=("\ud800", "b"))])
    rows = [{name: choice} for choice in space[name].choices]
    found = tuple(Trial(k, row, (float(k),), reason="\ud801") for k, row in enumerate(rows))
    history = History(space, (Objective("\ud802"),), found)
    same(history, hl.read(hl.convert(history, "table", tmp_path / "run")))
    with pytest.raises(hl.SourceError, match="not valid Unicode"):
        hl.convert(history, "optuna", tmp_path / "run.db")
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_a_damaged_table_is_said_to_be_one(tmp_path: Path) -> None:
    history = hl.read(tools.WRITERS["smac_object"](tmp_path / "in"))
    out = hl.convert(history, "table", tmp_path / "out")
    whole = (out / "trials.csv").read_text()
    for broken in (
        whole.replace("complete", "finished"),
        whole.replace("0.5", "half"),
        "",
        "a,b\n",
    ):
        (out / "trials.csv").write_text(broken)
        with pytest.raises(hl.HyperlensError):
            hl.read(out)
    description = json.loads((out / "run.json").read_text())
    assert description["format"] == "hyperlens run 1"
