"""`hyperlens across`: what runs of one space have in common."""

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import typer

import hyperlens as hl
from hyperlens.commands.options import LEVEL, SEED, Part, TableReading, output_option
from hyperlens.commands.records import Form, print_record
from hyperlens.commands.runs import read, refuse_overwriting
from hyperlens.commands.signatures import expanded, like
from hyperlens.words import counted


@expanded
def across(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="Two or more runs of one space, or folders of them.",
            show_default=False,
        ),
    ],
    reading: TableReading,
    *,
    options: Annotated[
        dict[str, Any],
        like(
            hl.across,
            size=typer.Option(
                min=1, max=50, help="How many configurations to find that do well everywhere."
            ),
            level=LEVEL,
            seed=SEED,
        ),
    ],
    parameter: Annotated[
        str | None, typer.Option(help="Print the effect of this parameter over all runs.")
    ] = None,
    html: Annotated[
        str | None,
        output_option(metavar="FILE", help="Write a page of all of it, with every effect."),
    ] = None,
    out: Annotated[
        str | None,
        output_option(
            metavar="FILE",
            help="Write what does well everywhere as JSON, for 'hyperlens tune --first FILE'.",
        ),
    ] = None,
    part: Part,
    form: Form = "table",
) -> None:
    from hyperlens import terminal
    from hyperlens.importers.finding import each_run
    from hyperlens.reports import check, write

    sources = [run for source in sources for run in each_run(source)]
    for source, path in product(sources, filter(None, (html, out))):
        refuse_overwriting(source, path)
        check(path)
    with terminal.announced_compilation(), terminal.progress() as step:
        record = _across(sources, reading, part, step, options)
    print_record(record if parameter is None else record.effect(parameter), form, [])
    if out:
        what = f"{counted(len(record.portfolio), 'configuration')} to begin with"
        typer.echo(f"{what}: {terminal.printable(write(out, _portfolio(record)))}", err=True)
    if html:
        typer.echo(f"Report: {terminal.printable(write(html, _page(record)))}", err=True)


def _across(
    sources: list[str],
    reading: TableReading,
    part: Part,
    step: Callable[[str, float], None],
    options: dict[str, Any],
) -> hl.Across:
    histories, objective = _read(sources, reading, part, step)
    step("across", 0.0)
    return hl.across(
        histories,
        objective=objective,
        progress=lambda done, of: step(f"run {done} of {of} explained", 0.9 * done / of),
        **options,
    )


def _portfolio(record: hl.Across) -> str:
    return json.dumps([dict(one) for one in record.portfolio], indent=1, allow_nan=False) + "\n"


def _page(record: hl.Across) -> str:
    from hyperlens.reports.render import report_html
    from hyperlens.sections.questions.across import page_cards

    title = f"{counted(len(record.runs), 'run')} of one space"
    return report_html(page_cards(record), title)


def _read(
    sources: list[str], reading: TableReading, part: Part, step: Callable[[str, float], None]
) -> tuple[dict[str, hl.History], str | None]:
    """Runs by the names of their files, and their objective."""
    histories: dict[str, hl.History] = {}
    objective = None
    for k, source in enumerate(sources):
        step(f"run {k + 1} of {len(sources)}", k / len(sources))
        history, objective = read(source, reading, part)
        name = Path(source.split(":///")[-1]).stem or source
        histories[name if name not in histories else f"{name} ({k + 1})"] = history
    return histories, objective
