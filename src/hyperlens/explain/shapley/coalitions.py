"""The game behind a prediction: coalitions of a configuration's values against a background.

In a coalition S, parameters of S have the explained configuration's values, all others those of a
background configuration; the worth of S is the average prediction over the background. Mixing
happens on the latents, so that conditions hold in every mixture: a parameter whose parent does not
activate it is inactive there. A parameter that is inactive in the explained configuration has no
value to give. It is no player, always follows the background, and contributes nothing; what its
absence does is the merit of the parent that switched it off.

Symbols
    x            the explained vector (d,), nan where inactive, or where it has no say
    m            players, the columns of x that are not nan
    B            background latents (B, d)
    q            quantities that are explained together, functions of mean and std
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hyperlens.explain.models.curves import Predictor
from hyperlens.spaces.cube import BoolArray, Cube, FloatArray, IntArray

BATCH = 1 << 15  # vectors predicted at once

Quantities = Callable[[FloatArray, FloatArray], FloatArray]  # mean, std (k,) -> (q, k)


@dataclass(frozen=True)
class Game:
    """Quantities of a model's prediction at x, played over a background."""

    model: Predictor
    cube: Cube
    vector: FloatArray
    background: FloatArray
    quantities: Quantities

    @cached_property
    def players(self) -> IntArray:
        """Columns in which x has a value."""
        return np.flatnonzero(~np.isnan(self.vector))

    @cached_property
    def actual(self) -> FloatArray:
        """The quantities where all have joined, shape (q,)."""
        everyone = np.ones((1, len(self.players)), dtype=bool)
        return self.predicted(self.mixed(np.zeros(1, dtype=np.int64), everyone))[:, 0]

    @cached_property
    def background_quantities(self) -> FloatArray:
        """The quantities at every background configuration, shape (q, B)."""
        return self.predicted(self.cube.vectors(self.background))

    # Mixtures and their predictions

    def predicted(self, vectors: FloatArray) -> FloatArray:
        """The quantities at vectors, shape (q, k)."""
        parts = [
            self.quantities(*self.model.predict(vectors[first : first + BATCH]))
            for first in range(0, len(vectors), BATCH)
        ]
        return np.concatenate(parts, axis=1)

    def mixed(self, rows: IntArray, joined: BoolArray) -> FloatArray:
        """Vectors (k, d) of coalitions `joined` (k, m) with background rows (k,)."""
        latents = self.background[rows]
        own = np.broadcast_to(self.vector[self.players], joined.shape)
        latents[:, self.players] = np.where(joined, own, latents[:, self.players])
        return self.cube.vectors(latents)

    # Every coalition

    def worth(self) -> FloatArray:
        """Average quantities of every coalition, shape (2^m, q), by plain prediction."""
        worth: list[FloatArray] = []
        for vectors, counts, sizes in self._batches():
            values = self.predicted(vectors) * counts
            worth.extend(part.sum(axis=1) for part in np.split(values, np.cumsum(sizes)[:-1], 1))
        return np.array(worth) / len(self.background)

    def _batches(self) -> Iterator[tuple[FloatArray, FloatArray, list[int]]]:
        """Vectors of several coalitions, how often each occurs, and how many each coalition has."""
        vectors: list[FloatArray] = []
        counts: list[FloatArray] = []
        m = len(self.players)
        for coalition in range(1 << m):
            joined = np.array([coalition >> j & 1 for j in range(m)], dtype=bool)
            own, count = self._distinct(joined)
            vectors.append(own)
            counts.append(count)
            if sum(map(len, vectors)) >= BATCH or coalition == (1 << m) - 1:
                yield np.vstack(vectors), np.concatenate(counts), [len(v) for v in vectors]
                vectors, counts = [], []

    def _distinct(self, joined: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Mixtures of one coalition over the whole background; where only levels vary, each once."""
        rows = np.arange(len(self.background))
        vectors = self.mixed(rows, np.broadcast_to(joined, (len(rows), len(joined))))
        fixed = set(self.players[joined].tolist())
        if all(axis.levels for j, axis in enumerate(self.cube.axes) if j not in fixed):
            coded, count = np.unique(
                np.where(np.isnan(vectors), -1.0, vectors), axis=0, return_counts=True
            )
            return np.where(coded < 0, np.nan, coded), count.astype(float)
        return vectors, np.ones(len(vectors))

    # One order of joining (Croppi 2021 algorithm 2, and its reverse)

    def along(self, rows: IntArray, orders: IntArray) -> FloatArray:
        """Gains (k, m, q) of each player when all join one after another.

        Row k starts at background row `rows[k]`; players join in the order `orders[k]` (k, m).
        """
        k, m = orders.shape
        place = np.argsort(orders, axis=1)
        steps = np.empty((m + 1, k, len(self.actual)))
        steps[0], steps[m] = self.background_quantities[:, rows].T, self.actual
        if m > 1:
            joined = place[None] < np.arange(1, m)[:, None, None]
            vectors = self.mixed(np.tile(rows, m - 1), joined.reshape(-1, m))
            steps[1:m] = self.predicted(vectors).T.reshape(m - 1, k, -1)
        gains = np.moveaxis(np.diff(steps, axis=0), 0, 1)
        return np.take_along_axis(gains, place[:, :, None], axis=1)
