"""Odd studies, drawn from a seed, and every public analysis of a run: `make fuzz` asks all of all.

    python tests/odd_studies.py --minutes 10 --seed 0 --corpus fuzz

writes each case that neither gives a record nor is refused in a sentence into the corpus, by its number,
and ends with 1 if there was one; `--case 17` runs one again.
"""

from __future__ import annotations

import argparse
import inspect
import json
import random
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import hyperlens as hl
from hyperlens.record import Record

NAMES = (
    "low", "high", "mean", "id", "rule", "trial", "cost", "budget", "left", "share", "value", "std", "x",
    "=1+1", "a b", "<b>", "level", "state", "number", "loss", "place", "lr\u202e", "0", "",
)  # fmt: skip
COSTS: dict[str, Callable[[random.Random], float]] = {
    "even": lambda r: r.random(),
    "constant": lambda r: 1.0,
    "huge": lambda r: r.choice([1e308, 1.0, r.random()]),
    "both huge": lambda r: r.choice([1e308, -1e308, r.random()]),
    "tiny": lambda r: 1e-300 * r.random(),
    "failed": lambda r: float("nan"),
    "some failed": lambda r: r.choice([float("nan"), r.random()]),
    "tail": lambda r: r.choice([r.random()] * 9 + [1e9]),
}
STATES = (hl.State.COMPLETE,) * 5 + (hl.State.PRUNED, hl.State.FAILED, hl.State.RUNNING)
REMEMBERED = (3, 8, 21, 34, 55)  # cases that were wrong once, or are far from the others
WRONG_ONCE = {  # analyses and studies, since a new analysis numbers cases anew
    "choose": 380,
    "overview": 776,
    "pareto": 1153,
    "true_front": 3232,
    "curves": 5507,
    "trials": 10845,
}


def drawn_parameter(name: str, rng: random.Random) -> hl.Parameter:
    kind = rng.choice(["float", "log", "wide", "integer", "categorical", "ordinal"])
    if kind == "categorical":
        choices = rng.choice([("a", "b"), (1, "1", None), ("=1", "-x", "@"), tuple("abcdefgh")])
        return hl.Parameter(name, "categorical", choices=choices)
    if kind == "ordinal":
        return hl.Parameter(name, "ordinal", choices=(1, 2, 4))
    if kind == "integer":
        return hl.Parameter(name, "integer", -3, 2**40)
    low, high = {"float": (0, 1), "log": (1e-9, 1), "wide": (-1e99, 1e99)}[kind]
    return hl.Parameter(name, "float", low, high, log=kind == "log")


def study(seed: int) -> hl.History:
    """A run of few trials with something wrong with it."""
    rng = random.Random(seed)
    names = rng.sample(NAMES[:-1], rng.choice([0, 1, 2, 3, 5]))
    constants = {"fixed": 1} if rng.random() < 0.2 or not names else {}
    space = hl.Space.of([drawn_parameter(name, rng) for name in names], constants=constants)
    n = rng.choice([1, 2, 3, 8, 15, 25])
    objectives = ("loss", "time")[: rng.choice([1, 1, 1, 2])]
    cost = COSTS[rng.choice(list(COSTS))]
    third = len(objectives) == 2 and seed % 2 == 1  # one more objective, drawn apart
    apart = random.Random(f"third {seed}")
    mixed = rng.random() < 0.3
    values = space.decode(space.sample(n, seed)) if len(space) else [{} for _ in range(n)]
    first = rng.choice([0, 0, 0, 10**9, 2**62])
    budgets = rng.choice([None, None, (1.0, 3.0, 9.0)])
    trials = []
    for k in range(n):
        state = rng.choice(STATES) if mixed else hl.State.COMPLETE
        costs = tuple(cost(rng) for _ in objectives)
        costs += tuple(cost(apart) for _ in range(third))
        clock = float(rng.choice([k, 0, 1e12, -5]))
        trials.append(
            hl.Trial(
                first + k,
                {**constants, **values[k]},
                costs,
                state,
                budget=None if budgets is None else rng.choice(budgets),
                started=clock,
                ended=clock + rng.random(),
            )
        )
    given = tuple(hl.Objective(name, rng.random() < 0.3) for name in objectives)
    given += (hl.Objective("size"),) * third
    return hl.History(space, given, tuple(trials))


def analyses() -> dict[str, Callable[..., Any]]:
    """Every public function of a run, or of runs."""
    found: dict[str, Callable[..., Any]] = {}
    for name in hl.__all__:
        function = getattr(hl, name)
        if inspect.isfunction(function):
            first = next(iter(inspect.signature(function).parameters), "")
            if first in ("history", "histories"):
                found[name] = function
    return found


def arguments(function: Callable[..., Any], history: hl.History) -> dict[str, Any] | None:
    """What it must be given besides the run; None if this run has no such thing. An analysis that
    needs what is not named here fails until it is."""
    name = history.space.names[0] if len(history.space) else "x"
    known = {
        "history": history,
        "histories": {"one": history, "other": history},
        "parameters": name,
        "parameter": name,
        "surrogate": "forest",
        "record": None,
        "truth": None,
    }
    needed = [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    given = {each: known[each] for each in needed}
    return None if any(value is None for value in given.values()) else given


def attack(name: str, seed: int) -> str | None:
    """What is wrong with one analysis of one odd study; None if nothing is."""
    function = analyses()[name]
    try:
        history = study(seed)
        given = arguments(function, history)
        if given is None:
            return None
        record = function(**given)
        if isinstance(record, Record):
            json.loads(record.to_json())
            record.to_csv()
            assert "\n" not in record.sentence
            with suppress(TypeError):  # some records have no figure
                record.plot()
    except hl.HyperlensError as problem:
        return None if len(str(problem)) <= 480 else f"a message of {len(str(problem))} characters"
    except Exception:
        return traceback.format_exc()
    return None


def case(number: int) -> tuple[str, int]:
    """The analysis and the study of a case; so many cases in a row ask every analysis once."""
    names = sorted(analyses())
    return names[number % len(names)], number // len(names) * 7 + number


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int)
    parser.add_argument("--corpus", type=Path, default=Path("fuzz"))
    given = parser.parse_args()
    warnings.simplefilter("error")
    if given.case is not None:
        raise SystemExit(attack(*case(given.case)))
    until, number, wrong = time.monotonic() + 60 * given.minutes, given.seed * 10**6, 0
    begun = number
    while time.monotonic() < until:
        problem = attack(*case(number))
        if problem is not None:
            wrong += 1
            given.corpus.mkdir(exist_ok=True)
            (given.corpus / f"{number}.txt").write_text(f"{case(number)}\n{problem}")
            print(f"case {number}, {case(number)}: {problem.splitlines()[-1]}", flush=True)
        number += 1
    print(
        f"{number - begun} cases of {len(analyses())} analyses, seed {given.seed}: {wrong} wrong."
    )
    raise SystemExit(int(wrong > 0))


if __name__ == "__main__":
    main()
