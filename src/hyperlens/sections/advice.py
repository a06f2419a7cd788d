"""What to do next, as far as the records say so: a few sentences, the most urgent first."""

import math
from collections import Counter

import numpy as np

from hyperlens.explain.confirm.confirm import Confirm
from hyperlens.explain.effects.effect import Effect
from hyperlens.explain.importance.importance import Importance
from hyperlens.explain.models.verdict import Verdict
from hyperlens.explain.next.advise import Advice
from hyperlens.explain.next.forecast import Forecast
from hyperlens.explain.next.winner import Winner
from hyperlens.explain.run.overview import Overview
from hyperlens.explain.run.spending import Spending
from hyperlens.explain.run.trials import Trials
from hyperlens.sections.explanation import Records, Unavailable
from hyperlens.sections.next.advise import ADVICE
from hyperlens.sections.next.confirm import CONFIRM
from hyperlens.sections.next.forecast import FORECAST
from hyperlens.sections.next.winner import LUCK
from hyperlens.sections.parameters.effects import EFFECTS
from hyperlens.sections.parameters.importance import leading, totals
from hyperlens.sections.run.overview import OVERVIEW, SPENDING, TRIALS
from hyperlens.sections.surrogates import SURROGATES, Surrogates
from hyperlens.surrogates.quality import Word
from hyperlens.words import article, counted, first_few, number, percent

OF_WHAT_MATTERED: dict[Word, str] = {
    "trust": "What mattered can be trusted",
    "caution": "Read what mattered with caution",
    "do not trust": "Do not trust what mattered",
}
MOST = 4  # pieces of advice
WORTH = 0.05  # a share of the variance from which on a parameter is worth trying
MANY_FAILED = 0.1
FEW_REPEATS = 10  # of each trial that may be best: more are not worth a choice
MODEL = "model"  # the choice of a search over models
TOO_SLOW = "took longer"  # how the reason of a trial that was ended begins
FEW = 20  # analysed trials, from which no search is said to have ended
HAD_ITS_CHANCE = 5  # trials of a model
STALLED = 0.5  # of the run without an improvement: it has probably converged


def what_next(records: Records) -> tuple[str, ...]:
    """At most MOST sentences; never none. Who is told to run more is not told to stop."""
    overview, trials, spent = records[OVERVIEW], records[TRIALS], records[SPENDING]
    surrogates, importance = records[SURROGATES], leading(records)
    if isinstance(spent, Spending) and spent.choice == MODEL:
        advice = [
            *_failures(trials, MODEL),
            *_models(spent, overview),
            *_space(records[ADVICE], records[FORECAST]),
            _search_on(overview, spent, surrogates, records[FORECAST]),
        ]
        return tuple(advice[:MOST])
    total = totals(importance) if isinstance(importance, Importance) else {}
    effects = [
        e
        for e in records[EFFECTS]
        if isinstance(e, Effect) and e.verdict.known and total.get(e.parameters[0], 0.0) >= WORTH
    ]
    doubts = _doubts(importance, records[CONFIRM])
    ahead = records[FORECAST]
    failed = _failures(
        trials
    )  # where they did, an effect that was not learnt from them has its best
    elsewhere = [*_space(records[ADVICE], ahead), *([] if failed else _try(effects))]
    advice = [
        *_useless(overview),
        *failed,
        *doubts,
        *_repeat(records[LUCK]),
        *elsewhere,
        *([] if doubts else _go_on(overview, ahead, bool(elsewhere))),
    ]
    return tuple(advice[:MOST])


def without_reason(records: Records, advice: str) -> str:
    """Advice without the reason of the verdict on what mattered, where that stands beside it."""
    importance = leading(records)
    if not isinstance(importance, Importance):
        return advice
    return advice.replace(f": {importance.verdict.reason}", "")


def on_what_mattered(verdict: Verdict) -> str:
    """The verdict on importance where nothing else says of what it speaks."""
    return f"{OF_WHAT_MATTERED[verdict.word]}: {verdict.reason}."


