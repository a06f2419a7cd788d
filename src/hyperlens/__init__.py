"""Hyperlens explains hyperparameter optimisation.

>>> import hyperlens as hl
>>> sorted(set(hl.__all__) & {"read", "importance", "effect", "report"})
['effect', 'importance', 'read', 'report']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperlens.errors import AnalysisError, HyperlensError, SourceError, SpaceError
    from hyperlens.explain.bias import Bias, bias
    from hyperlens.explain.effects import Effect, effect
    from hyperlens.explain.fanova import Importance, importance
    from hyperlens.explain.fitting import Fitted, fit
    from hyperlens.explain.interaction import Interactions, interactions
    from hyperlens.explain.overview import Overview, overview
    from hyperlens.explain.regions import Region, Regions, regions
    from hyperlens.explain.reliability import Reliability, reliability
    from hyperlens.explain.subspace import Subspace
    from hyperlens.history import History, Objective, State, Trial
    from hyperlens.importers import read
    from hyperlens.parameter import Parameter
    from hyperlens.reports import report
    from hyperlens.space import Space

__version__ = "0.1.0"

__all__ = [
    "AnalysisError",
    "Bias",
    "Effect",
    "Fitted",
    "History",
    "HyperlensError",
    "Importance",
    "Interactions",
    "Objective",
    "Overview",
    "Parameter",
    "Region",
    "Regions",
    "Reliability",
    "SourceError",
    "Space",
    "SpaceError",
    "State",
    "Subspace",
    "Trial",
    "bias",
    "effect",
    "fit",
    "importance",
    "interactions",
    "overview",
    "read",
    "regions",
    "reliability",
    "report",
]

_HOME = {
    "errors": ("AnalysisError", "HyperlensError", "SourceError", "SpaceError"),
    "explain.bias": ("Bias", "bias"),
    "explain.effects": ("Effect", "effect"),
    "explain.fanova": ("Importance", "importance"),
    "explain.fitting": ("Fitted", "fit"),
    "explain.interaction": ("Interactions", "interactions"),
    "explain.overview": ("Overview", "overview"),
    "explain.regions": ("Region", "Regions", "regions"),
    "explain.reliability": ("Reliability", "reliability"),
    "explain.subspace": ("Subspace",),
    "history": ("History", "Objective", "State", "Trial"),
    "importers": ("read",),
    "parameter": ("Parameter",),
    "reports": ("report",),
    "space": ("Space",),
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import hyperlens` costs nothing."""
    for module, names in _HOME.items():
        if name in names:
            return getattr(import_module(f"hyperlens.{module}"), name)
    raise AttributeError(f"module 'hyperlens' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
