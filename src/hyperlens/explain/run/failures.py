"""Where trials fail: how often by the values of each parameter, which parameters matter, and rules.

A trial failed if it ended so, if its cost is no finite number, or if its cost diverged. What is
counted is counted in the run: of trials with such a value, so many failed, with Jeffreys' interval (the
Beta posterior under the prior Beta(1/2, 1/2)). Beside it stands the expectation of a forest of 0 and 1,
averaged over all other parameters. A parameter matters if trials that failed are distributed over its
values as chance would hardly do it (permutations). Only trials run one after another are exchanged: a
search tries other values of everything as it goes on and fails less often, which would look as if
failing depended on everything. What is said to matter is so for several parameters at once
(Holm 1979). Where it is inactive, it is not asked. In which parts
of the space they fail is said by rules (failure_rule.py).
"""

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import scipy

from hyperlens.errors import AnalysisError
from hyperlens.explain.models.chance import BY_CHANCE, EACH, beyond_chance
from hyperlens.explain.run.failure_rule import FailureRule, common_end, failure_rules
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History, State
from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray
from hyperlens.spaces.parameter import Parameter
from hyperlens.surrogates.random_forest.forest import Forest
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import counted, first_few, number, p_value, percent, tenths

BINS = 6  # of a parameter with many values
POINTS = 8  # of each bin, at which a forest is asked
MOST_LEVELS = 8  # shown one by one
PERMUTATIONS = 499  # at least
TOGETHER = 10  # trials run one after another, whose outcomes are exchanged
LEVEL = 0.9
MOST_REASONS = 3  # in a sentence
_CLAUSE = re.compile(r"(?P<name>.+) (?P<sign>>=|<=|>) (?P<value>\S+)")
_SAID = {">": "above", ">=": "of at least", "<=": "of at most"}
RATE = "Trials with such a value that failed, divided by all trials with such a value."
INTERVAL = "Where the chance to fail lies at this level, from these counts alone (Jeffreys)."
EXPECTED = "What a forest expects on average over all other parameters, drawn evenly."
SHARE = "Part of the variance of failing that is due to this parameter alone (forest)."
P = (
    "How often chance alone would distribute as many failures as unevenly (permutations of trials run "
    "one after another)."
)
FAILED, DIVERGED = "ended in failure", "diverged"


