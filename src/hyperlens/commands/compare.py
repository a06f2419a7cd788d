"""`hyperlens compare`: which method is better over many data sets, and how surely."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import hyperlens as hl
from hyperlens.commands.options import output_option
from hyperlens.commands.records import print_record
from hyperlens.commands.runs import refuse_overwriting
from hyperlens.commands.signatures import expanded, like


@expanded
def compare(
    source: Annotated[
        str,
        typer.Argument(
            metavar="RESULTS",
            help="CSV or Parquet: rows data sets and columns methods, or one row for each result.",
            show_default=False,
        ),
    ],
    *,
    options: Annotated[
        dict[str, Any],
        like(
            hl.compare,
            maximize=typer.Option(
                "--maximize/--minimize",
                help="Whether larger or smaller results are better; smaller if it is not said.",
                show_default=False,
            ),
            correction=typer.Option(help="Adjustment for the number of pairs."),
            alpha=typer.Option(help="Level of the tests."),
            dataset=typer.Option(help="Column of the data sets' names."),
            method=typer.Option(help="Column of the methods (long form)."),
            value=typer.Option(help="Column of the results (long form)."),
        ),
    ],
    html: Annotated[
        str | None,
        output_option(metavar="FILE", help="Write a page with the rank diagram and all tests."),
    ] = None,
    plot: Annotated[
        str | None,
        output_option(metavar="FILE", help="Write the rank diagram: .png, .svg, .pdf or .html."),
    ] = None,
    form: Annotated[
        Literal["table", "json", "csv", "latex"], output_option("--format", help="How to print it.")
    ] = "table",
) -> None:
    from hyperlens import terminal
    from hyperlens.comparison import read
    from hyperlens.reports import check, write
    from hyperlens.reports.comparison_page import check_diagram, comparison_page, write_diagram

    if html:
        refuse_overwriting(source, html)
        check(html)
    if plot:
        refuse_overwriting(source, plot)
        check_diagram(plot)
    record = hl.compare(read(source), **options)
    if form == "latex":
        typer.echo(record.to_latex(), nl=False)
    else:
        print_record(record, form, [])
    if html:
        path = write(html, comparison_page(record, Path(source).name))
        typer.echo(f"Comparison: {terminal.printable(path)}", err=True)
    if plot:
        path = write_diagram(record, plot, Path(source).name)
        typer.echo(f"Rank diagram: {terminal.printable(path)}", err=True)
