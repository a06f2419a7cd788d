"""Cards of how parameters act: curves with bands, regions with their tree, maps of pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperlens import words as say
from hyperlens.explain.effects.effect import Effect
from hyperlens.explain.effects.regions import Region, Regions
from hyperlens.plots.effects.region_growth import colours_and_dashes, draw_growth
from hyperlens.record import as_csv
from hyperlens.reports import meanings
from hyperlens.reports.analysis import Unavailable
from hyperlens.reports.card import EFFECTS, MOST_ROWS, Card, Control, Node, Table, Tree
from hyperlens.reports.figures import as_plain, figure_of, share, unavailable

BANDS = {
    "pointwise": "how unsure a single prediction is, on average",
    "joint": "how unsure the average itself is",
}


def effect_cards(
    effects: Sequence[Effect | Unavailable],
    regions: Sequence[Regions | Unavailable],
    pairs: Sequence[Effect | Unavailable],
) -> Iterator[Card]:
    """For each parameter its effect, then its regions if they were computed; pairs last."""
    parts = {r.parameter: (k, r) for k, r in enumerate(regions, 1) if isinstance(r, Regions)}
    for k, effect in enumerate(effects, 1):
        yield effect_card(effect, f"effect-{k}")
        found = parts.get(effect.parameters[0]) if isinstance(effect, Effect) else None
        if found is not None:
            yield regions_card(found[1], f"regions-{found[0]}")
    for k, missing in enumerate(regions, 1):
        if isinstance(missing, Unavailable):
            yield unavailable(missing, f"regions-{k}", EFFECTS)
    for k, pair in enumerate(pairs, 1):
        yield effect_card(pair, f"pair-{k}")


def effect_card(record: Effect | Unavailable, id: str) -> Card:
    if isinstance(record, Unavailable):
        return unavailable(record, id, EFFECTS)
    single = len(record.parameters) == 1
    switch = Control("single", "switch", "Single configurations", ((0, "off"), (1, "on")), 0)
    return Card(
        id=id,
        section=EFFECTS,
        title=say.effect_name(record.parameters),
        lead=(record.sentence, *((record.reading,) if single else ())),
        figure=figure_of(record),
        csv=record.to_csv(),
        controls=(switch,) if single and record.numeric[0] and len(record.ice_mean) else (),
        qualities=(record.quality,),
        notes=record.notes,
        how=(
            f"Partial dependence of the {say.surrogate_name(record.surrogate)}, averaged over all "
            f"other parameters in closed form where the surrogate allows it. The {record.band} band "
            f"says {BANDS[record.band]}, at {say.percent(record.level)}. Marks below the curve are "
            "trials; where it is shaded there are none."
            if single
            else f"Partial dependence of the {say.surrogate_name(record.surrogate)} on both parameters, "
            "averaged over all others.",
        ),
    )


def regions_card(record: Regions | Unavailable, id: str) -> Card:
    if isinstance(record, Unavailable):
        return unavailable(record, id, EFFECTS)
    columns = ("rule", "share of the space", "trials", "mean std", "best trial")
    shown = record.tree[:1] if len(record.tree) == 1 else (record.tree[0], *record.leaves)
    rows = tuple(
        (
            r.rule,
            share(r.share),
            str(r.trials),
            f"±{say.number(r.confidence, 2)}",
            "here" if r.holds_best else "",
        )
        for r in shown[:MOST_ROWS]
    )
    count = record.splits
    slider = Control(
        "splits",
        "slider",
        "Splits",
        tuple((k, say.counted(k, "split")) for k in range(count + 1)),
        count,
    )
    return Card(
        id=id,
        section=EFFECTS,
        title=f"Regions of {record.parameter}",
        lead=(record.sentence, record.caveat),
        figure=as_plain(draw_growth(record)),
        csv=as_csv(record.curves),
        controls=(slider,) if count else (),
        tree=_tree(record),
        table=Table(
            columns,
            rows,
            (False, True, True, True, False),
            (
                "",
                meanings.REGION_SHARE,
                meanings.REGION_TRIALS,
                meanings.REGION_STD,
                "",
            ),
        ),
        qualities=(record.quality,),
        notes=record.notes,
        how=(
            "The space is split by rules on the other parameters so that the surrogate's uncertainty "
            "along this one is alike within each part (Moosbauer et al. 2021). The effect in a region "
            "is exact; the grey line and band are those of the whole space.",
        ),
    )


def _tree(record: Regions) -> Tree:
    when, looks = record.leaf_after, colours_and_dashes(record)
    return Tree(
        parameter=record.parameter,
        nodes=tuple(
            Node(
                id=r.id,
                parent=r.parent,
                text=r.rule,
                detail=_detail(r),
                colour=looks[r.id][0],
                best=r.holds_best,
                leaf_after=tuple(when[r.id]),
            )
            for r in record.tree
        ),
        splits=record.splits,
        chosen=record.highlighted(record.splits).id,
    )


def _detail(region: Region) -> str:
    return (
        f"{share(region.share)} of the space, {say.counted(region.trials, 'trial')}, "
        f"±{say.number(region.confidence, 2)}"
    )
