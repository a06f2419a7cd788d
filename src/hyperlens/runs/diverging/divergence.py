"""Trials that diverged, in one sentence: how many, how far, and where in the space they lie."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from hyperlens.runs.diverging.tail import Tail
from hyperlens.spaces.cube import Axis, BoolArray, FloatArray, IntArray, Runs
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.rules import rule_in_words, sides
from hyperlens.spaces.space import Space
from hyperlens.words import FIXED, agreeing, article, number

if TYPE_CHECKING:
    from hyperlens.runs.history import History, Objective

FEWEST = 3  # trials that a rule is made of


def divergence(history: History, objective: Objective, tail: Tail, rows: IntArray) -> str:
    """What is set aside, and the rule that separates it if a parameter alone does.

    `tail` is of the trials at the positions `rows`.
    """
    way = "below" if objective.maximize else "above"
    what = "count as diverged, not as costs to learn from (--keep-tail keeps them)"
    if history.keep_tail:
        what = "count like all others, as was asked for"
    held = f"{int(min(tail.part, 0.9999) * 1000) / 10:.1f}{FIXED}%"
    count = int(tail.inside.sum())
    rule = separating_rule(history.space, history.vectors[rows], tail.inside)
    where = "" if rule is None else f", and all lie where {rule}"
    says = partial(agreeing, count)
    return (
        f"{count} of {len(history.trials)} trials {says('have')} {article(objective.name)} {way} "
        f"{number(objective.sign * tail.above)} and {says(what)}: {says('they hold')} more than {held} "
        f"of the variance{where}."
    )


def separating_rule(space: Space, X: FloatArray, apart: BoolArray) -> str | None:
    """The values of one parameter that all rows set apart have, and hardly any other has.

    None where such rows are few, or more others than rows set apart have these values too.
    """
    count = int(apart.sum())
    if count < FEWEST:
        return None
    found: list[tuple[int, int, Runs]] = []
    for j, (parameter, axis) in enumerate(zip(space.parameters, space.cube.axes, strict=True)):
        active = ~np.isnan(X[:, j])
        if active[apart].all():
            parts = _smallest_parts(parameter, axis, X[active, j], apart[active])
            found += [(others, j, runs) for others, runs in parts]
    if not found or min(found)[0] > count:
        return None
    others, j, runs = min(found)
    also = "" if others == 0 else f", as {others} of the {len(X) - count} others do"
    return rule_in_words(space, {j: runs}) + also


def _smallest_parts(
    parameter: Parameter, axis: Axis, x: FloatArray, apart: BoolArray
) -> Iterator[tuple[int, Runs]]:
    """Parts of an axis that hold all that are set apart, below, above or some levels of it, and how
    many others they hold."""
    if not axis.ordered:
        lefts: tuple[tuple[BoolArray, int], ...] = ((np.isin(x, x[apart]), 0),)
    else:
        lefts = ((x <= x[apart].max(), 0), (x < x[apart].min(), 1))
    for left, side in lefts:
        if left.any() and not left.all():
            inside = ~left if side else left
            yield int((inside & ~apart).sum()), sides(parameter, axis, x, left)[side]
