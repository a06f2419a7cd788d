"""A user's function by its place: `train.py:loss` or `package.module:loss`."""

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from hyperlens.errors import SourceError, listed
from hyperlens.optimize.running.trial_outcome import told_by


@dataclass(frozen=True)
class Target:
    """The function, how its run is called, and the file that a cluster needs to have it."""

    function: Callable[..., Any]
    name: str
    files: tuple[str, ...] = ()


def load(target: str) -> Target:
    """Import the user's module, which runs it, and find the function in it."""
    where, _, name = target.rpartition(":")
    if not where or not name:
        raise SourceError(
            f"'{target}' does not name a function; write it like train.py:loss or "
            "package.module:loss."
        )
    file = Path(where) if where.endswith(".py") else None
    if file is not None and not file.is_file():
        raise SourceError(f"There is no file '{where}'; check the path of the objective.")
    try:
        module = _from_file(file) if file is not None else _by_name(where)
    except (Exception, SystemExit) as problem:  # whatever the user's code does on import
        raise SourceError(
            f"'{where}' cannot be imported ({told_by(problem)}); correct it, or run it by itself "
            "to see where it fails."
        ) from problem
    function = getattr(module, name, None)
    if not callable(function):
        own = [
            n
            for n, v in vars(module).items()
            if callable(v) and getattr(v, "__module__", None) == module.__name__
        ]
        why = "has no function" if function is None else "has something else than a function called"
        raise SourceError(f"'{where}' {why} '{name}'; choose one of {listed(own)}.")
    stem = where.rpartition(".")[2] if file is None else file.stem
    return Target(function, f"{stem}:{name}", () if file is None else (str(file),))


def _by_name(name: str) -> ModuleType:
    sys.path.insert(0, str(Path.cwd()))
    return importlib.import_module(name)


def _from_file(path: Path) -> ModuleType:
    """As if it were imported from its own folder, which its other imports are looked for in."""
    sys.path.insert(0, str(path.resolve().parent))
    name = path.stem
    if name in sys.modules or name in sys.stdlib_module_names:  # never hide another module
        name = f"objective_{name}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("it is no Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
