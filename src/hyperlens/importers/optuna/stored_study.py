"""A study as Optuna's storages keep it, whichever storage it was: what the readers hand over."""

from __future__ import annotations

import datetime
import json
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hyperlens.errors import SourceError, listed
from hyperlens.proposal import REASON

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

REASONS = (REASON, "failure_reason", "STUDY_TELL_WARNING")
PROPOSERS = ("hyperlens:proposer", "proposer")

# What samplers leave in a trial's attributes, by the beginning of the key.
_TRACES = {
    "fixed_params": "enqueued",
    "grid_id": "GridSampler",
    "tpe:": "TPESampler",
    "gp:": "GPSampler",
    "cma:": "CmaEsSampler",
    "nsga2:": "NSGAIISampler",
    "nsga3:": "NSGAIIISampler",
    "NSGAIISampler:": "NSGAIISampler",
    "NSGAIIISampler:": "NSGAIIISampler",
}


@dataclass
class StoredTrial:
    """One trial. `state` and `attributes` are Optuna's; `values` is None before it is told."""

    number: int
    state: str
    started: float | None = None
    ended: float | None = None
    values: Sequence[float | None] | None = None
    last_step: int | None = None
    params: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def reason(self) -> str | None:
        if self.state == "COMPLETE":  # one that was tried again may have an old reason
            return None
        return next((str(self.attributes[k]) for k in REASONS if self.attributes.get(k)), None)

    @property
    def proposer(self) -> str | None:
        for key in PROPOSERS:
            if self.attributes.get(key):
                return str(self.attributes[key])
        for start, sampler in _TRACES.items():
            if any(key.startswith(start) for key in self.attributes):
                return sampler
        return None


@dataclass
class StoredStudy:
    """A study; `directions` holds "MINIMIZE", "MAXIMIZE" or "NOT_SET" for each objective."""

    name: str
    directions: Sequence[str]
    metric_names: Sequence[str] | None
    distributions: Distributions
    trials: list[StoredTrial]
    notes: list[str] = field(default_factory=list)
    space: Any = None  # as one of our own runs recorded it, ConfigSpace's JSON


class Distributions:
    """Every distribution that each parameter was drawn from, in order of appearance.

    A storage keeps a parameter as a number and the JSON of its distribution: `value` turns the
    two into what the user saw.
    """

    def __init__(self) -> None:
        self.seen: dict[str, list[BaseDistribution]] = {}
        self._readers: dict[tuple[str, str], Callable[[Any], Any]] = {}

    def add(self, name: str, distribution: BaseDistribution) -> None:
        known = self.seen.setdefault(name, [])
        if distribution not in known:
            known.append(distribution)

    def value(self, name: str, text: str, stored: Any) -> Any:
        """The user's value of a stored number."""
        reader = self._readers.get((name, text))
        if reader is None:
            reader = self._readers[name, text] = self._reader(name, text)
        return reader(stored)

    def _reader(self, name: str, text: str) -> Callable[[Any], Any]:
        from optuna.distributions import json_to_distribution

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the classes of Optuna 2 announce their end
                distribution = json_to_distribution(text)
        except Exception as problem:  # Optuna raises whatever its constructors meet
            raise SourceError(
                f"The distribution of parameter '{name}' cannot be read from the study "
                f"({one_line(problem)}); upgrade Optuna, or export the study's "
                "trials_dataframe() to a CSV."
            ) from problem
        self.add(name, distribution)
        return distribution.to_external_repr


def choose(names: Iterable[str], wanted: str | None, where: str) -> str:
    """The study to read out of those that a storage holds."""
    names = list(names)
    if not names:
        raise SourceError(f"There is no study in {where}; run one before reading it.")
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted is None:
        raise SourceError(
            f"There are {len(names)} studies in {where}; choose one of {listed(names)} "
            "with --study NAME (study= in Python)."
        )
    if wanted not in names:
        raise SourceError(
            f"There is no study '{wanted}' in {where}; choose one of {listed(names)} "
            "with --study NAME (study= in Python)."
        )
    return wanted


def metric_names(attributes: Mapping[str, Any]) -> list[str] | None:
    """What the user called the objectives, from a study's system attributes."""
    names = attributes.get("study:metric_names")
    return list(map(str, names)) if names else None


def parsed(text: str | None) -> Any:
    """An attribute's JSON; its own text where it is none."""
    try:
        return json.loads(text) if text is not None else None
    except ValueError:
        return text


def seconds(moment: Any, utc: bool = False) -> float | None:
    """Seconds since 1970; a moment without a zone is local time, or UTC on request."""
    if moment is None:
        return None
    try:
        if not isinstance(moment, datetime.datetime):
            moment = datetime.datetime.fromisoformat(str(moment))
        if utc and moment.tzinfo is None:
            moment = moment.replace(tzinfo=datetime.UTC)
        return float(moment.timestamp())
    except (ValueError, OverflowError, OSError):
        return None


def one_line(problem: BaseException) -> str:
    """An error of another library, fit to stand inside a sentence."""
    text = " ".join(str(problem).split()).replace(". ", ": ")
    return (text or type(problem).__name__)[:160].rstrip(" .;:,")
