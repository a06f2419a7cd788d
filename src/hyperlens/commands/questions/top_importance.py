"""`hyperlens top-importance`: what tells the best trials from the rest."""

import typer

import hyperlens as hl
from hyperlens.commands.options import LEVEL, SEED
from hyperlens.commands.records import record_command

top_importance = record_command(
    hl.top_importance,
    quantile=typer.Option(min=0.001, max=0.999, help="Which part of the trials is the top."),
    level=LEVEL,
    seed=SEED,
)
