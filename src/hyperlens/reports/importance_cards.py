"""Cards of what mattered: shares, their map, the effects on one scale, interactions."""

from __future__ import annotations

from collections.abc import Sequence

from hyperlens import words as say
from hyperlens.explain.effects.effect import Effect
from hyperlens.explain.importance.importance import Importance
from hyperlens.explain.importance.interactions import Interactions
from hyperlens.plots.importance.marginals import MOST, draw_marginals
from hyperlens.plots.importance.share_map import draw_heatmap
from hyperlens.reports import meanings
from hyperlens.reports.analysis import Unavailable
from hyperlens.reports.card import IMPORTANCE, MOST_ROWS, Card, Table
from hyperlens.reports.figures import as_plain, figure_of, share, two, unavailable


def importance_card(record: Importance | Unavailable) -> Card:
    if isinstance(record, Unavailable):
        return unavailable(record, "importance", IMPORTANCE)
    columns = ["effect", "share", f"spread over {record.spread_of}"]
    said = ["", meanings.SHARE, meanings.SPREAD.format(of=record.spread_of)]
    if record.level is not None:
        columns += [f"{say.percent(record.level)} interval", "rank"]
        said += [meanings.INTERVAL, meanings.RANK]
    if record.witness_name is not None:
        columns.append(record.witness_name)
        said.append(meanings.WITNESS)
    rows = []
    for k, parameters in enumerate(record.parameters[:MOST_ROWS]):
        row = [say.effect_name(parameters), share(record.share[k]), f"± {share(record.std[k])}"]
        if record.level is not None:
            row.append(f"{share(record.low[k])} to {share(record.high[k])}")
            row.append(say.rank(record.rank_low[k], record.rank_high[k]))
        if record.witness_name is not None:
            row.append(share(record.witness[k]))
        rows.append(tuple(row))
    numeric = [False] + [True] * (len(columns) - 1)
    return Card(
        id="importance",
        section=IMPORTANCE,
        title=IMPORTANCE,
        lead=(record.sentence, record.meaning),
        figure=figure_of(record),
        csv=record.to_csv(),
        table=Table(tuple(columns), tuple(rows), tuple(numeric), tuple(said)),
        qualities=(record.quality,),
        notes=record.notes,
        how=(
            "Functional ANOVA of the surrogate, exact over the whole space. The whiskers come from "
            "refits on random parts of the data.",
        ),
    )


def heatmap_card(record: Importance | Unavailable) -> Card | None:
    """Pairs as a map; no card where there are none."""
    if isinstance(record, Unavailable) or not any(len(p) == 2 for p in record.parameters):
        return None
    pairs = [
        (p, s)
        for p, s in zip(record.parameters, record.share, strict=True)
        if len(p) == 2 and s > 0
    ]
    first = (
        f"The strongest pair is {say.effect_name(pairs[0][0])} with {say.percent(float(pairs[0][1]))}."
        if pairs
        else "No two parameters act together in what the surrogate expects."
    )
    return Card(
        id="heatmap",
        section=IMPORTANCE,
        title="Parameters and pairs",
        lead=(
            f"{first} On the diagonal stands what each parameter does alone, below it what two do "
            "beyond that, in percent of the variance.",
        ),
        figure=as_plain(draw_heatmap(record)),
        csv=record.to_csv(),
        how=(meanings.SHARE,),
    )


def marginals_card(effects: Sequence[Effect | Unavailable]) -> Card | None:
    """The mean effects on one scale; no card for fewer than two."""
    known = [e for e in effects if isinstance(e, Effect)]
    if len(known) < 2:
        return None
    size = {e.parameters[0]: float(e.mean.max() - e.mean.min()) for e in known}
    widest = max(size, key=lambda name: size[name])
    return Card(
        id="marginals",
        section=IMPORTANCE,
        title="Marginals",
        lead=(
            f"All on one scale: {widest} moves the average {known[0].objective} most, by "
            f"{say.number(size[widest], 3)} from one value to another. A flat line may still matter "
            "together with another parameter.",
        ),
        figure=as_plain(draw_marginals(known)),
        csv="".join(_block(e, first=k == 0) for k, e in enumerate(known[:MOST])),
        how=(
            "Each line is the surrogate's expectation averaged over all other parameters, over the "
            "parameter's range on its own scale; categories are points in their order. Bands are "
            "on the cards of each effect.",
        ),
    )


def _block(effect: Effect, first: bool) -> str:
    """The rows of one effect in a table of several."""
    name = effect.parameters[0].replace('"', '""')
    head, *rows = effect.to_csv().splitlines()
    lines = [f'"{name}",{row}' for row in rows]
    return "\n".join([*([f"parameter,{head}"] if first else []), *lines]) + "\n"


def interactions_card(record: Interactions | Unavailable) -> Card:
    title = "Interactions"
    if isinstance(record, Unavailable):
        return unavailable(record, "interactions", IMPORTANCE, title)
    columns, said = ["pair", "H", "share of the variance"], ["", meanings.H, meanings.PAIR_SHARE]
    if record.level is not None:
        columns.insert(2, f"{say.percent(record.level)} interval of H")
        said.insert(2, meanings.INTERVAL)
    rows = []
    for k, pair in enumerate(record.pairs[:MOST_ROWS]):
        row = [say.effect_name(pair), two(record.h[k]), share(record.share[k])]
        if record.level is not None:
            row.insert(2, f"{two(record.low[k])} to {two(record.high[k])}")
        rows.append(tuple(row))
    numeric = (False, *[True] * (len(columns) - 1))
    return Card(
        id="interactions",
        section=IMPORTANCE,
        title=title,
        lead=(record.sentence,),
        figure=figure_of(record),
        csv=record.to_csv(),
        table=Table(tuple(columns), tuple(rows), numeric, tuple(said)),
        qualities=(record.quality,),
        notes=record.notes,
        how=(meanings.H,),
    )
