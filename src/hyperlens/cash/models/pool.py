"""The pool of models: one space with a `model` root, and the pipeline of each configuration."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from hyperlens.cash.models import classification, regression
from hyperlens.cash.models.model import Model, Task
from hyperlens.errors import SpaceError, listed
from hyperlens.spaces.clauses import Clauses
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.space import Space

ROOT = "model"
QUICK_FIRST = (  # models by what they cost on a few hundred rows and more
    *("GaussianNB", "Ridge", "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"),
    *("BernoulliNB", "ElasticNet", "AdditiveRidge", "LogisticRegression", "QuadraticRidge"),
    "KernelLogistic",
    *("LGBMClassifier", "LGBMRegressor"),
    *("XGBoost", "XGBRegressor", "KNeighborsClassifier", "KNeighborsRegressor", "KernelRidge"),
    *("MLPClassifier", "MLPRegressor"),
    *("ExtraTreesClassifier", "ExtraTreesRegressor", "RandomForestClassifier"),
    *("RandomForestRegressor", "GradientBoostingClassifier", "GradientBoostingRegressor"),
    *("AdaBoostClassifier", "AdaBoostRegressor", "CatBoostClassifier", "CatBoostRegressor"),
)


def pool(task: Task, models: Sequence[str] | None = None) -> tuple[Model, ...]:
    """The eleven models for a task, or those named, among them packages' boosters (`further`)."""
    if task not in get_args(Task):
        raise SpaceError(f"There is no task '{task}'; choose one of {listed(get_args(Task))}.")
    ours = classification.CLASSIFIERS if task == "classification" else regression.REGRESSORS
    if models is None:
        return ours
    known = {m.name: m for m in (*ours, *further(task))}
    for name in models:
        if name not in known:
            raise SpaceError(f"There is no model '{name}'; choose among {listed(known, 15)}.")
    if not models:
        raise SpaceError(f"No model is named; choose among {listed(known, 15)}.")
    return tuple(known[name] for name in dict.fromkeys(models))


def further(task: Task) -> tuple[Model, ...]:
    """Models beside the eleven, which need packages of their own."""
    return classification.FURTHER if task == "classification" else regression.FURTHER


def pool_space(task: Task, models: Sequence[str] | None = None, stopped: bool = False) -> Space:
    """The space of the pool: hyperparameters are named model:name and active with their model. The
    root of a single model is a constant. Where boosters are `stopped` early, their number of trees is
    none of them."""
    members = pool(task, models)
    names = tuple(m.name for m in members)
    alone = len(names) == 1
    parameters = [] if alone else [Parameter(ROOT, "categorical", choices=names)]
    clauses: dict[str, Clauses] = {}
    for model in members:
        for h in model.hyperparameters:
            if stopped and model.grown and h.name == "n_estimators":
                continue
            parameter = h.parameter(model.name)
            parameters.append(parameter)
            if h.when is None and not alone:
                clauses[parameter.name] = (((ROOT, "equal", model.name),),)
            elif h.when is not None:  # its parent is active with the model only
                clauses[parameter.name] = (((f"{model.name}:{h.when[0]}", "equal", h.when[1]),),)
    return Space.of(parameters, clauses, {ROOT: names[0]} if alone else None)


def build(configuration: Mapping[str, Any], task: Task, seed: int = 0) -> Any:
    """The scikit-learn pipeline of a configuration, from raw columns to predictions."""
    from hyperlens.cash.models.preprocessing import pipeline

    scaled, model = parts(configuration, task, seed)
    return targeted(pipeline(model, scaled), task)


def parts(configuration: Mapping[str, Any], task: Task, seed: int = 0) -> tuple[bool, Any]:
    """Whether a configuration's columns are scaled, and the model behind them."""
    named = {model.name: model for model in (*pool(task), *further(task))}
    name = configuration.get(ROOT)
    if name not in named:
        raise SpaceError(
            f"The configuration names the model {name!r}; choose among {listed(named, 15)}."
        )
    return named[name].scaled, named[name].build(configuration, seed)


def targeted(model: Any, task: Task) -> Any:
    """Numbers are learnt with mean 0 and variance 1."""
    if task == "classification":
        return model
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.preprocessing import StandardScaler

    return TransformedTargetRegressor(regressor=model, transformer=StandardScaler())
