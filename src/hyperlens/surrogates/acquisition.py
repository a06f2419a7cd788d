"""How desirable a configuration is, as a function of its predicted mean and standard deviation.

Costs are minimised. `best` is the cost to improve on, z = (best - mean) / std.
"""

import math

import numpy as np
import scipy

from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.free_boxes import FreeBoxes

LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)
FAR = -1e4  # below this z the exact form of log EI cancels, and its limit is exact to rounding
VANISHED = 1e-280  # below it an expected hypervolume improvement has lost its digits


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


def log_expected_improvement_slopes(
    mean: float, std: float, best: float
) -> tuple[float, float, float]:
    """The logarithm of the expected improvement of one prediction, and its slopes in mean and std.

    With h = phi(z) + z Phi(z) they are -q / std and (1 - q z) / std, q = Phi(z) / h; for z < -1 with
    r = Phi(z) / phi(z) as q = r / (1 + z r), which tends to |z|.
    """
    if std <= 0:
        gain = best - mean
        return (math.log(gain), -1 / gain, 0.0) if gain > 0 else (-math.inf, 0.0, 0.0)
    z = (best - mean) / std
    tail = -0.5 * z * z - LOG_ROOT_2PI
    if z > -1:
        below = float(scipy.special.ndtr(z))
        h = math.exp(tail) + z * below
        value, q = math.log(h), below / h
    elif z > FAR:
        r = math.sqrt(math.pi / 2) * float(scipy.special.erfcx(-z / math.sqrt(2)))
        value, q = tail + math.log(1 + z * r), r / (1 + z * r)
    else:
        value, q = tail - 2 * math.log(-z), -z
    return math.log(std) + value, -q / std, (1 - q * z) / std


def expected_hypervolume_improvement(
    mean: FloatArray, std: FloatArray, free: FreeBoxes
) -> FloatArray:
    """By how much the volume that a front dominates is expected to grow: large is desirable
    (Emmerich et al. 2006).

    Means and standard deviations (m, k) of independent objectives. A point adds to a free box from l to
    u the product of max(u_j - Y_j, 0) - max(l_j - Y_j, 0), of which the expectation is known.
    """
    added = np.ones((mean.shape[1], len(free.upper)))
    for j in range(len(mean)):
        ends, at = np.unique(np.r_[free.lower[:, j], free.upper[:, j]], return_inverse=True)
        reached = np.zeros((len(ends), mean.shape[1]))
        for k in np.flatnonzero(np.isfinite(ends)):
            reached[k] = expected_improvement(mean[j], std[j], float(ends[k]))
        low, high = np.split(reached[at].T, 2, axis=1)
        added *= np.maximum(high - low, 0.0)
    return np.asarray(added.sum(axis=1))


def log_expected_hypervolume_improvement(
    mean: FloatArray, std: FloatArray, free: FreeBoxes
) -> FloatArray:
    """Its logarithm; where the improvement vanishes, how many standard deviations are missing to the
    nearest free box, which is what its logarithm tends to."""
    gain = expected_hypervolume_improvement(mean, std, free)
    gone = gain < VANISHED
    found = np.log(np.where(gone, 1.0, gain))
    if gone.any():
        short = mean[:, gone, None] - free.upper.T[:, None, :]
        missing = np.maximum(short, 0.0) / np.maximum(std[:, gone, None], 1e-12)
        found[gone] = math.log(VANISHED) - 0.5 * (missing**2).sum(axis=0).min(axis=1)
    return np.asarray(found)


def log_chance_kept(mean: FloatArray, std: FloatArray) -> FloatArray:
    """Logarithm of the probability that an excess of this mean and standard deviation is not above 0:
    Phi(-mean / std) (Gardner et al. 2014).

    >>> bool(np.exp(log_chance_kept(np.array([0.0]), np.array([1.0])))[0] == 0.5)
    True
    """
    sure = std <= 0
    known = scipy.special.log_ndtr(-mean / np.where(sure, 1.0, std))
    return np.asarray(np.where(sure, np.where(mean <= 0, 0.0, -np.inf), known))
