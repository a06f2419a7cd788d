"""How unsure the shape of an effect is, its level left aside."""

import numpy as np

from hyperlens.explain.models.fitting import Fitted
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.threads import one_thread


def shape_error(
    fitted: Fitted, column: int, points: FloatArray, otherwise: FloatArray
) -> FloatArray:
    """Standard deviation (g,) of an effect less its own mean over points (g,) of an axis.

    Where the surrogate cannot be drawn from, that of the effect itself, which is no smaller on the
    whole.
    """
    model = fitted.model
    if not isinstance(model, Additive):
        return otherwise
    with one_thread():
        drawn = model.weights.averaged((column,), points[:, None], {})
    known = ~np.isnan(drawn).any(axis=1)
    level = drawn[known].mean(axis=0) if known.any() else 0.0
    return np.asarray(model.widened * (drawn - level).std(axis=1))
