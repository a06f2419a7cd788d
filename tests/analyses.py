"""An analysis with numbers small enough to check by hand, for the tests of cards and pages."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
from fronts import chosen, front, on_both, sure_front, traded
from questions import as_formula, in_common, reached, told_apart
from views import ahead, learnt, next_space, searched, together, tree, tuned

from hyperlens.explain.confirm.confirm import Confirm
from hyperlens.explain.effects.effect import Effect
from hyperlens.explain.importance.ablation import Ablation
from hyperlens.explain.importance.importance import Importance
from hyperlens.explain.importance.local_importance import LocalImportance
from hyperlens.explain.importance.questions import leading_question
from hyperlens.explain.models.verdict import Verdict
from hyperlens.explain.next.winner import Winner
from hyperlens.explain.run.compare_runs import RunComparison
from hyperlens.explain.run.footprint import Footprint
from hyperlens.explain.run.overview import Overview
from hyperlens.explain.run.spending import Spending
from hyperlens.explain.run.timeline import Timeline
from hyperlens.explain.run.trials import Trials
from hyperlens.sections.analysis import Analysis
from hyperlens.sections.choices import Choices
from hyperlens.sections.explanation import Unavailable
from hyperlens.sections.surrogates import Surrogates
from hyperlens.surrogates.quality import Quality

TRUST = Verdict("trust", "it predicts well", "")
CAUTION = Verdict("caution", "it is a tendency", "run 4 more trials")
LOW = Quality("random forest", 0.4, 0.6, 0.8, 4, 2, "caution", "Read it as a tendency.")
HIGH = Quality("Gaussian process", 0.9, 0.9, float("nan"), 4, 2, "trust", "It predicts well.")


def effect(name: str, choice: str | None = None, note: str = "a note") -> Effect:
    """A curve that is best (smallest) at 2, or points that are best at `choice`."""
    mean = np.array([1.0, 0.5, 0.52, 2.5])
    values = (1.0, 2.0, 3.0, 4.0) if choice is None else ("a", choice, "b", "c")
    seen: tuple[Any, ...] = (1.5, 2.5, None) if choice is None else (choice, "a", choice)
    return Effect(
        objective="loss",
        maximize=False,
        parameters=(name,),
        values=(values,),
        log=(False,),
        numeric=(choice is None,),
        mean=mean,
        std=np.full(4, 0.1),
        low=mean - 0.2,
        high=mean + 0.2,
        pointwise=np.full(4, 0.1),
        joint=np.full(4, 0.05),
        band="pointwise",
        level=0.95,
        surrogate="process",
        observed=(seen,),
        observed_cost=np.array([1.0, 0.4, 0.7]),
        support=np.ones(4),
        ice_mean=np.empty((0, 4)),
        ice_std=np.empty((0, 4)),
        best_values=(seen[0],),
        quality=HIGH,
        verdict=TRUST,
        notes=(note,),
    )


def trials(name: str = "lr", choice: str = "adam", text: str = "plain") -> Trials:
    """Four trials of which one failed."""
    return Trials(
        objective="loss",
        maximize=False,
        parameters=(name, "opt", "momentum"),
        number=np.arange(4),
        state=("complete", "failed", "complete", "complete"),
        cost=np.array([1.0, np.nan, 0.4, 0.7]),
        analysed=np.array([True, False, True, True]),
        budget=np.full(4, np.nan),
        seconds=np.array([1.0, 2.0, 3.0, 4.0]),
        proposer=(None,) * 4,
        reason=(None, text, None, None),
        values=((0.1, 0.2, 0.1, 0.4), (choice, choice, choice, "sgd"), (None, None, None, 0.5)),
        places=np.array(
            [[0.1, 0.25, np.nan], [0.2, 0.25, np.nan], [0.1, 0.25, np.nan], [0.4, 0.75, 0.5]]
        ),
        ticks=(
            ((0.0, 0.01), (1.0, 1.0)),
            ((0.25, choice), (0.75, "sgd")),
            ((0.0, 0.0), (1.0, 1.0)),
        ),
    )


def timeline() -> Timeline:
    """Two trials at once, one after them."""
    return Timeline(
        number=np.array([0, 1, 2]),
        start=np.array([0.0, 1.0, 4.0]),
        end=np.array([4.0, 3.0, 8.0]),
        lane=np.array([0, 1, 0]),
        state=("complete", "failed", "complete"),
        edges=np.array([0.0, 4.0, 8.0]),
        finished={"complete": np.array([0, 2]), "failed": np.array([1, 0])},
        running=np.array([1.5, 1.0]),
        notes=("1 of 4 trials recorded no times.",),
    )


def footprint(name: str = "lr") -> Footprint:
    return Footprint(
        objective="loss",
        maximize=False,
        number=np.array([0, 2, 3]),
        x=np.array([0.0, 1.0, 2.0]),
        y=np.array([0.0, 1.0, 0.0]),
        cost=np.array([1.0, 0.4, 0.7]),
        best_trial=2,
        even=np.array([[0.5, 0.5], [1.5, 0.2]]),
        stress=0.2,
        weights={name: 1.0, "opt": 0.5},
        seed=0,
        notes=(),
    )


def spending(choice: str = "adam") -> Spending:
    """Two models at two budgets."""
    return Spending(
        objective="loss",
        maximize=False,
        choice="opt",
        models=(choice, "sgd"),
        budgets=(1.0, 9.0),
        trials=np.array([[3, 1], [2, 0]]),
        seconds=np.array([[3.0, 9.0], [2.0, 0.0]]),
        best=np.array([[0.6, 0.4], [0.9, np.nan]]),
        steps=np.array([1, 3, 6]),
        path=np.array([[1.0, 0.5, 2 / 3], [0.0, 0.5, 1 / 3]]),
        notes=(),
    )


def lucky() -> Winner:
    """Trial 2 was measured best, trial 3 is expected to be."""
    return Winner(
        objective="loss",
        maximize=False,
        configurations=3,
        trial=np.array([2, 3, 0]),
        observed=np.array([0.4, 0.7, 1.0]),
        expected=np.array([0.7, 0.6, 0.9]),
        low=np.array([0.3, 0.4, 0.8]),
        high=np.array([0.9, 0.8, 1.0]),
        probability=np.array([0.3, 0.69, 0.01]),
        repeats=np.array([1, 1, 1]),
        recommended=3,
        single=2,
        single_of=2,
        noise=0.2,
        known_noise=False,
        told_apart=True,
        five=(3, 2, 0),
        needed=8,
        chance=0.69,
        matters=0.01,
        sure=0.9,
        overtuning=None,
        level=0.9,
        seed=7,
    )


def runs(name: str = "first") -> RunComparison:
    """The first led after two trials, the second in the end."""
    return RunComparison(
        objective="loss",
        maximize=False,
        runs=(name, "second"),
        objectives=("loss", "loss"),
        trace=(np.array([0.5, 0.3]), np.array([0.9, 0.8, 0.2])),
        elapsed=(np.array([1.0, 2.0]), np.full(3, np.nan)),
        best=np.array([0.3, 0.2]),
        at_common=np.array([0.3, 0.8]),
        common=2,
        notes=("Their search spaces are not the same.",),
    )


def settling(name: str = "lr", choice: str = "adam", text: str = "plain") -> Confirm:
    """Two trials that would narrow the wider interval from 0.6 to 0.2."""
    ticks: tuple[Any, ...] = (
        ((0.0, 0.01), (1.0, 1.0)),
        ((0.25, choice), (0.75, "sgd")),
        ((0.0, 0.0), (1.0, 1.0)),
    )
    return Confirm(
        objective="loss",
        kind="importance",
        about=("importance",),
        parameters=(name, "opt", "momentum"),
        configurations=({name: 0.5, "opt": choice}, {name: 0.9, "opt": "sgd", "momentum": 0.5}),
        left=np.array([0.7, 0.4]),
        rows=(name, "opt"),
        value=np.array([0.5, 0.1]),
        low=np.array([0.2, 0.0]),
        high=np.array([0.8, 0.2]),
        expected_low=np.array([0.4, 0.05]),
        expected_high=np.array([0.6, 0.15]),
        level=0.9,
        repeats=0,
        places=np.array([[0.5, 0.25, np.nan], [0.9, 0.75, 0.5]]),
        known=trials(name, choice, text).places[[0, 2, 3]],
        ticks=ticks,
        trials=3,
        seed=7,
        quality=HIGH,
        verdict=TRUST,
        notes=(text,),
    )


def walked(name: str = "lr", choice: str = "adam", text: str = "plain") -> Ablation:
    """From 1 to 0.4 by two changes, of which the first did 0.5."""
    return Ablation(
        objective="loss",
        maximize=False,
        method="forward",
        source="the default configuration",
        target="the best trial (2)",
        parameters=(name, "opt"),
        source_values=(0.5, "sgd"),
        target_values=(0.1, choice),
        cost=np.array([1.0, 0.5, 0.4]),
        std=np.full(3, 0.1),
        contribution=np.array([-0.5, -0.1]),
        share=np.array([5 / 6, 1 / 6]),
        first=np.array([-0.5, -0.3]),
        shapley=np.array([-0.4, -0.2]),
        payout=-0.6,
        surrogate="process",
        quality=HIGH,
        verdict=TRUST,
        sentence=f"{name} accounts for -0.5.",
        notes=(text,),
    )


def around(name: str = "lr", choice: str = "adam", text: str = "plain") -> LocalImportance:
    """Around the best trial nearly everything is due to one parameter."""
    return LocalImportance(
        objective="loss",
        maximize=False,
        at="the best trial (2)",
        cost=0.4,
        parameters=(name, "opt", "momentum"),
        values=(0.1, choice, None),
        share=np.array([0.9, 0.1, 0.0]),
        std=np.array([0.3, 0.1, 0.0]),
        best=np.array([0.35, 0.4, 0.4]),
        best_values=(0.2, choice, None),
        surrogate="process",
        quality=HIGH,
        verdict=TRUST,
        sentence=f"{name} matters most.",
        notes=(text,),
    )


def changed(analysis: Analysis, **records: Any) -> Analysis:
    """The same analysis with other records, by the names of their parts."""
    return replace(analysis, records={**analysis.records, **records})


def analysis(name: str = "lr", choice: str = "adam", text: str = "plain") -> Analysis:
    overview = Overview(
        source=text,
        objective="loss",
        maximize=False,
        states={"complete": 3, "failed": 1},
        best=0.4,
        best_trial=2,
        best_values={name: 0.1, "opt": choice},
        number=np.array([0, 2, 3]),
        cost=np.array([1.0, 0.4, 0.7]),
        trace=np.array([1.0, 0.4, 0.4]),
        parameters=(name, "opt", "momentum"),
        conditions={"momentum": f"opt is {choice}"},
        constants={"epochs": 9},
        notes=(text,),
    )
    importance = Importance(
        objective="loss",
        parameters=((name,), (name, "opt"), ("opt",)),
        share=np.array([0.6, 0.2, 0.1]),
        std=np.array([0.1, 0.1, 0.1]),
        low=np.array([0.5, 0.1, 0.05]),
        high=np.array([0.7, 0.3, 0.2]),
        surrogate="forest",
        cap=None,
        secondary_quality=None,
        rank_low=np.array([1.0, 2.0, 3.0]),
        rank_high=np.array([1.0, 2.0, 3.0]),
        secondary=np.array([0.5, 0.2, 0.1]),
        secondary_low=np.array([0.5, 0.2, 0.1]),
        secondary_high=np.array([0.5, 0.2, 0.1]),
        rest=0.1,
        level=0.9,
        order=2,
        trees=16,
        trials=3,
        seed=7,
        quality=LOW,
        verdict=CAUTION,
        notes=(text,),
    )
    good = replace(importance, among="good", bound=0.7, quantile=0.5, below=2)
    missing = Unavailable("momentum", text, ("momentum",))
    records = {
        "forecast": ahead(),
        "advice": next_space(name, text),
        "overview": overview,
        "trials": trials(name, choice, text),
        "timeline": timeline(),
        "spending": spending(choice),
        "luck": lucky(),
        "pareto": front(name, choice, text),
        "true_front": sure_front(text),
        "choice": chosen(name, choice, text),
        "tradeoff": (traded(name, text),),
        "effects_of": (on_both(effect(name), replace(effect(name), objective=text)),),
        "feasibility": None,
        "failures": None,
        "curves": learnt(name, text),
        "footprint": footprint(name),
        "models": None,
        "winner": None,
        "importance": importance,
        "good": good,
        "question": leading_question(importance, good),
        "interactions": together(name),
        "tunability": tuned(name, choice, text),
        "top": told_apart(name, text),
        "reach": reached(name, choice, text),
        "formulas": (as_formula(name, text), missing),
        "ablation": walked(name, choice, text),
        "local": around(name, choice, text),
        "effects": (effect(name, note=text), effect("opt", choice), missing),
        "regions": (tree(name, f"opt is {choice}"),),
        "pairs": (),
        "why": None,
        "path": None,
        "confirm": settling(name, choice, text),
        "confirmed": None,
        "hindsight": None,
        "bias": searched(name),
        "comparison": runs(text),
        "across": in_common(name, choice, text),
        "surrogates": Surrogates((LOW, HIGH), "forest", (text, "a warning")),
    }
    return Analysis(records, Choices(seed=7), "1.2.3")


class Page(HTMLParser):
    """What a browser would see: tags with attributes, texts, scripts, rows of tables."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text = ""
        self._in: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        while self._in and self._in.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._in and self._in[-1] == "script":
            self.scripts[-1] += data
        elif not self._in or self._in[-1] != "style":
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]
