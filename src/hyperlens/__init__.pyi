"""What hyperlens offers, by the file that has it; each name is imported when it is first used."""

from . import optuna as optuna
from .cash.estimator import CASHClassifier as CASHClassifier
from .cash.estimator import CASHRegressor as CASHRegressor
from .cash.results.model_search import ModelSearch as ModelSearch
from .cash.results.model_search import model_search as model_search
from .comparison.compare import Comparison as Comparison
from .comparison.compare import compare as compare
from .conversion.convert import convert as convert
from .conversion.convert import validate as validate
from .errors import (
    AnalysisError as AnalysisError,
)
from .errors import (
    HyperlensError as HyperlensError,
)
from .errors import (
    SourceError as SourceError,
)
from .errors import (
    SpaceError as SpaceError,
)
from .explain.effects.effect import Effect as Effect
from .explain.effects.effect import effect as effect
from .explain.effects.regions import Region as Region
from .explain.effects.regions import Regions as Regions
from .explain.effects.regions import regions as regions
from .explain.effects.reliability import Reliability as Reliability
from .explain.effects.reliability import reliability as reliability
from .explain.importance.ablation import Ablation as Ablation
from .explain.importance.ablation import ablation as ablation
from .explain.importance.importance import Importance as Importance
from .explain.importance.importance import importance as importance
from .explain.importance.interactions import (
    Interactions as Interactions,
)
from .explain.importance.interactions import (
    interactions as interactions,
)
from .explain.importance.local_importance import (
    LocalImportance as LocalImportance,
)
from .explain.importance.local_importance import (
    local_importance as local_importance,
)
from .explain.importance.subspace import Subspace as Subspace
from .explain.models.fidelity import all_budgets as all_budgets
from .explain.models.fitting import Fitted as Fitted
from .explain.models.fitting import fit as fit
from .explain.proposals.path import ProposalPath as ProposalPath
from .explain.proposals.path import path as path
from .explain.proposals.sample_size import (
    SampleSize as SampleSize,
)
from .explain.proposals.sample_size import (
    check_sample_size as check_sample_size,
)
from .explain.proposals.why import Why as Why
from .explain.proposals.why import why as why
from .explain.run.bias import Bias as Bias
from .explain.run.bias import bias as bias
from .explain.run.compare_runs import RunComparison as RunComparison
from .explain.run.compare_runs import compare_runs as compare_runs
from .explain.run.footprint import Footprint as Footprint
from .explain.run.footprint import footprint as footprint
from .explain.run.overview import Overview as Overview
from .explain.run.overview import overview as overview
from .explain.run.spending import Spending as Spending
from .explain.run.spending import spending as spending
from .explain.run.timeline import Timeline as Timeline
from .explain.run.timeline import timeline as timeline
from .explain.run.trials import Trials as Trials
from .explain.run.trials import trials as trials
from .explain.run.validation import Validation as Validation
from .importers import read as read
from .optimize.models.failure_probability import (
    FailureProbability as FailureProbability,
)
from .optimize.models.failure_probability import (
    failure_probability as failure_probability,
)
from .optimize.optimizers.random_search import RandomSearch as RandomSearch
from .optimize.optimizers.schedule import Schedule as Schedule
from .optimize.optimizers.schedule import schedule as schedule
from .optimize.optimizers.smbo import SMBO as SMBO
from .optimize.running.minimize import maximize as maximize
from .optimize.running.minimize import minimize as minimize
from .optimize.running.recommend import recommend as recommend
from .reports import report as report
from .runs.history import History as History
from .runs.history import Objective as Objective
from .runs.history import State as State
from .runs.history import Trial as Trial
from .spaces.parameter import Parameter as Parameter
from .spaces.space import Space as Space

__version__: str
__all__: list[str]
