"""One surrogate leads a run: Python, command line and report ask the same one, with the same numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from test_cli import good

import hyperlens as hl
from hyperlens.errors import AnalysisError
from hyperlens.explain.models import leader as leading
from hyperlens.explain.models.fitting import MOST_GP_PARAMETERS, Fitted
from hyperlens.explain.models.leader import Leader, reason
from hyperlens.explain.run.bias import unevenness
from hyperlens.sections.analysis import analyse
from hyperlens.sections.choices import Choices
from hyperlens.sections.explanation import Explanation
from hyperlens.sections.surrogates import SURROGATES
from hyperlens.surrogates.gaussian_process import averages
from hyperlens.surrogates.quality import Quality
from hyperlens.words import SURROGATES as NAMES

RATE = hl.Parameter("lr", "float", 1e-5, 1.0, log=True)
DEPTH = hl.Parameter("depth", "integer", 1, 9)
KIND = hl.Parameter("kind", "categorical", choices=("adam", "sgd"))
MOMENTUM = hl.Parameter("momentum", "float", 0.0, 1.0)
LR, KINDS = "lr", {"adam": 0.0, "sgd": 0.5}


@dataclass(frozen=True)
class Case:
    """A run by its space and costs, and which surrogate leads it."""

    name: str
    space: hl.Space
    cost: Callable[[Mapping[str, Any]], float]
    leads: str

    def frame(self, trials: int = 40) -> pd.DataFrame:
        rows = self.space.decode(self.space.sample(trials, seed=3))
        return pd.DataFrame([{**values, "cost": self.cost(values)} for values in rows])

    def history(self) -> hl.History:
        return hl.read(self.frame(), space=self.space, objective="cost")


def scaled(values: Mapping[str, Any]) -> float:
    """The learning rate on [0, 1], as the search sees it."""
    return 1 + math.log10(values[LR]) / 5


def smooth(values: Mapping[str, Any]) -> float:
    return (scaled(values) - 0.4) ** 2 + 0.02 * int(values["depth"]) + KINDS[values["kind"]]


def stepwise(values: Mapping[str, Any]) -> float:
    """A cliff in each number, which trees cut and a smooth process does not."""
    return 4.0 * (scaled(values) > 0.63) + 1.0 * bool(
        values["depth"] > 4 and values["kind"] == "sgd"
    )


def diverging(values: Mapping[str, Any]) -> float:
    """Ten thousands beyond a learning rate, and small below it."""
    return smooth(values) + 2e4 * (scaled(values) > 0.7)


def conditional(values: Mapping[str, Any]) -> float:
    return scaled(values) ** 2 + 0.5 * float(values.get("momentum", 0.3)) ** 2


FLAT = hl.Space.of([RATE, DEPTH, KIND])
NESTED = hl.Space.of([RATE, KIND, MOMENTUM], {"momentum": ((("kind", "equal", "sgd"),),)})
CASES = (
    Case("smooth", FLAT, smooth, "additive"),
    Case("stepwise", FLAT, stepwise, "forest"),
    Case("diverging", FLAT, diverging, "additive"),  # of what is left without the diverged trials
    Case("conditional", NESTED, conditional, "additive"),
)


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.param
    return found


@pytest.fixture(scope="module")
def history(case: Case) -> hl.History:
    return case.history()


@pytest.fixture(scope="module")
def source(case: Case, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The same run as words of a command."""
    folder: Path = tmp_path_factory.mktemp(case.name)
    case.frame().to_csv(folder / "run.csv", index=False)
    case.space.save(folder / "space.json")
    return [str(folder / "run.csv"), "--space", str(folder / "space.json"), "--objective", "cost"]


def fits(history: hl.History) -> list[Fitted]:
    return [hl.fit(history, name) for name in ("additive", "gp", "forest")]


def as_plain(record: hl.Effect | hl.Regions | hl.Ablation | hl.LocalImportance) -> Any:
    return json.loads(record.to_json())


