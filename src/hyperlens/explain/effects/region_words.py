"""Regions in plain words: where an effect is surer, and where not to trust it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperlens.explain.models.verdict import guessed
from hyperlens.words import counted, number

if TYPE_CHECKING:
    from hyperlens.explain.effects.region_tree import Region
    from hyperlens.explain.effects.regions import Regions


def sentence(record: Regions) -> str:
    return guessed(record.verdict, _sentence(record))


def _sentence(record: Regions) -> str:
    name, root = record.parameter, record.tree[0]
    if len(record.tree) == 1:
        return (
            f"No split of the space was found that makes the effect of {name} surer: it is known to "
            f"{_known(root)} everywhere."
        )
    best = record.best
    if best is None:
        surest = min(record.leaves, key=lambda r: r.confidence)
        return (
            f"The best trial leaves {name} inactive, so no region holds it. The effect of {name} is "
            f"best known where {surest.rule}: to {_known(surest)} instead of {_known(root)} over "
            "the whole space."
        )
    here = f"Where {best.rule}, which holds the best trial, the effect of {name} is known"
    if _known(best) == _known(root):
        return f"{here} as well as over the whole space, to {_known(root)}."
    if best.confidence < root.confidence:
        return f"{here} to {_known(best)} instead of {_known(root)} over the whole space."
    return f"{here} less precisely than over the whole space, to {_known(best)} against {_known(root)}."


def caveat(record: Regions) -> str:
    text = (
        "The space is split so that the surrogate is about equally certain within each region; ± is its "
        f"standard deviation, averaged over {record.parameter}."
    )
    least = max(record.leaves, key=lambda r: r.confidence)
    if len(record.tree) > 1 and not least.holds_best:
        text += (
            f" It is least sure where {least.rule} ({_known(least)}, "
            f"{counted(least.trials, 'trial')}): do not conclude much from the curve there."
        )
    return text


def _known(region: Region) -> str:
    return f"±{number(region.confidence, 2)}"
