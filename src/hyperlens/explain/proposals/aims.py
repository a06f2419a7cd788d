"""What a proposal is judged by, in words."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from hyperlens.proposal import Acquisition
from hyperlens.spaces.cube import FloatArray


@dataclass(frozen=True)
class Aim:
    """By what a proposal is judged, which way is better, and whether it was chosen by this."""

    kind: Literal["lcb", "ei", "ehvi", "feasible", "given"]
    larger: bool
    made: bool
    weighted: bool = False  # by the chance to be of use
    jointly: bool = False  # by surrogates of all objectives, limits and failures

    @property
    def part(self) -> Literal["bound", "score"]:
        return "bound" if self.kind == "lcb" and not self.jointly else "score"

    @property
    def called(self) -> str:
        return {
            "lcb": "the expected bound" if self.jointly else "the bound",
            "ei": "the expected improvement",
            "ehvi": "the expected hypervolume improvement",
            "feasible": "the chance to be of use",
            "given": "what the given function returns",
        }[self.kind] + (" times the chance to be of use" if self.weighted else "")

    @property
    def meaning(self) -> str:
        """What a score by surrogates of everything is, to end a sentence."""
        use = "keep all limits and not to fail"
        return {
            "lcb": f"the bound where it has the chance to {use}, else the worst cost so far",
            "ehvi": "the volume that costs are expected to add to what the front dominates"
            + (f", times the chance to {use}" if self.weighted else ""),
            "feasible": f"to {use}, for no trial was of use by then",
        }[self.kind]

    def desirable(self, contribution: float) -> bool:
        return contribution > 0 if self.larger else contribution < 0


def aim(
    acquisition: Acquisition | Callable[..., FloatArray],
    maximize: bool,
    made: bool,
    weighted: bool = False,
) -> Aim:
    """A larger improvement is better; what a user's function returns is read like the bound."""
    if callable(acquisition):
        return Aim("given", maximize, False)
    larger = acquisition != "lcb" or maximize
    return Aim(acquisition, larger, made, weighted and acquisition in ("ei", "ehvi"))
