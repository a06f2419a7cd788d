"""What holds under load, faults and hostile input: tried how often, failed how often."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """What was tried, how often, how often it failed; for what is measured, what and what is wanted."""

    what: str
    tried: int
    failed: int
    measured: str = ""
    wanted: str = ""
