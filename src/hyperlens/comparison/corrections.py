"""p-values adjusted for having tested several hypotheses at once (Holm 1979; Finner 1993).

Symbols
    m        number of hypotheses
    p_(j)    the j-th smallest p-value; what is adjusted never falls below an earlier one
"""

from typing import Literal, get_args

import numpy as np

from hyperlens.errors import AnalysisError, listed
from hyperlens.spaces.cube import FloatArray

Correction = Literal["finner", "holm", "bonferroni"]


def adjusted(p: FloatArray, correction: Correction = "finner") -> FloatArray:
    """Adjusted p-values in the order given: reject where one is at most the level of the family.

    Finner 1 - (1 - p_(j))^(m/j), Holm (m + 1 - j) p_(j), Bonferroni m p.

    >>> adjusted(np.array([0.01, 0.02]), "holm").tolist()
    [0.02, 0.02]
    """
    if correction not in get_args(Correction):
        raise AnalysisError(
            f"There is no correction '{correction}'; choose one of {listed(get_args(Correction))}."
        )
    p = np.asarray(p, dtype=float)
    m = len(p)
    order = np.argsort(p, kind="stable")
    j = np.arange(1, m + 1)
    if correction == "finner":
        with np.errstate(divide="ignore"):  # p = 1 stays 1
            stepped = -np.expm1(m / j * np.log1p(-p[order]))
    else:
        stepped = p[order] * (m + 1 - j if correction == "holm" else m)
    result = np.empty(m)
    result[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return result
