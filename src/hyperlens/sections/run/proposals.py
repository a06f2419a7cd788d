"""Why trials were proposed: trial by trial, and how the reasons changed on the way."""

import numpy as np

from hyperlens import words as say
from hyperlens.explain.proposals.path import ProposalPath, path
from hyperlens.explain.proposals.why import Why, why
from hyperlens.explain.run.trials import Trials
from hyperlens.plots.proposals.path import (
    draw_configurations,
    draw_parallel,
    draw_payouts,
    draw_predictions,
)
from hyperlens.plots.proposals.reasons_by_trial import draw_reasons
from hyperlens.proposal import INITIAL
from hyperlens.sections.cards import meanings
from hyperlens.sections.cards.card import Card, Control, Fact
from hyperlens.sections.cards.figures import as_plain, card_of, figure_of, unavailable
from hyperlens.sections.explainable import explainable
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt
from hyperlens.sections.run.overview import TRIALS

TITLE = "Why trials were proposed"
HOW = (
    "Each proposal is explained by the surrogate that proposed it where the run recorded it, else "
    "by one fitted to the trials before it (Croppi 2021). Contributions are Shapley values of the "
    "predicted mean, of its uncertainty, and of the bound that combines them."
)
IMPROVEMENT = (
    "A proposal that maximised the expected improvement is judged by that, its score: the expected gain "
    "over the best prediction so far, where a worse result counts as 0. Larger is better."
)
TURNS = (
    "Unless told otherwise, the optimiser takes turns: one proposal maximises the expected improvement, "
    "to explore, the next optimises a bound with tau 0.1, to exploit. With each proposal's own tau the "
    "bound would jump every second trial, so one tau is used for all; hl.path(history, tau=0.1) and "
    "hyperlens path --tau choose another."
)
MOST_PROPOSALS = 60  # explained, evenly over the run
DRAWN = {"random", "hyperband", "halving", "asha", "RandomSampler", "GridSampler", "QMCSampler"}


def _path(e: Explanation) -> ProposalPath | Unavailable | None:
    """Of recorded proposals, or of all where it is asked for; of many, some."""
    numbers, recorded = explainable(e.history)
    if not recorded and not e.choices.proposals:
        return None
    if len(numbers) > MOST_PROPOSALS:
        places = np.linspace(0, len(numbers) - 1, MOST_PROPOSALS).round().astype(int)
        numbers = tuple(numbers[k] for k in places)
    return attempt(
        "why trials were proposed", lambda: path(e.history, trials=list(numbers), **e.how)
    )


def _why(e: Explanation) -> Why | Unavailable | None:
    trial = e.choices.trial
    if trial is None:
        return None
    e.step(f"why trial {trial} was proposed")
    return attempt("why this trial was proposed", lambda: why(e.history, trial, **e.how))


WHY = Part("why", _why, by=("trial",))
PATH = Part("path", _path, "how the reasons for proposals changed", 2.0, by=("proposals",))
PARTS = (WHY, PATH)


def cards(records: Records) -> tuple[Card | None, ...]:
    one, every = records[WHY], records[PATH]
    return (
        None if one is None else why_card(one),
        *(
            (unrecorded_card(records[TRIALS]),)
            if every is None
            else path_cards(every, records[TRIALS])
        ),
    )


def unrecorded_card(record: Trials) -> Card | None:
    """How to see reasons where no surrogate is recorded; None where there are too few trials, or
    where all were drawn and none was proposed."""
    if len(record.state) <= INITIAL * len(record.parameters):
        return None
    if set(record.proposer) <= DRAWN:
        return None
    return Card(
        id="reasons",
        title=TITLE,
        lead=(
            "This run does not record what proposed its trials. A surrogate fitted to the trials before "
            "each can stand in: for the trial chosen on the live page (hyperlens serve), for all with "
            "hyperlens explain SOURCE --proposals or hl.report(history, path, proposals=True).",
        ),
    )


def path_cards(record: ProposalPath | Unavailable, trials: Trials) -> tuple[Card, ...]:
    """The reasons of every proposal, and views of how they changed."""
    if isinstance(record, Unavailable):
        return (unavailable(record, "reasons", TITLE),)
    return (
        _reasons(record, trials),
        _desirability(record),
        _payouts(record),
        _predictions(record),
        _configurations(record),
        _lines(record),
    )


