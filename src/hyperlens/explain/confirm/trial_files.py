"""Trials to run as files that other tools take: a table, JSON, or lines for an Optuna study."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

from hyperlens.errors import AnalysisError, listed
from hyperlens.explain.confirm.confirm import Confirm
from hyperlens.words import counted, printable


def table_text(record: Confirm) -> str:
    """CSV: a column a parameter, a row a trial, empty where inactive."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(record.parameters)
    for configuration in record.configurations:
        writer.writerow([configuration.get(name, "") for name in record.parameters])
    return text.getvalue()


def json_text(record: Confirm) -> str:
    """JSON: a list of configurations, each the values that a ConfigSpace `Configuration` takes."""
    return json.dumps([dict(c) for c in record.configurations], indent=1, allow_nan=False) + "\n"


def optuna_text(record: Confirm) -> str:
    """Python: a line of `study.enqueue_trial` for each, marked as what it was proposed for."""
    about = printable(", ".join(record.about))
    lines = [
        f"# {counted(len(record.left), 'trial')} that would settle: {about}",
        f"MARK = {record.mark!r}",
    ]
    lines += [f"study.enqueue_trial({dict(c)!r}, user_attrs=MARK)" for c in record.configurations]
    return "\n".join(lines) + "\n"


FORMS: dict[str, tuple[Callable[[Confirm], str], str]] = {
    ".csv": (table_text, "a table"),
    ".json": (json_text, "values of ConfigSpace configurations"),
    ".py": (optuna_text, "lines for an Optuna study"),
}


def trial_text(record: Confirm, path: str) -> tuple[str, str]:
    """What a file of this name holds, and that in a sentence."""
    write, called = FORMS[form_of(path)]
    count = counted(len(record.left), "trial")
    return write(record), f"{count} to run, as {called}"


def form_of(path: str) -> str:
    """The ending of a file that can be written."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMS:
        raise AnalysisError(
            f"Trials cannot be written to '{path}'; choose a name that ends in {listed(FORMS)}."
        )
    return suffix
