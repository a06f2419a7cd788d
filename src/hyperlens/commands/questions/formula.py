"""`hyperlens formula`: the effect of a parameter as a short formula."""

import typer

import hyperlens as hl
from hyperlens.commands.options import SEED, SURROGATE
from hyperlens.commands.records import record_command

formula = record_command(
    hl.formula,
    parameter=typer.Argument(metavar="PARAMETER", help="Whose effect.", show_default=False),
    surrogate=SURROGATE,
    level=typer.Option(min=0.01, max=0.999, help="Level of the band that the formula is shown in."),
    seed=SEED,
)