def _useless(overview: Overview) -> list[str]:
    """What comes before all else where no trial is of use."""
    if not overview.useless:
        return []
    return [
        f"Find a trial that keeps {overview.bounds}: none does, and trial {overview.best_trial} comes "
        "nearest; search near it, widen the space, or loosen the limit."
    ]


def _failures(record: Trials, choice: str | None = None) -> list[str]:
    """How many trials failed, of which models, and what the most frequent reason asks for."""
    failed = [k for k, state in enumerate(record.state) if state == "failed"]
    if not failed or len(failed) < MANY_FAILED * len(record.state):
        return []
    count = f"{len(failed)} of {counted(len(record.state), 'trial')} failed"
    if choice is not None:
        of_model = record.values[record.parameters.index(choice)]
        each = Counter(str(of_model[k]) for k in failed).most_common(MOST)
        count += f" ({', '.join(f'{model} {times}' for model, times in each)})"
    known = Counter(reason for k in failed if (reason := record.reason[k]))
    if not known:
        return [
            f"{count}: find out why before anything else; the card of failures says where they do."
        ]
    slow = sum(times for reason, times in known.items() if reason.startswith(TOO_SLOW))
    if 2 * slow >= known.total():
        allowed = next(reason for reason, _ in known.most_common() if reason.startswith(TOO_SLOW))
        return [f"{count}, {slow} of them because one {allowed}: allow each more time (--timeout)."]
    reason, times = known.most_common(1)[0]
    return [
        f"{count}, {times} of them because of: {reason.rstrip('.')}. Mend that first; the card of "
        "failures says where they do."
    ]


def _doubts(record: Importance | Unavailable, settling: Confirm | Unavailable) -> list[str]:
    """What would make the verdict on importance better, and the trials that would settle it."""
    if isinstance(record, Unavailable):
        return ["Run more trials: there are too few to explain anything."]
    if record.verdict.word == "trust":
        return []
    remedy = record.verdict.remedy or "run more trials before acting on small effects"
    doubts = f"{remedy[0].upper()}{remedy[1:]}: {record.verdict.reason}."
    if isinstance(settling, Confirm) and settling.settles:
        sooner = "Chosen trials settle it sooner (hyperlens confirm):"
        doubts += (
            f" {'Chosen so,' if 'hyperlens confirm' in remedy else sooner} {settling.sentence}"
        )
    return [doubts]


def _repeat(record: Winner | Unavailable) -> list[str]:
    """Repeats of the trials that may be best, where a few would tell which is."""
    if isinstance(record, Unavailable) or not record.needed or record.needed > FEW_REPEATS:
        return []
    times = "once" if record.needed == 1 else f"{record.needed} times"
    return [
        f"Repeat trials {first_few(list(map(str, record.five)), len(record.five))} {times} each before "
        f"choosing: now the choice is right{record.margin} with {percent(record.chance)}, then with "
        f"{percent(record.sure)}."
    ]


def _models(record: Spending, overview: Overview) -> list[str]:
    """Which models lead, and which had their chance."""
    sign = -1.0 if record.maximize else 1.0
    full = sign * record.best[:, -1]
    order = [m for m in np.argsort(full, kind="stable") if not math.isnan(full[m])]
    if not order or len(record.models) < 2:
        return []
    first, *others = order
    reached = f"{article(record.objective)} of {number(sign * full[first])}"
    advice = f"{record.models[first]} leads, with {reached}"
    if others:
        advice += f", before {record.models[others[0]]} with {number(sign * full[others[0]])}"
    middle = float(np.median(sign * overview.cost))
    tried = record.trials.sum(axis=1)
    poor = [
        str(record.models[m])
        for m in range(len(record.models))
        if m not in order[:2] and tried[m] >= HAD_ITS_CHANCE and not full[m] <= middle
    ]
    if poor and len(overview.cost) >= FEW:
        names = f"{', '.join(poor[:-1])} and {poor[-1]}" if poor[1:] else poor[0]
        advice += (
            f"; leave out {names} next time, of which none in "
            f"{HAD_ITS_CHANCE} or more trials came to the better half"
        )
    return [f"{advice}."]


