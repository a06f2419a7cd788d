"""What the games of tunability are called, and what their numbers say in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperlens.words import beside, effect_name, number, percent

if TYPE_CHECKING:
    from hyperlens.explain.tunability.tunability import Tunability
    from hyperlens.explain.tunability.worths import Game

TITLES: dict[Game, str] = {
    "tunability": "Tunability",
    "mistunability": "Mistunability",
    "sensitivity": "Sensitivity",
    "bias": "Left by the search",
    "ablation": "Gained by the best",
}
MEANING: dict[Game, str] = {
    "tunability": "What tuning it gains in the prediction.",
    "mistunability": "What setting it badly loses in the prediction.",
    "sensitivity": "How much the prediction varies with it, as a variance.",
    "bias": "What its values in the best trials lack to the best that is predicted.",
    "ablation": "What its value in the best trial gains in the prediction.",
}
VALUE = (
    "Shapley value: on average over all orders in which parameters join; they add up to the whole."
)
ALONE = "The same of this parameter alone, all others at the baseline."
PAIR = (
    "What two parameters have together beyond what each has: the faithful interaction index; "
    "below 0 where tuning one leaves less to the other."
)
NEGLIGIBLE = 1e-12
REST = "the other "  # so many parameters, as one player


def said(record: Tunability) -> str:
    """What all have together, and who has most of it."""
    whole, objective = record.whole, record.objective
    if not abs(whole) > NEGLIGIBLE * abs(record.cost):
        return f"{_nothing(record)} in the predicted {objective}."
    first = record.parameters[0]
    lead = record.value[0] / whole
    part = f", {percent(float(lead))} of it," if 0 < lead <= 1 else ""
    rest = first.startswith(REST)  # several that play as one
    most = f"{first} have most" if rest else f"'{first}' has most"
    alone = f"alone {'they have' if rest else 'it has'} {number(float(record.alone[0]), 3)}"
    sentence = f"{_start(record)}; {most}{part} with {number(float(record.value[0]), 3)}, {alone}."
    if len(record.pairs) and abs(record.interaction[0]) > 0.05 * abs(whole):
        amount = number(abs(float(record.interaction[0])), 3)
        more = "more" if record.interaction[0] > 0 else "less"
        sentence += f" {effect_name(record.pairs[0])} have {amount} {more} together than apart."
    return sentence


def _start(record: Tunability) -> str:
    amount = number(record.whole, 3)
    if record.level is not None and record.whole_low == record.whole_low:
        ends = f"{number(record.whole_low, 3)} to {number(record.whole_high, 3)}"
        amount += f" ({percent(record.level)} interval {ends})"
    objective, at = record.objective, record.baseline
    here, there = map(beside([record.cost, record.reached]), (record.cost, record.reached))
    return {
        "tunability": f"From {at}, tuning all parameters takes the predicted {objective} from {here} "
        f"to {there}, better by {amount}",
        "mistunability": f"From {at}, setting all parameters at their worst takes the predicted "
        f"{objective} from {here} to {there}, worse by {amount}",
        "sensitivity": f"Around {at} the predicted {objective} has a variance of {amount} when all "
        "parameters vary",
        "bias": f"The best trials' values leave {amount} of the predicted {objective} to the best "
        f"that is reached from {at}",
        "ablation": f"Going from {at} to the best trial makes the predicted {objective} better by "
        f"{amount}",
    }[record.game]


def _nothing(record: Tunability) -> str:
    return {
        "tunability": f"Tuning gains nothing over {record.baseline}",
        "mistunability": f"Nothing is worse than {record.baseline}",
        "sensitivity": f"Around {record.baseline} nothing varies",
        "bias": "The best trials leave nothing to gain",
        "ablation": f"The best trial gains nothing over {record.baseline}",
    }[record.game]
