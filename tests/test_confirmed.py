"""Trials that were run to settle a question: during a search, after it, and what came of them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from typer.testing import CliRunner

import hyperlens as hl
from hyperlens.cli import app
from hyperlens.explain.confirm.trial_files import trial_text
from hyperlens.optimize.optimizers.ledger import Result
from hyperlens.optimize.optimizers.settling import Settling
from hyperlens.proposal import Proposal, from_ranges
from hyperlens.record import record_of
from hyperlens.sections.choices import Choices
from hyperlens.sections.explanation import Explanation
from hyperlens.sections.plan import PLAN

SPACE = hl.Space.of(
    [
        hl.Parameter("x", "float", -1, 1),
        hl.Parameter("y", "float", -1, 1),
        hl.Parameter("kind", "categorical", choices=("a", "b")),
    ]
)


def cost(values: Any) -> float:
    return float((values["x"] - 0.3) ** 2 + values["y"] / 2 + 0.3 * (values["kind"] == "b"))


@cache
def searched(explain: float = 0.3) -> hl.History:
    return hl.minimize(cost, SPACE, "smbo", 28, explain=explain)


def settled(about: str = "x", count: int = 5) -> hl.History:
    """A search, and trials after it that were chosen to settle something."""
    history = searched(0.0)
    chosen = hl.confirm(history, about, count).configurations
    mark = Proposal("confirm", about=about)
    more = [hl.Trial(100 + k, dict(c), (cost(c),), proposal=mark) for k, c in enumerate(chosen)]
    return replace(history, trials=history.trials + tuple(more))


# During the search


def test_a_part_of_the_trials_after_the_design_goes_to_the_explanation() -> None:
    kinds = [t.proposal.kind for t in searched().trials if t.proposal]
    assert kinds[:12] == ["initial"] * 12
    assert Counter(kinds[12:]) == {"proposed": 12, "confirm": 4}  # 0.3 of 16
    last = [t for t in searched().trials if t.proposal and t.proposal.kind == "confirm"][-1]
    assert last.proposal is not None
    assert last.proposal.about == "importance"
    assert last.proposal.learned == f"0-{last.number - 1}"
    assert last.proposal.optimizer == "smbo"


def test_the_search_learns_those_of_them_that_came_out_well() -> None:
    trials = searched().trials
    last = max(t.number for t in trials if t.proposal and t.proposal.kind == "proposed")
    last -= last % 2  # odd ones look near the best
    proposal = trials[last].proposal
    assert proposal is not None
    assert proposal.kind == "proposed"
    costs = np.array([t.costs[0] for t in trials[:last]])
    settling = np.array([t.proposal is not None and t.proposal.kind == "confirm" for t in trials])
    own = settling[:last]
    apart = own & (costs > np.median(costs[~own]))
    assert apart.any()
    assert from_ranges(proposal.learned) == np.flatnonzero(~apart).tolist()
    assert hl.why(searched(), last).sentence


def test_only_bad_ones_for_the_explanation_are_apart() -> None:
    results = [Result(k, np.zeros(3), {}, float(c)) for k, c in enumerate([5, 4, 3, 2, 1, 9])]
    settling = Settling(SPACE, 0.5, 2, 0)  # trials 3 and 5
    assert settling.apart(results, np.array([r.cost for r in results])).tolist() == [
        *[False] * 5, True
    ]  # fmt: skip


@pytest.mark.parametrize("part", [0.0, 0.1, 0.3, 0.5, 0.99])
def test_turns_are_spread_evenly(part: float) -> None:
    turns = [Settling(SPACE, part, 10, 0).turn(k) for k in range(210)]
    assert not any(turns[:10])
    assert sum(turns) == int(part * 200 + 1e-9)
    for k in range(10, 200, 10):
        assert abs(sum(turns[k : k + 10]) - 10 * part) <= 1


def test_a_search_for_both_is_resumed_equal(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'run.db'}"
    for trials in (14, 19, 28):
        run = hl.minimize(cost, SPACE, "smbo", trials, explain=0.3, storage=storage)
    pairs = zip(run.trials, searched().trials, strict=True)
    assert all(dict(a.values) == dict(b.values) for a, b in pairs)


def test_such_a_trial_says_why_it_was_run() -> None:
    number = next(
        t.number for t in searched().trials if t.proposal and t.proposal.kind == "confirm"
    )
    record = hl.why(searched(), number)
    assert record.sentence.startswith(f"Trial {number} was chosen to settle what mattered")
    assert "not because it was expected to be good" in record.notes[0]
    assert number not in hl.path(searched()).trial


@pytest.mark.parametrize("part", [-0.1, 1.0, float("nan")])
def test_a_part_is_below_one(part: float) -> None:
    with pytest.raises(hl.SpaceError, match="from 0 to below 1"):
        hl.SMBO(SPACE, explain=part)


def test_several_at_once_are_different() -> None:
    search = hl.SMBO(SPACE, explain=0.5)
    for trial in searched().trials[:14]:
        search.tell(trial.values, trial.costs[0])
    asked = [search.ask() for _ in range(4)]
    vectors = np.array([c.vector for c in asked])
    assert len(np.unique(vectors.round(6), axis=0)) == 4
    assert {c.proposal.kind for c in asked} == {"proposed", "confirm"}


# After it


@pytest.mark.parametrize("about", ["x", "importance", "best", "x > 0"])
def test_what_came_of_it(about: str) -> None:
    history = settled(about)
    record = hl.confirmed(history)
    asked = hl.confirm(searched(0.0), about, 5)
    assert record.kind == asked.kind
    assert record.rows == asked.rows
    assert record.number.tolist() == [100, 101, 102, 103, 104]
    for name in ("low", "high"):
        assert getattr(record, f"before_{name}") == pytest.approx(getattr(asked, name))
        assert getattr(record, f"expected_{name}") == pytest.approx(
            getattr(asked, f"expected_{name}")
        )
    if asked.in_shares:
        now = hl.importance(history, surrogate="additive")
        at = now.parameters.index((record.rows[0],))
        assert record.after_low[0] == pytest.approx(now.low[at])
        assert record.after_high[0] == pytest.approx(now.high[at])
    assert record.sentence.startswith("5 trials run to settle it")
    assert record.sentence.endswith("was expected.")
    assert record_of(json.loads(record.to_json())).sentence == record.sentence
    assert len(record.plot().data) == 3


def test_a_run_that_does_not_keep_which_they_are_is_told(tmp_path: Path) -> None:
    marked = settled("x")
    plain = replace(marked, trials=tuple(replace(t, proposal=None) for t in marked.trials))
    for name in ("before_low", "expected_high", "after_high"):
        told = getattr(hl.confirmed(plain, "x", 5), name)
        np.testing.assert_array_equal(told, getattr(hl.confirmed(marked), name))
    with pytest.raises(hl.AnalysisError, match=r"The last 33 of 33 trials have none before them"):
        hl.confirmed(plain, "x", 33)
    hl.convert(plain, "table", tmp_path / "run")
    words = [str(tmp_path / "run"), "--trials", "5", "--about", "x", "--about", "y"]
    shown = CliRunner().invoke(app, ["confirmed", *words], catch_exceptions=False)
    assert "5 trials run to settle it" in shown.output
    assert shown.exit_code == 0


def test_a_run_without_such_trials_says_so() -> None:
    with pytest.raises(hl.AnalysisError, match="was run to settle a question"):
        hl.confirmed(searched())


def test_the_report_tells_of_it() -> None:
    section = next(section for section in PLAN if section.id == "confirm")
    cards = section.cards(Explanation(settled(), Choices()))
    assert [card.id for card in cards] == ["confirmed", "confirm"]
    assert cards[0].lead[0].startswith("5 trials run to settle it")
    (alone,) = section.cards(Explanation(searched(0.0), Choices()))
    assert alone.id == "confirm"


def test_lines_for_an_optuna_study_are_known_again() -> None:
    record = hl.confirm(searched(0.0), "x", 3)
    study = optuna.create_study()

    def objective(trial: optuna.Trial) -> float:
        return cost(
            {
                "x": trial.suggest_float("x", -1, 1),
                "y": trial.suggest_float("y", -1, 1),
                "kind": trial.suggest_categorical("kind", ["a", "b"]),
            }
        )

    for trial in searched(0.0).trials:
        study.enqueue_trial(dict(trial.values))
    exec(trial_text(record, "t.py")[0], {"study": study})
    study.optimize(objective, n_trials=31)
    came = hl.confirmed(hl.read(study))
    assert came.number.tolist() == [28, 29, 30]
    assert came.about == ("x",)


TRAIN = """
def loss(c):
    return (c["x"] - 0.3) ** 2 + c["y"] / 2 + 0.3 * (c["kind"] == "b")
