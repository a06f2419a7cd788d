"""Small scikit-learn estimators that fill the gaps between a configuration and any data set, and what
makes models of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted, validate_data

BATCH = 64  # rows of a step of networks


class _Features(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Columns made of the columns of numbers: by `map_`, which `_learn` fits."""

    def fit(self, X: Any, y: Any = None) -> Any:
        self.map_ = self._learn(validate_data(self, X, dtype=np.float64))
        return self

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.map_.transform(validate_data(self, X, reset=False, dtype=np.float64))

    def _learn(self, X: Any) -> Any:
        raise NotImplementedError


class Components(_Features):
    """The first `n` principal components, or all where there are fewer."""

    def __init__(self, n: int = 10) -> None:
        self.n = n

    def _learn(self, X: Any) -> Any:
        return PCA(min(self.n, *X.shape), svd_solver="full").fit(X)


class KernelFeatures(_Features):
    """Nystroem's features of a kernel: at most `n`, or as many as there are rows."""

    def __init__(
        self, kernel: str = "rbf", n: int = 100, gamma: float = 0.1, random_state: int = 0
    ) -> None:
        self.kernel, self.n, self.gamma, self.random_state = kernel, n, gamma, random_state

    def _learn(self, X: Any) -> Any:
        degree = {"degree": 2, "coef0": 1.0} if self.kernel == "polynomial" else {}
        return Nystroem(
            kernel=self.kernel,
            gamma=self.gamma / X.shape[1],
            n_components=min(self.n, len(X)),
            random_state=self.random_state,
            **degree,
        ).fit(X)


class Thresholds(_Features):
    """Each column as indicators of exceeding `n` of its quantiles; with `keep` also as it is."""

    def __init__(self, n: int = 1, keep: bool = False) -> None:
        self.n, self.keep = n, keep

    def _learn(self, X: Any) -> Any:
        cuts = np.quantile(X, np.arange(1, self.n + 1) / (self.n + 1), axis=0)
        return FunctionTransformer(_above, kw_args={"cuts": cuts, "keep": self.keep})


def _above(X: Any, cuts: Any, keep: bool) -> Any:
    above = np.hstack([np.greater(X, cut) for cut in cuts]).astype(np.float64)
    return np.hstack([X, above]) if keep else above


def _with_squares(X: Any) -> Any:
    return np.hstack([X, X**2])


class _Nearest(BaseEstimator):  # type: ignore[misc]
    """k nearest neighbours, or all rows where there are fewer than k."""

    _kind: Any

    def __init__(
        self, n_neighbors: int = 5, weights: str = "uniform", metric: str = "euclidean"
    ) -> None:
        self.n_neighbors, self.weights, self.metric = n_neighbors, weights, metric

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


# What else models are made by, of their settings


def logistic_regression(
    penalty: str, squares: bool, l1_ratio: float = 0.0, *, random_state: int, **settings: Any
) -> Any:
    solver, tol = ("saga", 1e-3) if penalty == "elastic net" else ("lbfgs", 1e-4)
    model = LogisticRegression(
        l1_ratio=l1_ratio,
        solver=solver,
        tol=tol,
        max_iter=5000,
        random_state=random_state,
        **settings,
    )
    return _squared(model) if squares else model


def elastic_net(squares: bool, random_state: int, **settings: Any) -> Any:
    model = ElasticNet(**settings, max_iter=20000, tol=1e-3, random_state=random_state)
    return _squared(model) if squares else model


def _squared(model: Any) -> Any:
    return make_pipeline(FunctionTransformer(_with_squares), model)


def bernoulli_bayes(thresholds: int, **settings: Any) -> Any:
    return make_pipeline(Thresholds(thresholds), BernoulliNB(**settings, binarize=None))


def linear_discriminant(components: int, **settings: Any) -> Any:
    return make_pipeline(Components(components), LinearDiscriminantAnalysis(**settings))


def additive_ridge(thresholds: int, keep: bool, alpha: float) -> Any:
    return make_pipeline(Thresholds(thresholds, keep), Ridge(alpha))


def kernel_ridge(
    kernel: str, components: int, gamma: float, alpha: float, random_state: int
) -> Any:
    features = KernelFeatures(kernel, components, gamma, random_state)
    return make_pipeline(features, Ridge(alpha))


def kernel_logistic(kernel: str, components: int, gamma: float, C: float, random_state: int) -> Any:
    features = KernelFeatures(kernel, components, gamma, random_state)
    return make_pipeline(features, LogisticRegression(C=C, max_iter=500))


def neural_classifier(random_state: int, **settings: Any) -> Any:
    return MLPClassifier(**_layers(**settings), random_state=random_state)


def neural_regressor(random_state: int, **settings: Any) -> Any:
    return MLPRegressor(**_layers(**settings), random_state=random_state)


def _layers(units: int, layers: str, epochs: int, **settings: Any) -> dict[str, Any]:
    """Settings of scikit-learn's networks; all epochs are trained, the last is what counts."""
    sizes = (units,) * int(layers)
    return {"hidden_layer_sizes": sizes, "max_iter": epochs, "batch_size": BATCH, **settings}


def quadratic_ridge(alpha: float, random_state: int) -> Any:
    return kernel_ridge("polynomial", 200, 1.0, alpha, random_state)