def test_the_additive_process_leads_unless_another_predicts_clearly_better(
    case: Case, history: hl.History
) -> None:
    found = hl.leader(history)
    left = {fitted.name: 1 - fitted.quality.r2 for fitted in fits(history)}
    clearly = min(left.values()) < leading.CLEARLY * left["additive"]
    best = min(left, key=lambda name: left[name])
    assert found.primary.name == case.leads == (best if clearly else "additive")
    assert found.primary is hl.fit(history, case.leads)
    assert found.secondary is not None
    assert (found.secondary.name == "forest") == (case.leads != "forest")
    assert f"{1 - left[case.leads]:.2f}" in found.sentence
    assert hl.leader(history) is found


def test_every_explanation_asks_the_leader(case: Case, history: hl.History) -> None:
    explained = (
        hl.importance(history),
        hl.importance(history, level=None),
        hl.interactions(history, level=None),
        hl.effect(history, LR),
        hl.effect(history, (LR, "kind"), grid=4),
        hl.regions(history, LR, splits=1, sample=64),
        hl.ablation(history, 0),
        hl.local_importance(history),
    )
    quality = hl.fit(history, case.leads).quality
    assert [record.surrogate for record in explained] == [case.leads] * len(explained)
    assert all(record.quality == quality for record in explained)


def test_a_report_has_the_numbers_of_python(case: Case, history: hl.History) -> None:
    kept = json.loads(analyse(case.history(), Choices(level=None)).to_json())
    assert kept["method"]["surrogates"]["primary"] == case.leads
    assert (
        kept["method"]["surrogates"]["qualities"][0]["r2"] == hl.leader(history).primary.quality.r2
    )
    assert kept["importance"]["importance"] == json.loads(
        hl.importance(history, level=None).to_json()
    )
    assert kept["best"]["ablation"] == as_plain(hl.ablation(history))
    assert kept["best"]["local"] == as_plain(hl.local_importance(history))
    effects, trees = kept["effects"]["effects"], kept["regions"]["regions"]
    assert len(effects) == len(case.space)
    for record in effects:
        assert record == as_plain(hl.effect(history, record["parameters"]))
    assert trees
    for record in trees:
        assert record == as_plain(hl.regions(history, record["parameter"], splits=5))
    pairs = {tuple(pair) for pair in kept["interactions"]["interactions"]["pairs"]}
    found = hl.interactions(history, level=None, effects=0)
    assert pairs == set(found.pairs)
    assert kept["interactions"]["interactions"]["h"] == found.h.tolist()


def test_the_command_line_has_the_numbers_of_python(source: list[str], history: hl.History) -> None:
    asked: tuple[tuple[list[str], Any], ...] = (
        (["effect", *source, LR, "--grid", "5"], hl.effect(history, LR, grid=5)),
        (
            ["regions", *source, LR, "--splits", "1"],
            hl.regions(history, LR, splits=1),
        ),
        (["ablation", *source, "--from", "0"], hl.ablation(history, 0)),
        (["local-importance", *source], hl.local_importance(history)),
        (["interactions", *source, "--level", "0"], hl.interactions(history, level=None)),
        (["importance", *source, "--level", "0"], hl.importances(history, level=None)),
    )
    for words, record in asked:
        assert good(*words, "--format", "json").out == record.to_json() + "\n", words[0]


def test_a_diverging_run_is_not_said_to_be_best_far_below_what_was_measured() -> None:
    """A process swings below zero beside a cliff; the leader stays within the costs."""
    run = replace(CASES[2].history(), keep_tail=True)
    assert hl.leader(run).primary.name == "forest"
    lowest = float(run.data().y.min())
    assert hl.effect(run, LR, surrogate="gp").mean.min() < lowest - 1
    assert hl.effect(run, LR).mean.min() >= lowest
    assert hl.local_importance(run).best.min() >= lowest


