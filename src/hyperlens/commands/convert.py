"""`hyperlens validate` and `convert`: what a run holds, and the run in a neutral form."""

from typing import Annotated

import typer

import hyperlens as hl
from hyperlens.commands.options import Part, Source, TableReading
from hyperlens.commands.records import Form, print_record
from hyperlens.commands.runs import read, refuse_overwriting
from hyperlens.commands.signatures import expanded
from hyperlens.conversion import convert as conversion
from hyperlens.words import counted


@expanded
def validate(source: Source, reading: TableReading, form: Form = "table") -> None:
    record = hl.validate(
        source,
        reading.study,
        reading.space,
        reading.objective,
        reading.maximize,
        reading.parameters,
        reading.constraint,
        reading.step,
    )
    print_record(record, form, [])


@expanded
def convert(
    source: Source,
    to: Annotated[
        conversion.Form, typer.Option(help="A folder with table and space, or an Optuna database.")
    ],
    out: Annotated[str, typer.Option(metavar="PATH", help="The new folder or file.")],
    reading: TableReading,
    part: Part,
) -> None:
    from hyperlens import terminal

    refuse_overwriting(source, out)
    history, _ = read(source, reading, part)
    path = hl.convert(history, to, out)
    trials = counted(len(history.trials), "trial")
    typer.echo(f"{trials}: {terminal.printable(path)}")
