"""Costs that diverged: found where they are, never where costs are merely spread; then set aside."""

from __future__ import annotations

import html
from collections.abc import Callable

import numpy as np
import pytest
from typer.testing import CliRunner

import hyperlens as hl
from hyperlens.cli import app
from hyperlens.reports.render import card_html
from hyperlens.runs.diverging.divergence import separating_rule
from hyperlens.runs.diverging.tail import find_tail
from hyperlens.sections.analysis import Analysis, analyse
from hyperlens.sections.choices import Choices
from hyperlens.spaces.cube import FloatArray

Draw = Callable[[np.random.Generator, int], FloatArray]

SPACE = hl.Space.of(
    [
        hl.Parameter("lr", "float", 1e-5, 1.0, log=True),
        hl.Parameter("depth", "integer", 1, 8),
        hl.Parameter("act", "categorical", choices=("relu", "tanh", "gelu")),
    ]
)
LIMIT = 0.3  # a learning rate above diverges: about a tenth of the axis
FAR: dict[str, Draw] = {
    "random size": lambda rng, n: 10 ** rng.uniform(1, 9, n),
    "constant": lambda rng, n: np.full(n, 1e6),
}


def smooth(values: dict[str, object]) -> float:
    """Half of the variance by the learning rate, a third by the depth, the rest by the activation."""
    lr, depth = np.log10(float(str(values["lr"]))), int(str(values["depth"]))
    act = {"relu": 0.0, "tanh": 0.3, "gelu": 0.1}[str(values["act"])]
    return float(0.5 + 0.1 * (lr + 3) ** 2 + 0.1 * (8 - depth) + act)


def run(kind: str | None, trials: int = 120, seed: int = 1, sign: float = 1.0) -> hl.History:
    rng = np.random.default_rng(seed)
    configurations = SPACE.decode(rng.random((trials, 3)))
    huge = FAR[kind](rng, trials) if kind else np.zeros(trials)
    told = []
    for k, values in enumerate(configurations):
        cost = float(huge[k]) if kind and values["lr"] > LIMIT else smooth(values)
        told.append(hl.Trial(k, values, (sign * cost,)))
    return hl.History(SPACE, (hl.Objective("loss", sign < 0),), tuple(told))


def diverging(history: hl.History) -> list[bool]:
    return [trial.values["lr"] > LIMIT for trial in history.trials]


@pytest.mark.parametrize("kind", FAR)
@pytest.mark.parametrize("part", [0.1, 0.3])
def test_a_tail_is_found(kind: str, part: float) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        far = FAR[kind](rng, int(100 * part))
        costs = np.r_[rng.uniform(0.01, 2, 100 - len(far)), far]
        tail = find_tail(costs)
        assert tail is not None
        assert tail.part >= 0.999
        assert not tail.inside[costs <= 2].any()
        # one that lies within some reaches of the body is not told from it
        assert tail.inside[costs > 20].mean() > 0.8


NONE: dict[str, Draw] = {
    "uniform": lambda rng, n: rng.uniform(0, 1000, n),
    "normal": lambda rng, n: rng.normal(0, 1000, n),
    "exponential": lambda rng, n: rng.exponential(1000, n),
    "log-normal": lambda rng, n: 1000 * rng.lognormal(0, 1, n),
    "five orders": lambda rng, n: 10 ** rng.uniform(-1, 4, n),
    "Rosenbrock": lambda rng, n: (lambda x, z: 100 * (z - x**2) ** 2 + (1 - x) ** 2)(
        rng.uniform(-5, 10, n), rng.uniform(-5, 10, n)
    ),
    "accuracy": lambda rng, n: np.where(rng.random(n) < 0.3, -0.1, -rng.uniform(0.9, 0.98, n)),
    "percent": lambda rng, n: np.where(rng.random(n) < 0.3, 90.0, rng.uniform(2, 5, n)),
    "two values": lambda rng, n: np.where(rng.random(n) < 0.1, 1e6, 0.0),
    "equal": lambda rng, n: np.full(n, 1e6),
}


@pytest.mark.parametrize("kind", NONE)
def test_a_spread_is_no_tail(kind: str) -> None:
    found = [
        find_tail(NONE[kind](np.random.default_rng(seed), n)) is not None
        for seed in range(40)
        for n in (30, 100, 400)
    ]
    # only among few costs over many orders of magnitude may chance leave a gap, n exp(-8) a time
    assert np.mean(found) <= (0.02 if kind in ("five orders", "Rosenbrock") else 0.0)