def test_a_named_or_given_one_leads_instead() -> None:
    run = CASES[1].history()  # led by the forest
    _, gp, forest = fits(run)
    named = hl.leader(run, surrogate="gp")
    assert (named.primary, named.secondary) == (gp, forest)
    assert "which was asked for" in named.sentence
    assert hl.leader(run, surrogate="forest").candidates == (forest,)
    assert hl.leader(run, surrogate=gp.model).primary.model is gp.model
    assert hl.effect(run, LR, surrogate=gp.model).mean.tolist() == (
        hl.effect(run, LR, surrogate="gp").mean.tolist()
    )
    with pytest.raises(AnalysisError, match="no surrogate 'svm'"):
        hl.effect(run, LR, surrogate="svm")


def quality(r2: float, name: str = "one") -> Quality:
    return Quality(name, r2, 0.5, 0.9, 40, 5, "trust", "")


def stub(fitted: Fitted, name: Any, r2: float) -> Fitted:
    return replace(fitted, name=name, quality=quality(r2, NAMES[name]))


def test_equals_go_by_the_table_and_the_forest_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others lead where they leave at most a quarter of what the additive process does."""
    run = CASES[0].history()
    one = hl.fit(run, "gp")
    r2: dict[str, float] = {}

    def led() -> Leader:
        run.memory.clear()
        return hl.leader(run)

    monkeypatch.setattr(leading, "fit", lambda h, name, **how: stub(one, name, r2[name]))
    for scores, primary, secondary in (
        ((0.5, 0.5, 0.5), "additive", "forest"),
        ((0.2, 0.79, 0.79), "additive", "forest"),
        ((0.2, 0.81, 0.79), "gp", "forest"),
        ((0.2, 0.79, 0.81), "forest", "additive"),
        ((0.4, 0.5, 0.95), "forest", "additive"),
        ((0.4, 0.9, 0.95), "forest", "gp"),
        ((math.nan, -3.0, math.nan), "gp", "forest"),
        ((math.nan, math.nan, math.nan), "additive", "forest"),
    ):
        r2 |= dict(zip(("additive", "gp", "forest"), scores, strict=True))
        found = led()
        assert found.secondary is not None
        assert (found.primary.name, found.secondary.name) == (primary, secondary), scores
        assert found.process.name == "gp"

    def of_few(h: hl.History, name: str, **how: Any) -> Fitted:
        found = stub(one, name, r2[name])
        return replace(found, quality=replace(found.quality, trials=leading.ENOUGH - 1))

    monkeypatch.setattr(leading, "fit", of_few)
    r2 |= {"additive": 0.2, "gp": 0.99, "forest": 0.9}
    assert [fitted.name for fitted in led().candidates] == ["additive", "gp", "forest"]


@pytest.mark.parametrize("where", ["evenly", "in a corner", "at the ends"])
def test_nobody_else_leads_what_an_optimiser_left(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However well another predicts where the search has looked: a search may crowd, or sit at ends."""
    run = CASES[0].history()
    one = hl.fit(run, "gp")
    even = np.random.default_rng(0).random(one.training.X.shape)
    X = {"evenly": even, "in a corner": 0.3 * even, "at the ends": np.round(even)}[where]
    one = replace(one, training=replace(one.training, X=X))
    r2 = {"additive": 0.2, "gp": 0.99, "forest": 0.9}
    monkeypatch.setattr(leading, "fit", lambda h, name, **how: stub(one, name, r2[name]))
    assert hl.leader(run).primary.name == ("gp" if where == "evenly" else "additive")


def test_a_random_design_is_as_uneven_as_chance_has_it() -> None:
    rng = np.random.default_rng(1)
    cube = CASES[0].history().space.cube
    designs = [unevenness(cube, cube.vectors(rng.random((60, cube.d))), seed) for seed in range(40)]
    assert np.sqrt(np.mean(np.square(designs))) == pytest.approx(1, abs=0.2)
    assert unevenness(cube, cube.vectors(0.2 * rng.random((60, cube.d)))) > leading.EVEN


