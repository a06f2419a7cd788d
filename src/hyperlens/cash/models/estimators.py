"""Small scikit-learn estimators that fill the gaps between a configuration and any data set."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.utils.validation import check_is_fitted, validate_data

from hyperlens.errors import SourceError


class Thresholds(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Each column as indicators of exceeding `n` of its quantiles; with `keep` also as it is."""

    def __init__(self, n: int = 1, keep: bool = False) -> None:
        self.n = n
        self.keep = keep

    def fit(self, X: Any, y: Any = None) -> Thresholds:
        X = validate_data(self, X, dtype=np.float64)
        self.cuts_ = np.quantile(X, np.arange(1, self.n + 1) / (self.n + 1), axis=0)
        return self

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        above = np.hstack([np.greater(X, cut) for cut in self.cuts_]).astype(np.float64)
        return np.hstack([X, above]) if self.keep else above


class Squares(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Each column and its square."""

    def fit(self, X: Any, y: Any = None) -> Squares:
        validate_data(self, X, dtype=np.float64)
        self.fitted_ = True
        return self

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return np.hstack([X, X**2])


class Components(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The first `n` principal components, or all where there are fewer."""

    def __init__(self, n: int = 10) -> None:
        self.n = n

    def fit(self, X: Any, y: Any = None) -> Components:
        X = validate_data(self, X, dtype=np.float64)
        self.pca_ = PCA(min(self.n, *X.shape), svd_solver="full").fit(X)
        return self

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.pca_.transform(validate_data(self, X, reset=False, dtype=np.float64))


class KernelFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Nystroem's features of a kernel: at most `n`, or as many as there are rows."""

    def __init__(
        self, kernel: str = "rbf", n: int = 100, gamma: float = 0.1, random_state: int = 0
    ) -> None:
        self.kernel = kernel
        self.n = n
        self.gamma = gamma
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> KernelFeatures:
        X = validate_data(self, X, dtype=np.float64)
        degree = {"degree": 2, "coef0": 1.0} if self.kernel == "polynomial" else {}
        self.map_ = Nystroem(
            kernel=self.kernel,
            gamma=self.gamma / X.shape[1],
            n_components=min(self.n, len(X)),
            random_state=self.random_state,
            **degree,
        ).fit(X)
        return self

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.map_.transform(validate_data(self, X, reset=False, dtype=np.float64))


class _Nearest(BaseEstimator):  # type: ignore[misc]
    """k nearest neighbours, or all rows where there are fewer than k."""

    _kind: Any

    def __init__(
        self, n_neighbors: int = 5, weights: str = "uniform", metric: str = "euclidean"
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric

    def fit(self, X: Any, y: Any) -> Any:
        X, y = validate_data(self, X, y, y_numeric=self._kind is KNeighborsRegressor)
        k = min(self.n_neighbors, len(X))
        self.model_ = self._kind(k, weights=self.weights, metric=self.metric).fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.model_.predict(validate_data(self, X, reset=False))


class NearestClassifier(ClassifierMixin, _Nearest):  # type: ignore[misc]
    __doc__ = _Nearest.__doc__

    _kind = KNeighborsClassifier

    def fit(self, X: Any, y: Any) -> NearestClassifier:
        super().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.model_.predict_proba(validate_data(self, X, reset=False))


class NearestRegressor(RegressorMixin, _Nearest):  # type: ignore[misc]
    __doc__ = _Nearest.__doc__

    _kind = KNeighborsRegressor


class BoostedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """XGBoost for labels of any kind; `settings` are XGBClassifier's."""

    def __init__(self, settings: dict[str, Any] | None = None) -> None:
        self.settings = settings

    def fit(self, X: Any, y: Any) -> BoostedClassifier:
        X, y = validate_data(self, X, y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.model_ = xgboost().XGBClassifier(**self.settings or {}).fit(X, codes)
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.model_.predict_proba(validate_data(self, X, reset=False))


def xgboost() -> Any:
    """The package, or a sentence that says how to get it."""
    try:
        import xgboost
    except ImportError as problem:
        raise SourceError(
            "XGBoost is not installed; install it with pip install 'hyperlens[cash]', or leave the "
            "model out of the pool."
        ) from problem
    return xgboost
