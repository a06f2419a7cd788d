"""`hyperlens validate` and `convert`: what a run holds, and the run in a neutral form."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from hyperlens.commands.choosing import NOTHING, Chosen, choosing
from hyperlens.commands.options import Cost, Direction, Format, Shown, Source, SpaceFile, Study
from hyperlens.commands.shared import print_record, read, spare


class Form(StrEnum):
    """What a run can be written as."""

    table = "table"
    optuna = "optuna"


Columns = Annotated[
    str | None,
    typer.Option("--parameters", help="Columns of a table that are parameters: 'lr,depth'."),
]


def validate(
    source: Source,
    study: Study = None,
    space: SpaceFile = None,
    cost: Cost = None,
    maximize: Direction = None,
    columns: Columns = None,
    shown: Shown = Format.table,
) -> None:
    """Say what was read of a run, what was left out and why, and what cannot be said of it."""
    from hyperlens.conversion.convert import validate as compute

    names = [name.strip() for name in (columns or "").split(",") if name.strip()]
    record = compute(source, study, space, cost, maximize, names or None)
    print_record(record, shown, [])


@choosing
def convert(
    source: Source,
    to: Annotated[Form, typer.Option(help="A folder with table and space, or an Optuna database.")],
    out: Annotated[str, typer.Option(help="The new folder or file.")],
    study: Study = None,
    space: SpaceFile = None,
    cost: Cost = None,
    maximize: Direction = None,
    chosen: Chosen = NOTHING,
) -> None:
    """Write a run in a neutral form that keeps every value."""
    from hyperlens import terminal
    from hyperlens.conversion.convert import convert as write

    spare(source, out)
    history = read(source, study, space, cost, maximize, chosen)
    path = write(history, to.value, out)
    trials = "1 trial" if len(history.trials) == 1 else f"{len(history.trials)} trials"
    typer.echo(f"{trials}: {terminal.printable(path)}")
