"""Options that several commands share, each declared once."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import typer

from hyperlens.commands.signatures import like
from hyperlens.commands.wording.help_page import OUTPUT, THE_RUN, TRIALS
from hyperlens.errors import AnalysisError
from hyperlens.runs.selection import Selection
from hyperlens.surrogates.protocol import SurrogateKind


def _budget(text: str | None) -> float | str | None:
    if text is None:
        return None
    if text.strip().lower() == "largest":
        return "largest"
    try:
        return float(text)
    except ValueError:
        raise AnalysisError(
            f"A budget of '{text}' is not understood; give a number or 'largest'."
        ) from None


def numbers_by_name(what: str) -> Callable[[str | None], dict[str, float] | None]:
    """Reads 'error=1,time=0.1' for the option of that name, one `what` an objective."""

    def read(text: str | None) -> dict[str, float] | None:
        numbers: dict[str, float] = {}
        for part in text.split(",") if text else ():
            name, equals, number = part.rpartition("=")
            try:
                numbers[name.strip()] = float(number)
            except ValueError:
                equals = ""
            if not equals:
                raise AnalysisError(
                    f"The {what} '{part.strip()}' is not understood; write it like "
                    "'error=1,time=0.1'."
                )
        return numbers or None

    return read


def _names(texts: list[str] | None) -> tuple[str, ...] | None:
    """Names out of 'loss,latency:min', given once or more often."""
    names = (name.strip() for text in texts or () for name in text.split(","))
    return tuple(name for name in names if name) or None


WHICH = (
    "'best', 'default' or a trial's number; where a run has no defaults, as Optuna's, 'default' is "
    "the midpoint of the space."
)


def configuration(*flags: str, help: str = WHICH) -> Any:
    """An option that names a configuration; a trial's number is handed over as a number."""

    def number(text: str | None) -> int | str | None:
        return int(text) if text and text.isascii() and text.isdigit() else text

    return typer.Option(*flags, callback=number, help=help)


run_option = partial(typer.Option, rich_help_panel=THE_RUN)
trial_option = partial(typer.Option, rich_help_panel=TRIALS)
output_option = partial(typer.Option, rich_help_panel=OUTPUT)

Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A run: Optuna storage, folder or log of another tool, or a table; also compressed.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Reading:
    """How a run is read, where it does not say so itself."""

    study: Annotated[str | None, run_option(help="Which study, if the storage holds several.")] = (
        None
    )
    space: Annotated[
        str | None, run_option(help="File of the space, as ConfigSpace writes it; else the run's.")
    ] = None
    objective: Annotated[
        list[str] | None,
        run_option(
            help="The objective's name or column, several as 'loss,latency:min', or 'hypervolume'.",
            callback=_names,
        ),
    ] = None
    maximize: Annotated[
        bool | None,
        run_option(
            "--maximize/--minimize",
            help="Whether larger or smaller is better, where the run does not say.",
            show_default=False,
        ),
    ] = None
    constraint: Annotated[
        list[str] | None,
        run_option(
            help="What a trial must keep to be of use: 'latency < 20'; repeatable.",
            callback=lambda texts: tuple(texts or ()) or None,
        ),
    ] = None


@dataclass(frozen=True)
class TableReading(Reading):
    """How a run is read that may be a table."""

    columns: Annotated[
        str | None,
        run_option("--parameters", help="Columns of a table that are parameters: 'lr,depth'."),
    ] = None
    step: Annotated[
        str | None,
        run_option(
            help="The column of a table that holds the steps of learning curves, one row per step."
        ),
    ] = None

    @property
    def parameters(self) -> list[str] | None:
        return [name.strip() for name in (self.columns or "").split(",") if name.strip()] or None


Part = Annotated[
    Selection,
    like(
        Selection,
        budget=Annotated[
            str | None,
            trial_option(
                callback=_budget,
                help="Only trials of this budget, or 'largest'; else lower budgets and pruned trials "
                "are used too, where that is sound.",
            ),
        ],
        states=Annotated[
            str | None,
            trial_option(
                callback=lambda text: text and tuple(text.split(",")),
                help="States of trials to use, such as 'complete,pruned'.",
            ),
        ],
        where=trial_option(help="Only trials for which this holds: \"model == 'svm'\"."),
        last=trial_option(min=1, help="Only the latest trials, this many."),
        weights=Annotated[
            str | None,
            trial_option(
                callback=numbers_by_name("weight"),
                help="Several objectives as one: 'error=1,time=0.1'.",
            ),
        ],
        keep_tail=trial_option(
            "--keep-tail", help="Let trials that diverged count like all others."
        ),
    ),
]

SEED = typer.Option(min=0, help="Same input and seed: same result.")
SURROGATE = Annotated[
    SurrogateKind | None,
    typer.Option(help="Surrogate to explain; else the one that the run supports best."),
]
LEVEL = typer.Option(min=0.01, max=0.999, help="Level of the intervals.")
LEVEL_OR_NONE = Annotated[
    float,
    typer.Option(
        min=0.0,
        max=0.999,
        callback=lambda level: level or None,
        help="Level of the intervals; 0 to skip them.",
    ),
]
CAP = Annotated[
    str | None,
    typer.Option(
        help="Costs worse than this count as this: a cost, 'default' for that of the default "
        "configuration, or 'quantile=0.25'."
    ),
]
