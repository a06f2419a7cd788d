"""`hyperlens explain` and `hyperlens importance`: a whole run, and what mattered in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hyperlens.commands.choosing import NOTHING, Chosen, choosing
from hyperlens.commands.options import (
    Cap,
    Cost,
    Direction,
    Format,
    Leader,
    Level,
    Seed,
    Shown,
    Source,
    SpaceFile,
    Study,
)
from hyperlens.commands.shared import objective_of, print_record, read, spare

if TYPE_CHECKING:
    from hyperlens.runs.history import History


@choosing
def explain(
    source: Source,
    study: Study = None,
    space: SpaceFile = None,
    cost: Cost = None,
    maximize: Direction = None,
    html: Annotated[str | None, typer.Option(help="Write the report to this file.")] = None,
    json: Annotated[str | None, typer.Option(help="Write all records to this file.")] = None,
    png: Annotated[
        str | None, typer.Option(help="Write every figure as a picture to this folder.")
    ] = None,
    beside: Annotated[
        list[str] | None, typer.Option(help="Another run to show beside this one; repeatable.")
    ] = None,
    proposals: Annotated[
        bool, typer.Option("--proposals", help="Explain proposals even if none is recorded.")
    ] = False,
    level: Level = 0.9,
    seed: Seed = 0,
    chosen: Chosen = NOTHING,
) -> None:
    """Explain a whole run: a summary here, and a report with --html."""
    from hyperlens import terminal
    from hyperlens.reports import check, check_stills, page, stills, write
    from hyperlens.reports.analysis import Unavailable, analyse
    from hyperlens.surrogates.random_forest.forest import compile_ahead

    for path in filter(None, (html, json)):
        spare(source, path)
        check(path)
    if png:
        check_stills()
    history = read(source, study, space, cost, maximize, chosen)
    others: dict[str, History] = {}
    for other in beside or ():
        found = read(other, None, space, cost, maximize)
        others[_other_name(found.source or other, [history.source, *others])] = found
    with terminal.announced_compilation(), terminal.progress() as step:
        compile_ahead()
        analysis = analyse(
            history,
            objective=objective_of(history, cost),
            seed=seed,
            level=level or None,
            others=others,
            proposals=proposals,
            progress=step,
        )
    terminal.show_analysis(analysis)
    if isinstance(analysis.beside, Unavailable):
        typer.echo(terminal.printable(f"No comparison of runs: {analysis.beside.why}"), err=True)
    if html:
        typer.echo(f"Report: {terminal.printable(write(html, page(analysis)))}")
    if json:
        written = write(json, analysis.to_json() + "\n")
        typer.echo(f"Records: {terminal.printable(written)}")
    if png:
        pictures = stills(analysis, png)
        typer.echo(f"Pictures: {len(pictures)} in {terminal.printable(png)}")


def _other_name(name: str, taken: list[str]) -> str:
    """A name for a run beside others that may be called the same."""
    number = 2
    unique = name
    while unique in taken:
        unique, number = f"{name} ({number})", number + 1
    return unique


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
    level: Level = 0.9,
    trees: Annotated[int, typer.Option(min=2, help="Trees of the forest.")] = 64,
    seed: Seed = 0,
    shown: Shown = Format.table,
    chosen: Chosen = NOTHING,
) -> None:
    """Which parameters and pairs the variance of the cost comes from (functional ANOVA)."""
    from hyperlens import terminal
    from hyperlens.explain.importance.importance import importance as compute
    from hyperlens.reports import check, write
    from hyperlens.surrogates.random_forest.forest import compile_ahead

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
            level=level or None,
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
