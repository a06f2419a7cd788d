"""The best configuration: which of its values make it good, and what matters around it."""

from hyperlens.explain.importance.ablation import DEFAULT, Ablation, ablation
from hyperlens.explain.importance.local_importance import LocalImportance, local_importance
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt


def _ablation(e: Explanation) -> Ablation | Unavailable:
    return attempt("from the default to the best", lambda: ablation(e.history, **e.asked))


def _local(e: Explanation) -> LocalImportance | Unavailable:
    return attempt("around the best", lambda: local_importance(e.history, **e.asked))


ABLATION = Part("ablation", _ablation, "what makes the best good", 0.5)
LOCAL = Part("local", _local, "what matters around the best", 0.5)
PARTS = (ABLATION, LOCAL)


def cards(records: Records) -> tuple[Card, ...]:
    return ablation_card(records[ABLATION]), local_card(records[LOCAL])


def ablation_card(record: Ablation | Unavailable) -> Card:
    start = (
        "midpoint" if isinstance(record, Ablation) and "midpoint" in record.source else "default"
    )
    return card_of(
        record,
        "ablation",
        f"From the {start} to the best",
        "Ablation (Fawcett and Hoos 2016) over the surrogate: of all values that differ, each round "
        "changes the one that helps most. Who comes first is favoured by that, so the Shapley value "
        "of the same change, averaged over all orders, stands beside it.",
        DEFAULT,
    )


def local_card(record: LocalImportance | Unavailable) -> Card:
    return card_of(
        record,
        "local",
        "Around the best",
        "Local parameter importance (Biedenkapp et al. 2018): one parameter moves over its whole "
        "range while all others stay at the best configuration. A large share here with a small one "
        "over the whole space says that the parameter matters only near the best.",
    )
