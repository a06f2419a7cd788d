"""`hyperlens compare`: which method is better over many data sets, and how surely."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hyperlens.commands.options import Format
from hyperlens.commands.shared import print_record, spare


class Correction(StrEnum):
    """How p-values are adjusted for the number of pairs."""

    finner = "finner"
    holm = "holm"
    bonferroni = "bonferroni"


class Printed(StrEnum):
    """How a comparison is printed."""

    table = "table"
    json = "json"
    csv = "csv"
    latex = "latex"


def compare(
    source: Annotated[
        str,
        typer.Argument(
            metavar="RESULTS",
            help="CSV or Parquet: rows data sets and columns methods, or one row for each result.",
            show_default=False,
        ),
    ],
    higher_is_better: Annotated[
        bool, typer.Option("--higher-is-better", help="Larger results are better.")
    ] = False,
    correction: Annotated[
        Correction, typer.Option(help="Adjustment for the number of pairs.")
    ] = Correction.finner,
    alpha: Annotated[float, typer.Option(help="Level of the tests.")] = 0.05,
    dataset: Annotated[str | None, typer.Option(help="Column of the data sets' names.")] = None,
    method: Annotated[str | None, typer.Option(help="Column of the methods (long form).")] = None,
    value: Annotated[str | None, typer.Option(help="Column of the results (long form).")] = None,
    html: Annotated[
        str | None, typer.Option(help="Write the rank diagram and all tests to this page.")
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(help="Write the rank diagram to this file: .png, .svg, .pdf, or .html."),
    ] = None,
    shown: Annotated[Printed, typer.Option("--format", help="How to print it.")] = Printed.table,
) -> None:
    """Compare methods over data sets: average ranks, Friedman, Wilcoxon for each two, groups."""
    from hyperlens import terminal
    from hyperlens.comparison import compare as compute
    from hyperlens.comparison import read
    from hyperlens.reports import check, write
    from hyperlens.reports.comparison_page import check_diagram, comparison_page, write_diagram

    if html:
        spare(source, html)
        check(html)
    if plot:
        spare(source, plot)
        check_diagram(plot)
    record = compute(
        read(source),
        higher_is_better,
        correction.value,
        alpha,
        dataset=dataset,
        method=method,
        value=value,
    )
    if shown is Printed.latex:
        typer.echo(record.to_latex(), nl=False)
    else:
        print_record(record, Format(shown.value), [])
    if html:
        path = write(html, comparison_page(record, Path(source).name))
        typer.echo(f"Comparison: {terminal.printable(path)}", err=True)
    if plot:
        path = write_diagram(record, plot, Path(source).name)
        typer.echo(f"Rank diagram: {terminal.printable(path)}", err=True)