def _reasons(record: ProposalPath, trials: Trials) -> Card:
    last = len(record.trial) - 1
    ended = dict(zip(trials.number.tolist(), trials.state, strict=True))
    measured = zip(record.trial.tolist(), record.measured.tolist(), strict=True)
    numbers = tuple(
        (k, f"trial {number} · {say.number(cost, unknown='–')} · {ended[number]}")
        for k, (number, cost) in enumerate(measured)
    )
    return Card(
        id="reasons",
        title=TITLE,
        lead=(record.sentence,),
        figure=as_plain(draw_reasons(record, last)),
        csv=record.to_csv(),
        controls=(Control("trial", "slider", "Trial", numbers, last),) if last else (),
        captions=tuple(
            ({"trial": (k,)}, text) for k, texts in enumerate(record.captions) for text in texts
        ),
        notes=record.notes,
        how=_how(record),
    )


def _desirability(record: ProposalPath) -> Card:
    return Card(
        id="desirability",
        title="Desirability paths",
        lead=(record.weight_sentence,),
        figure=figure_of(record),
        csv=record.to_csv(),
        how=(
            "What each parameter's value contributed to the bound, proposal by proposal.",
            *_how(record),
        ),
    )


def _payouts(record: ProposalPath) -> Card:
    return Card(
        id="payouts",
        title="Payouts",
        lead=(
            "How much better than an average configuration each proposal looked to the search, "
            "and by which part: a better expected result, or more to be learned.",
        ),
        figure=as_plain(draw_payouts(record)),
        csv=str(record.predictions.to_csv(index=False)),
        how=(meanings.PAYOUT, *_how(record)[1:]),
    )


def _predictions(record: ProposalPath) -> Card:
    return Card(
        id="predictions",
        title="Predicted and measured",
        lead=(record.expectation_sentence,),
        figure=as_plain(draw_predictions(record)),
        csv=str(record.predictions.to_csv(index=False)),
        how=(
            "The surrogate's expectation before each proposal was tried, and its result.",
            *_how(record)[1:],
        ),
    )


def _configurations(record: ProposalPath) -> Card:
    return Card(
        id="configurations",
        title="What was proposed",
        lead=(
            "Where on its axis each parameter was, proposal by proposal: even colour to the right "
            "says that the search has settled.",
        ),
        figure=as_plain(draw_configurations(record)),
        csv=record.to_csv(),
        how=("The place of each value between its bounds, on the scale it is searched on.",),
    )


def _lines(record: ProposalPath) -> Card:
    return Card(
        id="proposal-lines",
        title="Parallel coordinates of proposals",
        lead=(
            "Each line is a configuration, coloured by when it was proposed: where late lines run "
            "together the search has made up its mind.",
        ),
        figure=as_plain(draw_parallel(record)),
        csv=record.to_csv(),
        how=(
            "Every parameter has a row with its own scale, as it was searched, those that weighed "
            "most in the search's choices on top. The initial design is grey, proposals are "
            "divided into thirds by their number.",
        ),
    )


def why_card(record: Why | Unavailable) -> Card:
    """One proposal with everything that is known of its reasons."""
    if isinstance(record, Unavailable):
        return unavailable(record, "why", "Why this trial was proposed")
    return card_of(
        record,
        "why",
        f"Why trial {record.trial} was proposed",
        HOW,
        record.basis,
        lead=(record.sentence, *record.sentences[:3]),
        facts=_facts(record),
    )


def _facts(record: Why) -> tuple[Fact, ...]:
    mean, std = record.actual["mean"], record.actual["uncertainty"]
    measured = "–" if record.measured is None else say.number(record.measured)
    judged = "bound" if record.score is None else "score"
    payout = say.number(record.payout[judged], 3)
    return (
        Fact("predicted", say.number(mean), "before it was tried", meanings.PREDICTED),
        Fact("measured", measured, "when it was tried", meanings.COST),
        Fact("uncertainty", say.number(std, 3), "of the prediction", meanings.UNCERTAIN),
        Fact("payout", payout, f"of the {judged}", meanings.PAYOUT),
    )


def _how(record: ProposalPath) -> tuple[str, ...]:
    """How the reasons were found, what tau is, and what the search itself went by."""
    sign = "plus" if record.maximize else "minus"
    bound = (
        f"The bound is the mean {sign} tau times the uncertainty; tau, here {record.tau[0]:g}, says "
        "what uncertainty is worth."
    )
    improving = (IMPROVEMENT,) if "ei" in record.proposed_by else ()
    turns = (TURNS,) if {"ei", "lcb"} <= set(record.proposed_by) else ()
    return (HOW, bound, *improving, *turns)
