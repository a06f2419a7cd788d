"""A page says everything once: what an earlier card has said is not said again."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from hyperlens.sections.cards.card import Card


def without_repeats(cards: Iterable[Card]) -> Iterator[Card]:
    """The cards with the notes that are new in each; a verdict in the words of an earlier card's refers
    to that card."""
    told: set[str] = set()
    judged: dict[str, str] = {}  # a verdict's sentence -> the card that says it
    for card in cards:
        new = tuple(note for note in card.notes if note not in told)
        told.update(card.ahead, card.notes)
        where = None
        if card.verdict is not None:
            where = judged.setdefault(card.verdict.sentence, card.id)
        yield replace(card, notes=new, judged_in=None if where == card.id else where)
