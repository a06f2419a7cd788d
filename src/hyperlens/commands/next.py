"""What to do next: what more trials would bring, and which space to search with them."""

from typing import Annotated, Any

import typer

import hyperlens as hl
from hyperlens.commands.options import LEVEL, SEED, Part, Source, TableReading
from hyperlens.commands.records import Form, print_record, record_command
from hyperlens.commands.runs import read, refuse_overwriting
from hyperlens.commands.signatures import expanded, like

ERROR = typer.Option(min=0.0, help="Standard error of a cost; else from repeats, or estimated.")

forecast = record_command(hl.forecast, error=ERROR, level=LEVEL, seed=SEED)


@expanded
def advise(
    source: Source,
    reading: TableReading,
    *,
    options: Annotated[dict[str, Any], like(hl.advise, error=ERROR, seed=SEED)],
    part: Part,
    form: Form = "table",
    out: Annotated[
        str | None,
        typer.Option(
            help="Write the space: ConfigSpace's .yaml or .json, or .py with Optuna's suggestions."
        ),
    ] = None,
) -> None:
    from hyperlens import terminal
    from hyperlens.reports import check, write

    if out:
        refuse_overwriting(source, out)
        check(out)
    history, objective = read(source, reading, part)
    with terminal.progress() as step:
        step("advice", 0.0)
        record = hl.advise(history, objective=objective, **options)
    print_record(record, form, history.warnings(objective))
    if out:
        typer.echo(f"Space: {terminal.printable(write(out, record.written(out)))}", err=True)
