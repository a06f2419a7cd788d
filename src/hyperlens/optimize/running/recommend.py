"""Which of the evaluated configurations to take: where costs are noisy, not the luckiest one."""

import numpy as np

from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History, Trial
from hyperlens.runs.repeats import configurations
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.additive.true_costs import Measured, told_apart, true_costs
from hyperlens.surrogates.bearable import bearable
from hyperlens.surrogates.threads import one_thread

MOST_CONFIGURATIONS = 1500  # beyond them the best and a sample of the others are compared
CAUTION = 2.0  # standard deviations of a true cost that are added to the expected one
MOST_PARAMETERS = 60  # beyond them noise is not told from what parameters do


@of_a_run
def recommend(history: History, objective: str | None = None, seed: int = 0) -> Trial:
    """The trial of the configuration that is nearly surely good after the noise: the smallest expected
    cost and twice its standard deviation (Huang et al. 2006 call it the effective best). `winner` says
    which one is expected to be best, `history.best()` is the best observed. Where there are limits, it
    is one of those whose trials keep them all, unless there are none."""
    data = history.data(objective)
    tried = configurations(history, data).at_most(MOST_CONFIGURATIONS, seed)
    y = bearable(tried.y)
    if np.ptp(bearable(tried.observed)) == 0 or not 0 < len(history.space) <= MOST_PARAMETERS:
        return history.best(objective)
    broken = {history.trials[i].number for i in data.rows[~history.feasible[data.rows]]}
    kept = np.flatnonzero([number not in broken for number in tried.trial.tolist()])
    if not len(kept):
        return history.best(objective)
    cube, measured = history.space.cube, Measured(tried.X, y, tried.which)
    with one_thread():  # the same bytes on any number of cores
        model = Additive(cube, seed).learn(tried.X[tried.which], y)
        if not told_apart(measured, model):
            return history.best(objective)
        truth = true_costs(cube, measured, model, seed=seed, among=kept)
    surely = truth.draws.mean(axis=0) + CAUTION * truth.draws.std(axis=0)
    number = int(tried.trial[truth.rivals[np.argmin(surely)]])
    return next(trial for trial in history.trials if trial.number == number)
