"""`hyperlens reach`: the smallest change of a trial that would reach a cost."""

from typing import Annotated

import typer

import hyperlens as hl
from hyperlens.commands.options import LEVEL, SEED, SURROGATE, configuration
from hyperlens.commands.records import record_command

reach = record_command(
    hl.reach,
    cost=typer.Option(help="The cost to reach; else the best measured one."),
    trial=Annotated[str, configuration()],
    sure=typer.Option(min=0.01, max=0.99, help="How probable it must be that the cost is reached."),
    surrogate=SURROGATE,
    level=LEVEL,
    seed=SEED,
)
