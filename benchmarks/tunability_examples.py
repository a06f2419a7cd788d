"""HyperSHAP's own examples, played by both: its notebooks' functions, spaces and baselines (0.0.6).

Each function is known, so what coalitions are truly worth is had from all points of a fine grid. Both
play the function itself, and of one example also the forest that HyperSHAP fits to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

import hyperlens as hl
from hyperlens.explain.shapley.games import shapley
from hyperlens.explain.tunability.faithful import faithful_pairs
from hyperlens.explain.tunability.lattice import members
from hyperlens.explain.tunability.worths import Game
from hyperlens.spaces.cube import FloatArray

SEEDS = 5  # samples of HyperSHAP's, drawn anew
SAMPLES = 10_000  # its own number
FINE = 201  # points of a float
HEAD = "| example | game | largest | ours from truth | its from truth | apart | its spread |"
HOW = (
    "The functions, spaces and baselines of the notebooks that HyperSHAP 0.0.6 comes with, whose truth "
    "is known from all points of a fine grid. Shapley values and faithful pairs together: the largest "
    f"of ours; how far ours and {SEEDS} of its samples of {SAMPLES} points are from the truth at most; "
    "how far ours are from the mean of its samples, and how far these differ from each other (standard "
    "deviation). Beyond the ablation its sampling error is what it is away from the truth: the best of "
    "a sample is never beyond the best. Its optimiser bias is played with the values of the best "
    "trials for the optimiser. The last two rows play the forest that its notebook fits."
)
Columns = Mapping[str, Any]  # values of each parameter, (n,)


@dataclass(frozen=True)
class Example:
    """What a notebook explains: larger values are better."""

    name: str
    space: hl.Space
    baseline: dict[str, Any]
    value: Callable[[Columns], FloatArray]

    @cached_property
    def history(self) -> hl.History:
        """Some trials; their costs matter to no game but that of the best trial."""
        values = self.space.decode(self.space.sample(200, 0))
        columns = {n: np.array([v[n] for v in values]) for n in self.space.names}
        costs = self.value(columns)
        trials = [
            hl.Trial(k, v, (float(c),)) for k, (v, c) in enumerate(zip(values, costs, strict=True))
        ]
        return hl.History(self.space, (hl.Objective("value", maximize=True),), tuple(trials))

    @cached_property
    def best(self) -> dict[str, Any]:
        return dict(self.history.best().values)

    def grid(self, name: str, ends: bool) -> list[Any]:
        """All values of a parameter; of a float so many, with its ends or in the middle of as many
        equal parts, whose mean is the better one."""
        parameter = self.space[name]
        if parameter.kind == "float":
            k = np.linspace(0, 1, FINE) if ends else (np.arange(FINE) + 0.5) / FINE
            return list(parameter.lower + k * (parameter.upper - parameter.lower))
        return list(parameter.choices or range(int(parameter.lower), int(parameter.upper) + 1))


def _mixed(v: Columns) -> FloatArray:
    a, b = np.asarray(v["a"], float), np.asarray(v["b"], float)
    return np.asarray(np.where(np.asarray(v["c"]) == "X", np.sin(a) + b, np.cos(a * b) + 1.5))


def _ratio(v: Columns) -> FloatArray:
    a, b, c = (np.asarray(v[name], float) for name in "abc")
    return np.asarray(a + b + c + a / b)


MIXED = Example(
    "tunability, ablation",
    hl.Space.of(
        [
            hl.Parameter("a", "float", 0.1, 1.5),
            hl.Parameter("b", "integer", 2, 10),
            hl.Parameter("c", "categorical", choices=("X", "Y")),
        ]
    ),
    {"a": 0.6243561663863, "b": 4, "c": "Y"},
    _mixed,
)
RATIO = Example(
    "optimizerbias",
    hl.Space.of([hl.Parameter(name, "float", 0.1, 1.5) for name in "abc"]),
    {"a": 0.6243561663863, "b": 0.3183923284707, "c": 0.1288182920141},
    _ratio,
)
PLAYED: tuple[tuple[Example, Game], ...] = (
    (MIXED, "tunability"),
    (MIXED, "mistunability"),
    (MIXED, "sensitivity"),
    (MIXED, "ablation"),
    (RATIO, "tunability"),
    (RATIO, "mistunability"),
    (RATIO, "sensitivity"),
    (RATIO, "bias"),
)


class Ours:
    """The example's function, or a regressor of HyperSHAP's vectors, for us: costs of our vectors."""

    def __init__(self, example: Example, theirs: Any = None) -> None:
        self.example, self.theirs = example, theirs

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        space = self.example.space
        columns = {p.name: np.array(p.decode(X[:, j])) for j, p in enumerate(space.parameters)}
        if self.theirs is None:
            return -self.example.value(columns), np.zeros(len(X))
        vectors = [space.configspace[name].to_vector(columns[name]) for name in space.names]
        return -np.asarray(self.theirs.predict(np.column_stack(vectors))), np.zeros(len(X))


class Theirs:
    """The example's function for HyperSHAP: values of its vectors."""

    def __init__(self, example: Example) -> None:
        self.example = example

    def predict(self, X: FloatArray) -> FloatArray:
        known = self.example.space.configspace
        names = self.example.space.names
        columns = {n: np.asarray(known[n].to_value(X[:, j])) for j, n in enumerate(names)}
        return self.example.value(columns)


def numbers(worth: FloatArray) -> FloatArray:
    """Shapley values and faithful pairs of coalitions' worth (2^m, 1)."""
    return np.concatenate([shapley(worth)[:, 0], faithful_pairs(worth)[:, 0]])


