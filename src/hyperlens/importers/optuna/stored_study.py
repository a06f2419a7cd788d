"""A study as Optuna's storages keep it, whichever storage it was: what the readers hand over."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hyperlens.errors import SourceError, listed
from hyperlens.importers.optuna.parameter_ranges import Distributions
from hyperlens.proposal import EXCESS, REASON
from hyperlens.spaces.parameter import is_number

METRIC_NAMES = "study:metric_names"  # what the user called the objectives, a system attribute
REASONS = (REASON, "failure_reason", "STUDY_TELL_WARNING")
PROPOSERS = ("hyperlens:proposer", "proposer")

HALVING = "pruned by successive halving"  # alone or within Hyperband, which keep rungs with a trial
_RUNG = "completed_rung_"

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
    """One trial. `state` and `attributes` are Optuna's; `values` is None before it is told, `steps` are
    the intermediate values, `pruner` is that of its study where that is known. `made` is what was made
    of it when it was read before, and how."""

    number: int
    state: str
    started: float | None = None
    ended: float | None = None
    values: Sequence[float | None] | None = None
    steps: dict[int, float] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    pruner: str | None = None
    made: Any = field(default=None, init=False, repr=False, compare=False)

    @property
    def reason(self) -> str | None:
        if self.state == "COMPLETE":  # one that was tried again may have an old reason
            return None
        told = next((str(self.attributes[k]) for k in REASONS if self.attributes.get(k)), None)
        if told is not None or self.state != "PRUNED":
            return told
        if any(key.startswith(_RUNG) for key in self.attributes):
            return HALVING
        return f"the study's pruner was {self.pruner}" if self.pruner else None

    @property
    def excess(self) -> dict[str, float]:
        """By how much it exceeds its constraints, by their names: what `constraints_func` returned has
        numbers, what `set_constraint` was told has names (from Optuna 5 on)."""
        if not self.attributes:
            return {}
        found = self.attributes.get(EXCESS)
        listed = found if isinstance(found, (list, tuple)) else ()
        known = {f"constraint {k + 1}": x for k, x in enumerate(listed)}
        prefix = f"{EXCESS}:"
        known |= {
            k.removeprefix(prefix): x for k, x in self.attributes.items() if k.startswith(prefix)
        }
        return {k: float(x) if is_number(x) else math.nan for k, x in known.items()}

    @property
    def proposer(self) -> str | None:
        if not self.attributes:
            return None
        names = [str(self.attributes[k]) for k in PROPOSERS if self.attributes.get(k)]
        names += [_TRACES[s] for s in _TRACES if any(k.startswith(s) for k in self.attributes)]
        return names[0] if names else None


@dataclass
class StoredStudy:
    """A study; `directions` holds "MINIMIZE", "MAXIMIZE" or "NOT_SET" for each objective."""

    name: str
    directions: Sequence[str]
    metric_names: Sequence[str] | None = None
    distributions: Distributions = field(default_factory=Distributions)
    trials: list[StoredTrial] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    space: Any = None  # as one of our own runs recorded it, ConfigSpace's JSON
    plan: Any = None  # of our own search over models, SearchPlan.to_dict
    stopped: Any = None  # why one of our own runs stopped early, Stopped.to_dict
    limits: Any = None  # what trials of our own runs must keep, a list of texts


def choose(names: Iterable[str], name: str | None, where: str) -> str:
    """The study to read out of those that a storage holds."""
    names = list(names)
    if not names:
        raise SourceError(f"There is no study in {where}; run one before reading it.")
    if name is None and len(names) == 1:
        return names[0]
    if name is None or name not in names:
        many = f"are {len(names)} studies" if name is None else f"is no study '{name}'"
        raise SourceError(
            f"There {many} in {where}; choose one of {listed(names)} with --study NAME (study= in "
            "Python)."
        )
    return name


def parsed(text: str | None) -> Any:
    """An attribute's JSON; its own text where it is none."""
    try:
        return json.loads(text) if text is not None else None
    except ValueError:
        return text
