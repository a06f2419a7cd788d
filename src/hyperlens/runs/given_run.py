"""What analyses are given: a run that was read, and nothing that only looks like one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from hyperlens.errors import AnalysisError
from hyperlens.runs.history import History

Analysis = TypeVar("Analysis", bound=Callable[..., Any])


def of_a_run(analysis: Analysis) -> Analysis:
    """The same function of a `history`, which refuses what is none, such as a study or a path.

    >>> of_a_run(lambda history: len(history.trials))("study.db")
    Traceback (most recent call last):
    ...
    hyperlens.errors.AnalysisError: A str is no run that was read; give hl.read('study.db').
    """

    @wraps(analysis)
    def asked(*given: Any, **named: Any) -> Any:
        for run in (*given[:1], *(named[name] for name in named if name == "history")):
            if not isinstance(run, History):
                source = repr(run) if isinstance(run, str) else "..."
                what = f"A {type(run).__name__} is no run that was read"
                raise AnalysisError(f"{what}; give hl.read({source}).")
        return analysis(*given, **named)

    return cast(Analysis, asked)
