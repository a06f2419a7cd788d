"""Early stopping: trees grow as long as held-out rows gain, and all splits stop at the same number.

One split alone would choose the number of trees by the very rows that it is measured on. The best of
the mean of the curves of all splits is one more hyperparameter that is chosen by them, as any other; no
split has fewer trees than another, for the last training will not know where to stop either.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hyperlens.cash.models.boosters import BoostedClassifier, BoostedRegressor


def grows(model: Any) -> bool:
    """Is this model, or this pipeline's last step, one that can stop early?"""
    return isinstance(_last(model), (BoostedClassifier, BoostedRegressor))


def watching(model: Any, X: Any, y: Any, seconds: float | None) -> dict[str, Any]:
    """What `fit` of a model or a pipeline is given so that it watches these rows as it grows."""
    steps = hasattr(getattr(model, "regressor", model), "steps")

    def watched() -> tuple[Any, Any]:
        """Asked once the steps before are fitted."""
        truth = y
        if hasattr(model, "regressor"):
            truth = model.transformer_.transform(np.asarray(y).reshape(-1, 1)).ravel()
        return (getattr(model, "regressor_", model)[:-1].transform(X) if steps else X), truth

    path = "model__" if steps else ""
    return {f"{path}watched": watched, f"{path}seconds": seconds}


def cut_alike(models: Sequence[Any]) -> int:
    """The number of trees that is best on average over the splits, as far as all of them grew; all are
    cut there."""
    boosters = [_last(model) for model in models]
    curves = [booster.curve_ for booster in boosters if hasattr(booster, "curve_")]
    if not curves:
        return 1
    least = min(len(curve) for curve in curves)
    trees = int(np.argmin(np.mean([curve[:least] for curve in curves], axis=0))) + 1
    for booster in boosters:
        booster.cut(trees)
    return trees


def _last(model: Any) -> Any:
    inner = getattr(model, "regressor_", getattr(model, "regressor", model))
    return inner[-1] if hasattr(inner, "steps") else inner
