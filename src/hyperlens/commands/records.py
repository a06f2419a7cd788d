"""Commands that compute one record of a run and print it."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any, Literal

import typer

from hyperlens.commands.options import Part, Source, TableReading, output_option
from hyperlens.commands.runs import read
from hyperlens.commands.signatures import expanded, like
from hyperlens.record import Record

Form = Annotated[
    Literal["table", "json", "csv"], output_option("--format", help="How to print it.")
]


def record_command(compute: Callable[..., Record], /, **options: Any) -> Callable[..., None]:
    """A command that prints what a function computes of a run, with options for its arguments."""
    takes_objective = "objective" in inspect.signature(compute).parameters

    def command(
        run: Source,
        reading: TableReading,
        *,
        options: Annotated[dict[str, Any], like(compute, **options)],
        part: Part,
        form: Form = "table",
    ) -> None:
        from hyperlens import terminal

        history, objective = read(run, reading, part, also=options.get("test"))
        if takes_objective:
            options["objective"] = objective
        with terminal.announced_compilation(), terminal.progress() as step:
            step(compute.__name__.replace("_", " "), 0.0)
            record = compute(history, **options)
        print_record(record, form, history.warnings(objective, every=not takes_objective))

    return expanded(command)


def print_record(record: Record, form: str, warnings: list[str]) -> None:
    from hyperlens import terminal

    if form == "json":
        typer.echo(record.to_json())
    elif form == "csv":
        typer.echo(record.to_csv(), nl=False)
    else:
        terminal.show(record, warnings)
