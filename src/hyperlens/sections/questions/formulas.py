"""Effects as short formulas, of the parameters that matter most."""

from hyperlens.explain.formula.formula import ERROR, MOST, Formula, formula
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of, figure_of, unavailable
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt
from hyperlens.sections.parameters.effects import most_important
from hyperlens.tables import Column, table
from hyperlens.words import number

TITLE = "Effects as formulas"
MOST_FORMULAS, MOST_SAID = 6, 3
CHANGE = "How far the effect's mean reaches over the whole range."
HOW = (
    "Forms of one to four constants are fitted to each effect by least squares, points that are known "
    "better counting more. One fits that is nowhere farther from the effect's mean than one standard "
    "deviation of its shape, or than a twentieth of its change; the shortest of those is shown. A "
    "formula says what the surrogate expects within the range, nothing of what lies beyond it."
)


def _compute(e: Explanation) -> tuple[Formula | Unavailable, ...]:
    names = [name for (name,) in most_important(e) if e.history.space[name].numeric]
    return tuple(_formula(e, name) for name in names[:MOST_FORMULAS])


def _formula(e: Explanation, name: str) -> Formula | Unavailable:
    return attempt(f"formula of {name}", lambda: formula(e.history, name, **e.asked), (name,))


FORMULAS = Part("formulas", _compute, "formulas", 0.5, by=("parameter",))
PARTS = (FORMULAS,)


def cards(records: Records) -> tuple[Card, ...]:
    computed = records[FORMULAS]
    found = [one for one in computed if isinstance(one, Formula)]
    if not found:
        return tuple(unavailable(one, "formulas", TITLE) for one in computed[:1])  # type: ignore[arg-type]
    fits = [one for one in found if one.chosen >= 0 and one.forms[0] != "constant"]
    shown = (fits or found)[0]
    return (
        card_of(
            shown,
            "formulas",
            TITLE,
            HOW,
            lead=tuple(one.sentence for one in (fits or found)[:MOST_SAID]),
            figure=figure_of(shown),
            table=table(
                Column("parameter", [one.parameter for one in found]),
                Column(
                    "formula", [one.text[0] if one.chosen >= 0 else "none fits" for one in found]
                ),
                Column("error", [float(one.error[0]) for one in found], number, ERROR),
                Column("at most", [float(one.most[0]) for one in found], number, MOST),
                Column("change", [one.change for one in found], number, CHANGE),
            ),
            notes=(),
        ),
    )
