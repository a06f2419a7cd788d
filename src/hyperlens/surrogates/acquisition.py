"""How desirable a configuration is, as a function of its predicted mean and standard deviation.

Costs are minimised. `best` is the cost to improve on, z = (best - mean) / std.
"""

import math

import numpy as np
import scipy

from hyperlens.spaces.cube import FloatArray

LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)
FAR = -1e4  # below this z the exact form of log EI cancels, and its limit is exact to rounding


def lower_confidence_bound(mean: FloatArray, std: FloatArray, tau: float = 1.0) -> FloatArray:
    """mean - tau std: small is desirable (Moosbauer et al. 2021 section 6.1; Croppi 2021
    calls tau lambda).

    >>> lower_confidence_bound(np.array([2.0]), np.array([0.5]), tau=2.0).tolist()
    [1.0]
    """
    return np.asarray(mean - tau * std)


def expected_improvement(mean: FloatArray, std: FloatArray, best: float) -> FloatArray:
    """E[max(best - Y, 0)] = (best - mean) Phi(z) + std phi(z): large is desirable (Jones et al.
    1998)."""
    sure = std <= 0
    z = (best - mean) / np.where(sure, 1.0, std)
    density = np.exp(-0.5 * z * z - LOG_ROOT_2PI)
    return np.asarray(
        np.where(
            sure,
            np.maximum(best - mean, 0),
            std * np.maximum(density + z * scipy.special.ndtr(z), 0),
        )
    )


def log_expected_improvement(mean: FloatArray, std: FloatArray, best: float) -> FloatArray:
    """Its logarithm, which still tells points apart where the improvement itself vanishes.

    log std + log(phi(z) + z Phi(z)); for z < -1 as log phi(z) + log(1 + z Phi(z) / phi(z)), whose
    last part tends to -2 log |z|.
    """
    sure = std <= 0
    safe = np.where(sure, 1.0, std)
    z = (best - mean) / safe
    near, below = np.maximum(z, -1.0), np.clip(z, FAR, -1.0)
    direct = np.log(np.exp(-0.5 * near * near - LOG_ROOT_2PI) + near * scipy.special.ndtr(near))
    ratio = 1 + below * math.sqrt(math.pi / 2) * scipy.special.erfcx(-below / math.sqrt(2))
    last = np.where(z < FAR, -2 * np.log(np.maximum(np.abs(z), 1.0)), np.log(ratio))
    tail = -0.5 * z * z - LOG_ROOT_2PI + last
    gain = np.maximum(best - mean, 0)
    certain = np.where(gain > 0, np.log(np.where(gain > 0, gain, 1.0)), -np.inf)
    return np.asarray(np.where(sure, certain, np.log(safe) + np.where(z > -1, direct, tail)))
