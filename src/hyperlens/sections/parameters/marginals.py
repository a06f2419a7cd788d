"""The mean effects of all parameters on one scale."""

from hyperlens import words as say
from hyperlens.explain.effects.effect import Effect
from hyperlens.plots.importance.marginals import MOST, draw_marginals
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import as_plain
from hyperlens.sections.explanation import Records
from hyperlens.sections.parameters.effects import EFFECTS

PARTS = ()


def cards(records: Records) -> tuple[Card, ...]:
    """No card for fewer than two."""
    effects = [e for e in records[EFFECTS] if isinstance(e, Effect)]
    if len(effects) < 2:
        return ()
    widest = max(effects, key=lambda e: e.change)
    start = "" if widest.verdict.known else "Not known, only a guess: "
    most = f"moves the average {widest.objective} most, by {say.number(widest.change, 3)}"
    told = f"{start}{widest.parameters[0]} {most} from one value to another."
    if not widest.change > 0:
        told = f"No parameter moves the average {widest.objective}."
    card = Card(
        id="marginals",
        title="All effects on one scale",
        lead=(f"{told} A flat line may still matter together with another parameter.",),
        verdict=widest.verdict,
        figure=as_plain(draw_marginals(effects)),
        csv="".join(_block(e, first=k == 0) for k, e in enumerate(effects[:MOST])),
        how=(
            "Each line is the surrogate's expectation averaged over all other parameters, over the "
            "parameter's range on its own scale; categories are points above their names. Bands are "
            "on the cards of each effect.",
        ),
    )
    return (card,)


def _block(effect: Effect, first: bool) -> str:
    """The rows of one effect in a table of several."""
    name = effect.parameters[0].replace('"', '""')
    head, *rows = effect.to_csv().splitlines()
    lines = [f'"{name}",{row}' for row in rows]
    return "\n".join([*([f"parameter,{head}"] if first else []), *lines]) + "\n"
