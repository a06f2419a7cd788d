"""The space to search next, and the evidence for each change."""

from hyperlens.explain.next.advise import Advice, advise
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Part, Records, attempt

TITLE = "The space to search next"
ADVICE = Part(
    "advice", lambda e: attempt("advice", lambda: advise(e.history, **e.how)), "next space", 1.5
)
PARTS = (ADVICE,)
HOW = (
    "Functions that agree with the trials are drawn from the additive Gaussian process, and each is "
    "searched for its lowest place. A range is cut only where none of them is lowest, with a margin; "
    "it is widened where most are lowest at its end and still fall. A parameter is fixed where it "
    "hardly matters at most of its values.",
    "The command hyperlens advise SOURCE --out space.yaml writes the space for ConfigSpace; with "
    "--out space.py it writes suggestions for Optuna.",
)


def cards(records: Records) -> tuple[Card, ...]:
    record = records[ADVICE]
    table = {} if not isinstance(record, Advice) or record.parameters else {"table": None}
    return (card_of(record, "advice", TITLE, *HOW, **table),)
