"""Averages of a surrogate over everything but some columns (Moosbauer et al. 2021 section 4).

Symbols
    columns   S, the parameters that are explained; points (g, |S|) are their grid
    mean      partial dependence: the mean prediction over all other parameters
    joint     variance of that average itself, Eq. 4
    pointwise average of the variances of single predictions, Eq. 5
"""

from collections.abc import Mapping

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.models.curves import Predictor, curves
from hyperlens.explain.models.fitting import SAMPLE, Fitted
from hyperlens.spaces.cube import Cube, FloatArray, Runs, inside_box
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.gaussian_process.gp import GP
from hyperlens.surrogates.gaussian_process.partial_dependence import Marginal
from hyperlens.surrogates.random_forest.forest import Forest
from hyperlens.surrogates.threads import one_thread


def averaged(
    fitted: Fitted,
    columns: tuple[int, ...],
    points: FloatArray,
    seed: int,
    region: Mapping[int, Runs] | None = None,
    exact: bool = False,
) -> Marginal:
    """Mean over everything but `columns`, in a region, and both its variances."""
    model = fitted.model
    # Gaussian processes: closed forms
    if isinstance(model, (Additive, GP)):
        try:
            with one_thread():
                return model.partial_dependence(columns, points, region)
        except ValueError as problem:
            raise AnalysisError(f"{problem}; use the forest for this effect.") from problem
    # forest: Eq. 4 is the variance over trees, Eq. 5 a closed form that may take long
    if isinstance(model, Forest) and (exact or model.small):
        pointwise = model.pointwise(columns, points, region)
    else:
        sample, _ = sampled(model, fitted.cube, columns, points, seed, region or {})
        if not isinstance(model, Forest):
            return sample
        pointwise = sample.pointwise
    trees = model.marginals(columns, points, region)
    return Marginal(trees.mean(axis=0), trees.var(axis=0), pointwise)


def sampled(
    model: Predictor,
    cube: Cube,
    columns: tuple[int, ...],
    points: FloatArray,
    seed: int,
    region: Mapping[int, Runs],
) -> tuple[Marginal, FloatArray]:
    """Averages over a Sobol' sample, and the standard error that the mean would have if it were a
    plain random sample; a joint variance cannot be known.
    """
    drawn = curves(model, cube, columns, points, SAMPLE, seed)
    inside = inside_box(drawn.latents, region)
    with np.errstate(invalid="ignore"):
        mean = _mean_of_known(drawn.mean[inside])
        variance = _mean_of_known(drawn.variance[inside])
        spread = _mean_of_known((drawn.mean[inside] - mean) ** 2)
    error = np.sqrt(spread / max(inside.sum(), 1))
    return Marginal(mean, np.full(len(mean), np.nan), variance), error


def _mean_of_known(curves: FloatArray) -> FloatArray:
    """Mean of each column over what is not nan; nan if nothing is."""
    known = ~np.isnan(curves)
    return np.asarray(np.where(known, curves, 0.0).sum(axis=0) / known.sum(axis=0))
