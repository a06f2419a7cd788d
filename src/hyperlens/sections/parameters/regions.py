"""Regions in which the effect of a parameter is surer than over the whole space, with their tree."""

from dataclasses import replace

from hyperlens import words as say
from hyperlens.errors import AnalysisError
from hyperlens.explain.effects.effect import Effect
from hyperlens.explain.effects.region_tree import Region
from hyperlens.explain.effects.regions import Regions, regions
from hyperlens.plots.effects.region_growth import colours_and_dashes, draw_growth
from hyperlens.record import as_csv
from hyperlens.sections.cards.card import Card, Control, Node, Tree
from hyperlens.sections.cards.figures import as_plain, card_of, numbered, unavailable
from hyperlens.sections.choices import Step
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt
from hyperlens.sections.parameters.effects import EFFECTS, most_important
from hyperlens.sections.run.overview import OVERVIEW
from hyperlens.sections.surrogates import SURROGATES

MOST_REGIONS = 3  # cards, of the most important parameters
MANY_TRIALS = 500  # beyond, one card
SECONDS = 3.0
WORTH = 0.05  # a region in which an effect is surer by so much is worth a card


def _compute(e: Explanation) -> tuple[Regions | Unavailable, ...]:
    """A forest's regions take long, and so do many trials'."""
    if len(e.history.space) < 2:
        return ()
    slow = len(e[OVERVIEW].cost) > MANY_TRIALS or e[SURROGATES].primary == "forest"
    trees: list[Regions | Unavailable] = []
    for (name,) in most_important(e)[: 1 if slow else MOST_REGIONS]:
        e.step(f"regions of {name}", SECONDS * len(trees) / MOST_REGIONS)
        trees.append(_tree_of(e, name))
    return tuple(trees)


def _tree_of(e: Explanation, name: str) -> Regions | Unavailable:
    """The tree after every step made by hand; each step is remembered with the run."""
    c = e.choices

    def grown() -> Regions:
        if not c.steps:
            return regions(e.history, name, splits=c.splits, **e.asked)
        earlier = replace(c, steps=c.steps[:-1])
        before = _tree_of(Explanation(e.history, earlier), name)
        if isinstance(before, Unavailable):
            raise AnalysisError(before.why)
        own = _tree_of(Explanation(e.history, replace(c, steps=())), name)
        return _stepped(before, c.steps[-1], own.notes if isinstance(own, Regions) else ())

    return e.once(
        ("regions of", name, c.splits, c.steps),
        lambda: attempt(f"regions of {name}", grown, (name,)),
    )


def _stepped(before: Regions, step: Step, notes: tuple[str, ...]) -> Regions:
    """The tree after a step; one that cannot be made leaves the tree as it is, which says so."""
    what, region = step
    rules = {r.id: r.rule for r in before.tree}
    if region not in rules:
        said = f"There is no region {region} any more; choose another one."
        return replace(before, notes=(*notes, said))
    try:
        after = before.split(region) if what == "split" else before.merge(region)
    except AnalysisError:
        said = f"The region '{rules[region]}' cannot be split further; choose another one."
        return replace(before, notes=(*notes, said))
    return replace(after, notes=notes)


REGIONS = Part("regions", _compute, "regions", SECONDS, by=("parameter", "splits", "steps"))
PARTS = (REGIONS,)


def cards(records: Records) -> tuple[Card, ...]:
    """In a report, of the most important parameter and of those whose effect is surer in a region; a
    page shows the one that was chosen, which can be split by hand."""
    names, chosen = records[OVERVIEW].parameters, records.choices.parameter is not None
    trees = records[REGIONS]
    return tuple(
        regions_card(r, numbered("regions", _subject(r), names), whole=chosen or _gains(r))
        for k, r in enumerate(trees)
        if k == 0 or chosen or _gains(r)
    )


def _gains(record: Regions | Unavailable) -> bool:
    return isinstance(record, Unavailable) or record.gain >= WORTH


def _subject(record: Regions | Unavailable) -> tuple[str, ...]:
    return record.parameters if isinstance(record, Unavailable) else (record.parameter,)


def method(records: Records) -> str | None:
    """Said wherever regions can be grown, whether or not they have been."""
    known = any(isinstance(e, Effect) for e in records[EFFECTS])
    if not known or len(records[OVERVIEW].parameters) < 2:
        return None
    return (
        "Regions split the space by rules on the other parameters so that the uncertainty of an "
        "effect is alike within each (Moosbauer et al. 2021)."
    )


def regions_card(record: Regions | Unavailable, id: str, whole: bool = True) -> Card:
    """The regions and their tree; not `whole`, the sentence alone."""
    if isinstance(record, Unavailable):
        return unavailable(record, id)
    if not whole:
        title = f"Regions of {record.parameter}"
        return Card(id=id, title=title, lead=(record.sentence,), verdict=record.verdict)
    numbers = tuple((k, say.counted(k, "split")) for k in range(record.splits + 1))
    slider = Control("splits", "slider", "Splits", numbers, record.splits)
    return card_of(
        record,
        id,
        f"Regions of {record.parameter}",
        "The space is split by rules on the other parameters so that the surrogate's uncertainty "
        "along this one is alike within each part (Moosbauer et al. 2021). The effect in a region "
        "is exact; the grey line and band are those of the whole space.",
        figure=as_plain(draw_growth(record)),
        csv=as_csv(record.curves),
        controls=(slider,) if record.splits else (),
        tree=_tree(record),
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
        f"{say.tenths(region.share)} of the space, {say.counted(region.trials, 'trial')}, "
        f"±{say.number(region.confidence, 2)}"
    )
