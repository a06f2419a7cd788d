"""Surrogates of a cost: a Gaussian process, a forest, and whether they may be explained.

The models are imported on first use, so that naming one does not load the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hyperlens.surrogates.protocol import Surrogate
from hyperlens.surrogates.quality import Quality, assess

if TYPE_CHECKING:
    from hyperlens.surrogates.gaussian_process.gp import GP
    from hyperlens.surrogates.random_forest.forest import Forest

__all__ = ["GP", "Forest", "Quality", "Surrogate", "assess"]


def __getattr__(name: str) -> Any:
    if name == "GP":
        from hyperlens.surrogates.gaussian_process.gp import GP

        return GP
    if name == "Forest":
        from hyperlens.surrogates.random_forest.forest import Forest

        return Forest
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
