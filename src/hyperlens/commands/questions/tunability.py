"""`hyperlens tunability`: what there is to gain by tuning each parameter."""

from typing import Annotated

import typer

import hyperlens as hl
from hyperlens.commands.options import LEVEL_OR_NONE, SEED, SURROGATE, configuration
from hyperlens.commands.records import record_command

tunability = record_command(
    hl.tunability,
    game=typer.Option(
        help="What is shared out: the best that can be reached, the worst, the variance, what the "
        "search left, or what the best trial gained."
    ),
    baseline=Annotated[str, configuration()],
    surrogate=SURROGATE,
    level=LEVEL_OR_NONE,
    seed=SEED,
)