def truth(example: Example, game: Game) -> FloatArray:
    """By all points of a fine grid of what a coalition moves."""
    names = example.space.names
    worth = np.zeros((1 << len(names), 1))
    start = _at(example, [example.baseline])[0]
    trials = sorted(example.history.trials, key=lambda t: -float(t.costs[0]))[:16]
    for S, inside in enumerate(members(len(names))):
        mine = [n for n, member in zip(names, inside, strict=True) if member]
        if game == "ablation":
            worth[S] = (
                _at(example, [example.baseline | {n: example.best[n] for n in mine}])[0] - start
            )
            continue
        ends = game != "sensitivity"
        mesh = np.meshgrid(*(np.array(example.grid(n, ends)) for n in mine), indexing="ij")
        moved = dict(zip(mine, (part.ravel() for part in mesh), strict=True))
        size = mesh[0].size if mesh else 1
        reached = example.value(
            {n: moved.get(n, np.repeat(np.array([example.baseline[n]]), size)) for n in names}
        )
        if game == "bias":
            found = [example.baseline | {n: t.values[n] for n in mine} for t in trials]
            worth[S] = reached.max() - _at(example, found).max()
        else:
            worth[S] = {
                "tunability": reached.max() - start,
                "mistunability": start - reached.min(),
                "sensitivity": reached.var(),
            }[game]
    return numbers(worth)


def _at(example: Example, rows: list[dict[str, Any]]) -> FloatArray:
    return example.value({n: np.array([row[n] for row in rows]) for n in example.space.names})


def ours(example: Example, game: Game, theirs: Any = None) -> FloatArray:
    """Our Shapley values and pairs, in the order of the space."""
    found = hl.tunability(
        example.history,
        game,
        baseline=example.baseline,
        surrogate=Ours(example, theirs),
        level=None,
    )
    value = dict(zip(found.parameters, found.value, strict=True))
    pair = {frozenset(p): v for p, v in zip(found.pairs, found.interaction, strict=True)}
    names = example.space.names
    return np.array(
        [*(value[n] for n in names), *(pair[frozenset(p)] for p in combinations(names, 2))]
    )


def hypershap(example: Example, game: Game, seed: int, model: Any = None) -> FloatArray:
    """HyperSHAP's, from one sample; losses counted as such."""
    from ConfigSpace import Configuration
    from hypershap import ExplanationTask, HyperSHAP
    from hypershap.task import BaselineExplanationTask
    from hypershap.utils import RandomConfigSpaceSearcher

    known = example.space.configspace
    task = ExplanationTask.from_base_model(known, Theirs(example) if model is None else model)
    explainer = HyperSHAP(task, verbose=False)
    start = Configuration(known, values=example.baseline)
    sign = -1.0 if game in ("mistunability", "bias") else 1.0
    count = len(example.space)

    class Found(RandomConfigSpaceSearcher):  # type: ignore[misc]
        """An optimiser that knows the values of the best trials alone."""

        def search(self, coalition: Any) -> float:
            trials = sorted(example.history.trials, key=lambda t: -float(t.costs[0]))[:16]
            rows = np.array([Configuration(known, values=t.values).get_array() for t in trials])
            rows[:, ~coalition] = start.get_array()[~coalition]
            return float(np.max(self.explanation_task.surrogate_model.evaluate(rows)))

    def played(index: str, order: int) -> Any:
        how: dict[str, Any] = {"index": index, "order": order}
        if game == "ablation":
            best = Configuration(known, values=example.best)
            return explainer.ablation(best, start, **how)
        if game == "bias":
            beside = BaselineExplanationTask(known, task.surrogate_model, start)
            return explainer.optimizer_bias(
                Found(beside),
                [RandomConfigSpaceSearcher(beside, n_samples=SAMPLES, seed=seed)],
                **how,
            )
        return getattr(explainer, game)(start, n_samples=SAMPLES, seed=seed, **how)

    single, both = played("SV", 1), played("FSII", 2)
    found = [single[(j,)] for j in range(count)]
    found += [both[pair] for pair in combinations(range(count), 2)]
    return sign * np.array(found)


def rows() -> list[str]:
    """Of a table: how far both are from the truth and from each other, at the most."""
    found = []
    for example, game in PLAYED:
        true, mine = truth(example, game), ours(example, game)
        drawn = np.array([hypershap(example, game, seed) for seed in range(SEEDS)])
        found.append(_row(example.name, game, true, mine, drawn))
    found += [_with_forest(game) for game in ("tunability", "ablation")]
    return found


def _with_forest(game: Game) -> str:
    """Its first example as it stands there: a forest fitted to a sample, whose truth is not known."""
    from hypershap import ExplanationTask

    known, example = MIXED.space.configspace, MIXED

    def value(configuration: Any) -> float:
        return float(_at(example, [dict(configuration)])[0])

    known.seed(42)
    model = ExplanationTask.from_function(known, value).surrogate_model.base_model
    drawn = np.array([hypershap(example, game, seed, model) for seed in range(SEEDS)])
    return _row("the same, by its forest", game, None, ours(example, game, model), drawn)


def _row(
    name: str, game: Game, true: FloatArray | None, mine: FloatArray, drawn: FloatArray
) -> str:
    def far(one: FloatArray) -> str:
        return "–" if true is None else f"{np.abs(one - true).max():.4f}"

    apart = np.abs(mine - drawn.mean(axis=0)).max()
    spread = drawn.std(axis=0, ddof=1).max()
    return (
        f"| {name} | {game} | {np.abs(mine).max():.3f} | {far(mine)} | {far(drawn)} | {apart:.4f} | "
        f"{spread:.4f} |"
    )


if __name__ == "__main__":
    print("\n".join(rows()))
