"""One evaluation of an objective: whatever it does, the answer is a cost or a reason."""

import inspect
import math
import signal
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Objective = Callable[..., Any]  # of a configuration, and of a budget where the method gives one

LONGEST_REASON = 300  # characters


@dataclass(frozen=True)
class AtFull:
    """An objective of a configuration and a budget, called with all of it unless told how much."""

    objective: Objective

    def __call__(self, configuration: Mapping[str, Any], budget: float = 1.0) -> Any:
        return self.objective(configuration, budget)

    @property
    def __name__(self) -> str:
        return getattr(self.objective, "__name__", "cost")


def fits(objective: Objective, arguments: int) -> bool:
    """Can it be called with so many arguments, as far as its signature tells?"""
    try:
        inspect.signature(objective).bind(*[None] * arguments)
    except TypeError:
        return False
    except ValueError:  # it has no signature that can be read
        return True
    return True


@dataclass(frozen=True)
class Outcome:
    """A cost as the objective returned it, or why there is none.

    `others` are costs of further objectives, `excess` says by how much each limit was exceeded.
    """

    cost: float | None = None
    reason: str | None = None
    others: tuple[float, ...] = ()
    excess: tuple[float, ...] = ()


def evaluate(
    objective: Objective, configuration: Mapping[str, Any], budget: float | None = None
) -> Outcome:
    """Call the objective. Only Ctrl-C gets out of here, unless the objective raised it by itself."""
    arguments = (dict(configuration),) if budget is None else (dict(configuration), budget)
    try:
        return judged(objective(*arguments))
    except KeyboardInterrupt:
        if not ignoring_interrupts():
            raise
        return Outcome(reason="KeyboardInterrupt")
    except BaseException as problem:  # sys.exit too is one trial's end, not the run's
        return Outcome(reason=told_by(problem) + _place(problem))


def judged(returned: Any) -> Outcome:
    """Is it a cost? Numbers of NumPy and the like are.

    >>> judged(float("nan")).reason
    'returned nan, which is not a finite number'
    """
    if isinstance(returned, Outcome):  # judged already, by a goal
        return returned
    shown = f"returned {shortened(said(returned, repr), 60)}, which is not a finite number"
    if isinstance(returned, (tuple, list, dict)) and len(returned) > 1:
        return Outcome(
            reason=f"{shown}; several values are named by --objective (objectives= in Python)"
        )
    if isinstance(returned, (str, bytes, complex)):
        return Outcome(reason=shown)
    try:
        cost = float(returned)
    except Exception:  # whatever its own conversion does
        return Outcome(reason=shown)
    return Outcome(cost) if math.isfinite(cost) else Outcome(reason=shown)


def told_by(problem: BaseException) -> str:
    """An exception in one line."""
    what = " ".join(said(problem, str).split())
    text = f"{type(problem).__name__}: {what}" if what else type(problem).__name__
    return shortened(text, LONGEST_REASON)


def ignoring_interrupts() -> bool:
    """Is Ctrl-C somebody else's to answer? It is in our worker processes."""
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def said(thing: Any, says: Callable[[Any], str]) -> str:
    """What a user's object says of itself, where it can."""
    try:
        return says(thing)
    except Exception:
        return f"a {type(thing).__name__} that cannot be shown" if says is repr else ""


def _place(problem: BaseException) -> str:
    frames = traceback.extract_tb(problem.__traceback__)[1:]  # the first is `evaluate`
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""


def shortened(text: str, most: int) -> str:
    """A text in one line of at most so many characters."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"
