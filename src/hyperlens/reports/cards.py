"""An analysis as cards: what a reader meets, in order, each with a sentence before its picture."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from hyperlens.explain.bias import Bias
from hyperlens.explain.effects import Effect
from hyperlens.explain.fanova import Importance
from hyperlens.explain.interaction import Interactions
from hyperlens.explain.overview import Overview
from hyperlens.explain.regions import Regions
from hyperlens.plots import draw
from hyperlens.plots.regions import drawn, highlighted
from hyperlens.plots.style import short
from hyperlens.record import Record
from hyperlens.reports import sentences as say
from hyperlens.reports.analysis import Analysis, Unavailable
from hyperlens.surrogates.quality import Quality

SUMMARY, TRACE, IMPORTANCE = "Summary", "Optimisation trace", "Importance"
EFFECTS, REGIONS, PAIRS = "Effects", "Regions", "Pair effects"
SEARCH, METHOD = "Search", "Method"
MOST_ROWS = 1000  # of a table of effects
WORST_FIRST = ("do not trust", "caution", "trust")


@dataclass(frozen=True)
class Fact:
    """A headline number and what it is."""

    label: str
    value: str
    detail: str = ""


@dataclass(frozen=True)
class Table:
    """Texts in rows; `numeric[k]` says that column k holds numbers, to be aligned as such."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]


@dataclass(frozen=True)
class Choice:
    """Which region of a figure is highlighted: ids (of `meta` in its traces) and their rules."""

    label: str
    options: tuple[tuple[int, str], ...]
    chosen: int


@dataclass(frozen=True)
class Card:
    """One thing to know. All texts are plain: whoever shows a card escapes them.

    `figure` is Plotly's JSON. `problem` says why the card has nothing to show. `qualities` are
    those of the surrogates on which the card rests.
    """

    id: str
    section: str
    title: str
    lead: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    figure: dict[str, Any] | None = None
    choice: Choice | None = None
    table: Table | None = None
    problem: str | None = None
    qualities: tuple[Quality, ...] = ()
    notes: tuple[str, ...] = ()


def cards(analysis: Analysis) -> tuple[Card, ...]:
    """All cards of a report. A result that is unavailable is a card that says why."""
    return (
        _summary(analysis),
        _trace(analysis.overview),
        _importance(analysis.importance),
        _interactions(analysis.interactions),
        *(_effect(e, f"effect-{k}", EFFECTS) for k, e in enumerate(analysis.effects, 1)),
        *(_regions(r, f"regions-{k}") for k, r in enumerate(analysis.regions, 1)),
        *(_effect(e, f"pair-{k}", PAIRS) for k, e in enumerate(analysis.pairs, 1)),
        _bias(analysis.bias),
        _method(analysis),
    )


def _summary(analysis: Analysis) -> Card:
    overview, importance = analysis.overview, analysis.importance
    mattered = (
        f"What mattered most is not known: {importance.why}"
        if isinstance(importance, Unavailable)
        else say.what_mattered(importance)
    )
    remarks = () if isinstance(importance, Unavailable) else importance.notes
    return Card(
        id="summary",
        section=SUMMARY,
        title=SUMMARY,
        lead=(
            say.how_it_ran(overview),
            f"{say.how_good(overview)} Its configuration is below.",
            mattered,
        ),
        facts=_facts(analysis),
        qualities=analysis.qualities,
        table=_configuration(overview),
        notes=tuple(dict.fromkeys((*overview.notes, *remarks, *analysis.warnings))),
    )


def _facts(analysis: Analysis) -> tuple[Fact, ...]:
    overview, importance = analysis.overview, analysis.importance
    facts = [
        Fact(
            f"best {overview.objective}",
            say.number(overview.best),
            f"trial {overview.best_trial}, {'higher' if overview.maximize else 'lower'} is better",
        ),
        Fact("trials", str(overview.trials), f"{len(overview.cost)} analysed"),
    ]
    if isinstance(importance, Importance) and (importance.share[:1] > 0).any():
        name = short(say.effect_name(importance.parameters[0]), 32)
        facts.append(Fact("matters most", name, f"{say.percent(float(importance.share[0]))} share"))
    if analysis.qualities:
        worst = min((q.verdict for q in analysis.qualities), key=WORST_FIRST.index)
        facts.append(Fact("surrogates", worst, "cross-validated"))
    return tuple(facts)


def _configuration(overview: Overview) -> Table:
    rows = []
    for name in overview.parameters:
        active = name in overview.best_values
        value = say.number(overview.best_values[name], 6) if active else "inactive"
        condition = overview.conditions.get(name)
        rows.append((name, value, f"only when {condition}" if condition else ""))
    rows += [(name, say.number(v, 6), "constant") for name, v in overview.constants.items()]
    if any(remark for *_, remark in rows):
        return Table(("parameter", "best value", "remark"), tuple(rows), (False, False, False))
    return Table(("parameter", "best value"), tuple(row[:2] for row in rows), (False, False))


def _trace(overview: Overview) -> Card:
    return Card(
        id="trace",
        section=TRACE,
        title=TRACE,
        lead=(say.how_it_improved(overview),),
        figure=_figure(overview),
    )


