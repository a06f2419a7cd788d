"""`hyperlens explain` and `hyperlens importance`: a whole run, and what mattered in it."""

from __future__ import annotations

from typing import Annotated

import typer

from hyperlens.commands.choosing import NOTHING, Chosen, choosing
from hyperlens.commands.options import (
    Cap,
    Cost,
    Direction,
    Format,
    Interval,
    Leader,
    Seed,
    Shown,
    Source,
    SpaceFile,
    Study,
)
from hyperlens.commands.shared import objective_of, print_record, read, spare


@choosing
def explain(
    source: Source,
    study: Study = None,
    space: SpaceFile = None,
    cost: Cost = None,
    maximize: Direction = None,
    html: Annotated[str | None, typer.Option(help="Write the report to this file.")] = None,
    json: Annotated[str | None, typer.Option(help="Write all records to this file.")] = None,
    interval: Interval = 0.9,
    seed: Seed = 0,
    chosen: Chosen = NOTHING,
) -> None:
    """Explain a whole run: a summary here, and a report with --html."""
    from hyperlens import terminal
    from hyperlens.reports import check, page, write
    from hyperlens.reports.analysis import analyse
    from hyperlens.surrogates.forest import compile_ahead

    for path in filter(None, (html, json)):
        spare(source, path)
        check(path)
    history = read(source, study, space, cost, maximize, chosen)
    with terminal.announced_compilation(), terminal.progress() as step:
        compile_ahead()
        analysis = analyse(
            history,
            objective=objective_of(history, cost),
            seed=seed,
            interval=interval or None,
            progress=step,
        )
    terminal.show_analysis(analysis)
    if html:
        typer.echo(f"Report: {terminal.printable(write(html, page(analysis)))}")
    if json:
        written = write(json, analysis.to_json() + "\n")
        typer.echo(f"Records: {terminal.printable(written)}")


@choosing
def importance(
    source: Source,
    study: Study = None,
    space: SpaceFile = None,
    cost: Cost = None,
    maximize: Direction = None,
    order: Annotated[
        int, typer.Option(min=1, max=3, help="1: parameters, 2: pairs too, 3: triples too.")
    ] = 2,
    cap: Cap = None,
    surrogate: Leader = None,
    subspace: Annotated[
        str | None,
        typer.Option(help="Write the important subspace (ConfigSpace JSON or YAML) to this file."),
    ] = None,
    coverage: Annotated[
        float, typer.Option(min=0.01, max=1.0, help="Share that the subspace must cover.")
    ] = 0.9,
    interval: Interval = 0.9,
    trees: Annotated[int, typer.Option(min=2, help="Trees of the forest.")] = 64,
    seed: Seed = 0,
    shown: Shown = Format.table,
    chosen: Chosen = NOTHING,
) -> None:
    """Which parameters and pairs the variance of the cost comes from (functional ANOVA)."""
    from hyperlens import terminal
    from hyperlens.explain.fanova import importance as compute
    from hyperlens.reports import check, write
    from hyperlens.surrogates.forest import compile_ahead

    if subspace:
        spare(source, subspace)
        check(subspace)
    history = read(source, study, space, cost, maximize, chosen)
    objective = objective_of(history, cost)
    with terminal.announced_compilation(), terminal.progress() as step:
        compile_ahead()
        step("importance", 0.0)
        record = compute(
            history,
            order,
            interval=interval or None,
            surrogate=None if surrogate is None else surrogate.value,
            cap=cap,
            trees=trees,
            seed=seed,
            objective=objective,
        )
    print_record(record, shown, history.warnings(objective))
    if subspace:
        small = record.subspace(coverage)
        yaml = subspace.lower().endswith((".yaml", ".yml"))
        path = write(subspace, small.space.to_yaml() if yaml else small.space.to_json())
        kept = terminal.printable(", ".join(small.keep))
        typer.echo(f"Subspace of {kept}: {terminal.printable(path)}", err=True)
        for note in small.notes:
            typer.echo(note, err=True)
