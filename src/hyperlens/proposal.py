"""What an optimiser thought of a configuration when it proposed it, and how a storage keeps that.

Optimisers write a `Proposal` with every trial; readers, explanations and the live page read it. A run is
one Optuna study, whose attributes are named here, once:

    study   user attribute    SPACE      the space, ConfigSpace's JSON
            user attribute    PLAN       SearchPlan.to_dict, of a search over models
            user attribute    STOPPED    Stopped.to_dict, of a search that stopped early; else null
            user attribute    LIMITS     what a trial must keep, a list of texts
    trial   user attribute    PROPOSAL   Proposal.to_dict
            user attribute    REASON     why it failed
            user attribute    RUNGS      budgets of the rungs that a race has taken it to; its cost at
                                         rung k is the intermediate value k
            user attribute    TWIN       begun by two processes at once: not a trial
            system attribute  LEASE      who is running it; "paused" if it waits for others at its rung
            system attribute  EXCESS     by how much it exceeds each limit, Optuna's own name; from its
                                         version 5 on also EXCESS:NAME for each
            system attribute  VALUES     its configuration while an Optuna study has not asked for all
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

SPACE, PROPOSAL, REASON = "hyperlens:space", "hyperlens:proposal", "fail_reason"
RUNGS, TWIN, LEASE = "hyperlens:rungs", "hyperlens:twin", "hyperlens:lease"
VALUES, PLAN, STOPPED = "hyperlens:values", "hyperlens:plan", "hyperlens:stopped"
LIMITS, EXCESS = "hyperlens:limits", "constraints"

MOST_LEARNED = 10**6  # trials that ranges may name
INITIAL = 4  # trials per parameter taken as the initial design where nothing is recorded

Kind = Literal["initial", "proposed", "confirm"]  # the last to settle an explanation
Acquisition = Literal["lcb", "ei", "ehvi", "feasible"]
About = Literal["cost", "excess", "failure"]
Span = tuple[float, float]
NUMBERS = ("tau", "mean", "std", "bound", "score", "best", "chance", "failing")


@dataclass(frozen=True)
class Belief:
    """What a further surrogate thought of a configuration: of the cost of another objective, of the
    excess over a limit, or of failing, which exceeds its limit by a half."""

    about: About
    mean: float
    std: float
    surrogate: str
    surrogate_parameters: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        surrogate = {"name": self.surrogate, **self.surrogate_parameters}
        return {"about": self.about, "mean": self.mean, "std": self.std, "surrogate": surrogate}

    @staticmethod
    def from_dict(stored: object) -> Belief | None:
        if not isinstance(stored, Mapping):
            return None
        about = _among(stored.get("about"), get_args(About))
        mean, std = _number(stored.get("mean")), _number(stored.get("std"))
        surrogate, parameters = _surrogate(stored.get("surrogate"))
        if about is None or mean is None or std is None or surrogate is None:
            return None
        return Belief(about, mean, std, surrogate, parameters)


@dataclass(frozen=True)
class Proposal:
    """Who proposed a trial, and why; None is what is unknown, or what no surrogate was asked for.

    All numbers are of the minimised cost, as the surrogate learned it. `std` includes the noise unless
    the surrogate is quiet; `bound` is mean - tau std; `score` is the acquisition's value: the bound, or
    the expected improvement on `best`, the smallest mean at a configuration learned from.
    `learned` and `awaited` name trials by ranges such as "0-15,18".

    Of several objectives these are the first one's, and `beside` has what was thought of all else:
    other costs, limits, failing. `chance` is the probability to keep all limits and not to fail, which
    the score is weighted by, and `failing` that to fail.
    """

    kind: Kind | None = None
    optimizer: str | None = None
    acquisition: Acquisition | None = None
    tau: float | None = None
    mean: float | None = None
    std: float | None = None
    bound: float | None = None
    score: float | None = None
    best: float | None = None
    surrogate: str | None = None  # its name; what it is not read by is "unknown"
    surrogate_parameters: Mapping[str, Any] = field(default_factory=dict)
    chance: float | None = None
    failing: float | None = None
    beside: tuple[Belief, ...] = ()
    objectives: tuple[str, ...] = ()  # names of all, where there are several
    learned: str = ""  # trials whose costs the surrogate had learned from, in the order told
    awaited: str = ""  # trials whose costs it had to guess by its own means
    parameters: tuple[str, ...] = ()  # those that were tuned, where the space was inferred
    budget: float | None = None  # how much the evaluation may use, if the method says
    about: str | None = None  # what of an explanation it is to settle; of a design, whence it comes
    guessed: tuple[str, ...] = ()  # parameters that a prior spoke of, where it comes from one
    rung: int | None = None  # how often this configuration had gone on before
    final: bool = True  # False if it is to wait for others and may then go on
    entry: str | None = None  # which place of a race it takes, the same in every process
    spans: tuple[Span, ...] = ()  # its evaluations, one a rung, from and to seconds since 1970

    @property
    def by_surrogate(self) -> bool:
        """Did a surrogate choose it? Not what belongs to an initial design or was drawn at random."""
        return self.kind == "proposed" and self.surrogate is not None

    def after(
        self, learned: Iterable[int], awaited: Iterable[int], optimizer: str | None = None
    ) -> Proposal:
        """With the numbers of trials that were known, and of those that were awaited."""
        known, unknown = to_ranges(learned), to_ranges(awaited)
        return replace(self, optimizer=optimizer, learned=known, awaited=unknown)

    def to_dict(self) -> dict[str, Any]:
        """What a storage keeps: plain values, nothing that is unknown."""
        known = {f.name: getattr(self, f.name) for f in fields(self)}
        unknown: tuple[Any, ...] = (None, "", (), {})
        stored = {name: value for name, value in known.items() if value not in unknown}
        stored.pop("surrogate_parameters", None)
        if self.surrogate is not None:
            stored["surrogate"] = {"name": self.surrogate, **self.surrogate_parameters}
        if self.final:
            del stored["final"]
        lists: dict[str, list[Any]] = {
            "parameters": list(self.parameters),
            "guessed": list(self.guessed),
            "objectives": list(self.objectives),
            "spans": [list(s) for s in self.spans],
            "beside": [belief.to_dict() for belief in self.beside],
        }
        return stored | {name: value for name, value in lists.items() if value}

    @staticmethod
    def from_dict(stored: object) -> Proposal | None:
        """What can be understood of a stored form, ours or foreign; None if that is nothing.

        >>> Proposal.from_dict({"kind": "proposed", "resource": 0.5, "mean": "low"})
        ... # doctest: +ELLIPSIS
        Proposal(kind='proposed', ..., mean=None, ..., budget=0.5, ...)
        """
        if not isinstance(stored, Mapping):
            return None
        get = stored.get
        surrogate, surrogate_parameters = _surrogate(get("surrogate"))
        rung = _number(get("rung"))
        proposal = Proposal(
            kind=_among(get("kind"), get_args(Kind)),
            optimizer=_text(get("optimizer")),
            acquisition=_among(get("acquisition"), get_args(Acquisition)),
            **{name: _number(get(name)) for name in NUMBERS},
            surrogate=surrogate,
            surrogate_parameters=surrogate_parameters,
            beside=_beliefs(get("beside")),
            objectives=_names(get("objectives")),
            learned=str(get("learned") or ""),
            awaited=str(get("awaited") or ""),
            parameters=_names(get("parameters")),
            budget=_number(get("budget", get("resource"))),  # "resource" until version 0.1
            about=_text(get("about")),
            guessed=_names(get("guessed")),
            rung=None if rung is None else int(rung),
            final=get("final") is not False,
            entry=_text(get("entry")),
            spans=_spans(get("spans")),
        )
        return None if proposal == Proposal() else proposal


def to_ranges(numbers: Iterable[int]) -> str:
    """Trial numbers in their order, runs of consecutive ones joined.

    >>> to_ranges([0, 1, 2, 4, 3])
    '0-2,4,3'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def from_ranges(text: str) -> list[int]:
    """Trial numbers of "0-15,18,17", in this order; a ValueError says what is wrong with the text.

    >>> from_ranges("0-2,4,3")
    [0, 1, 2, 4, 3]
    """
    numbers: list[int] = []
    for part in filter(None, map(str.strip, text.split(","))):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ValueError("names the trials it learned from in no known way")
        numbers.extend(range(int(first), min(int(last or first), int(first) + MOST_LEARNED) + 1))
        if len(numbers) > MOST_LEARNED:
            raise ValueError("names too many trials")
    return numbers


