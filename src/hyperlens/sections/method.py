"""How everything was computed: a paragraph of each section that has one, and all surrogates judged."""

from hyperlens.sections.cards.card import Card
from hyperlens.sections.explanation import Records
from hyperlens.sections.parameters import effects, importance, interactions, regions
from hyperlens.sections.run import search
from hyperlens.sections.surrogates import SURROGATES

AVERAGES = (
    "All averages and shares are over the whole search space, uniform on its scales: a "
    "parameter searched on a logarithmic scale counts uniformly in its logarithm."
)
ASSESSMENT = (
    "Each surrogate was cross-validated: R² and rank correlation compare its predictions "
    "with trials it had not seen, coverage is how often its band held them."
)
EXPLAINED = (importance, effects, regions, search, interactions)  # in this order


PARTS = (SURROGATES,)


def cards(records: Records) -> tuple[Card, ...]:
    surrogates = records[SURROGATES]
    paragraphs = [section.method(records) for section in EXPLAINED]
    card = Card(
        id="method",
        title="Method",
        lead=(
            AVERAGES,
            *(text for text in paragraphs if text is not None),
            *((ASSESSMENT, surrogates.sentence) if surrogates.qualities else ()),
        ),
        table=surrogates.tables[0] if surrogates.qualities else None,
        notes=(
            *(quality.sentence for quality in surrogates.qualities),
            f"Computed with Hyperlens {records.version}, seed {records.choices.seed}.",
        ),
    )
    return (card,)
