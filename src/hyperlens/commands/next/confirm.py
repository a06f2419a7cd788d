"""`hyperlens confirm` and `confirmed`: trials that would settle a question, and what came of them."""

from typing import Annotated, Any

import typer

import hyperlens as hl
from hyperlens.commands.options import LEVEL, SEED, Part, Source, TableReading, output_option
from hyperlens.commands.records import Form, print_record, record_command
from hyperlens.commands.runs import read, refuse_overwriting
from hyperlens.commands.signatures import expanded, like


@expanded
def confirm(
    source: Source,
    reading: TableReading,
    *,
    about: Annotated[
        list[str] | None,
        typer.Option(
            help="A parameter (several: once each), 'importance', 'best', or a condition such as "
            "'lr < 0.01'.",
            show_default="importance",
        ),
    ] = None,
    options: Annotated[
        dict[str, Any],
        like(
            hl.confirm,
            trials=typer.Option(min=1, help="How many trials to choose."),
            level=LEVEL,
            seed=SEED,
        ),
    ],
    out: Annotated[
        str | None,
        output_option(
            metavar="FILE", help="Write the trials: .csv, .json (ConfigSpace) or .py (Optuna)."
        ),
    ] = None,
    part: Part,
    form: Form = "table",
) -> None:
    from hyperlens import terminal
    from hyperlens.explain.confirm.trial_files import form_of, trial_text
    from hyperlens.reports import check, write

    if out:
        form_of(out)
        refuse_overwriting(source, out)
        check(out)
    history, objective = read(source, reading, part)
    with terminal.announced_compilation(), terminal.progress() as step:
        step("trials that would settle it", 0.0)
        record = hl.confirm(history, about or "importance", objective=objective, **options)
    print_record(record, form, history.warnings(objective))
    if out:
        text, what = trial_text(record, out)
        typer.echo(f"{what}: {terminal.printable(write(out, text))}", err=True)


confirmed = record_command(
    hl.confirmed,
    about=Annotated[
        list[str] | None,
        typer.Option(
            help="What they were to settle, as of 'confirm'; else what the run keeps, or importance."
        ),
    ],
    trials=typer.Option(
        min=1, help="How many of the run's latest trials they are; else those marked in it."
    ),
    level=LEVEL,
    seed=SEED,
)
