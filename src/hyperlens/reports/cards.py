"""An analysis as cards: what a reader meets, in order, each with a sentence before its picture."""

from __future__ import annotations

from hyperlens import words as say
from hyperlens.explain.importance.importance import Importance
from hyperlens.explain.run.overview import Overview
from hyperlens.plots.parts.style import short
from hyperlens.reports import meanings
from hyperlens.reports.advice import what_next
from hyperlens.reports.analysis import Analysis, Unavailable
from hyperlens.reports.best_cards import ablation_card, local_card
from hyperlens.reports.card import METHOD, SUMMARY, Card, Fact, Table
from hyperlens.reports.effect_cards import effect_cards
from hyperlens.reports.figures import share
from hyperlens.reports.importance_cards import (
    heatmap_card,
    importance_card,
    interactions_card,
    marginals_card,
)
from hyperlens.reports.method import how_it_was_done
from hyperlens.reports.overview_cards import (
    endings_card,
    footprint_card,
    parallel_card,
    spending_card,
    timeline_card,
    trace_card,
)
from hyperlens.reports.proposal_cards import path_cards, unrecorded_card
from hyperlens.reports.search_cards import beside_card, bias_card, data_card
from hyperlens.surrogates.quality import Quality

WORST_FIRST = ("do not trust", "caution", "trust")


def cards(analysis: Analysis) -> tuple[Card, ...]:
    """All cards of a report. A result that is unavailable is a card that says why."""
    spent = spending_card(analysis.spending)
    budgets = spent if spent is not None and spent.section != "Search" else None
    models = spent if spent is not None and spent.section == "Search" else None
    found = (
        summary_card(analysis),
        trace_card(analysis.overview),
        timeline_card(analysis.timeline),
        endings_card(analysis.trials),
        budgets,
        parallel_card(analysis.trials),
        footprint_card(analysis.footprint),
        importance_card(analysis.importance),
        heatmap_card(analysis.importance),
        marginals_card(analysis.effects),
        interactions_card(analysis.interactions),
        ablation_card(analysis.ablation),
        local_card(analysis.local),
        *effect_cards(analysis.effects, analysis.regions, analysis.pairs),
        *(
            (unrecorded_card(analysis.trials),)
            if analysis.proposals is None
            else path_cards(analysis.proposals)
        ),
        bias_card(analysis.bias),
        models,
        None if analysis.beside is None else beside_card(analysis.beside),
        data_card(analysis.trials),
        method_card(analysis),
    )
    return tuple(card for card in found if card is not None)


def summary_card(analysis: Analysis) -> Card:
    """How good the best is, what mattered, what can be trusted, what to do next."""
    overview, importance = analysis.overview, analysis.importance
    mattered = (
        f"What mattered most is not known: {importance.why}"
        if isinstance(importance, Unavailable)
        else importance.sentence
    )
    remarks = () if isinstance(importance, Unavailable) else importance.notes
    return Card(
        id="summary",
        section=SUMMARY,
        title=SUMMARY,
        lead=(
            overview.counts,
            f"{overview.sentence} Its configuration is below.",
            mattered,
            f"What to do next: {' '.join(what_next(analysis))}",
        ),
        facts=_facts(analysis),
        qualities=analysis.qualities,
        table=_configuration(overview),
        notes=tuple(dict.fromkeys((*overview.notes, *remarks, *analysis.warnings))),
        how=(
            "The best is measured; what mattered and the advice come from surrogates of the run, "
            "of which the badges above say how well they predict trials they have not seen. Each number "
            "is explained on its own card below.",
        ),
    )


def _facts(analysis: Analysis) -> tuple[Fact, ...]:
    overview, importance = analysis.overview, analysis.importance
    facts = [
        Fact(
            f"best {overview.objective}",
            say.number(overview.best),
            f"trial {overview.best_trial}, {'higher' if overview.maximize else 'lower'} is better",
            meanings.BEST,
        ),
        Fact("trials", str(overview.trials), f"{len(overview.cost)} analysed", meanings.TRIALS),
    ]
    if isinstance(importance, Importance) and (importance.share[:1] > 0).any():
        name = short(say.effect_name(importance.parameters[0]), 32)
        detail = f"{say.percent(float(importance.share[0]))} share"
        if importance.quality.verdict == "do not trust":
            name, detail = "not known", "the surrogate is not to be trusted"
        facts.append(Fact("matters most", name, detail, meanings.MATTERS))
    if analysis.qualities:
        leading = max(analysis.qualities, key=lambda q: (WORST_FIRST.index(q.verdict), q.r2))
        if isinstance(importance, Importance):
            leading = importance.quality
        detail = f"the {leading.surrogate} leads"
        facts.append(Fact("surrogate", leading.verdict, detail, meanings.LEADING))
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
        return Table(
            ("parameter", "best value", "remark"),
            tuple(rows),
            (False, False, False),
            ("", meanings.BEST_VALUE, ""),
        )
    return Table(
        ("parameter", "best value"),
        tuple(row[:2] for row in rows),
        (False, False),
        ("", meanings.BEST_VALUE),
    )


def method_card(analysis: Analysis) -> Card:
    return Card(
        id="method",
        section=METHOD,
        title=METHOD,
        lead=how_it_was_done(analysis),
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
                share(q.coverage),
                str(q.trials),
                str(q.folds),
            )
            for q in qualities
        ),
        (False, False, True, True, True, True, True),
        (
            "",
            meanings.SURROGATES,
            meanings.R2,
            meanings.RANK_CORRELATION,
            meanings.COVERAGE,
            meanings.TRIALS,
            meanings.FOLDS,
        ),
    )
