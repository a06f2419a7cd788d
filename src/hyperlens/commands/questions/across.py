"""`hyperlens across`: what runs of one space have in common."""

from pathlib import Path
from typing import Annotated, Any

import typer

import hyperlens as hl
from hyperlens.commands.options import LEVEL, SEED, Part, TableReading
from hyperlens.commands.records import Form, print_record
from hyperlens.commands.runs import read
from hyperlens.commands.signatures import expanded, like


@expanded
def across(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCES", help="Two or more runs of one space.", show_default=False
        ),
    ],
    reading: TableReading,
    *,
    options: Annotated[
        dict[str, Any],
        like(
            hl.across,
            size=typer.Option(min=1, max=50, help="Configurations that do well everywhere."),
            level=LEVEL,
            seed=SEED,
        ),
    ],
    part: Part,
    form: Form = "table",
) -> None:
    from hyperlens import terminal

    histories: dict[str, hl.History] = {}
    objective = None
    with terminal.announced_compilation(), terminal.progress() as step:
        for k, source in enumerate(sources):
            step(f"run {k + 1} of {len(sources)}", k / len(sources))
            history, objective = read(source, reading, part)
            name = Path(source.split(":///")[-1]).stem or source
            histories[name if name not in histories else f"{name} ({k + 1})"] = history
        step("across", 0.0)
        record = hl.across(histories, objective=objective, **options)
    print_record(record, form, [])
