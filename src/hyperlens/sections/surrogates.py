"""The surrogates of a run judged, and which of them the report follows."""

from dataclasses import dataclass
from typing import Any

from hyperlens.explain.models.fitting import SurrogateName
from hyperlens.explain.models.leader import SECOND_OPINION, leader, reason
from hyperlens.record import Record, columns_of
from hyperlens.sections.cards import meanings
from hyperlens.sections.explanation import Explanation, Part, Unavailable, attempt
from hyperlens.surrogates.quality import Quality
from hyperlens.tables import Column, Table, table
from hyperlens.words import decimals, number, surrogate_name, tenths


@dataclass(frozen=True)
class Surrogates(Record):
    """How well each surrogate predicts, as far as it could be asked, and the one that is primary."""

    qualities: tuple[Quality, ...]
    primary: SurrogateName
    notes: tuple[str, ...]
    aside: tuple[str, ...] = ()  # what of the run was set aside, said first

    @property
    def verdicts(self) -> set[str]:
        return {quality.verdict for quality in self.qualities}

    @property
    def leading(self) -> Quality | None:
        """The quality of the primary one; None where it was asked for in vain."""
        name = surrogate_name(self.primary)
        return next((q for q in self.qualities if q.surrogate == name), None)

    @property
    def sentence(self) -> str:
        """Where the numbers come from, and why."""
        if self.leading is None:
            return f"The {surrogate_name(self.primary)} could not be asked."
        return reason(self.leading, [q for q in self.qualities if q is not self.leading])

    @property
    def tables(self) -> tuple[Table, ...]:
        r2 = (
            "Part of the variance of trials it had not seen that the surrogate predicts "
            "(cross-validation)."
        )
        rank = "Spearman's correlation of predicted and measured values of unseen trials."
        held = (
            "How often the surrogate's 95 % band held a trial it had not seen; 95 % would be right."
        )
        folds = "In how many parts the trials were divided for cross-validation."
        q = self.qualities
        return (
            table(
                Column("surrogate", [x.surrogate for x in q]),
                Column("verdict", [x.verdict for x in q], meaning=meanings.SURROGATES),
                Column("R²", [x.r2 for x in q], decimals, r2),
                Column("rank correlation", [x.rank_correlation for x in q], decimals, rank),
                Column("coverage", [x.coverage for x in q], tenths, held),
                Column("trials", [x.trials for x in q], number, meanings.TRIALS),
                Column("folds", [x.folds for x in q], number, folds),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        return columns_of(Quality, self.qualities)


def _compute(e: Explanation) -> Surrogates:
    found = attempt("surrogates", lambda: leader(e.history, **e.how))
    named = e.choices.surrogate
    if isinstance(found, Unavailable):
        return Surrogates((), named or SECOND_OPINION, (found.why,))
    fits = sorted(found.candidates, key=lambda fitted: fitted.name != named)  # the named one first
    return Surrogates(
        qualities=tuple(f.quality for f in fits),
        primary=named or fits[0].name,
        notes=found.notes,
        aside=fits[0].training.aside,
    )


SURROGATES = Part("surrogates", _compute, "fitting the surrogates", 4.0)
