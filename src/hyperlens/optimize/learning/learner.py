"""How a search learns costs: what is done to them, and which surrogate learns them.

A search that refines (`refine`) draws bad costs nearer (surrogates/bending.py), stays near one of the
best in every second proposal (region.py), so that a bad fit never makes it explore for ever, and
predicts true costs: noise is no reason to try something. The papers' searches take costs and trials as
they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hyperlens.optimize.learning.region import Region, everywhere, nearby
from hyperlens.spaces.cube import Cube, FloatArray
from hyperlens.surrogates.bending import Bend
from hyperlens.surrogates.description import BEND
from hyperlens.surrogates.gaussian_process.gp import GP, SMALLEST_NUGGET
from hyperlens.surrogates.gaussian_process.hyperparameters import QUIETEST
from hyperlens.surrogates.outcomes import Outcomes
from hyperlens.surrogates.protocol import SearchKind
from hyperlens.surrogates.random_forest.forest import Forest

STARTS = {False: 4, True: 2}  # of the likelihood's maximisation, refined or not
FITTED_ON = {False: 500, True: 200}  # trials at most whose likelihood gives the hyperparameters


@dataclass(frozen=True)
class CostLearner:
    """A search's surrogate before it has learnt; `nugget` None estimates the noise."""

    cube: Cube
    surrogate: SearchKind
    nugget: float | None
    refine: bool
    seed: int

    @property
    def starts(self) -> int:
        return STARTS[self.refine]

    def region(self, known: Outcomes, refining: bool) -> Region:
        """What a proposal learns from and where it looks; `refining` ones stay near one of the best."""
        if not self._bends(known):
            return Region(np.arange(len(known.X)))
        return nearby(known, self.cube) if refining else everywhere(known)

    def bent(self, known: Outcomes) -> tuple[Outcomes, dict[str, Any]]:
        """Costs as they are learnt, and what of it belongs to the surrogate's parameters."""
        costs, ended = known.costs.copy(), ~known.failed
        bend = Bend.of(costs[ended, 0]) if self._bends(known) and ended.any() else None
        if bend is None:
            return known, {}
        costs[ended, 0] = bend(costs[ended, 0])
        return replace(known, costs=costs), {BEND: bend.to_list()}

    def fit(self, X: FloatArray, y: FloatArray) -> GP | Forest:
        """The surrogate of these costs."""
        if self.surrogate == "forest":
            return Forest(self.cube, seed=self.seed, threads=1).fit(X, y)
        most = FITTED_ON[self.refine]
        model = GP(self.cube, self.nugget, self.starts, self.seed, most).fit(X, y)
        return _of_true_costs(model) if self.refine else model

    def _bends(self, known: Outcomes) -> bool:
        return self.refine and self.surrogate == "gp" and known.objectives == 1


def _of_true_costs(model: GP) -> GP:
    """The same process, which predicts costs without noise, and believes its data to the last digit
    where no noise was found in them."""
    quiet = replace(model.parameters, quiet=True)
    if model.nugget is None and SMALLEST_NUGGET < quiet.nugget <= QUIETEST:
        quiet = replace(quiet, nugget=SMALLEST_NUGGET)
    try:
        return GP.from_parameters(model.cube, quiet, model.X, model.y)
    except np.linalg.LinAlgError:  # two of them nearly coincide
        quiet = replace(quiet, nugget=model.parameters.nugget)
        return GP.from_parameters(model.cube, quiet, model.X, model.y)