@dataclass(frozen=True)
class Failures(Record):
    """Which trials failed, by the values of each parameter, the one that matters most first.

    `kinds` counts trials by how they failed. `values[j]` are texts, `tried[j]` and `failed[j]` counts of
    trials with such a value, `low[j]` and `high[j]` the interval of the chance to fail, `expected[j]`
    the forest's. `share` and `p` have one entry a parameter. `rule` says where trials fail, `further`
    rules where others do, each among trials for which none before it holds. `reasons` counts why trials
    failed, as far as they say, where each rule holds and elsewhere.
    """

    objective: str
    trials: int
    kinds: dict[str, int]
    parameters: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    tried: tuple[IntArray, ...]
    failed: tuple[IntArray, ...]
    low: tuple[FloatArray, ...]
    high: tuple[FloatArray, ...]
    expected: tuple[FloatArray, ...]
    share: FloatArray
    p: FloatArray
    rule: FailureRule | None
    level: float
    seed: int
    notes: tuple[str, ...] = ()
    reasons: dict[str, tuple[int, ...]] = field(default_factory=dict)
    common: str | None = None  # the end of a range at which all of them are
    further: tuple[FailureRule, ...] = ()

    @property
    def happened(self) -> str:
        """What became of a trial that is counted."""
        return "failed"

    @property
    def chance(self) -> str:
        """What the rates are of."""
        return "chance to fail"

    @property
    def count(self) -> int:
        """All trials that failed, in any way."""
        return sum(self.kinds.values())

    @property
    def rates(self) -> tuple[FloatArray, ...]:
        """Counted chances to fail; nan where no trial was."""
        pairs = zip(self.failed, self.tried, strict=True)
        return tuple(np.where(n > 0, k / np.maximum(n, 1), np.nan) for k, n in pairs)

    @property
    def rules(self) -> tuple[FailureRule, ...]:
        return () if self.rule is None else (self.rule, *self.further)

    @property
    def sentence(self) -> str:
        """How many failed and how, and where."""
        kinds = ", ".join(f"{count} {kind}" for kind, count in self.kinds.items())
        how = f" ({kinds})" if len(self.kinds) > 1 or FAILED not in self.kinds else ""
        ended = "diverged" if list(self.kinds) == [DIVERGED] else f"failed{how}"
        told = f"{self.count} of {self.trials} trials {ended}"
        if self.rule is None:
            all_of = f" All {self.count} have {_said(self.common)}." if self.common else ""
            return (
                f"{told}; no rule says where: none holds for trials it was not made from.{all_of}"
            )
        return f"{told}{self._where(self.rule, 'failures')}"

    def _where(self, rule: FailureRule, called: str) -> str:
        """Where it happened, by rules; "all of them" where it is so."""
        (k, n), (others, rest) = rule.inside, rule.elsewhere
        if self.further:
            then = [
                f"{a} of the {b} others where {r.rule}" for r in self.further for a, b in [r.inside]
            ]
            others, rest = self.further[-1].elsewhere
            return (
                f": {k} of the {n} where {rule.rule}, {', '.join(then)}, and {others or 'none'} of the "
                f"{rest} elsewhere."
            )
        if others:
            told = f": {k} of the {n} where {rule.rule}, and {others} of the {rest} elsewhere."
            return told + (f" All {self.count} have {_said(self.common)}." if self.common else "")
        if _CLAUSE.fullmatch(rule.rule) and " and " not in rule.rule:
            verb = "has" if n - k == 1 else "have"
            kept = (
                f"; so {verb} {n - k} of the other trials" if n > k else ", and no other trial has"
            )
            return f". All {k} {called} have {_said(rule.rule)}{kept}."
        none = f", where {counted(n - k, 'trial')} did not" if n > k else ", where all trials did"
        return f". All {k} {called} lie where {rule.rule}{none}."

    @property
    def reading(self) -> str:
        """Which parameters failing depends on, as far as can be told; whether the rule holds."""
        mattering = beyond_chance(self.parameters, self.p)
        told = "Whether a trial fails cannot be told to depend on any single parameter."
        if mattering:
            told = (
                f"Whether a trial fails depends on {first_few(mattering, 5)} (p at most {BY_CHANCE} "
                "together)."
            )
        if self.rules:
            held = [
                f"{k} of {n} {self.happened} where they say so, {others} of {rest} elsewhere"
                for rule in self.rules
                for (k, n), (others, rest) in [(rule.held_inside, rule.held_elsewhere)]
            ]
            told += (
                " Rules made from four fifths of the trials hold for the rest: "
                f"{'; for the next rule, '.join(held)}."
            )
        return told

    @property
    def why(self) -> str:
        """The most frequent reasons, where each rule holds and elsewhere; empty if none is given."""
        often = sorted(self.reasons.items(), key=lambda one: -sum(one[1]))
        places = ["there", "elsewhere"]
        if self.further:
            places = [*(f"where {rule.rule}" for rule in self.rules), "elsewhere"]
        told = []
        for reason, counts in often:
            each = [
                f"{count} {place}"
                for count, place in zip(counts, places, strict=True)
                if count or not self.further
            ]
            where = ", ".join(each) if self.rules else str(sum(counts))
            told.append(f"{reason.rstrip('.')} ({where})")
        return f"Reasons given: {first_few(told, MOST_REASONS)}." if told else ""

    @property
    def lead(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.sentence, self.why, self.reading)))

    @property
    def tables(self) -> tuple[Table, ...]:
        names = [
            name for name, values in zip(self.parameters, self.values, strict=True) for _ in values
        ]
        share = [s for s, v in zip(self.share, self.values, strict=True) for _ in v]
        p = [p for p, v in zip(self.p, self.values, strict=True) for _ in v]
        flat = self._columns()
        return (
            table(
                Column("parameter", names),
                Column("value", flat["value"]),
                Column("trials", flat["trials"], number),
                Column(self.happened, flat["failed"], number),
                Column("rate", flat["rate"], tenths, RATE),
                Column(
                    f"{percent(self.level)} interval",
                    ends(np.array(flat["low"]), np.array(flat["high"])),
                    between(tenths),
                    INTERVAL,
                ),
                Column("expected", flat["expected"], tenths, EXPECTED, wide=True),
                Column("share", share, tenths, SHARE, wide=True),
                Column("p", p, p_value, P),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        pairs = zip(self.parameters, self.values, strict=True)
        arrays = {
            "trials": self.tried, "failed": self.failed, "rate": self.rates, "low": self.low,
            "high": self.high, "expected": self.expected,
        }  # fmt: skip
        return {
            "parameter": [name for name, values in pairs for _ in values],
            "value": [text for values in self.values for text in values],
            **{name: np.concatenate(parts).tolist() for name, parts in arrays.items()},
        }


@of_a_run
def failures(
    history: History, *, level: float = LEVEL, seed: int = 0, objective: str | None = None
) -> Failures:
    """How often trials fail by each parameter, and where; refused where none failed, or all did."""
    if not 0 < level < 1:
        raise AnalysisError(f"An interval of {level} is not a level; choose one between 0 and 1.")
    kinds, rows = outcomes(history, objective)
    failed = np.any([*kinds.values(), np.zeros_like(rows)], axis=0)[rows]
    if not failed.any() or failed.all():
        which = "all" if len(failed) and failed.all() else "none"
        raise AnalysisError(
            f"Of {len(failed)} trials that ended {which} failed, so there is nothing to compare; ask "
            "it of a run in which some trials failed."
        )
    if not len(history.space):
        raise AnalysisError(
            "This run has no parameter that failures could depend on; ask it of one that has some."
        )
    found, where = by_parameter(history, rows, failed, level, seed)
    return Failures(
        objective=history.objective(objective).name,
        trials=len(failed),
        kinds={kind: int(which[rows].sum()) for kind, which in kinds.items() if which[rows].any()},
        **found,
        level=level,
        seed=seed,
        notes=tuple(filter(None, (history.divergence(objective),))),
        reasons=_reasons(history, np.flatnonzero(rows), failed, where, len(found["further"]) + 2),
    )


def _said(clause: str) -> str:
    """'lr > 0.1' as it is said of trials that have it."""
    match = _CLAUSE.fullmatch(clause)
    return f"{match['name']} {_SAID[match['sign']]} {match['value']}" if match else clause


def by_parameter(
    history: History, rows: BoolArray, happened: BoolArray, level: float, seed: int
) -> tuple[dict[str, Any], IntArray]:
    """All that a record says of an outcome of the trials `rows` by the values of each parameter, and
    where they lie: 0 where the first rule holds, and so on, the last number where none does."""
    X, space = history.vectors[rows], history.space
    forest = Forest(space.cube, seed=seed).fit(X, happened.astype(float))
    shares = forest.shares(order=1)
    share = shares.shares.mean(axis=0) if len(shares.shares) else np.full(len(space), np.nan)
    rng, count = np.random.default_rng(seed), max(PERMUTATIONS, EACH * len(space))
    found = [
        _one(p, j, X[:, j], happened, forest, level, count, rng)
        for j, p in enumerate(space.parameters)
    ]
    p = np.array([one["p"] for one in found])
    order = np.lexsort((-np.nan_to_num(share), p)).tolist()
    columns = ("values", "tried", "failed", "low", "high", "expected")
    rules, where = failure_rules(space, X, happened, seed)
    told: dict[str, Any] = {name: tuple(found[j][name] for j in order) for name in columns}
    told["parameters"] = tuple(space.names[j] for j in order)
    told |= {"share": share[order], "p": p[order], "common": common_end(space, X, happened)}
    told |= {"rule": rules[0] if rules else None, "further": rules[1:]}
    return told, np.where(where < 0, max(len(rules), 1), where)


def _reasons(
    history: History, rows: IntArray, failed: BoolArray, where: IntArray, places: int
) -> dict[str, tuple[int, ...]]:
    """Why trials failed, as far as they say: how many where each rule holds, how many elsewhere."""
    found: dict[str, list[int]] = {}
    for i, fails, place in zip(rows.tolist(), failed, where.tolist(), strict=True):
        reason = history.trials[i].reason
        if fails and reason:
            found.setdefault(reason, [0] * places)[place] += 1
    return {reason: tuple(counts) for reason, counts in found.items()}


def outcomes(
    history: History, objective: str | None = None
) -> tuple[dict[str, BoolArray], BoolArray]:
    """Which trials failed in which way, and which ended at all, (trials,) each."""
    state = np.array([t.state for t in history.trials], dtype=object)
    finite = np.isfinite(history.measured(history.objective(objective)))
    ended = np.array([s is not State.RUNNING for s in state], dtype=bool)
    failed = np.array([s is State.FAILED for s in state], dtype=bool) & ended
    complete = np.array([s is State.COMPLETE for s in state], dtype=bool)
    kinds = {FAILED: failed, "without a finite cost": complete & ~finite}
    if not history.keep_tail:
        kinds[DIVERGED] = history.diverged(objective) & ~failed
    return kinds, ended


def _one(
    parameter: Parameter,
    column: int,
    x: FloatArray,
    failed: BoolArray,
    forest: Forest,
    level: float,
    count: int,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """What there is to say of one parameter, from the trials in which it is active."""
    active = ~np.isnan(x)
    block = np.flatnonzero(active) // TOGETHER
    which, points, texts = _bins(parameter, x[active])
    tried = np.bincount(which, minlength=len(texts))
    k = np.bincount(which, weights=failed[active], minlength=len(texts)).astype(np.int64)
    low, high = jeffreys(k, tried, level)
    average = forest.marginals((column,), points.reshape(-1, 1)).mean(axis=0)
    expected = average.reshape(points.shape).mean(axis=1)
    return {
        "values": tuple(texts),
        "tried": tried,
        "failed": k,
        "low": low,
        "high": high,
        "expected": np.clip(expected, 0.0, 1.0),
        "p": _chance(which, tried, failed[active], block, count, rng),
    }


def _bins(parameter: Parameter, x: FloatArray) -> tuple[IntArray, FloatArray, list[str]]:
    """The bin of each row, codes within each bin (bins, points), and what the bin is called."""
    axis = parameter.axis
    if axis.codes is not None and (not axis.ordered or axis.levels <= MOST_LEVELS):
        assert parameter.values is not None
        return axis.level(x), axis.codes[:, None], [number(v) for v in parameter.values]
    edges = np.linspace(0.0, 1.0, BINS + 1)
    which = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, BINS - 1)
    reach = parameter.decode(edges)
    texts = [f"{number(a, 2)} to {number(b, 2)}" for a, b in pairwise(reach)]
    within = (np.arange(POINTS) + 0.5) / POINTS / BINS
    return (
        np.asarray(which),
        axis.snap((edges[:-1, None] + within).ravel()).reshape(BINS, -1),
        texts,
    )


def jeffreys(failed: IntArray, tried: IntArray, level: float) -> tuple[FloatArray, FloatArray]:
    """The interval of a chance from counts; from 0 where none failed, to 1 where all did."""
    a, b = failed + 0.5, tried - failed + 0.5
    low = scipy.stats.beta.ppf((1 - level) / 2, a, b)
    high = scipy.stats.beta.ppf((1 + level) / 2, a, b)
    return np.where(failed == 0, 0.0, low), np.where(failed == tried, 1.0, high)


def _chance(
    which: IntArray,
    tried: IntArray,
    failed: BoolArray,
    block: IntArray,
    count: int,
    rng: np.random.Generator,
) -> float:
    """How often failures shuffled within blocks, so many times, differ as much between bins (sum of
    squares of their rates)."""
    outcome = failed.astype(float)
    size, lost = np.bincount(block), np.bincount(block, weights=outcome)
    mixed = ((lost > 0) & (lost < size))[block]  # elsewhere shuffling changes nothing
    if not mixed.any() or (tried > 0).sum() < 2:
        return 1.0
    member = (which[:, None] == np.arange(len(tried))) / np.sqrt(np.maximum(tried, 1))
    fixed, free, place = outcome[~mixed] @ member[~mixed], outcome[mixed], block[mixed]
    orders = np.array([np.argsort(place + rng.random(len(place))) for _ in range(count)])
    drawn, seen = (fixed + some @ member[mixed] for some in (free[orders], free))
    as_uneven = (drawn**2).sum(axis=1) >= (seen**2).sum() - 1e-9
    return float((1 + np.sum(as_uneven)) / (count + 1))
