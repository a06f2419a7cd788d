"""How a run is to be explained: the same choices in Python, on the command line and on the live page."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

Step = tuple[Literal["split", "merge"], int]


@dataclass(frozen=True)
class Choices:
    """What a reader may choose; None leaves it to the report.

    `surrogate` is the primary one, by default the run's leader, which cross-validates best. `level` is
    that of all intervals, None skips them. `proposals` explains proposals even if the run recorded none,
    `trial` one of them in full. `parameter` restricts effects and regions to one parameter, `other`
    adds the effect of both together. `steps` are splits of regions that were made or taken back by
    hand, after `splits` of our own.
    """

    objective: str | None = None
    surrogate: Literal["additive", "gp", "forest"] | None = None
    level: float | None = 0.9
    seed: int = 0
    proposals: bool = False
    trial: int | None = None
    parameter: str | None = None
    other: str | None = None
    splits: int = 5
    steps: tuple[Step, ...] = ()

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Choices:
        """Choices out of JSON; names that are not known are ignored."""
        values = {f.name: content[f.name] for f in fields(cls) if f.name in content}
        steps = tuple((what, region) for what, region in values.pop("steps", ()))
        return cls(**values, steps=steps)
