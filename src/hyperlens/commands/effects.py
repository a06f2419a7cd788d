"""`hyperlens effect`, `regions`, `interactions`, `bias`: how parameters act, and where one knows."""

from __future__ import annotations

from typing import Annotated

import typer

from hyperlens.commands.choosing import NOTHING, Chosen, choosing
from hyperlens.commands.options import (
    Band,
    Cap,
    Cost,
    Criterion,
    Curve,
    Direction,
    Format,
    Leader,
    Level,
    Seed,
    Shown,
    Source,
    SpaceFile,
    Study,
    Surrogate,
)
from hyperlens.commands.shared import objective_of, print_record, read


@choosing
def effect(
    source: Source,
    parameters: Annotated[
        list[str], typer.Argument(help="One parameter, or two.", show_default=False)
    ],
    study: Study = None,
    space: SpaceFile = None,
    cost: Cost = None,
    maximize: Direction = None,
    surrogate: Annotated[Surrogate, typer.Option(help="What to explain.")] = Surrogate.gp,
    band: Annotated[
        Band, typer.Option(help="Pointwise: of a single prediction. Joint: of the average.")
    ] = Band.pointwise,
    level: Annotated[float, typer.Option(min=0.01, max=0.999, help="Level of the band.")] = 0.95,
    grid: Annotated[int, typer.Option(min=2, max=500, help="Points per parameter.")] = 20,
    exact: Annotated[
        bool, typer.Option("--exact", help="A big forest's band exactly, however long it takes.")
    ] = False,
    cap: Cap = None,
    seed: Seed = 0,
    shown: Shown = Format.table,
    chosen: Chosen = NOTHING,
) -> None:
    """How the cost depends on one or two parameters, with a confidence band."""
    from hyperlens.explain.effects.effect import effect as compute

    history = read(source, study, space, cost, maximize, chosen)
    objective = objective_of(history, cost)
    record = compute(
        history,
        parameters,
        surrogate=surrogate.value,
        band=band.value,
        level=level,
        grid=grid,
        seed=seed,
        objective=objective,
        cap=cap,
        exact=exact,
    )
    print_record(record, shown, history.warnings(objective))


@choosing
def regions(
    source: Source,
    parameter: Annotated[str, typer.Argument(help="Whose effect.", show_default=False)],
    study: Study = None,
    space: SpaceFile = None,
    cost: Cost = None,
    maximize: Direction = None,
    levels: Annotated[
        int | None, typer.Option(min=1, max=10, help="Split every region so often; else 3.")
    ] = None,
    splits: Annotated[
        int | None, typer.Option(min=1, max=500, help="So many splits, the best first.")
    ] = None,
    until: Annotated[
        float | None,
        typer.Option(min=0.0, help="Split the best trial's region down to this mean std."),
    ] = None,
    criterion: Annotated[
        Criterion, typer.Option(help="What is to be alike within a region.")
    ] = Criterion.l2,
    curve: Annotated[
        Curve, typer.Option(help="Which curves l2 and area compare.")
    ] = Curve.variance,
    surrogate: Annotated[Surrogate, typer.Option(help="What to explain.")] = Surrogate.gp,
    min_size: Annotated[
        int, typer.Option(min=1, help="Points of the sample on each side of a split.")
    ] = 2,
    min_improvement: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Part of the impurity a split takes away.")
    ] = 0.0,
    seed: Seed = 0,
    shown: Shown = Format.table,
    chosen: Chosen = NOTHING,
) -> None:
    """Where the effect of a parameter is sure: regions of the space, by rules."""
    from hyperlens import terminal
    from hyperlens.explain.effects.regions import regions as compute

    history = read(source, study, space, cost, maximize, chosen)
    objective = objective_of(history, cost)
    with terminal.announced_compilation(), terminal.progress() as step:
        step("regions", 0.0)
        record = compute(
            history,
            parameter,
            levels=levels,
            splits=splits,
            until=until,
            min_size=min_size,
            min_improvement=min_improvement,
            criterion=criterion.value,
            curve=curve.value,
            surrogate=surrogate.value,
            seed=seed,
            objective=objective,
        )
    print_record(record, shown, history.warnings(objective))


@choosing
def interactions(
    source: Source,
    study: Study = None,
    space: SpaceFile = None,
    cost: Cost = None,
    maximize: Direction = None,
    surrogate: Leader = None,
    level: Level = 0.9,
    seed: Seed = 0,
    shown: Shown = Format.table,
    chosen: Chosen = NOTHING,
) -> None:
    """How strongly each two parameters act together (Friedman's H)."""
    from hyperlens import terminal
    from hyperlens.explain.importance.interactions import interactions as compute

    history = read(source, study, space, cost, maximize, chosen)
    objective = objective_of(history, cost)
    with terminal.announced_compilation(), terminal.progress() as step:
        step("interactions", 0.0)
        record = compute(
            history,
            surrogate=None if surrogate is None else surrogate.value,
            level=level or None,
            seed=seed,
            objective=objective,
        )
    print_record(record, shown, history.warnings(objective))


@choosing
def bias(
    source: Source,
    study: Study = None,
    space: SpaceFile = None,
    cost: Cost = None,
    maximize: Direction = None,
    seed: Seed = 0,
    shown: Shown = Format.table,
    chosen: Chosen = NOTHING,
) -> None:
    """Where the search looked and where it did not, against an even search."""
    from hyperlens.explain.run.bias import bias as compute

    history = read(source, study, space, cost, maximize, chosen)
    print_record(compute(history, seed=seed), shown, history.warnings(objective_of(history, cost)))
