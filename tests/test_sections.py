"""The report and the live page say the same of every run, section by section."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import optuna
import pandas as pd
import pytest
from sklearn.datasets import make_classification

import hyperlens as hl
from hyperlens.cash.search.search import Search
from hyperlens.dashboard.catalogue import Run, Source
from hyperlens.dashboard.query import SECTIONS, Query
from hyperlens.dashboard.query_cards import query_cards
from hyperlens.dashboard.reader import Reader
from hyperlens.sections.analysis import Analysis, analyse
from hyperlens.sections.cards.card import Card
from hyperlens.sections.choices import Choices
from hyperlens.sections.plan import PLAN

optuna.logging.set_verbosity(optuna.logging.ERROR)

KINDS = ["random", "hyperband", "smbo", "optuna", "cash"]
OF_ONE = ("effects", "regions", "pairs")  # a page shows those of one parameter at a time
SPACE = hl.Space.of(
    [
        hl.Parameter("x", "float", -1, 1),
        hl.Parameter("y", "float", -1, 1),
        hl.Parameter("kind", "categorical", choices=("a", "b")),
    ]
)


def cost(values: Any, budget: float = 1.0) -> float:
    noise = (1 - budget) * values["y"] ** 2
    return float((values["x"] - 0.3) ** 2 + values["x"] * values["y"] / 2 + noise)


def study(trials: int) -> optuna.Study:
    made = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    ranges = {
        "x": optuna.distributions.FloatDistribution(-1, 1),
        "y": optuna.distributions.FloatDistribution(-1, 1),
    }
    made.optimize(lambda t: cost({n: t.suggest_float(n, -1, 1) for n in ranges}), n_trials=trials)
    return made


def models(storage: Any) -> hl.History:
    """A small search over two models."""
    X, y = make_classification(60, 4, random_state=0)
    fast = ("GaussianNB", "QuadraticDiscriminantAnalysis")
    table = pd.DataFrame(X)
    return Search(table, y, "classification", 18, folds=1, models=fast, storage=storage).run()


def history(kind: str, folder: Path) -> hl.History:
    if kind == "optuna":
        return hl.read(study(20))
    if kind == "cash":
        models(f"sqlite:///{folder / 'search.db'}")
        return hl.read(folder / "search.db")
    trials = {"random": 24, "hyperband": 27, "smbo": 16}[kind]
    return hl.minimize(cost, SPACE, kind, trials)


@pytest.fixture(scope="module", params=KINDS)
def run(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[hl.History, Analysis]:
    made = history(request.param, tmp_path_factory.mktemp("run"))
    return made, analyse(made)


def live(run: hl.History, section: str, **choices: Any) -> list[Card]:
    """What the page answers; the run is as it was read, with nothing remembered."""
    return list(query_cards(run, Query(section, Choices(**choices)), {}))


def told(cards: list[Card]) -> list[str]:
    """Everything of the cards: ids, titles, leads, tables, figures; as text, for nan is not nan."""
    return [repr(card) for card in cards]


def test_sections_are_those_of_the_report(run: tuple[hl.History, Analysis]) -> None:
    fresh, analysis = replace(run[0]), run[1]
    for section in SECTIONS.values():
        if section.id not in OF_ONE:
            assert told(live(fresh, section.id)) == told(list(section.cards(analysis))), section.id


def test_models_are_shown_of_a_search_over_models_alone(run: tuple[hl.History, Analysis]) -> None:
    shown = [card.id for card in run[1].cards if card.section == "Models"]
    assert shown == (["models", "winner"] if "model" in run[0].space.names else [])
    assert [card.id for card in live(replace(run[0]), "models")] == shown


def test_cards_of_one_parameter_are_those_of_the_report(run: tuple[hl.History, Analysis]) -> None:
    fresh, analysis = replace(run[0]), run[1]
    report = {id: list(SECTIONS[id].cards(analysis)) for id in OF_ONE}
    assert report["effects"]
    assert told(live(fresh, "effects")) == told(report["effects"][:1])
    for shown, printed in zip(live(fresh, "regions"), report["regions"][:1], strict=True):
        if printed.figure is None:  # a report says in a sentence that no region is surer
            assert (shown.id, shown.lead[0]) == (printed.id, *printed.lead)
        else:
            assert told([shown]) == told([printed])
    assert live(fresh, "pairs") == []
    for name in fresh.space.names:
        (card,) = live(fresh, "effects", parameter=name)
        assert told([card])[0] in told(report["effects"])
    for first, second in combinations(fresh.space.names, 2):
        (card,) = live(fresh, "pairs", parameter=second, other=first)
        assert told([card])[0] in told(report["pairs"]) or card.id not in [
            other.id for other in report["pairs"]
        ]


def test_the_page_offers_the_proposals_that_the_report_explains(tmp_path: Path) -> None:
    """Only those of a surrogate count as recorded, neither a design nor what was drawn."""
    path = f"sqlite:///{tmp_path / 'runs.db'}"
    for kind in ("random", "hyperband", "smbo"):
        hl.minimize(cost, SPACE, kind, 16, storage=path, study=kind)
    reader = Reader((Source(path),))
    states = {name: reader.look(Run(0, name, name)) for name in ("random", "hyperband", "smbo")}
    assert {name: state.recorded for name, state in states.items()} == {
        "random": False,
        "hyperband": False,
        "smbo": True,
    }
    analysis = analyse(hl.read(path, "smbo"))
    assert states["smbo"].explained == tuple(analysis.records["path"].trial.tolist())


def test_every_card_is_in_the_section_that_names_it(run: tuple[hl.History, Analysis]) -> None:
    cards = run[1].cards
    assert [card.section for card in cards] == [s.title for s in PLAN for _ in s.cards(run[1])]
    assert len({card.id for card in cards}) == len(cards)
    for section in PLAN:  # a link to a card leads to its section
        for card in section.cards(run[1]):
            assert re.sub(r"(-\d+)*$", "", card.id) in section.holds