def _search_on(
    overview: Overview, record: Spending, surrogates: Surrogates, ahead: Forecast | Unavailable
) -> str:
    """A longer search over models, or the end of it, by what is expected of it; without a forecast by
    how long there was no improvement."""
    count, after = len(overview.cost), overview.after_best
    more = "Search on, with more evaluations or more time"
    if count < FEW:
        return f"{more}: {counted(count, 'trial')} at full budget are few to tell models apart."
    if not surrogates.verdicts & {"trust", "caution"}:
        return f"{more}, to know what mattered: no surrogate predicts trials it has not seen."
    best = overview.best_values.get(record.choice or "")
    if isinstance(ahead, Forecast) and ahead.stop:
        return f"{_little(ahead)} Search {best} alone, or stop."
    if after < STALLED * count:
        return (
            f"{more}: its best came with {counted(after, 'trial')} to go, so it may still improve."
        )
    return (
        f"More of the same will bring little: the last {after} of {counted(count, 'trial')} brought no "
        f"improvement. Search {best} alone, or stop."
    )


def _little(ahead: Forecast) -> str:
    """That more of the same is not worth it."""
    gain, error = (ahead.said(x) for x in (float(ahead.gain[0, ahead.ahead]), ahead.error))
    return (
        f"More of the same will bring little: {int(ahead.more[ahead.ahead])} more trials are expected "
        f"to gain {gain}, less than the standard error of one {ahead.objective}, {error}."
    )


def _space(record: Advice | Unavailable, ahead: Forecast | Unavailable) -> list[str]:
    """The space to search next. Where more trials would gain too little, only one that is wider: what
    they would gain was forecast for the old one."""
    if not isinstance(record, Advice) or not record.parameters or not record.verdict.known:
        return []
    if isinstance(ahead, Forecast) and ahead.stop and "widen" not in record.actions:
        return []
    return [record.sentence]


def _try(effects: list[Effect]) -> list[str]:
    """Important parameters that are expected to be best where no trial was; not one that the best
    trial leaves inactive, whose best is the best of a worse part of the space."""
    for e in effects:
        if e.best_values is None:
            continue
        best = e.best_at
        if e.support[best] == 0:
            value = number(e.values[0][best], 3)
            return [
                f"Try {e.parameters[0]} {'near' if e.numeric[0] else '='} {value}: the surrogate "
                "expects the best there, and no trial has tested it."
            ]
    return []


def _go_on(record: Overview, ahead: Forecast | Unavailable, elsewhere: bool) -> list[str]:
    """More of the same, or an end, by what is expected of it; without a forecast by how long there was
    no improvement. Neither where the search is sent elsewhere and is to end."""
    count, after = len(record.cost), record.after_best
    if isinstance(ahead, Forecast) and ahead.verdict.known and ahead.error > 0 and not ahead.stop:
        return [f"Go on: {ahead.sentence[0].lower()}{ahead.sentence[1:]}"]
    if isinstance(ahead, Forecast) and ahead.stop and elsewhere:
        return []
    if isinstance(ahead, Forecast) and ahead.stop:
        others = " and ".join(record.others)
        then = f"Look at {others} too (--objective)" if others else "Change the method"
        return [f"{_little(ahead)} {then}, or stop."]
    if after < STALLED * count:
        when = f"with {counted(after, 'trial')} to go" if after else "in the last trial"
        return [
            f"Go on with this search: its best came {when}, so more trials may still improve it."
        ]
    if count < FEW:
        return [
            f"Go on with this search: {counted(count, 'trial')} are too few to say that it has ended."
        ]
    if elsewhere:
        return []
    if record.others:
        return [
            f"The last {after} of {counted(count, 'trial')} brought no better {record.objective}; look "
            f"at {' and '.join(record.others)} too (--objective) before stopping."
        ]
    return [
        f"More of the same will bring little: the last {after} of {counted(count, 'trial')} brought "
        "no improvement. Change the space or the method, or stop."
    ]
