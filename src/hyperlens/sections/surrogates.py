"""Both surrogates of a run judged, and which of them the report follows."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from hyperlens.explain.models.fitting import Fitted, SurrogateName, fit, primary_of
from hyperlens.record import Record, columns_of
from hyperlens.sections.cards import meanings
from hyperlens.sections.explanation import Explanation, Part, Unavailable, attempt
from hyperlens.surrogates.quality import Quality
from hyperlens.tables import Column, Table, table
from hyperlens.words import SURROGATES as NAMES
from hyperlens.words import number, tenths


@dataclass(frozen=True)
class Surrogates(Record):
    """How well each surrogate predicts, as far as it could be fitted, and the one that is primary."""

    qualities: tuple[Quality, ...]
    primary: SurrogateName
    notes: tuple[str, ...]

    @property
    def verdicts(self) -> set[str]:
        return {quality.verdict for quality in self.qualities}

    @property
    def sentence(self) -> str:
        return f"The numbers come from the {NAMES[self.primary]}."

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
        q, short = self.qualities, partial(number, digits=2)
        return (
            table(
                Column("surrogate", [x.surrogate for x in q]),
                Column("verdict", [x.verdict for x in q], meaning=meanings.SURROGATES),
                Column("R²", [x.r2 for x in q], short, r2),
                Column("rank correlation", [x.rank_correlation for x in q], short, rank),
                Column("coverage", [x.coverage for x in q], tenths, held),
                Column("trials", [x.trials for x in q], number, meanings.TRIALS),
                Column("folds", [x.folds for x in q], number, folds),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        return columns_of(Quality, self.qualities)


def _compute(e: Explanation) -> Surrogates:
    e.step("fitting the forest")
    forest = attempt("random forest", lambda: fit(e.history, "forest", **e.how))
    e.step("fitting the Gaussian process", 1.0)
    gp = attempt("Gaussian process", lambda: fit(e.history, "gp", **e.how))
    fits = [f for f in (forest, gp) if isinstance(f, Fitted)]
    problems = [f.why for f in (forest, gp) if isinstance(f, Unavailable)]
    primary: SurrogateName = "forest"
    if isinstance(forest, Fitted) and isinstance(gp, Fitted):
        primary = primary_of(gp, forest).name
    return Surrogates(
        qualities=tuple(f.quality for f in fits),
        primary=e.choices.surrogate or primary,
        notes=(*problems, *(note for f in fits for note in f.notes)),
    )


SURROGATES = Part("surrogates", _compute, "fitting the surrogates", 4.0)
