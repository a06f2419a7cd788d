"""May what runs have in common be believed? By what each says of itself, and by what is left open."""

from collections.abc import Sequence

from hyperlens.explain.models.verdict import WIDE, Ground, Verdict, judge
from hyperlens.surrogates.quality import Word
from hyperlens.words import counted, tenths


def verdict_of(words: Sequence[Word], name: str, low: float, high: float) -> Verdict:
    """From the verdicts of the runs' surrogates, and the interval of the largest pooled share."""
    return judge((_of_runs(words), _of_share(name, max(low, 0.0), min(high, 1.0))))


def _of_runs(words: Sequence[Word]) -> Ground:
    """Runs that say nothing of themselves say nothing together."""
    runs, well = counted(len(words), "run"), words.count("trust")
    said = f"the surrogates of {well} of {runs} predict trials they have not seen"
    if 2 * well >= len(words):
        return Ground("trust", said)
    if well:
        return Ground("caution", f"only {said} well", "run more trials in the others")
    nothing = words.count("do not trust") == len(words)
    how = "trials it has not seen" if nothing else "trials it has not seen more than roughly"
    return Ground(
        "do not trust" if nothing else "caution",
        f"no surrogate of {runs} predicts {how}",
        "run more trials in each",
    )


def _of_share(name: str, low: float, high: float) -> Ground | None:
    if not high - low > WIDE:
        return None
    said = f"the share of {name} may be anything from {tenths(low)} to {tenths(high)} on average"
    return Ground("caution", said, "give more runs")
