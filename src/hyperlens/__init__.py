"""Hyperlens explains hyperparameter optimisation.

>>> import hyperlens as hl
>>> sorted(set(hl.__all__) & {"read", "importance", "effect", "report"})
['effect', 'importance', 'read', 'report']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperlens.cash.estimator import CASHClassifier, CASHRegressor
    from hyperlens.cash.story import ModelSearch, model_search
    from hyperlens.comparison.compare import Comparison, compare
    from hyperlens.errors import AnalysisError, HyperlensError, SourceError, SpaceError
    from hyperlens.explain.ablation import Ablation, ablation
    from hyperlens.explain.beside import Beside, beside
    from hyperlens.explain.bias import Bias, bias
    from hyperlens.explain.effects import Effect, effect
    from hyperlens.explain.fanova import Importance, importance
    from hyperlens.explain.fidelity import all_budgets
    from hyperlens.explain.fitting import Fitted, fit
    from hyperlens.explain.footprint import Footprint, footprint
    from hyperlens.explain.interaction import Interactions, interactions
    from hyperlens.explain.local import LocalImportance, local_importance
    from hyperlens.explain.overview import Overview, overview
    from hyperlens.explain.path import Path, path
    from hyperlens.explain.proposals import Why, why
    from hyperlens.explain.regions import Region, Regions, regions
    from hyperlens.explain.reliability import Reliability, reliability
    from hyperlens.explain.sample_size import SampleSize, check_sample_size
    from hyperlens.explain.spending import Spending, spending
    from hyperlens.explain.subspace import Subspace
    from hyperlens.explain.timeline import Timeline, timeline
    from hyperlens.explain.trials import Trials, trials
    from hyperlens.explain.validation import Validation
    from hyperlens.history import History, Objective, State, Trial
    from hyperlens.importers import read
    from hyperlens.optimize.failure import FailureProbability, failure_probability
    from hyperlens.optimize.random_search import RandomSearch
    from hyperlens.optimize.recommend import recommend
    from hyperlens.optimize.run import maximize, minimize
    from hyperlens.optimize.schedule import Schedule, schedule
    from hyperlens.optimize.smbo import SMBO
    from hyperlens.parameter import Parameter
    from hyperlens.reports import report
    from hyperlens.sources import convert, validate
    from hyperlens.space import Space

__version__ = "0.1.0"

__all__ = [  # noqa: RUF022  # as sorted() has it
    "Ablation",
    "AnalysisError",
    "Beside",
    "Bias",
    "CASHClassifier",
    "CASHRegressor",
    "Comparison",
    "Effect",
    "FailureProbability",
    "Fitted",
    "Footprint",
    "History",
    "HyperlensError",
    "Importance",
    "Interactions",
    "LocalImportance",
    "ModelSearch",
    "Objective",
    "Overview",
    "Parameter",
    "Path",
    "RandomSearch",
    "Region",
    "Regions",
    "Reliability",
    "SMBO",
    "SampleSize",
    "Schedule",
    "SourceError",
    "Space",
    "SpaceError",
    "Spending",
    "State",
    "Subspace",
    "Timeline",
    "Trial",
    "Trials",
    "Validation",
    "Why",
    "ablation",
    "all_budgets",
    "beside",
    "bias",
    "check_sample_size",
    "compare",
    "convert",
    "effect",
    "failure_probability",
    "fit",
    "footprint",
    "importance",
    "interactions",
    "local_importance",
    "maximize",
    "minimize",
    "model_search",
    "overview",
    "path",
    "read",
    "recommend",
    "regions",
    "reliability",
    "report",
    "schedule",
    "spending",
    "timeline",
    "trials",
    "validate",
    "why",
]

_HOME = {
    "cash.estimator": ("CASHClassifier", "CASHRegressor"),
    "cash.story": ("ModelSearch", "model_search"),
    "comparison.compare": ("Comparison", "compare"),
    "errors": ("AnalysisError", "HyperlensError", "SourceError", "SpaceError"),
    "explain.ablation": ("Ablation", "ablation"),
    "explain.beside": ("Beside", "beside"),
    "explain.bias": ("Bias", "bias"),
    "explain.effects": ("Effect", "effect"),
    "explain.fanova": ("Importance", "importance"),
    "explain.fidelity": ("all_budgets",),
    "explain.fitting": ("Fitted", "fit"),
    "explain.footprint": ("Footprint", "footprint"),
    "explain.interaction": ("Interactions", "interactions"),
    "explain.local": ("LocalImportance", "local_importance"),
    "explain.overview": ("Overview", "overview"),
    "explain.path": ("Path", "path"),
    "explain.proposals": ("Why", "why"),
    "explain.regions": ("Region", "Regions", "regions"),
    "explain.reliability": ("Reliability", "reliability"),
    "explain.sample_size": ("SampleSize", "check_sample_size"),
    "explain.spending": ("Spending", "spending"),
    "explain.subspace": ("Subspace",),
    "explain.timeline": ("Timeline", "timeline"),
    "explain.trials": ("Trials", "trials"),
    "explain.validation": ("Validation",),
    "history": ("History", "Objective", "State", "Trial"),
    "importers": ("read",),
    "optimize.failure": ("FailureProbability", "failure_probability"),
    "optimize.random_search": ("RandomSearch",),
    "optimize.recommend": ("recommend",),
    "optimize.run": ("maximize", "minimize"),
    "optimize.schedule": ("Schedule", "schedule"),
    "optimize.smbo": ("SMBO",),
    "parameter": ("Parameter",),
    "reports": ("report",),
    "sources": ("convert", "validate"),
    "space": ("Space",),
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import hyperlens` costs nothing."""
    for module, names in _HOME.items():
        if name in names:
            return getattr(import_module(f"hyperlens.{module}"), name)
    if name == "optuna":  # the module with our sampler
        return import_module("hyperlens.optuna")
    raise AttributeError(f"module 'hyperlens' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