def test_few_costs_and_huge_ones() -> None:
    assert find_tail(np.r_[np.linspace(0, 1, 18), 1e9]) is None  # too few to know what is usual
    tail = find_tail(np.r_[np.linspace(0, 1, 40), 1e200, 1e308])
    assert tail is not None
    assert tail.inside.sum() == 2


@pytest.mark.parametrize("kind", FAR)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_diverged_trials_are_set_aside_and_named(kind: str, sign: float) -> None:
    history = run(kind, sign=sign)
    apart = diverging(history)
    assert history.diverged().tolist() == apart
    assert not set(history.data().rows) & set(np.flatnonzero(apart))
    sentence = history.divergence()
    assert sentence is not None
    way = "above" if sign > 0 else "below"
    assert sentence.startswith(f"{sum(apart)} of 120 trials have a loss {way} ")
    assert "count as diverged" in sentence
    assert "99.9" in sentence
    assert "all lie where lr > 0." in sentence
    assert sentence in history.warnings()
    assert sentence in hl.overview(history).aside
    for record in (hl.importance(history, level=None), hl.effect(history, "lr")):
        assert sentence in record.notes


@pytest.mark.parametrize("kind", FAR)
def test_importance_is_right_again(kind: str) -> None:
    """As right as on the same run without what diverged."""
    history = run(kind)
    ended = [t for t, apart in zip(history.trials, diverging(history), strict=True) if not apart]
    clean = hl.importance(hl.History(SPACE, history.objectives, tuple(ended)))
    record = hl.importance(history)
    assert record.quality.verdict == "trust"
    assert record.parameters == clean.parameters
    np.testing.assert_allclose(record.share, clean.share, atol=1e-9)
    kept = hl.importance(history.select(keep_tail=True), level=None)
    assert any("count like all others" in note for note in kept.notes)
    assert kept.trials == 120
    assert record.trials == 120 - sum(diverging(history))


def test_a_clean_run_is_not_changed() -> None:
    history = run(None)
    assert history.divergence() is None
    assert not history.diverged().any()
    assert hl.overview(history).aside == ()
    one, other = (hl.importance(h, level=None) for h in (history, history.select(keep_tail=True)))
    assert one.to_json() == other.to_json()


def test_a_rule_separates_or_is_not_said() -> None:
    history = run("constant")
    X, apart = history.vectors, np.array(diverging(history))
    rule = separating_rule(SPACE, X, apart)
    assert rule is not None
    low = max(t.values["lr"] for t, far in zip(history.trials, apart, strict=True) if not far)
    assert rule.startswith("lr > ")
    assert (
        low
        <= float(rule.removeprefix("lr > "))
        <= min(t.values["lr"] for t, far in zip(history.trials, apart, strict=True) if far)
    )
    tanh = np.array([t.values["act"] == "tanh" for t in history.trials])
    assert separating_rule(SPACE, X, tanh) == "act is tanh"
    shallow = np.array([t.values["depth"] <= 2 for t in history.trials])
    assert separating_rule(SPACE, X, shallow) == "depth <= 2"
    assert separating_rule(SPACE, X, np.arange(120) % 7 == 0) is None
    assert separating_rule(SPACE, X, np.arange(120) < 2) is None


def test_the_summary_says_it_first(tmp_path_factory: pytest.TempPathFactory) -> None:
    history = run("random size")
    analysis = analyse(history, Choices(level=None))
    sentence = history.divergence()
    summary = analysis.cards[0]
    assert summary.lead[1] == sentence
    assert sentence not in summary.notes
    assert summary.ahead == (sentence,)
    shown = html.unescape(card_html(summary))
    assert shown.index(str(sentence)) < shown.index('class="panels"')  # not only in a fold
    assert Analysis.from_json(analysis.to_json()).cards[0].lead == summary.lead
    path = tmp_path_factory.mktemp("tail") / "run.csv"
    rows = [{**t.values, "loss": t.costs[0]} for t in history.trials]
    path.write_text(
        "lr,depth,act,loss\n" + "".join(f"{','.join(map(str, r.values()))}\n" for r in rows)
    )
    command = ["importance", str(path), "--objective", "loss", "--level", "0"]
    told = CliRunner().invoke(app, command).output
    assert "count as diverged" in told
    assert told.count("diverged") == 1
    kept = CliRunner().invoke(app, [*command, "--keep-tail"]).output
    assert "count like all others" in kept
