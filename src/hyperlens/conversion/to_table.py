"""A run as a folder with a table and its space (see hyperlens.importers.tables.neutral_folder)."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hyperlens.errors import SourceError
from hyperlens.importers.tables import neutral_folder as neutral
from hyperlens.runs.history import History, Trial
from hyperlens.spaces.space import Space


def write_table(history: History, folder: Path) -> None:
    """Write `trials.csv`, `configspace.json`, `run.json` and any curves into a new or empty folder."""
    try:
        folder.mkdir(exist_ok=True)
        if any(folder.iterdir()):
            raise SourceError(f"The folder '{folder}' is not empty; name a new one with --out.")
        _write_trials(history, folder / neutral.TRIALS)
        _write_curves(history, folder / neutral.CURVES)
        history.space.save(folder / neutral.SPACE)
        (folder / neutral.RUN).write_text(json.dumps(description(history), indent=1) + "\n")
    except OSError as problem:
        raise unwritable(folder, problem) from problem


def description(history: History) -> dict[str, Any]:
    return {
        "format": neutral.FORMAT,
        "source": history.source,
        "objectives": [{"name": o.name, "maximize": o.maximize} for o in history.objectives],
        "notes": list(history.notes),
        "inferred": list(history.space.inferred),
        **({"limits": list(history.limits)} if history.limits else {}),
        **({"plan": history.plan.to_dict()} if history.plan else {}),
    }


def _write_trials(history: History, path: Path) -> None:
    space = history.space
    seen = set().union(*(t.values for t in history.trials)) if history.trials else set()
    names = [name for name in (*space.names, *space.constants) if name in seen]
    writers = [_writer(space, name) for name in names]
    with path.open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        rows = csv.writer(file)  # its "\r\n" makes it quote both characters inside cells
        metrics = [neutral.metric_column(o) for o in history.objectives]
        measured = [*metrics, *map(neutral.limit_column, history.limits)]
        rows.writerow([*neutral.FACTS, *measured, *map(neutral.parameter_column, names)])
        for trial in history.trials:
            values = [
                write(trial.values[name]) if name in trial.values else ""
                for name, write in zip(names, writers, strict=True)
            ]
            costs = ["" if c != c else repr(c) for c in (*trial.costs, *trial.excess)]
            rows.writerow([*_facts(trial), *costs, *values])


def _write_curves(history: History, path: Path) -> None:
    """One report a row; no file where no trial has a curve."""
    if all(trial.curve is None for trial in history.trials):
        return
    with path.open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["row", "step", *map(neutral.metric_column, history.objectives)])
        for k, trial in enumerate(history.trials):
            if trial.curve is not None:
                for step, values in zip(trial.curve.steps, trial.curve.values, strict=True):
                    rows.writerow([k, *map(repr, (float(step), *values.tolist()))])


def _facts(trial: Trial) -> list[str]:
    facts = {name: getattr(trial, name) for name in neutral.FACTS}
    facts |= {name: repr(float(facts[name])) for name in neutral.NUMBERS if facts[name] is not None}
    if trial.proposal is not None:
        facts["proposal"] = json.dumps(trial.proposal.to_dict(), default=str)
    return [
        "" if fact is None else neutral.kept(fact) if type(fact) is str else str(fact)
        for fact in facts.values()
    ]


def _writer(space: Space, name: str) -> Callable[[Any], str]:
    if name in space.constants:
        return lambda value: json.dumps(value, default=str)
    parameter = space[name]
    if not parameter.choices:
        return lambda value: repr(value.item() if hasattr(value, "item") else value)
    known = neutral.texts(parameter.choices)
    assert parameter.axis.codes is not None
    return lambda value: known[int(parameter.axis.level(parameter.encode([value]))[0])]


def unwritable(path: Path, problem: Exception) -> SourceError:
    reason = getattr(problem, "strerror", None) or type(problem).__name__
    return SourceError(
        f"'{path}' cannot be written ({reason}); name a place that exists and that you may write "
        "to with --out."
    )
