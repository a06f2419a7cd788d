"""What a proposal is judged by, in words."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from hyperlens.proposal import Acquisition
from hyperlens.spaces.cube import FloatArray


@dataclass(frozen=True)
class Aim:
    """By what a proposal is judged, which way is better, and whether it was chosen by this."""

    kind: Literal["lcb", "ei", "given"]
    larger: bool
    made: bool

    @property
    def part(self) -> Literal["bound", "score"]:
        return "bound" if self.kind == "lcb" else "score"

    @property
    def called(self) -> str:
        return {
            "lcb": "the bound",
            "ei": "the expected improvement",
            "given": "what the given function returns",
        }[self.kind]

    def desirable(self, contribution: float) -> bool:
        return contribution > 0 if self.larger else contribution < 0


def aim(acquisition: Acquisition | Callable[..., FloatArray], maximize: bool, made: bool) -> Aim:
    """A larger improvement is better; what a user's function returns is read like the bound."""
    if callable(acquisition):
        return Aim("given", maximize, False)
    return Aim(acquisition, acquisition == "ei" or maximize, made)
