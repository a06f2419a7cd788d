"""What mattered, over the whole space and among the good: shares as bars, and pairs as a map."""

import math

import numpy as np

from hyperlens import words as say
from hyperlens.explain.importance.importance import SHARE, Importance, importance
from hyperlens.explain.importance.importance_words import where
from hyperlens.explain.importance.importances import Importances
from hyperlens.explain.importance.questions import LeadingQuestion, leading_question
from hyperlens.plots.importance.share_map import draw_heatmap
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import as_plain, card_of
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt

Names = tuple[str, ...]
HOW = (
    "Functional ANOVA of the surrogate, exact. The whiskers are intervals at the level that the table "
    "names."
)
BOTH = (
    "Among the good, costs worse than a bound count as that bound, so that only differences between "
    "good configurations are shared out."
)


def _compute(e: Explanation) -> Importance | Unavailable:
    return attempt("importance", lambda: importance(e.history, level=e.choices.level, **e.asked))


def _among_the_good(e: Explanation) -> Importance | Unavailable:
    def compute() -> Importance:
        return importance(e.history, among="good", level=e.choices.level, **e.asked)

    return attempt("importance among the good", compute)


def _question(e: Explanation) -> LeadingQuestion | Unavailable:
    whole, good = e[IMPORTANCE], e[GOOD]
    if isinstance(whole, Unavailable):
        return whole
    return good if isinstance(good, Unavailable) else leading_question(whole, good)


IMPORTANCE = Part("importance", _compute, "importance and its intervals", 4.0)
GOOD = Part("good", _among_the_good, "importance among the good", 2.0)
QUESTION = Part("question", _question)
PARTS = (IMPORTANCE, GOOD, QUESTION)


def leading(records: Records) -> Importance | Unavailable:
    """The answer to the question that leads, from which whatever is said of importance is taken."""
    question = records[QUESTION]
    among_the_good = isinstance(question, LeadingQuestion) and question.among == "good"
    return records[GOOD if among_the_good else IMPORTANCE]


def both(records: Records) -> Importances | Importance | Unavailable:
    """Both answers beside each other, or the one there is."""
    whole, good, question = records[IMPORTANCE], records[GOOD], records[QUESTION]
    if (
        isinstance(whole, Unavailable)
        or isinstance(good, Unavailable)
        or isinstance(question, Unavailable)
    ):
        return whole
    return Importances(whole, good, question)


def cards(records: Records) -> tuple[Card | None, ...]:
    return importance_card(both(records)), heatmap_card(leading(records))


def method(records: Records) -> str | None:
    record = leading(records)
    if isinstance(record, Unavailable):
        return None
    return (
        f"Importance is functional ANOVA (Hutter et al. 2014), exact, up to interactions of "
        f"{say.counted(record.order, 'parameter')}, on {say.counted(record.trials, 'trial')}. The "
        f"shares are those of the {say.surrogate_name(record.surrogate)}"
        + (f" of {record.trees} trees." if record.surrogate == "forest" else ".")
    )


def ranking(shares: Importance | Unavailable, names: Names) -> tuple[list[Names], list[Names]]:
    """Parameters and pairs, most important first; without shares, parameters as the space has them."""
    order: tuple[Names, ...] = tuple((name,) for name in names)
    if isinstance(shares, Importance) and not np.isnan(shares.share).all():
        order = shares.parameters
    return [p for p in order if len(p) == 1], [p for p in order if len(p) > 1]


def totals(record: Importance) -> dict[str, float]:
    """Share of each parameter, alone and together with others."""
    total: dict[str, float] = {}
    for names, share in zip(record.parameters, record.share.tolist(), strict=True):
        for name in names:
            total[name] = total.get(name, 0.0) + (0.0 if math.isnan(share) else share)
    return total


def importance_card(record: Importances | Importance | Unavailable) -> Card:
    title = record.what if isinstance(record, Unavailable) else "Importance"
    return card_of(
        record, "importance", title, HOW, *([BOTH] if isinstance(record, Importances) else ())
    )


def heatmap_card(record: Importance | Unavailable) -> Card | None:
    """Pairs as a map; no card where there are none."""
    if isinstance(record, Unavailable) or not any(len(p) == 2 for p in record.parameters):
        return None
    pairs = [
        (p, s)
        for p, s in zip(record.parameters, record.share, strict=True)
        if len(p) == 2 and s > 0
    ]
    first = "No two parameters act together in what the surrogate expects."
    if pairs and pairs[0][1] < say.SLIGHT:
        first = f"No pair has a tenth of a percent of the variance {where(record)}."
    elif pairs:
        strongest, share = say.effect_name(pairs[0][0], record.when), say.tenths(float(pairs[0][1]))
        first = f"The strongest pair is {strongest} with {share} {where(record)}."
    if not record.verdict.known:
        first = "Which pairs matter is not known; these are a guess."
    return Card(
        id="heatmap",
        title="Parameters and pairs",
        lead=(
            f"{first} On the diagonal stands what each parameter does alone, below it what two do "
            f"beyond that, in percent of the variance {where(record)}.",
        ),
        figure=as_plain(draw_heatmap(record)),
        csv=record.to_csv(),
        verdict=record.verdict,
        how=(SHARE.format(part=where(record)),),
    )
