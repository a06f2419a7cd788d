"""Rows that count more than others: by weights of their own, or by the class that they are of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from hyperlens.cash.models.model import Task
from hyperlens.errors import AnalysisError, listed
from hyperlens.spaces.cube import FloatArray

ClassWeight = Literal["balanced"] | Mapping[Any, float]


def row_weights(
    y: Any, task: Task, weights: Any = None, class_weight: ClassWeight | None = None
) -> FloatArray | None:
    """What each row counts, 1 on average; None where all count alike. "balanced" lets every class count
    the same."""
    if weights is None and class_weight is None:
        return None
    each = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64).ravel()
    if len(each) != len(y):
        raise AnalysisError(f"There are {len(each)} weights for {len(y)} rows; give one for each.")
    if not (np.isfinite(each).all() and (each >= 0).all() and each.any()):
        raise AnalysisError(
            "Weights of rows must be finite, none negative and not all zero; correct them."
        )
    if class_weight is not None:
        each = each * _by_class(y, task, each, class_weight)
    return np.asarray(each * (len(each) / each.sum()))


def _by_class(y: Any, task: Task, each: FloatArray, class_weight: ClassWeight) -> FloatArray:
    if task != "classification":
        raise AnalysisError("Classes have weights, numbers have none; leave out the class weight.")
    classes, codes = np.unique(y, return_inverse=True)
    if class_weight == "balanced":
        return np.asarray((1.0 / np.bincount(codes, each))[codes])
    if not isinstance(class_weight, Mapping):
        raise AnalysisError(
            f"There is no class weight '{class_weight}'; choose 'balanced', or give a weight for each "
            "class."
        )
    known = {str(name): float(weight) for name, weight in class_weight.items()}
    if missing := [str(c) for c in classes if str(c) not in known]:
        raise AnalysisError(f"The class weights lack {listed(missing)}; give one for each class.")
    return np.array([known[str(c)] for c in classes])[codes]


def weighting(model: Any, weights: FloatArray | None) -> dict[str, Any]:
    """What `fit` of a model is given so that its last step counts rows by their weights; nothing where
    that step knows none (nearest neighbours, discriminant analysis)."""
    if weights is None:
        return {}
    path, last = "", getattr(model, "regressor", model)
    while hasattr(last, "steps"):
        name, last = last.steps[-1]
        path += f"{name}__"
    return {f"{path}sample_weight": weights} if has_fit_parameter(last, "sample_weight") else {}
