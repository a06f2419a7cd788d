"""What runs of one space have in common, in a sentence, and what its columns mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperlens.explain.across.pooled_effect import DIFFERS, HOLDS
from hyperlens.explain.across.pooling import FEWEST_PREDICTED
from hyperlens.words import counted, decimals, percent, tenths

if TYPE_CHECKING:
    from hyperlens.explain.across.across import Across

MATTERS = 0.05  # a smaller share is not spoken of
WELL = 0.5  # regret below which a configuration does well: half of what a median one leaves
POOLED = "Mean share of the variance over runs (random effects), and its interval."
NEXT = "Where the share of one more run of this kind is expected."
ALIKE = "Mean correlation between the effects of each two runs: 1 the same shape, 0 unrelated."
REGRET = (
    "What it is expected to be worse than the best of each run, on average over runs, with those above "
    "it at hand: 0 the best everywhere, 1 no better than half of the space."
)


def said(record: Across) -> str:
    """What holds in all runs, what differs, and what the common default is worth."""
    known = [k for k, share in enumerate(record.pooled) if share >= MATTERS]
    names = record.parameters
    same = [names[k] for k in known if record.i2[k] < HOLDS]
    other = [names[k] for k in known if record.i2[k] > DIFFERS]
    sentence = _first(record, known[0] if known else None)
    if same:
        sentence += f" Runs differ by no more than each leaves open in {', '.join(same)}."
    sentence += f" Runs differ in {', '.join(other)}." if other else ""
    return sentence + _common(record)


def _first(record: Across, k: int | None) -> str:
    """The parameter that has most, with what a further run is expected to have."""
    runs = counted(len(record.runs), "run")
    if k is None:
        return f"In {runs} no parameter has a share of {percent(MATTERS)} by itself."
    interval = f"{tenths(float(record.low[k]))} to {tenths(float(record.high[k]))}"
    sentence = (
        f"Over {runs} '{record.parameters[k]}' has {tenths(float(record.pooled[k]))} of the variance on "
        f"average ({percent(record.level)} interval {interval})"
    )
    if len(record.runs) < FEWEST_PREDICTED:
        return f"{sentence}."
    ends = max(float(record.next_low[k]), 0.0), min(float(record.next_high[k]), 1.0)
    return f"{sentence}, in a further run {tenths(ends[0])} to {tenths(ends[1])}."


def _common(record: Across) -> str:
    """What one configuration for all runs is worth, where it is better than the default."""
    if not len(record.regret) or not record.default > record.regret[0]:
        return " No configuration is expected to be better than the default in all of them."
    lead = (
        "One configuration does well everywhere: it"
        if record.regret[0] < WELL
        else "No configuration does well everywhere: the best on average"
    )
    return (
        f" {lead} leaves {decimals(float(record.regret[0]))} of what lies between the best and the "
        f"median of the space, the default {decimals(record.default)}."
    )
