"""Which parameter switches which, concluded from where values are missing.

A child is a parameter that some trials lack. Its parent is a discrete parameter such that the
child is present exactly where the parent is present with a value out of a set A. Where several
explain it, the parent that is itself present in the fewest trials is the nearest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hyperlens.spaces.clauses import Clauses, one_of
from hyperlens.spaces.cube import BoolArray, IntArray
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.space import Space
from hyperlens.words import counted

MOST_OBSERVED = 20  # a number with more observed values than this is no switch

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Conditions:
    """What was concluded. `flags` maps a new "x set" parameter to the parameters it switches."""

    clauses: Mapping[str, Clauses]
    flags: Mapping[str, tuple[str, ...]]
    sentences: tuple[str, ...]

    def space(
        self, parameters: Sequence[Parameter], constants: Row, inferred: Sequence[str] = ()
    ) -> Space:
        """The space of the parameters and the flags under these conditions."""
        flags = [Parameter(name, "categorical", choices=("no", "yes")) for name in self.flags]
        sentences = (*inferred, *self.sentences)
        return Space.of([*flags, *parameters], self.clauses, constants, sentences)

    def flagged(self, row: Row) -> dict[str, str]:
        """Values of the flags for one trial."""
        return {
            flag: "yes" if any(name in row for name in switched) else "no"
            for flag, switched in self.flags.items()
        }


@dataclass(frozen=True)
class _Switch:
    """A possible parent: the level it has in each trial, -1 where it is absent."""

    parameter: Parameter
    levels: IntArray

    @cached_property
    def present(self) -> BoolArray:
        return self.levels >= 0

    @property
    def size(self) -> int:
        return int(self.counts.sum())

    def values(self, levels: IntArray) -> list[Any]:
        assert self.parameter.values is not None
        return [self.parameter.values[k] for k in levels]

    @cached_property
    def counts(self) -> IntArray:
        """Trials per level."""
        assert self.parameter.values is not None
        return np.bincount(self.levels[self.present], minlength=len(self.parameter.values))

    def explains(self, child: BoolArray) -> IntArray | None:
        """Levels that activate a child with this presence; None if they do not explain it."""
        together = np.bincount(self.levels[child & self.present], minlength=len(self.counts))
        activating = together > 0
        if together.sum() != child.sum() or (together[activating] != self.counts[activating]).any():
            return None
        seen = self.counts > 0
        if (activating == seen).all() or not self._credible(activating[seen]):
            return None
        return np.flatnonzero(activating)

    def _credible(self, activating: BoolArray) -> bool:
        """A number that hardly repeats explains anything by chance, unless by a threshold."""
        if self.parameter.kind == "categorical":
            return True
        threshold = np.count_nonzero(np.diff(activating.astype(int))) == 1
        return bool(threshold or self.size >= 2 * len(activating))


def infer(parameters: Sequence[Parameter], rows: Sequence[Row]) -> Conditions:
    """Conditions of parameters, in their order of appearance, from the values of finished trials.

    >>> model = Parameter("model", "categorical", choices=("svm", "tree"))
    >>> degree = Parameter("degree", "integer", 1, 5)
    >>> rows = [{"model": "svm", "degree": 2}, {"model": "tree"}] * 10
    >>> infer([model, degree], rows).sentences
    ("Inferred from 20 trials: 'degree' is active when model is svm.",)
    """
    present = {
        p.name: np.fromiter((p.name in row for row in rows), dtype=bool, count=len(rows))
        for p in parameters
    }
    children = [p.name for p in parameters if not present[p.name].all()]
    switches = _switches(parameters, rows, present) if children else []
    clauses: dict[str, Clauses] = {}
    sentences: list[str] = []
    unexplained: dict[bytes, list[str]] = {}
    answers: dict[bytes, tuple[_Switch, IntArray] | None] = {}
    for child in children:
        pattern = present[child].tobytes()
        if pattern not in answers:
            every = ((s, s.explains(present[child])) for s in switches)
            answers[pattern] = next(((s, a) for s, a in every if a is not None), None)
        answer = answers[pattern]
        if answer is None:
            unexplained.setdefault(pattern, []).append(child)
            continue
        switch, levels = answer
        clauses[child] = ((one_of(switch.parameter.name, switch.values(levels)),),)
        sentences.append(
            f"Inferred from {counted(len(rows), 'trial')}: {_sentence(child, *answer)}"
        )
    flags: dict[str, tuple[str, ...]] = {}
    taken = {p.name for p in parameters}
    for names in unexplained.values():
        flag = _new_name(f"{names[0]} set", taken)
        flags[flag] = tuple(names)
        clauses |= dict.fromkeys(names, (((flag, "equal", "yes"),),))
        sentences.append(_flag_sentence(flag, names, len(rows)))
    return Conditions(clauses, flags, tuple(sentences))


def _switches(
    parameters: Sequence[Parameter], rows: Sequence[Row], present: Mapping[str, BoolArray]
) -> list[_Switch]:
    """Possible parents, nearest first: fewest trials, then categories, then by appearance."""
    switches = []
    for parameter in parameters:
        if parameter.values is None:
            continue
        name = parameter.name
        levels = np.full(len(rows), -1, dtype=np.int64)
        codes = parameter.encode([row[name] for row in rows if name in row])
        levels[present[name]] = parameter.axis.level(codes)
        switch = _Switch(parameter, levels)
        if parameter.kind == "categorical" or (switch.counts > 0).sum() <= MOST_OBSERVED:
            switches.append(switch)
    return sorted(switches, key=lambda s: (s.size, s.parameter.kind != "categorical"))


def _sentence(child: str, switch: _Switch, levels: IntArray) -> str:
    values = _alternatives(switch.values(levels))
    rule = f"'{child}' is active when {switch.parameter.name} is {values}"
    unseen = switch.values(np.flatnonzero(switch.counts == 0))
    if not unseen:
        return f"{rule}."
    if len(unseen) > 5:
        return f"{rule}; {len(unseen)} other values were never tried and count as not activating."
    were, count = ("was", "counts") if len(unseen) == 1 else ("were", "count")
    return f"{rule}; {_alternatives(unseen)} {were} never tried and {count} as not activating."


def _alternatives(values: Sequence[Any]) -> str:
    *first, last = map(str, values)
    return f"{', '.join(first)} or {last}" if first else last


def _flag_sentence(flag: str, names: Sequence[str], trials: int) -> str:
    quoted = [f"'{name}'" for name in names]
    what = " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
    are, their = ("are", "their") if len(names) > 1 else ("is", "its")
    return (
        f"Inferred from {trials} trials: {what} {are} set in some trials only and no other "
        f"parameter explains which, so '{flag}' (no, yes) was added to stand for {their} presence."
    )


def _new_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "?"
    taken.add(name)
    return name
