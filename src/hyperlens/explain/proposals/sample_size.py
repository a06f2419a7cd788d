"""Were enough steps drawn? The thesis's check of its Monte Carlo estimator (Croppi 2021 appendix C).

The estimated contributions miss the payout by the efficiency gap. If the gap is smaller than the
smallest difference between two contributions, giving all of it to one parameter cannot change their
ranking, and the steps suffice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.proposals.proposers import WhichTrial
from hyperlens.explain.proposals.why import Why, why
from hyperlens.record import Record
from hyperlens.runs.history import History
from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray
from hyperlens.tables import Column, Table, table
from hyperlens.words import number

SIZES = (100, 1000, 5000, 10_000, 15_000, 20_000)  # those the thesis tried
CHECKED = ("bound", "mean", "uncertainty")


@dataclass(frozen=True)
class SampleSize(Record):
    """Gap and smallest difference by sample size (rows) and by bound, mean, uncertainty (columns).

    `sufficient` is the first size that is enough for all three, None if none was.
    """

    trial: int
    samples: IntArray
    gap: FloatArray
    difference: FloatArray
    enough: BoolArray
    sufficient: int | None

    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        size = self.samples[-1]
        if self.sufficient is not None:
            return (
                f"{size} samples suffice: redistributing what is missing from the payout cannot change "
                "the ranking."
            )
        lacking = [name for name, good in zip(CHECKED, self.enough[-1], strict=True) if not good]
        return (
            f"{size} samples do not suffice for the {', '.join(lacking)}: what is missing from the "
            "payout is larger than the smallest difference between two parameters; draw more."
        )

    @property
    def lead(self) -> tuple[str, ...]:
        mark = "! the gap is not smaller than the smallest difference of two contributions."
        return self.sentence, mark

    @property
    def tables(self) -> tuple[Table, ...]:
        columns = [Column("samples", self.samples, number)]
        for k, name in enumerate(CHECKED):
            gaps = zip(self.gap[:, k], self.enough[:, k], strict=True)
            marked = [number(gap) + ("" if enough else " !") for gap, enough in gaps]
            columns += [
                Column(f"{name}: gap", marked, number),
                Column(f"{name}: smallest", self.difference[:, k], number),
            ]
        return (table(*columns),)

    def _columns(self) -> dict[str, Any]:
        sizes, kinds = self.gap.shape
        names = {"samples": np.repeat(self.samples, kinds), "what": CHECKED * sizes}
        return names | {n: getattr(self, n).ravel() for n in ("gap", "difference", "enough")}


def check_sample_size(
    explained: Why | History,
    trial: WhichTrial | None = None,
    *,
    samples: Sequence[int] = SIZES,
    **options: Any,
) -> SampleSize:
    """Check one sampled explanation, or search the first of `samples` that suffices for a trial.

    `options` are those of `why`.
    """
    if isinstance(explained, Why):
        if explained.method != "sampled":
            raise AnalysisError(
                "This explanation was not sampled with the thesis's estimator, so there is nothing to "
                "check; ask for method='sampled'."
            )
        return _checked([explained])
    if not samples:
        raise AnalysisError("No sample size was given to check; give at least one.")
    whys: list[Why] = []
    for size in sorted(samples):
        options |= {"method": "sampled", "samples": int(size)}
        whys.append(why(explained, trial, **options))
        if _enough(whys[-1]).all():
            break
    return _checked(whys)


def _gap(explained: Why) -> FloatArray:
    """|sum of contributions - payout| of bound, mean and uncertainty."""
    sums = [float(getattr(explained, name).sum()) - explained.payout[name] for name in CHECKED]
    return np.abs(sums)


def _difference(explained: Why) -> FloatArray:
    """Smallest difference between contributions of two active parameters; infinite for one."""
    active = [value is not None for value in explained.values]
    steps = [np.diff(np.sort(getattr(explained, name)[active])) for name in CHECKED]
    return np.array([float(step.min(initial=np.inf)) for step in steps])


def _enough(explained: Why) -> BoolArray:
    return np.asarray(_gap(explained) < _difference(explained))


def _checked(whys: Sequence[Why]) -> SampleSize:
    enough = np.array([_enough(w) for w in whys])
    return SampleSize(
        trial=whys[-1].trial,
        samples=np.array([w.samples for w in whys]),
        gap=np.array([_gap(w) for w in whys]),
        difference=np.array([_difference(w) for w in whys]),
        enough=enough,
        sufficient=whys[-1].samples if enough[-1].all() else None,
    )
