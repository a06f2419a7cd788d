"""The model card: what was learnt, from what, how well, how to use it, and where it ends."""

import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from hyperlens import __version__
from hyperlens.cash.data.dataset import Table
from hyperlens.cash.results.calibration import Calibration
from hyperlens.cash.results.feature_use import FeatureUse
from hyperlens.cash.results.model_search import ModelSearch
from hyperlens.cash.search.ensemble import Ensemble
from hyperlens.cash.search.search import Search
from hyperlens.record import Record
from hyperlens.runs.history import Trial
from hyperlens.spaces.cube import FloatArray

PACKAGES = ("numpy", "pandas", "scikit-learn", "joblib", "xgboost", "xgboost-cpu")
MODEL, CARD, FACTS = "model.joblib", "card.md", "card.json"
MOST_LEADERS = 10
MOST_CLASSES = 50  # listed with their counts
FEW_ROWS = 200


@dataclass(frozen=True)
class ModelCard(Record):
    """All that is to be known of a fitted model. `folds` are its validation losses, one a split, in
    the metric's own direction; `guess` is that of predicting without looking at the columns.
    `separator` is that of the table's file, None if it is no CSV. `together` says which configurations
    predict together and what that adds; `features` which columns are used and `calibration` how true
    chances are, both on held-out rows."""

    made: str
    table: str
    separator: str | None
    target: str
    task: str
    rows: int
    columns: tuple[Mapping[str, str], ...]
    classes: Mapping[str, int]
    metric: str
    maximize: bool
    model: str
    configuration: Mapping[str, Any]
    mean: float
    spread: float
    folds: FloatArray
    guess: float
    trainings: int
    search: Mapping[str, Any]
    story: tuple[str, ...]
    leaders: tuple[Mapping[str, Any], ...]
    limits: tuple[str, ...]
    versions: Mapping[str, str]
    together: tuple[str, ...] = ()
    features: FeatureUse | None = None
    calibration: Calibration | None = None

    @property
    def sentence(self) -> str:
        """Which model it is and how well it does."""
        return (
            f"{self.model} predicts '{self.target}' with a validation {self.metric} of {self.mean:.4g}; "
            f"a guess without looking at the columns has {self.guess:.4g}."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        return self.limits

    def _columns(self) -> dict[str, Any]:
        """One row a split."""
        return {"split": np.arange(len(self.folds)), self.metric: self.folds}


def model_card(
    search: Search, table: Table, record: ModelSearch, best: Trial, model: Any, ensemble: Ensemble
) -> ModelCard:
    """Describe the fitted model of a search."""
    evaluation, target = search.evaluation, search.target
    sign = -1.0 if target.maximize else 1.0
    folds = sign * np.array(_losses(search, best))
    classes: dict[str, int] = {}
    if table.task == "classification":
        values, counts = np.unique(table.y, return_counts=True)
        by_size = sorted(zip(map(str, values), map(int, counts), strict=True), key=lambda c: -c[1])
        classes = dict(by_size[:MOST_CLASSES])
    guess = sign * evaluation.guessed()
    return ModelCard(
        made=f"{datetime.now(UTC):%Y-%m-%d}",
        table=table.name,
        separator=table.separator,
        target=table.target,
        task=table.task,
        rows=len(table.y),
        columns=tuple(
            {"name": c.name, "role": c.role, "why": "; ".join(w for w in (c.why, c.hint) if w)}
            for c in table.described
        ),
        classes=classes,
        metric=target.__name__,
        maximize=target.maximize,
        model=str(best.values["model"]),
        configuration={**best.values, **_trees(best, ensemble)},
        mean=float(folds.mean()),
        spread=float(folds.std(ddof=1)) if len(folds) > 1 else float("nan"),
        folds=folds,
        guess=guess,
        trainings=len(getattr(model, "models", (model,))),
        search={
            "optimizer": search.method,
            "sampling": record.sampling,
            "evaluations": search.planned or "as many as there was time for",
            "folds": evaluation.splits,
            "seed": search.seed,
            "configurations": int(record.reached[:, 0].sum()),
            "spent": float(record.spent.sum()),
            "failed": int(record.failed.sum()),
            "study": search.name,
        },
        story=(*record.story, *record.notes),
        leaders=tuple(
            {"model": x.model, target.__name__: x.cost, "configuration": dict(x.values)}
            for x in record.leaders[:MOST_LEADERS]
        ),
        limits=_limits(search, table, record, folds, guess),
        versions=_versions(),
        together=(ensemble.sentence, *ensemble.notes),
        features=record.features,
        calibration=record.calibration,
    )


def _trees(best: Trial, ensemble: Ensemble) -> dict[str, int]:
    """Where the best one stopped growing early."""
    grown = dict(zip(ensemble.trials.tolist(), ensemble.trees.tolist(), strict=False))
    trees = grown.get(best.number, 0)
    return {f"{best.values['model']}:n_estimators": trees} if trees else {}


def _losses(search: Search, best: Trial) -> list[float]:
    """One a split: as they were measured, or measured again where that is not known and there is no
    limit; else their mean."""
    evaluation, part = search.evaluation, best.budget or 1.0
    kept = evaluation.kept
    predictions = None if kept is None else kept.read(best.values, part)
    if predictions is not None and evaluation.by_predictions:
        held = (rows for _, rows in evaluation.rows_at(part))
        return [-evaluation.scores(p, rows) for p, rows in zip(predictions, held, strict=True)]
    if search.time is None:
        return evaluation.losses(best.values, part)
    return [-best.costs[0] if search.target.maximize else best.costs[0]]


def _limits(
    search: Search, table: Table, record: ModelSearch, folds: FloatArray, guess: float
) -> tuple[str, ...]:
    tried = len(record.leaders)
    limits = [
        f"The validation {record.objective} is that of the best of {tried} configurations measured "
        "in full, so it flatters a little; measure on rows that the search has not seen.",
        _exchangeable(search),
        "A category that was not there in training counts as missing, and missing cells are filled "
        "with the most frequent value; the model is told where they were if training had such.",
        "Predictions outside the range of the training rows are extrapolations.",
    ]
    better = folds.mean() > guess if record.maximize else folds.mean() < guess
    if not better:
        limits.insert(0, "The model is no better than a guess that does not look at the columns.")
    if len(table.y) < FEW_ROWS:
        limits.append(f"{len(table.y)} rows are few; all numbers here are rough.")
    if table.task == "classification":
        _, counts = np.unique(table.y, return_counts=True)
        if counts.min() < 10:
            limits.append(
                f"The rarest class has {int(counts.min())} rows; the model learns little about it."
            )
    return (*limits, *record.notes)


def _exchangeable(search: Search) -> str:
    if search.split == "time":
        return (
            "Rows are taken to be in the order of time: held-out rows are later than those trained on, "
            "and what changes after the last row is not known."
        )
    if search.groups is not None:
        return "Rows of one group were never both trained on and held out."
    return (
        "Rows are taken to be exchangeable: where they have an order in time or come in groups, the "
        "splits do not respect it, and new rows will fare worse."
    )


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version(), "hyperlens": __version__}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions | {"platform": sys.platform}
