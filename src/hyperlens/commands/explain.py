"""`hyperlens explain`: a whole run."""

from dataclasses import replace
from typing import Annotated, Literal

import typer

from hyperlens.commands.options import (
    LEVEL_OR_NONE,
    SEED,
    SURROGATE,
    Part,
    Source,
    TableReading,
    output_option,
)
from hyperlens.commands.runs import give_back, read, refuse_overwriting
from hyperlens.commands.signatures import expanded, like
from hyperlens.runs.history import History
from hyperlens.runs.selection import Selection
from hyperlens.sections.analysis import Analysis, analyse
from hyperlens.sections.choices import Choices

Form = Annotated[Literal["table", "json"], output_option("--format", help="How to print it.")]
Html = Annotated[str | None, output_option(metavar="FILE", help="Write the report.")]
Png = Annotated[
    str | None, output_option(metavar="FOLDER", help="Write every figure as a picture.")
]

MANY = 20_000  # trials, whose arrays are large


@expanded
def explain(
    source: Source,
    reading: TableReading,
    *,
    html: Html = None,
    json: Annotated[
        str | None,
        output_option(
            metavar="FILE", help="Write all records, which hyperlens report shows again."
        ),
    ] = None,
    png: Png = None,
    beside: Annotated[
        list[str] | None, typer.Option(help="Another run to show beside this one; repeatable.")
    ] = None,
    choices: Annotated[
        Choices,
        like(
            Choices,
            proposals=typer.Option(
                "--proposals", help="Explain proposals even if none is recorded."
            ),
            surrogate=SURROGATE,
            level=LEVEL_OR_NONE,
            seed=SEED,
        ),
    ],
    part: Part,
    form: Form = "table",
) -> None:
    from hyperlens import terminal
    from hyperlens.sections.explanation import Unavailable
    from hyperlens.sections.run.comparison import COMPARISON
    from hyperlens.surrogates.random_forest.forest import compile_ahead

    _check(source, html, json, png)
    runs: dict[str, History] = {}
    with terminal.progress():  # which says that it is reading
        history, objective = read(source, reading, part)
        for other in beside or ():
            run, _ = read(other, replace(reading, study=None, columns=None), Selection())
            runs[_other_name(run.source or other, [history.source, *runs])] = run
    if len(history.trials) > MANY:
        give_back()
    with terminal.announced_compilation(), terminal.progress() as step:
        compile_ahead()
        choices = replace(choices, objective=objective)
        analysis = analyse(history, choices, beside=runs, progress=step)
    _show(analysis, form)
    comparison = analysis[COMPARISON]
    if isinstance(comparison, Unavailable):
        typer.echo(terminal.printable(f"No comparison of runs: {comparison.why}"), err=True)
    _write(analysis, html, json, png, aside=form == "json")


def _show(analysis: Analysis, form: str) -> None:
    from hyperlens.terminal.analysis import show_analysis

    if form == "json":
        typer.echo(analysis.to_json())
    else:
        show_analysis(analysis)


def report(
    source: Annotated[
        str,
        typer.Argument(
            metavar="JSON", help="What hyperlens explain wrote with --json.", show_default=False
        ),
    ],
    html: Html = None,
    png: Png = None,
    form: Form = "table",
) -> None:
    from hyperlens.reports import read_analysis

    _check(source, html, None, png)
    analysis = read_analysis(source)
    _show(analysis, form)
    _write(analysis, html, None, png, aside=form == "json")


def _check(source: str, html: str | None, json: str | None, png: str | None) -> None:
    """Refuse what cannot be written before anything long is computed for it."""
    from hyperlens.reports import check, check_stills

    for file in filter(None, (html, json)):
        refuse_overwriting(source, file)
        check(file)
    if png:
        check_stills()


def _write(
    analysis: Analysis, html: str | None, json: str | None, png: str | None, aside: bool
) -> None:
    """Write the files; where they are is said `aside` if standard output is for a program."""
    from hyperlens import terminal
    from hyperlens.reports import page, stills, write

    if html:
        with terminal.progress() as step:
            step("drawing the report", 0.0)
            drawn = page(analysis)
        typer.echo(f"Report: {terminal.printable(write(html, drawn))}", err=aside)
    if json:
        path = write(json, analysis.to_json() + "\n")
        typer.echo(f"Records: {terminal.printable(path)}", err=aside)
    if png:
        pictures = stills(analysis, png)
        typer.echo(f"Pictures: {len(pictures)} in {terminal.printable(png)}", err=aside)


def _other_name(name: str, taken: list[str]) -> str:
    """A name for a run beside others that may be called the same."""
    number = 2
    unique = name
    while unique in taken:
        unique, number = f"{name} ({number})", number + 1
    return unique
