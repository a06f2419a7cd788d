"""What is said of a winner: its probability, its luck, and what repeats would tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hyperlens.words import FIXED, counted, digits_of, number, percent, told_apart

if TYPE_CHECKING:
    from hyperlens.explain.next.winner import Winner

SURELY, HARDLY = 0.995, 0.005  # probabilities beyond which no number is given
NUMBERS = ("no", "one", "two", "three", "four", "five")
FIVE, MORE_DIGITS = 5, 3  # leaders that are told apart, by so many digits more
SOME = 0.05  # of a lead: less is hardly any


def sentence(record: Winner) -> str:
    """How probably the best observed is the best, what of its lead is luck, what repeats would tell."""
    if not record.told_apart:
        return (
            f"No trial's {record.objective} is told by the others, so it may differ by noise alone: "
            f"whether trial {record.best} is the best of the {record.configurations} configurations "
            "tried or only lucky is not known; repeat the best few to see."
        )
    told = (
        f"Trial {record.best} is the best of the {record.configurations} configurations tried with a "
        f"probability {_of(float(record.probability[0]))}"
    )
    if record.probability[0] >= SURELY:
        return f"{told}{_why_sure(record)}."
    if record.noise == 0:
        return (
            f"Trial {record.best} has the best {record.objective} of the {record.configurations} "
            "configurations tried, others have the same, and the costs show no noise: repeats would "
            "not tell them apart."
        )
    return f"{told}; {_lead(record)}; {_repeats(record)}."


def reading(record: Winner) -> str:
    """What is expected after the noise, and which trial to take."""
    if not record.told_apart or record.noise == 0:
        return ""
    cost = digits(record)
    first = f"{_measured(record)} {cost(float(record.observed[0]))}"
    level = percent(record.level)
    within = f"{level} interval {cost(float(record.low[0]))} to {cost(float(record.high[0]))}"
    told = f"{first} and is expected at {cost(float(record.expected[0]))} ({within})"
    if record.recommended == record.best:
        return f"{told}; no other is expected to be better."
    k = record.row(record.recommended)
    other = (
        f"{told}. Trial {record.recommended}, measured with {cost(float(record.observed[k]))}, is "
        f"expected at {cost(float(record.expected[k]))}"
    )
    if not record.surpassed:
        return f"{other}: hardly a difference."
    chance = _of(float(record.probability[k]))
    return f"{other} and is the best with a probability {chance}: {_choice(record)}."


def _measured(record: Winner) -> str:
    """How often the best was measured, and that the best single cost is one of these."""
    times = int(record.repeats[0])
    if times == 1:
        return f"Trial {record.best} was measured with"
    others = record.single_of == record.best and record.single != record.best
    among = f", trial {record.single} among them," * others
    return f"The configuration of trial {record.best} was measured {times} times{among} with on average"


def digits(record: Winner) -> Callable[[Any], str]:
    """Writes costs with the digits that tell leaders apart, and the ends of the best one's interval."""
    costs = [*record.observed[:FIVE], float(record.low[0]), float(record.high[0])]
    least = digits_of(costs)
    return told_apart(costs, least, least + MORE_DIGITS)


def caution(record: Winner) -> str:
    """What is to be said beside the best observed where it is hardly the best; empty otherwise."""
    cost = digits(record)
    if record.single_of != record.best:
        return (
            f"The configuration of trial {record.single} was run several times: on average that of "
            f"trial {record.best} is best, with {cost(float(record.observed[0]))}."
        )
    if not record.told_apart:
        return f"Whether trial {record.best} is better than others or only lucky is not known."
    if not record.doubtful:
        return ""
    k = record.row(record.recommended)
    return (
        f"Trial {record.best} is probably not the best but lucky (the best of those tried with a "
        f"probability {_of(float(record.probability[0]))}). Trial {record.recommended}, measured with "
        f"{cost(float(record.observed[k]))}, is expected to be better, at "
        f"{cost(float(record.expected[k]))} against {cost(float(record.expected[0]))}: "
        f"{_choice(record)}."
    )


def _choice(record: Winner) -> str:
    """What to do where another trial is expected to be better, as what is said of repeats has it."""
    if record.needed == 0:
        return "choose it, no repeats are needed"
    if record.needed is None:
        return "choose it, for repeats would hardly tell"
    return "repeat both before choosing"


def _of(probability: float) -> str:
    if probability >= SURELY:
        return f"above 99{FIXED}%"
    if probability < HARDLY:
        return f"under 1{FIXED}%"
    return f"of {round(100 * probability)}{FIXED}%"


def _why_sure(record: Winner) -> str:
    if record.noise == 0:
        return ", for the costs show no noise"
    return f": the noise, about {number(record.noise, 2)}, is small"


def _lead(record: Winner) -> str:
    """What of the observed lead over the second is luck."""
    lead, second = record.observed_lead, int(record.trial[1])
    if lead == 0:
        return f"trial {second} has the same cost"
    of = f"its lead of {number(lead, 2)} over trial {second}"
    if record.expected_lead <= 0:
        return f"{of} is probably luck"
    if record.luck <= SOME * lead:
        return f"hardly any of {of} is luck"
    if record.luck >= (1 - SOME) * lead:
        return f"nearly all of {of} is probably luck"
    return f"of {of}, {number(record.luck, 2)} is probably luck"


def _repeats(record: Winner) -> str:
    """Whether repeats of the few that may be best would tell which is."""
    few = f"the {NUMBERS[len(record.five)]} likeliest"
    if record.needed == 0:
        return (
            f"trial {record.recommended} is the best{record.margin} with a probability "
            f"{_of(record.chance)}, so that no repeats are needed"
        )
    if record.needed is None:
        return (
            f"the noise, about {number(record.noise, 2)}, is so large that 100 repeats of each of "
            f"{few} would not tell which is best"
        )
    return f"{counted(record.needed, 'repeat')} of each of {few} would tell"