def _surrogate(stored: Any) -> tuple[str | None, dict[str, Any]]:
    if not stored:
        return None, {}
    if not isinstance(stored, Mapping):
        return "unknown", {}
    parameters = {str(key): value for key, value in stored.items() if key != "name"}
    return _text(stored.get("name")) or "unknown", parameters


def _number(stored: Any) -> float | None:
    known = isinstance(stored, (int, float)) and not isinstance(stored, bool)
    return float(stored) if known and math.isfinite(stored) else None


def _text(stored: Any) -> str | None:
    return stored if isinstance(stored, str) and stored else None


def _among(stored: Any, choices: tuple[Any, ...]) -> Any:
    return stored if isinstance(stored, str) and stored in choices else None


def _names(stored: Any) -> tuple[str, ...]:
    return tuple(map(str, stored)) if isinstance(stored, (list, tuple)) else ()


def _beliefs(stored: Any) -> tuple[Belief, ...]:
    """All of them, or none where one is damaged."""
    each = stored if isinstance(stored, (list, tuple)) else ()
    found = [Belief.from_dict(one) for one in each]
    return tuple(b for b in found if b is not None) if None not in found else ()


def _spans(stored: Any) -> tuple[Span, ...]:
    """All of them, or none where one is damaged."""
    spans = []
    for span in stored if isinstance(stored, (list, tuple)) else ():
        ends = [_number(moment) for moment in span] if isinstance(span, (list, tuple)) else []
        if len(ends) != 2 or ends[0] is None or ends[1] is None:
            return ()
        spans.append((ends[0], max(ends[0], ends[1])))
    return tuple(spans)
