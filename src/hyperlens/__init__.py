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
    from hyperlens.explain.effects import Effect, effect
    from hyperlens.explain.fanova import Importance, importance
    from hyperlens.explain.fitting import Fitted, fit
    from hyperlens.explain.overview import Overview, overview
    from hyperlens.history import History, Objective, State, Trial
    from hyperlens.importers import read
    from hyperlens.parameter import Parameter
    from hyperlens.reports import report
    from hyperlens.space import Space

__version__ = "0.1.0"

__all__ = [
    "AnalysisError",
    "Effect",
    "Fitted",
    "History",
    "HyperlensError",
    "Importance",
    "Objective",
    "Overview",
    "Parameter",
    "SourceError",
    "Space",
    "SpaceError",
    "State",
    "Trial",
    "effect",
    "fit",
    "importance",
    "overview",
    "read",
    "report",
]

_HOME = {
    "errors": ("AnalysisError", "HyperlensError", "SourceError", "SpaceError"),
    "explain.effects": ("Effect", "effect"),
    "explain.fanova": ("Importance", "importance"),
    "explain.fitting": ("Fitted", "fit"),
    "explain.overview": ("Overview", "overview"),
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
