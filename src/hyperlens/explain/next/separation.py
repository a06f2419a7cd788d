"""How many repeats would tell the best of a few configurations: what a choice after them is worth.

Before r repeats of each are made, their outcome can be drawn: true costs theta from their posterior, and
means of r costs around them. With these the posterior is updated as if it were normal,

    mu' = mu + S (S + v / r I)^-1 (means - mu),

the lowest mu' is chosen, and it is seen whether this was right: within `matters` of the lowest theta
(the indifference zone of Bechhofer 1954). The part of the draws in which it was is the chance of a right
choice.

Symbols
    theta    true costs of s configurations in each of D draws, (D, s)
    mu, S    their mean (s,) and covariance (s, s)
    v        variance of one repeated cost
    r        repeats of each
"""

import numpy as np

from hyperlens.spaces.cube import FloatArray

TINY = 1e-12  # of a variance
STREAM = 1  # other random numbers than those that theta was drawn with
REPEATS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100)


def chance_of_right_choice(
    theta: FloatArray, noise: FloatArray, repeats: int, matters: float, seed: int = 0
) -> float:
    """After so many repeats of each; `noise` is the standard deviation of a cost in each draw, (D,)."""
    mu = theta.mean(axis=0)
    chosen = np.full(len(theta), int(np.argmin(mu)))
    if repeats:
        rng = np.random.default_rng([seed, STREAM])
        means = theta + (noise / np.sqrt(repeats))[:, None] * rng.normal(size=theta.shape)
        S = np.atleast_2d(np.cov(theta.T))
        v = float(np.mean(noise**2)) / repeats
        total = S + (v + TINY * max(float(np.trace(S)), v)) * np.eye(len(mu))
        if np.trace(total) > 0:
            gain = np.linalg.solve(total, S)  # S is symmetric
            chosen = np.argmin(mu + (means - mu) @ gain, axis=1)
    worse = np.take_along_axis(theta, chosen[:, None], axis=1)[:, 0] - theta.min(axis=1)
    return float(np.mean(worse <= matters))


def repeats_needed(
    theta: FloatArray, noise: FloatArray, sure: float, matters: float, seed: int = 0
) -> tuple[int | None, float]:
    """The fewest repeats of each with which the choice is right so surely, None where 100 are too few;
    and how surely it is right without any."""
    now = chance_of_right_choice(theta, noise, 0, matters)
    if now >= sure:
        return 0, now
    for repeats in REPEATS:
        if chance_of_right_choice(theta, noise, repeats, matters, seed) >= sure:
            return repeats, now
    return None, now
