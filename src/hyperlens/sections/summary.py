"""How good the best is, what mattered, what can be trusted, what to do next."""

from hyperlens import words as say
from hyperlens.explain.importance.importance import Importance
from hyperlens.explain.importance.importance_words import absent, where
from hyperlens.explain.next.winner import Winner
from hyperlens.explain.objectives.pareto import ParetoFront
from hyperlens.explain.run.configurations import BEST_VALUE
from hyperlens.explain.run.overview import Overview
from hyperlens.plots.parts.texts import short
from hyperlens.sections.advice import what_next
from hyperlens.sections.cards import meanings
from hyperlens.sections.cards.card import Card, Fact
from hyperlens.sections.explanation import Records, Unavailable
from hyperlens.sections.next.winner import LUCK, caution
from hyperlens.sections.panels import panels
from hyperlens.sections.parameters.effects import EFFECTS
from hyperlens.sections.parameters.importance import QUESTION, leading
from hyperlens.sections.run.objectives import PARETO
from hyperlens.sections.run.overview import OVERVIEW
from hyperlens.sections.surrogates import SURROGATES
from hyperlens.tables import Column, Table, table

PARTS = ()


def cards(records: Records) -> tuple[Card, ...]:
    overview, importance = records[OVERVIEW], leading(records)
    known = isinstance(importance, Importance)
    card = Card(
        id="summary",
        title="Summary",
        lead=(
            overview.counts,
            *aside(records),
            f"{overview.sentence} Its configuration is below.",
            *filter(None, (caution(records),)),
            ("" if known else "What mattered most is not known: ") + importance.sentence,
            *_why(records),
            f"What to do next: {' '.join(what_next(records))}",
        ),
        facts=_facts(records),
        ahead=(*aside(records), *filter(None, (caution(records),))),
        panels=panels(records),
        verdict=importance.verdict if isinstance(importance, Importance) else None,
        table=_configuration(overview),
        notes=_notes(records),
        how=(
            "The best is measured; what mattered and the advice come from surrogates of the run. The "
            "badge says how far what mattered can be believed. Each number is explained on its own "
            "card below.",
        ),
    )
    return (card,)


def _why(records: Records) -> tuple[str, ...]:
    """Why that is the question which is answered first."""
    question, importance = records[QUESTION], leading(records)
    if isinstance(question, Unavailable) or isinstance(importance, Unavailable):
        return ()
    return (question.sentence,) if importance.verdict.known else ()


def _notes(records: Records) -> tuple[str, ...]:
    """What is to be known besides, each once."""
    overview, importance = records[OVERVIEW], leading(records)
    notes = dict.fromkeys((*overview.notes, *importance.notes, *warnings(records)))
    return tuple(note for note in notes if note not in aside(records))


def aside(records: Records) -> tuple[str, ...]:
    """What of the run was set aside, so that every number is about the rest."""
    return tuple(dict.fromkeys((*records[OVERVIEW].aside, *records[SURROGATES].aside)))


def warnings(records: Records) -> tuple[str, ...]:
    """What is to be known of the surrogates, and what is not shown."""
    left = len(records[OVERVIEW].parameters) - len(records[EFFECTS])
    if not left or records.choices.parameter is not None:
        return records[SURROGATES].notes
    unseen = f"Effects of the {left} least important parameters are not shown."
    return (*records[SURROGATES].notes, unseen)


def _facts(records: Records) -> tuple[Fact, ...]:
    overview, importance = records[OVERVIEW], leading(records)
    way = "higher" if overview.maximize else "lower"
    facts = [
        Fact(
            f"best {overview.objective}",
            overview.shown(overview.best),
            f"trial {overview.best_trial}, {way} is better{_within(overview)}{_besides(records)}"
            f"{_instead(records)}",
            meanings.BEST,
        ),
        Fact("trials", str(overview.trials), f"{len(overview.cost)} analysed", meanings.TRIALS),
        *_front(records),
    ]
    if isinstance(importance, Importance):
        name, detail = "not known", "from these trials"
        if importance.verdict.known and (importance.share[:1] > 0).any():
            name = short(say.effect_name(importance.parameters[0]), 32)
            detail = _share(importance)
        facts.append(Fact("matters most", name, detail, meanings.MATTERS))
        detail = "on what mattered"
        facts.append(Fact("verdict", importance.verdict.word, detail, meanings.VERDICT))
    return tuple(facts)


def _front(records: Records) -> list[Fact]:
    """Of several objectives: how many trials are on the front, and its knee."""
    front = records[PARETO]
    if not isinstance(front, ParetoFront):
        return []
    detail = f"of {len(front.compared)} trials; its knee is trial {front.knee}"
    return [Fact("on the front", str(len(front.members)), detail, meanings.FRONT)]


def _besides(records: Records) -> str:
    """What the best trial measured of other objectives."""
    front, overview = records[PARETO], records[OVERVIEW]
    if not isinstance(front, ParetoFront):
        return ""
    costs = front.besides(overview.best_trial, overview.objective)
    return costs and f"; {costs}"


def _within(overview: Overview) -> str:
    """Whether the best keeps the limits, where there are any."""
    if overview.kept is None:
        return ""
    return "; no trial keeps the limits" if overview.useless else "; keeps the limits"


def _instead(records: Records) -> str:
    """The trial that is expected better where the best observed is probably lucky."""
    record = records[LUCK]
    if not isinstance(record, Winner) or not record.doubtful:
        return ""
    return f"; probably lucky, trial {record.recommended} is expected better"


def _share(importance: Importance) -> str:
    """The largest share: of which part of the space, under which condition."""
    first = importance.parameters[0]
    text = f"{say.tenths(float(importance.share[0]))} share {where(importance)}"
    condition = say.effect_when(first, importance.when)
    text += f", when {condition}" if condition else ""
    return text + "; the best trial does not use it" * absent(importance, first)


def _configuration(overview: Overview) -> Table:
    constants = overview.constants
    known = {**overview.best_values, **constants}
    names = (*overview.parameters, *constants)
    values = [say.number(known[name], 6) if name in known else "inactive" for name in names]
    remarks = [
        f"only when {when}" if (when := overview.conditions.get(name)) else ""
        for name in overview.parameters
    ]
    remarks += ["constant"] * len(constants)
    return table(
        Column("parameter", names),
        Column("best value", values, meaning=BEST_VALUE),
        Column("remark", remarks) if any(remarks) else None,
    )
