"""What runs of one space have in common: shares, effects, and what does well in all of them."""

from dataclasses import replace

from hyperlens.explain.across.across import Across, across
from hyperlens.explain.across.pooled_effect import PooledEffect
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt

LEVEL = 0.9  # where no intervals are asked for
MOST_EFFECTS = 3  # in a report of one run
COMMON, EFFECTS = "In common", "Effects over runs"
HOW = (
    "Each run is explained by its own surrogate. Shares are pooled with random effects "
    "(Paule and Mandel 1982; Hartung and Knapp 2001): runs truly differ by some amount, and each "
    "measures with an error of its own. On the map runs lie close that have like effects. "
    "Configurations are chosen one after another, so that the best of them leaves least on average over "
    "runs."
)
POOLED = (
    "Costs of runs have scales of their own, so an effect is in standard deviations of the run's costs, "
    "away from its mean. At every point effects are pooled with random effects; the wide band is where "
    "that of a further run is expected (Higgins et al. 2009)."
)


def _compute(e: Explanation) -> Across | Unavailable | None:
    """Of runs of one space alone."""
    spaces = {run.space.to_json() for run in e.runs.values()}
    if len(e.runs) < 2 or len(spaces) > 1:
        return None
    first = next(iter(e.runs.values()))
    known = [o.name for o in first.objectives]
    objective = e.choices.objective if e.choices.objective in known else None
    level, seed = e.choices.level or LEVEL, e.choices.seed

    def told(done: int, of: int) -> None:
        e.step(f"run {done} of {of} explained")

    return attempt(
        "what the runs have in common",
        lambda: across(e.runs, objective=objective, level=level, seed=seed, progress=told),
    )


ACROSS = Part("across", _compute, "what the runs have in common")
PARTS = (ACROSS,)


def cards(records: Records) -> tuple[Card, ...]:
    record = records[ACROSS]
    return () if record is None else across_cards(record, MOST_EFFECTS)


def across_cards(record: Across | Unavailable, most: int) -> tuple[Card, ...]:
    """All runs at once, and the effects of so many parameters over them."""
    whole = card_of(record, "across", "What the runs have in common", HOW)
    if isinstance(record, Unavailable):
        return (whole,)
    effects = (
        effect_card(one, f"across-{k}") for k, one in enumerate(record.effects[:most], start=1)
    )
    return (whole, portfolio_card(record), *effects)


def page_cards(record: Across) -> tuple[Card, ...]:
    """What a page of several runs alone shows: every effect."""
    cards = across_cards(record, len(record.effects))
    return tuple(
        replace(card, section=EFFECTS if card.id.startswith("across-") else COMMON)
        for card in cards
    )


def portfolio_card(record: Across) -> Card:
    return Card(
        id="portfolio",
        title="What does well in all runs",
        lead=(
            "Begin the next search of this space with these: each is the one that leaves least, with "
            "those above it at hand.",
        ),
        table=record.tables[1],
        how=("Numbers are what each run's surrogate expects, on average over runs.",),
    )


def effect_card(record: PooledEffect, id: str) -> Card:
    return card_of(record, id, f"{record.parameter}, over runs", POOLED)
