"""How soon the questions of one run, and of many, are answered: tunability and its family, the top,
across, reach, formula, what to do next, and a question of an assistant.

python -m benchmarks.questions [--save]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import hyperlens as hl
from benchmarks.effects import PARAMETERS, TRIALS, of_one_core, run
from benchmarks.machine import description
from hyperlens.agents.answers import Answers
from hyperlens.dashboard.catalogue import Source
from hyperlens.explain.tunability.worths import GAMES

RESULT = Path(__file__).parents[1] / "docs" / "results" / "questions.md"
RUNS = 5  # of which `hl.across` is asked, each with as many trials
NEXT = (
    hl.confirm,
    hl.advise,
    hl.forecast,
    hl.winner,
)  # each asked of a run that nobody fitted before
MOST = 5.0  # seconds that a question may take


def questions(history: hl.History) -> dict[str, Callable[[], object]]:
    """Of one run, the fit left out."""
    asked: dict[str, Callable[[], object]] = {
        f'hl.tunability(run, "{game}")': partial(hl.tunability, history, game) for game in GAMES
    }
    asked["hl.top_importance(run)"] = partial(hl.top_importance, history)
    asked["hl.reach(run)"] = partial(hl.reach, history)
    asked["hl.reach(run, sure=0.9)"] = partial(hl.reach, history, sure=0.9)
    asked['hl.formula(run, "x0")'] = partial(hl.formula, history, "x0")
    return asked


def of_an_assistant(history: hl.History) -> float:
    """The whole of one question: the run is read, fitted and explained."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.json")
        rows = [dict(t.values) | {"cost": t.costs[0]} for t in history.trials]
        path.write_text(json.dumps(rows))
        answers = Answers((Source(str(path), objective="cost"),))
        (only,) = answers.list_runs()["runs"]
        return of_one_core(partial(answers.importance, only["run"]))


def rows() -> list[tuple[str, float]]:
    history = run()
    found = [("the fit of all surrogates, once a run", of_one_core(partial(hl.leader, history)))]
    found += [(f"`{name}`", of_one_core(ask)) for name, ask in questions(history).items()]
    found += [
        (f"`hl.{ask.__name__}(run)`, its fits included", of_one_core(partial(ask, run())))
        for ask in NEXT
    ]
    several = {f"run {k}": run() for k in range(RUNS)}
    common: list[hl.Across] = []
    name = f"`hl.across` of {RUNS} such runs, their fits included"
    found.append((name, of_one_core(lambda: common.append(hl.across(several)))))
    found.append(("`record.effect` of it", of_one_core(lambda: common[0].effect("x0"))))
    found.append(("an assistant's first question, all included", of_an_assistant(run())))
    return found


def page() -> str:
    lines = ["# How soon questions are answered", "", "`python -m benchmarks.questions --save`", ""]
    lines += [description(), ""]
    lines += [
        f"{TRIALS} trials of {PARAMETERS} parameters; time of the processor, compiled before. At most "
        f"{MOST:g} s a question are wanted, and progress beyond.", "",
        "| | CPU | within |", "|---|---|---|",
    ]  # fmt: skip
    lines += [
        f"| {name} | {t:.2f} s | {'yes' if t <= MOST else 'no, it says how far it is'} |"
        for name, t in rows()
    ]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true", help=f"write {RESULT.name}")
    arguments = parser.parse_args()
    hl.importance(run(60, 4))  # compiles
    text = page()
    print(text)
    if arguments.save:
        RESULT.write_text(text, encoding="utf-8")
