"""Whether what was known beforehand was right: its configurations beside the even ones of the design.

Two groups of costs are compared by Mann and Whitney's test: the part of pairs in which the guessed
configuration is better, and how likely that is by chance.
"""

from __future__ import annotations

import numpy as np

from hyperlens.optimize.knowledge.known import Origin
from hyperlens.runs.history import History, State
from hyperlens.spaces.cube import FloatArray
from hyperlens.words import counted, number

SURE = 0.05  # probability of chance below which it is said
WORDS: dict[Origin, str] = {
    "first": "What was tried first",
    "prior": "The prior",
    "earlier": "What earlier runs say",
}


def hindsight(history: History) -> tuple[str, ...]:
    """One sentence for each kind of knowledge that a run began with; none if there was none."""
    costs = _costs(history)
    even = costs.get(None, np.empty(0))
    return tuple(
        _sentence(words, costs[origin], even) for origin, words in WORDS.items() if origin in costs
    )


def _costs(history: History) -> dict[str | None, FloatArray]:
    """Minimised costs of the initial design by origin; a failure is worse than all."""
    objective = history.objectives[0]
    found: dict[str | None, list[float]] = {}
    for trial in history.trials:
        proposal = trial.proposal
        if proposal is not None and proposal.kind == "initial":
            ended = trial.state is State.COMPLETE and np.isfinite(trial.costs[0])
            cost = objective.sign * trial.costs[0] if ended else np.inf
            found.setdefault(proposal.about, []).append(float(cost))
    return {origin: np.array(costs) for origin, costs in found.items()}


def _sentence(words: str, guessed: FloatArray, even: FloatArray) -> str:
    if not len(even):
        return f"{words} cannot be judged: no configuration was even."
    wins = float(np.mean((guessed[:, None] < even) + 0.5 * (guessed[:, None] == even)))
    p = _by_chance(guessed, even)
    pairs = (
        f"{'its' if words == WORDS['prior'] else 'these'} {counted(len(guessed), 'configuration')} did "
        f"better than the {len(even)} even ones in {number(100 * wins)} % of the pairs"
    )
    if p >= SURE:
        return f"Whether it helped is not known. {words}: {pairs}, which may be chance (p {number(p)})."
    verdict = "helped" if wins > 0.5 else "misled"
    return f"{words} {verdict}: {pairs} (p {number(p)})."


def _by_chance(guessed: FloatArray, even: FloatArray) -> float:
    from scipy.stats import mannwhitneyu, rankdata  # here, because scipy.stats takes long to import

    if len({*guessed, *even}) == 1:
        return 1.0
    ranks = rankdata([*guessed, *even])  # infinities are ranks too
    return float(mannwhitneyu(ranks[: len(guessed)], ranks[len(guessed) :]).pvalue)
