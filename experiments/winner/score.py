"""What was said of a run, beside the truth: one plain row a run, kept as a line of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice, product
from pathlib import Path

import numpy as np

import hyperlens as hl
from experiments.winner.problems import HARD, NORMAL, Noise, Problem
from experiments.winner.runs import Run, run
from hyperlens.surrogates.gaussian_process.gp import GP

TRIALS = 60
MOST_REPEATS = 10  # of each configuration that are run to see whether they tell


@dataclass(frozen=True)
class Score:
    """Costs and regrets are in spreads of the true costs over the space; `stated` and `was` are the
    probabilities of all configurations that were shown, and whether each was the best."""

    problem: str
    noise: str
    search: str
    seed: int
    probability: float
    right: bool
    told_apart: bool
    covered: bool
    curse: float
    true_curse: float
    regret_observed: float
    regret_process: float
    regret_expected: float
    noise_ratio: float  # stated over true; nan without noise
    needed: int | None
    chosen_right: bool | None  # after the repeats that were said to be needed
    stated: tuple[float, ...]
    was: tuple[bool, ...]

    @property
    def key(self) -> tuple[str, str, str, int]:
        return self.problem, self.noise, self.search, self.seed


def score(ran: Run) -> Score:
    record = hl.winner(ran.history)
    lowest = ran.truth.min()
    cost = float(ran.truth[record.best])
    was = [bool(ran.truth[t] == lowest) for t in record.trial]
    level = ran.noise.level * ran.unit
    regret = [
        float(ran.truth[t] - lowest) / ran.unit
        for t in (record.best, _by_process(ran.history), record.recommended)
    ]
    slack = 1e-9 * ran.unit
    return Score(
        problem=ran.problem.name,
        noise=str(ran.noise),
        search=ran.search,
        seed=ran.seed,
        probability=float(record.probability[0]),
        right=was[0],
        told_apart=record.told_apart,
        covered=bool(record.low[0] - slack <= cost <= record.high[0] + slack),
        curse=record.curse / ran.unit,
        true_curse=(cost - float(record.observed[0])) / ran.unit,
        regret_observed=regret[0],
        regret_process=regret[1],
        regret_expected=regret[2],
        noise_ratio=record.noise / level if level else float("nan"),
        needed=record.needed,
        chosen_right=_after_repeats(ran, record),
        stated=tuple(record.probability.tolist()),
        was=tuple(was),
    )


def _by_process(history: hl.History) -> int:
    """The trial with the lowest mean of a process with a product kernel and estimated noise."""
    data = history.data()
    model = GP(history.space.cube).fit(data.X, data.y)
    return history.trials[int(data.rows[np.argmin(model.predict(data.X)[0])])].number


def _after_repeats(ran: Run, record: hl.Winner) -> bool | None:
    """Whether the choice among the five is right after the repeats that were asked for."""
    if not record.needed or record.needed > MOST_REPEATS:
        return None
    rng = np.random.default_rng([ran.seed, 1])
    trials = list(ran.history.trials)
    for number in record.five:
        for _ in range(record.needed):
            cost = ran.again(number, rng)
            again = replace(trials[number], number=len(trials), costs=(cost,), proposal=None)
            trials.append(again)
    more = hl.winner(replace(ran.history, trials=tuple(trials)))
    chosen = min(
        (t for t in more.trial if t in record.five), key=lambda t: more.expected[more.row(int(t))]
    )
    best = min(float(ran.truth[t]) for t in record.five)
    return bool(ran.truth[int(chosen)] <= best + record.matters)


def scores(
    problems: Sequence[Problem], seeds: Sequence[int], kept: Path, rounds: int | None = None
) -> Iterator[Score]:
    """Of all runs, or of the first rounds; those that were kept before are not run again."""
    before = {s.key: s for s in read(kept)}
    for search, seed, noises in islice(_rounds(seeds), rounds):
        for problem, noise in product(problems, noises):
            key = problem.name, str(noise), search, seed
            if key not in before:
                before[key] = score(run(problem, noise, search, TRIALS, seed))
                with kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(before[key])) + "\n")
            yield before[key]


def _rounds(seeds: Sequence[int]) -> Iterator[tuple[str, int, tuple[Noise, ...]]]:
    """A search and a seed on all functions; ours, which takes longest, once and for normal noise."""
    first, *others = seeds
    yield from (("random", first, NORMAL + HARD), ("TPE", first, NORMAL + HARD))
    yield "ours", first, NORMAL
    for seed in others:
        yield from (("random", seed, NORMAL + HARD), ("TPE", seed, NORMAL + HARD))


def read(kept: Path) -> list[Score]:
    if not kept.exists():
        return []
    rows = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    return [Score(**row | {n: tuple(row[n]) for n in ("stated", "was")}) for row in rows]
