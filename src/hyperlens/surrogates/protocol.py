"""What a surrogate can do, whichever it is."""

from typing import Literal, Protocol, Self

from hyperlens.spaces.cube import FloatArray, IntArray

SearchKind = Literal["gp", "forest"]  # a Gaussian process, a random forest: what a search asks
SurrogateKind = Literal["additive", "gp", "forest"]  # what explains a run


class Surrogate(Protocol):
    """A regression of costs on vectors of the unit cube."""

    def fit(self, X: FloatArray, y: FloatArray) -> Self:
        """Learn from vectors X (n, d), nan where inactive, and costs y (n,)."""

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the cost at vectors X (m, d)."""

    def holdout(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation at these training rows, had they been left out."""
