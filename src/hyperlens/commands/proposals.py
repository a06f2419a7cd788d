"""`hyperlens why` and `path`: the reasons of one proposal, and of all of a run."""

from dataclasses import replace
from typing import Annotated, Any

import typer

import hyperlens as hl
from hyperlens.commands.options import LEVEL, SEED, Part, Source, TableReading, configuration
from hyperlens.commands.records import Form, print_record
from hyperlens.commands.runs import read
from hyperlens.commands.signatures import expanded, like
from hyperlens.runs.history import History
from hyperlens.surrogates.protocol import SurrogateKind

REASONS: dict[str, Any] = {
    "tau": typer.Option(min=0.0, help="Weight of the uncertainty; else the recorded one, or 1."),
    "method": typer.Option(help="Exact, or sampled with intervals."),
    "samples": typer.Option(min=2, help="Orders of parameters to draw, where sampled."),
    "background": typer.Option(help="What a proposal is compared with."),
    "baseline": typer.Option(help="Compare with one configuration instead."),
    "surrogate": Annotated[
        SurrogateKind | None,
        typer.Option(help="Surrogate to fit; else as recorded, or a Gaussian process."),
    ],
    "level": LEVEL,
    "seed": SEED,
}


@expanded
def why(
    source: Source,
    reading: TableReading,
    *,
    options: Annotated[
        dict[str, Any],
        like(
            hl.why,
            trial=Annotated[str | None, configuration(help="A trial's number; else the best.")],
            acquisition=typer.Option(help="What is explained; else as recorded."),
            **REASONS,
        ),
    ],
    check: Annotated[
        bool, typer.Option("--check", help="Find how many samples suffice (sampled only).")
    ] = False,
    part: Part,
    form: Form = "table",
) -> None:
    from hyperlens import terminal

    history, objective = read(source, reading, part)
    options["objective"] = objective
    with terminal.progress() as step:
        step("why", 0.0)
        if check:
            del options["method"], options["samples"]  # they are what is found
            print_record(hl.check_sample_size(history, **options), form, [])
            return
        record = hl.why(history, **options)
    print_record(record, form, _warnings(history, objective))


@expanded
def path(
    source: Source,
    reading: TableReading,
    *,
    options: Annotated[
        dict[str, Any],
        like(
            hl.path,
            initial=typer.Option(min=1, help="Trials of the initial design, if not recorded."),
            workers=typer.Option(min=1, help="Threads; else all cores."),
            **REASONS,
        ),
    ],
    part: Part,
    form: Form = "table",
) -> None:
    from hyperlens import terminal

    history, objective = read(source, reading, part)
    with terminal.progress() as step:
        record = hl.path(
            history,
            objective=objective,
            progress=lambda done, all: step(f"proposal {done} of {all}", done / all),
            **options,
        )
    print_record(record, form, _warnings(history, objective))


def _warnings(history: History, objective: str | None) -> list[str]:
    """Those that do not tell which trials are analysed: a proposal's own notes say from which of
    those before it the surrogate had learned."""
    return replace(history, trials=()).warnings(objective)
