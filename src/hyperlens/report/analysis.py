"""Everything the first report says about a run, computed once: the command line, the JSON file and
the HTML file all show this one record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hyperlens.explain.effects import Effect
from hyperlens.explain.fanova import Importance
from hyperlens.explain.overview import Overview
from hyperlens.record import Record
from hyperlens.surrogates.quality import Quality

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Unavailable(Record):
    """A result that could not be computed, and the sentence that says why."""

    what: str
    why: str

    @property
    def frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame({"what": [self.what], "why": [self.why]})


@dataclass(frozen=True)
class Analysis:
    """The records of a whole explanation, most important parameter first."""

    overview: Overview
    qualities: tuple[Quality, ...]
    importance: Importance | Unavailable
    effects: tuple[Effect | Unavailable, ...]
    pairs: tuple[Effect | Unavailable, ...]
    warnings: tuple[str, ...]
    version: str
    seed: int
