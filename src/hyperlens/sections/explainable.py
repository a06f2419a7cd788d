"""Which proposals of a run can be explained: the same trials in the report and on the live page."""

from hyperlens.proposal import INITIAL
from hyperlens.runs.history import History


def explainable(history: History) -> tuple[tuple[int, ...], bool]:
    """Numbers of the trials that a recorded surrogate proposed, and True; without any, those of all
    trials after as many as an initial design has, and False."""
    recorded = tuple(t.number for t in history.trials if t.proposal and t.proposal.by_surrogate)
    later = history.trials[INITIAL * len(history.space) :]
    return recorded or tuple(t.number for t in later), bool(recorded)
