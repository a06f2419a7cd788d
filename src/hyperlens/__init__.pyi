"""What hyperlens offers, by the file that has it; each name is imported when it is first used."""

from . import optuna as optuna
from .cash.estimator import CASHClassifier as CASHClassifier, CASHRegressor as CASHRegressor
from .cash.results.model_search import ModelSearch as ModelSearch, model_search as model_search
from .comparison.compare import Comparison as Comparison, compare as compare
from .conversion.convert import convert as convert, validate as validate
from .dashboard.access.background import LivePage as LivePage, serve as serve
from .errors import (
    AnalysisError as AnalysisError,
    HyperlensError as HyperlensError,
    SourceError as SourceError,
    SpaceError as SpaceError,
)
from .explain.across.across import Across as Across, across as across
from .explain.across.pooled_effect import PooledEffect as PooledEffect
from .explain.curves.course import Course as Course
from .explain.curves.learning_curves import LearningCurves as LearningCurves, curves as curves
from .explain.curves.pruning import Pruning as Pruning
from .explain.effects.effect import Effect as Effect, effect as effect
from .explain.effects.region_tree import Region as Region
from .explain.effects.regions import Regions as Regions, regions as regions
from .explain.effects.reliability import Reliability as Reliability, reliability as reliability
from .explain.formula.formula import Formula as Formula, formula as formula
from .explain.importance.ablation import Ablation as Ablation, ablation as ablation
from .explain.importance.importance import Importance as Importance, importance as importance
from .explain.importance.importances import Importances as Importances, importances as importances
from .explain.importance.interactions import (
    Interactions as Interactions,
    interactions as interactions,
)
from .explain.importance.local_importance import (
    LocalImportance as LocalImportance,
    local_importance as local_importance,
)
from .explain.importance.subspace import Subspace as Subspace
from .explain.models.fitting import Fitted as Fitted, fit as fit
from .explain.models.leader import Leader as Leader, leader as leader
from .explain.confirm.confirm import Confirm as Confirm, confirm as confirm
from .explain.confirm.confirmed import Confirmed as Confirmed, confirmed as confirmed
from .explain.next.winner import Winner as Winner, winner as winner
from .explain.objectives.choose import Choice as Choice, choose as choose
from .explain.objectives.effects_of import EffectsOf as EffectsOf, effects_of as effects_of
from .explain.objectives.pareto import ParetoFront as ParetoFront, pareto as pareto
from .explain.objectives.tradeoff import Tradeoff as Tradeoff, tradeoff as tradeoff
from .explain.objectives.true_front import TrueFront as TrueFront, true_front as true_front
from .explain.next.advise import Advice as Advice, advise as advise
from .explain.next.forecast import Forecast as Forecast, forecast as forecast
from .explain.proposals.hindsight import Hindsight as Hindsight, hindsight as hindsight
from .explain.proposals.path import ProposalPath as ProposalPath, path as path
from .explain.proposals.sample_size import (
    SampleSize as SampleSize,
    check_sample_size as check_sample_size,
)
from .explain.proposals.why import Why as Why, why as why
from .explain.reach.reach import Reach as Reach, reach as reach
from .explain.run.bias import Bias as Bias, bias as bias
from .explain.run.compare_runs import RunComparison as RunComparison, compare_runs as compare_runs
from .explain.run.feasibility import Feasibility as Feasibility, feasibility as feasibility
from .explain.run.failures import Failures as Failures, failures as failures
from .explain.run.footprint import Footprint as Footprint, footprint as footprint
from .explain.run.overview import Overview as Overview, overview as overview
from .explain.run.spending import Spending as Spending, spending as spending
from .explain.run.timeline import Timeline as Timeline, timeline as timeline
from .explain.run.trials import Trials as Trials, trials as trials
from .explain.run.validation import Validation as Validation
from .explain.top.top_importance import (
    TopImportance as TopImportance,
    top_importance as top_importance,
)
from .explain.tunability.tunability import Tunability as Tunability, tunability as tunability
from .importers import read as read
from .optimize.models.failure_probability import (
    FailureProbability as FailureProbability,
    failure_probability as failure_probability,
)
from .optimize.optimizers.random_search import RandomSearch as RandomSearch
from .optimize.optimizers.schedule import Schedule as Schedule, schedule as schedule
from .optimize.optimizers.smbo import SMBO as SMBO
from .optimize.running.minimize import maximize as maximize, minimize as minimize
from .optimize.running.stopping import Stop as Stop
from .optimize.running.recommend import recommend as recommend
from .reports import report as report
from .runs.history import History as History, Objective as Objective, State as State, Trial as Trial
from .spaces.parameter import Parameter as Parameter
from .spaces.space import Space as Space

__version__: str
__all__: list[str]
