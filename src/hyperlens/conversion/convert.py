"""What can be done with a run before it is explained: check what was read, write it elsewhere."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from hyperlens.conversion.to_optuna import write_optuna
from hyperlens.conversion.to_table import write_table
from hyperlens.errors import SourceError
from hyperlens.explain.run.validation import Validation, validation
from hyperlens.importers import open_run, read
from hyperlens.importers.read_options import Directions, ReadOptions
from hyperlens.runs.history import History
from hyperlens.spaces.space import GivenSpace

Form = Literal["table", "optuna"]


def validate(
    source: Any,
    study: str | None = None,
    space: GivenSpace | None = None,
    objective: str | Sequence[str] | None = None,
    maximize: Directions | None = None,
    parameters: Sequence[str] | None = None,
    constraint: str | Sequence[str] | None = None,
    step: str | None = None,
) -> Validation:
    """Read a run and say what was found, what was left out, and what cannot be said of it.

    It takes what `read` takes. A direction that is not known is said here instead of asked for.
    """
    options = ReadOptions(
        study, space, objective, maximize, parameters, constraint, step, lenient=True
    )
    return validation(open_run(source, options))


def convert(source: Any, to: Form, out: str | Path, **how: Any) -> Path:
    """Write a run to `out`: a new folder with a table and its space, or a new Optuna database.

    `how` is passed to `read`. Reading the result gives the same trials, space and notes.
    """
    history = source if isinstance(source, History) else read(source, **how)
    path = Path(out).expanduser()
    if to == "table":
        write_table(history, path)
    elif to == "optuna":
        write_optuna(history, path)
    else:
        raise SourceError(f"A run cannot be converted to '{to}'; choose 'table' or 'optuna'.")
    return path