"""


def test_a_run_is_tuned_and_settled_by_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(TRAIN)
    SPACE.save(Path("space.yaml"))
    words = ["train.py:loss", "--space", "space.yaml", "--trials", "20", "--confirm", "x"]
    for more in ("2", "4", "4"):  # it goes on with what is missing
        told = CliRunner().invoke(app, ["tune", *words, "--more", more], catch_exceptions=False)
        assert told.exit_code == 0, told.output
        assert f"{more} trials run to settle it" in told.output
    history = hl.read("run.db")
    kinds = Counter(t.proposal.kind for t in history.trials if t.proposal)
    assert kinds == {"initial": 12, "proposed": 8, "confirm": 4}
    expected = hl.confirm(replace(history, trials=history.trials[:20]), "x", 4)
    vectors = history.space.encode([t.values for t in history.trials[20:]])
    assert vectors == pytest.approx(expected.places)


def test_the_command_prints_and_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    hl.minimize(cost, SPACE, "smbo", 20, storage="sqlite:///run.db")
    words = ["run.db", "--about", "x", "--trials", "3", "--out", "trials.csv"]
    told = CliRunner().invoke(app, ["confirm", *words], catch_exceptions=False)
    assert told.exit_code == 0
    assert "3 trials to run, as a table" in told.output
    assert len(Path("trials.csv").read_text().splitlines()) == 4
    with pytest.raises(hl.AnalysisError, match="did you mean 'kind'"):
        CliRunner().invoke(app, ["confirm", "run.db", "--about", "kin"], catch_exceptions=False)
