"""`hyperlens why`, `path`, `ablation`, `local`: reasons of proposals, and what lies around the best."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperlens.commands.choosing import NOTHING, Chosen, choosing
from hyperlens.commands.options import (
    Cap,
    Cost,
    Direction,
    Format,
    Seed,
    Shown,
    Source,
    SpaceFile,
    Study,
    Surrogate,
)
from hyperlens.commands.shared import objective_of, print_record, read

if TYPE_CHECKING:
    from hyperlens.runs.history import History


class Method(StrEnum):
    """How contributions are computed."""

    auto = "auto"
    exact = "exact"
    paired = "paired"
    sampled = "sampled"


class Background(StrEnum):
    """What a proposal is compared with."""

    everywhere = "global"
    local = "local"
    hybrid = "hybrid"


class Baseline(StrEnum):
    """One configuration to compare with instead."""

    default = "default"
    best = "best"


class Acquisition(StrEnum):
    """What is explained beside mean and uncertainty."""

    lcb = "lcb"
    ei = "ei"


class Walk(StrEnum):
    """From which end an ablation walks."""

    forward = "forward"
    backward = "backward"


Tau = Annotated[
    float | None,
    typer.Option(min=0.0, help="Weight of the uncertainty; else the recorded one, or 1."),
]
How = Annotated[Method, typer.Option(help="Exact, or sampled with intervals.")]
Samples = Annotated[int | None, typer.Option(min=2, help="Orders to draw, where sampled.")]
Against = Annotated[Background, typer.Option(help="What a proposal is compared with.")]
One = Annotated[Baseline | None, typer.Option(help="Compare with one configuration instead.")]
Score = Annotated[Acquisition | None, typer.Option(help="What is explained; else as recorded.")]
Learner = Annotated[Surrogate | None, typer.Option(help="Surrogate to fit; else the recorded one.")]
Level = Annotated[float, typer.Option(min=0.01, max=0.999, help="Level of the intervals.")]
At = Annotated[str, typer.Option(help="'best', 'default' or a trial's number.")]
Model = Annotated[Surrogate, typer.Option(help="What to explain.")]


def _which(text: str) -> Any:
    """A configuration as the command line names it."""
    return int(text) if text.isascii() and text.isdigit() else text


def _of_the_run(history: History, objective: str | None) -> list[str]:
    """Warnings that do not tell which trials are analysed: a proposal's own notes say from which of
    those before it the surrogate had learned."""
    return replace(history, trials=()).warnings(objective)


@choosing
def why(
    source: Source,
    trial: Annotated[str, typer.Option(help="A trial's number, or 'best'.")] = "best",
    study: Study = None,
    space: SpaceFile = None,
    cost: Cost = None,
    maximize: Direction = None,
    tau: Tau = None,
    method: How = Method.auto,
    samples: Samples = None,
    background: Against = Background.everywhere,
    baseline: One = None,
    acquisition: Score = None,
    surrogate: Learner = None,
    check: Annotated[
        bool, typer.Option("--check", help="Find how many samples suffice (sampled only).")
    ] = False,
    level: Level = 0.95,
    seed: Seed = 0,
    shown: Shown = Format.table,
    chosen: Chosen = NOTHING,
) -> None:
    """Why a trial was proposed: to exploit or to explore, parameter by parameter (Shapley values)."""
    from hyperlens import terminal
    from hyperlens.explain.proposals.sample_size import check_sample_size
    from hyperlens.explain.proposals.why import why as compute

    history = read(source, study, space, cost, maximize, chosen)
    objective = objective_of(history, cost)
    options: dict[str, Any] = {
        "tau": tau,
        "background": background.value,
        "baseline": None if baseline is None else baseline.value,
        "acquisition": None if acquisition is None else acquisition.value,
        "surrogate": None if surrogate is None else surrogate.value,
        "level": level,
        "seed": seed,
        "objective": objective,
    }
    with terminal.progress() as step:
        step("why", 0.0)
        if check:
            print_record(check_sample_size(history, _which(trial), **options), shown, [])
            return
        record = compute(history, _which(trial), method=method.value, samples=samples, **options)
    print_record(record, shown, _of_the_run(history, objective))


@choosing
def path(
    source: Source,
    study: Study = None,
    space: SpaceFile = None,
    cost: Cost = None,
    maximize: Direction = None,
    tau: Tau = None,
    method: How = Method.auto,
    samples: Samples = None,
    background: Against = Background.everywhere,
    baseline: One = None,
    surrogate: Learner = None,
    initial: Annotated[
        int | None, typer.Option(min=1, help="Trials of the initial design, if not recorded.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Threads; else all cores.")] = None,
    level: Level = 0.95,
    seed: Seed = 0,
    shown: Shown = Format.table,
    chosen: Chosen = NOTHING,
) -> None:
    """How the reasons changed over the run: every proposal explained."""
    from hyperlens import terminal
    from hyperlens.explain.proposals.path import path as compute

    history = read(source, study, space, cost, maximize, chosen)
    objective = objective_of(history, cost)
    with terminal.progress() as step:
        record = compute(
            history,
            tau,
            method=method.value,
            samples=samples,
            background=background.value,
            baseline=None if baseline is None else baseline.value,
            surrogate=None if surrogate is None else surrogate.value,
            initial=initial,
            workers=workers,
            level=level,
            seed=seed,
            objective=objective,
            progress=lambda done, all: step(f"proposal {done} of {all}", done / all),
        )
    print_record(record, shown, _of_the_run(history, objective))


@choosing
def ablation(
    source: Source,
    study: Study = None,
    space: SpaceFile = None,
    cost: Cost = None,
    maximize: Direction = None,
    start: Annotated[str, typer.Option("--from", help="'default', 'best' or a trial.")] = "default",
    target: Annotated[str, typer.Option("--to", help="'best', 'default' or a trial.")] = "best",
    method: Annotated[Walk, typer.Option(help="From which end to walk.")] = Walk.forward,
    surrogate: Model = Surrogate.gp,
    cap: Cap = None,
    seed: Seed = 0,
    shown: Shown = Format.table,
    chosen: Chosen = NOTHING,
) -> None:
    """Which changes made the difference between two configurations."""
    from hyperlens.explain.importance.ablation import ablation as compute

    history = read(source, study, space, cost, maximize, chosen)
    objective = objective_of(history, cost)
    record = compute(
        history,
        _which(start),
        _which(target),
        method=method.value,
        surrogate=surrogate.value,
        cap=cap,
        seed=seed,
        objective=objective,
    )
    print_record(record, shown, history.warnings(objective))


@choosing
def local(
    source: Source,
    study: Study = None,
    space: SpaceFile = None,
    cost: Cost = None,
    maximize: Direction = None,
    at: At = "best",
    surrogate: Model = Surrogate.gp,
    cap: Cap = None,
    seed: Seed = 0,
    shown: Shown = Format.table,
    chosen: Chosen = NOTHING,
) -> None:
    """Which parameters matter around one configuration."""
    from hyperlens.explain.importance.local_importance import local_importance as compute

    history = read(source, study, space, cost, maximize, chosen)
    objective = objective_of(history, cost)
    record = compute(
        history, _which(at), surrogate=surrogate.value, cap=cap, seed=seed, objective=objective
    )
    print_record(record, shown, history.warnings(objective))
