"""How each parameter acts: curves with bands, the most important ones first."""

from hyperlens import words as say
from hyperlens.explain.effects.effect import BANDS, NEARLY, Effect, effect
from hyperlens.sections.cards.card import Card, Control
from hyperlens.sections.cards.figures import card_of, numbered, unavailable
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt
from hyperlens.sections.parameters.importance import Names, leading, ranking
from hyperlens.sections.run.overview import OVERVIEW

MOST_EFFECTS = 12
GRID = 20  # points along a curve
SECONDS = 3.0  # of all effects together


def most_important(e: Explanation) -> list[Names]:
    """The parameter that was chosen, or those that get a card."""
    if e.choices.parameter is not None:
        return [(e.choices.parameter,)]
    return ranking(leading(e), e.history.space.names)[0][:MOST_EFFECTS]


def effect_of(e: Explanation, parameters: Names, grid: int = GRID) -> Effect | Unavailable:
    """The effect of one parameter or two, by the primary surrogate."""
    return e.once(
        ("effect of", *parameters),
        lambda: attempt(
            f"effect of {' and '.join(parameters)}",
            lambda: effect(e.history, parameters, grid=grid, **e.asked),
            parameters,
        ),
    )


def _compute(e: Explanation) -> tuple[Effect | Unavailable, ...]:
    effects = []
    subjects = most_important(e)
    for k, names in enumerate(subjects):
        e.step(f"effect of {names[0]}", SECONDS * k / len(subjects))
        effects.append(effect_of(e, names))
    return tuple(effects)


EFFECTS = Part("effects", _compute, "effects", SECONDS, by=("parameter",))
PARTS = (EFFECTS,)


def cards(records: Records) -> tuple[Card, ...]:
    names = records[OVERVIEW].parameters
    return tuple(effect_card(e, numbered("effect", e.parameters, names)) for e in records[EFFECTS])


def method(records: Records) -> str | None:
    effects = [e for e in records[EFFECTS] if isinstance(e, Effect)]
    if not effects:
        return None
    first = effects[0]
    return (
        f"Effects are partial dependence of {say.article(say.surrogate_name(first.surrogate))} "
        f"with confidence bands (Moosbauer et al. 2021); the {first.band} band shows "
        f"{BANDS[first.band]}. A value is nearly as good as the best where the mean differs by at most "
        f"{say.percent(NEARLY)} of its whole change."
    )


def effect_card(record: Effect | Unavailable, id: str) -> Card:
    """The effect of one parameter, or of two together."""
    if isinstance(record, Unavailable):
        return unavailable(record, id)
    single = len(record.parameters) == 1
    switch = Control("single", "switch", "Single configurations", ((0, "off"), (1, "on")), 0)
    surrogate = say.surrogate_name(record.surrogate)
    return card_of(
        record,
        id,
        say.effect_name(record.parameters),
        f"Partial dependence of the {surrogate}, averaged over all other parameters in closed form "
        f"where the surrogate allows it. The {record.band} band says {BANDS[record.band]}, at "
        f"{say.percent(record.level)}. Marks below the curve are trials; where it is shaded there "
        "are none."
        if single
        else f"Partial dependence of the {surrogate} on both parameters, averaged over all others.",
        lead=(record.sentence, *((record.reading,) if single else ())),
        table=None,
        controls=(switch,) if single and record.numeric[0] and len(record.ice_mean) else (),
    )