def test_why_it_leads_in_a_sentence() -> None:
    one, other, unknown = quality(0.91), quality(0.74, "other"), quality(math.nan, "third")
    start = "The numbers come from the"
    best = f"{start} one, which cross-validates best: R2 0.91, against 0.74 of the other."
    assert reason(one, [unknown, other]) == best
    assert reason(other, [one]) == (
        f"{start} other, which was asked for: R2 0.74, against 0.91 of the one."
    )
    assert reason(one, []) == f"{start} one, the only surrogate that was asked."
    assert reason(unknown, [unknown]) == f"{start} third; no surrogate could be cross-validated."


def wide() -> hl.History:
    """More parameters than a Gaussian process learns."""
    names = [f"x{k}" for k in range(MOST_GP_PARAMETERS + 1)]
    X = np.random.default_rng(0).random((30, len(names)))
    frame = pd.DataFrame(X, columns=names).assign(cost=X[:, 0])
    space = hl.Space.of([hl.Parameter(name, "float", 0.0, 1.0) for name in names])
    return hl.read(frame, space=space, objective="cost")


def test_why_another_was_not_asked_is_said() -> None:
    run = wide()
    found = hl.leader(run)
    assert (found.primary.name, found.secondary) == ("forest", None)
    additive, problem = found.problems
    assert additive.startswith("The additive Gaussian process was not asked: ")
    assert problem.startswith("The Gaussian process was not asked: ")
    assert str(MOST_GP_PARAMETERS + 1) in problem
    assert problem in found.notes
    assert "the only surrogate" in found.sentence
    assert problem in hl.importance(run, 1, level=None).notes
    assert hl.effect(run, "x0", grid=3, ice=0).surrogate == "forest"
    why = hl.why(run, 20, method="paired", samples=4, size=16)
    assert (why.surrogate, why.recorded) == ("forest", False)
    assert problem in why.notes


def test_one_that_cannot_be_averaged_does_not_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else effects and importance would have to ask different ones."""
    monkeypatch.setattr(averages, "MOST_SCENARIOS", 1)
    run = CASES[3].history()
    found = hl.leader(run)
    assert (found.primary.name, found.secondary) == ("forest", None)
    assert "not feasible" in found.problems[0]
    assert hl.effect(run, LR).surrogate == hl.importance(run).surrogate == "forest"


def test_nothing_to_learn_from_is_refused_by_all_alike() -> None:
    run = replace(CASES[0].history(), trials=())
    problems = set()
    for explain in (hl.leader, hl.importance, hl.local_importance, lambda h: hl.effect(h, LR)):
        with pytest.raises(AnalysisError) as refused:
            explain(run)
        problems.add(str(refused.value))
    assert len(problems) == 1
    record = Explanation(run, Choices())[SURROGATES]
    assert (record.qualities, record.leading, record.notes) == ((), None, tuple(problems))


def test_the_report_follows_who_is_named() -> None:
    run = CASES[1].history()  # led by the forest
    record = analyse(run, Choices(surrogate="gp", level=None))[SURROGATES]
    assert record.qualities[0].surrogate == "Gaussian process"
    assert (record.primary, record.leading) == ("gp", hl.fit(run, "gp").quality)
    assert record.sentence == hl.leader(run, surrogate="gp").sentence


def test_reasons_of_a_foreign_search_are_those_of_a_process_and_say_who_leads() -> None:
    run = CASES[1].history()  # led by the forest
    why, path = hl.why(run, 30, size=64), hl.path(run, trials=[30, 31], size=64)
    assert why.surrogate == path.surrogate == "gp"
    _, gp, forest = fits(run)
    told = (
        f"Over the whole run the random forest leads, with R2 {forest.quality.r2:.2f} against "
        f"{gp.quality.r2:.2f} of the Gaussian process"
    )
    for notes in (why.notes, path.notes):
        assert any(note.startswith(told) for note in notes)
        assert any("Gaussian process was fitted to the" in note for note in notes)
    smooth = hl.why(CASES[0].history(), 30, size=64)
    assert smooth.surrogate == "gp"
    assert any("the additive Gaussian process leads" in note for note in smooth.notes)