def _importance(record: Importance | Unavailable) -> Card:
    if isinstance(record, Unavailable):
        return _unavailable(record, "importance", IMPORTANCE)
    columns = ["effect", "share", f"spread over {record.spread_of}"]
    if record.interval is not None:
        columns += [f"{say.percent(record.interval)} interval", "rank"]
    if record.witness_name is not None:
        columns.append(record.witness_name)
    rows = []
    for k, parameters in enumerate(record.parameters[:MOST_ROWS]):
        row = [say.effect_name(parameters), _share(record.share[k]), f"± {_share(record.std[k])}"]
        if record.interval is not None:
            row.append(f"{_share(record.low[k])} to {_share(record.high[k])}")
            row.append(say.rank(record.rank_low[k], record.rank_high[k]))
        if record.witness_name is not None:
            row.append(_share(record.witness[k]))
        rows.append(tuple(row))
    numeric = [False] + [True] * (len(columns) - 1)
    return Card(
        id="importance",
        section=IMPORTANCE,
        title=IMPORTANCE,
        lead=(say.what_mattered(record), say.what_a_share_is(record)),
        figure=_figure(record),
        table=Table(tuple(columns), tuple(rows), tuple(numeric)),
        qualities=(record.quality,),
        notes=record.notes,
    )


def _effect(record: Effect | Unavailable, id: str, section: str) -> Card:
    if isinstance(record, Unavailable):
        return _unavailable(record, id, section)
    return Card(
        id=id,
        section=section,
        title=say.effect_name(record.parameters),
        lead=(say.how_it_acts(record), *_limits(record)),
        figure=_figure(record),
        qualities=(record.quality,),
        notes=record.notes,
    )


def _limits(record: Effect) -> tuple[str, ...]:
    return (say.what_may_be_read(record),) if len(record.parameters) == 1 else ()


def _interactions(record: Interactions | Unavailable) -> Card:
    title = "Interactions"
    if isinstance(record, Unavailable):
        return Card(id="interactions", section=IMPORTANCE, title=title, problem=record.why)
    columns = ["pair", "H", "share of the variance"]
    if record.interval is not None:
        columns.insert(2, f"{say.percent(record.interval)} interval of H")
    rows = []
    for k, pair in enumerate(record.pairs[:MOST_ROWS]):
        row = [say.effect_name(pair), _two(record.h[k]), _share(record.share[k])]
        if record.interval is not None:
            row.insert(2, f"{_two(record.low[k])} to {_two(record.high[k])}")
        rows.append(tuple(row))
    return Card(
        id="interactions",
        section=IMPORTANCE,
        title=title,
        lead=(say.what_acts_together(record),),
        figure=_figure(record),
        table=Table(tuple(columns), tuple(rows), (False, *[True] * (len(columns) - 1))),
        qualities=(record.quality,),
        notes=record.notes,
    )


def _regions(record: Regions | Unavailable, id: str) -> Card:
    if isinstance(record, Unavailable):
        return _unavailable(record, id, REGIONS)
    columns = ("rule", "share of the space", "trials", "mean std", "best trial")
    shown = record.tree[:1] if len(record.tree) == 1 else (record.tree[0], *record.leaves)
    rows = tuple(
        (
            r.rule,
            _share(r.share),
            str(r.trials),
            f"±{say.number(r.confidence, 2)}",
            "here" if r.holds_incumbent else "",
        )
        for r in shown[:MOST_ROWS]
    )
    leaves = drawn(record)
    choice = Choice("Highlight", tuple((r.id, r.rule) for r in leaves), highlighted(record).id)
    return Card(
        id=id,
        section=REGIONS,
        title=f"Regions of {record.parameter}",
        lead=(say.where_it_is_sure(record), say.what_a_region_is(record)),
        figure=_figure(record),
        choice=choice if len(leaves) > 1 else None,
        table=Table(columns, rows, (False, True, True, True, False)),
        qualities=(record.quality,),
        notes=record.notes,
    )


def _bias(record: Bias | Unavailable) -> Card:
    title = "Where the search looked"
    if isinstance(record, Unavailable):
        return Card(id="bias", section=SEARCH, title=title, problem=record.why)
    rows = tuple(
        (name, _two(mmd), f"{p:.3f}")
        for name, mmd, p in zip(
            record.parameters, record.parameter_mmd, record.parameter_p, strict=True
        )
    )
    *notes, sentence = record.notes
    return Card(
        id="bias",
        section=SEARCH,
        title=title,
        lead=(sentence, say.where_it_looked(record)),
        figure=_figure(record),
        table=Table(("parameter", "MMD", "p"), rows[:MOST_ROWS], (False, True, True)),
        notes=tuple(notes),
    )


def _unavailable(record: Unavailable, id: str, section: str) -> Card:
    return Card(id=id, section=section, title=record.what, problem=record.why)


def _method(analysis: Analysis) -> Card:
    return Card(
        id="method",
        section=METHOD,
        title=METHOD,
        lead=say.how_it_was_done(analysis),
        table=_qualities(analysis.qualities) if analysis.qualities else None,
        notes=(f"Computed with Hyperlens {analysis.version}, seed {analysis.seed}.",),
    )


def _qualities(qualities: tuple[Quality, ...]) -> Table:
    return Table(
        ("surrogate", "verdict", "R²", "rank correlation", "coverage", "trials", "folds"),
        tuple(
            (
                q.surrogate,
                q.verdict,
                say.number(float(q.r2), 2),
                say.number(float(q.rank_correlation), 2),
                _share(q.coverage),
                str(q.trials),
                str(q.folds),
            )
            for q in qualities
        ),
        (False, False, True, True, True, True, True),
    )


def _share(share: float) -> str:
    return f"{100 * share:.1f}{say.FIXED}%" if math.isfinite(share) else "–"


def _two(x: float) -> str:
    return f"{x:.2f}" if math.isfinite(x) else "–"


def _figure(record: Record) -> dict[str, Any]:
    """The record's figure as plain JSON values, what is not finite as None."""
    figure: dict[str, Any] = json.loads(draw(record).to_json())
    return figure
