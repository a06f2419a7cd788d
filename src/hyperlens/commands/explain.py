"""`hyperlens explain`: a whole run."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from hyperlens.commands.options import LEVEL_OR_NONE, SEED, Part, Source, TableReading
from hyperlens.commands.runs import read, refuse_overwriting
from hyperlens.commands.signatures import expanded, like
from hyperlens.reports.analysis import Unavailable, analyse
from hyperlens.runs.history import History
from hyperlens.runs.selection import Selection


@expanded
def explain(
    source: Source,
    reading: TableReading,
    *,
    html: Annotated[str | None, typer.Option(help="Write the report to this file.")] = None,
    json: Annotated[str | None, typer.Option(help="Write all records to this file.")] = None,
    png: Annotated[
        str | None, typer.Option(help="Write every figure as a picture to this folder.")
    ] = None,
    beside: Annotated[
        list[str] | None, typer.Option(help="Another run to show beside this one; repeatable.")
    ] = None,
    options: Annotated[
        dict[str, Any],
        like(
            analyse,
            proposals=typer.Option(
                "--proposals", help="Explain proposals even if none is recorded."
            ),
            level=LEVEL_OR_NONE,
            seed=SEED,
        ),
    ],
    part: Part,
) -> None:
    from hyperlens import terminal
    from hyperlens.reports import check, check_stills, page, stills, write
    from hyperlens.surrogates.random_forest.forest import compile_ahead

    for file in filter(None, (html, json)):
        refuse_overwriting(source, file)
        check(file)
    if png:
        check_stills()
    history, objective = read(source, reading, part)
    others: dict[str, History] = {}
    for other in beside or ():
        run, _ = read(other, replace(reading, study=None, columns=None), Selection())
        others[_other_name(run.source or other, [history.source, *others])] = run
    with terminal.announced_compilation(), terminal.progress() as step:
        compile_ahead()
        analysis = analyse(history, objective=objective, others=others, progress=step, **options)
    terminal.show_analysis(analysis)
    if isinstance(analysis.beside, Unavailable):
        typer.echo(terminal.printable(f"No comparison of runs: {analysis.beside.why}"), err=True)
    if html:
        typer.echo(f"Report: {terminal.printable(write(html, page(analysis)))}")
    if json:
        path = write(json, analysis.to_json() + "\n")
        typer.echo(f"Records: {terminal.printable(path)}")
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
