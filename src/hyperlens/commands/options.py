"""Arguments and options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Format(StrEnum):
    """How a record is printed."""

    table = "table"
    json = "json"
    csv = "csv"


class Surrogate(StrEnum):
    """What stands in for the objective."""

    gp = "gp"
    forest = "forest"


class Band(StrEnum):
    """What the band of an effect says."""

    pointwise = "pointwise"
    joint = "joint"


class Criterion(StrEnum):
    """What is to be alike within a region."""

    l2 = "l2"
    area = "area"
    variance = "variance"
    mean = "mean"


class Curve(StrEnum):
    """Which curve of a configuration the criteria l2 and area compare."""

    variance = "variance"
    std = "std"


Source = Annotated[
    str,
    typer.Argument(
        help="A run: Optuna storage, folder of SMAC, Ray Tune, HpBandSter or Keras Tuner, log of "
        "FLAML, Ax experiment, table (docs/formats.md).",
        show_default=False,
    ),
]
Study = Annotated[str | None, typer.Option(help="Which study, if the storage holds several.")]
SpaceFile = Annotated[
    str | None,
    typer.Option("--space", help="The space, ConfigSpace's JSON or YAML; else the run's."),
]
Cost = Annotated[
    str | None,
    typer.Option("--objective", help="The objective's name or column, or 'hypervolume'."),
]
Maximize = Annotated[bool, typer.Option("--maximize", help="Larger values of the cost are better.")]
Direction = Annotated[
    bool | None,
    typer.Option(
        "--maximize/--minimize",
        help="Whether larger or smaller is better, where the run does not say.",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Same input and seed: same result.")]
Shown = Annotated[Format, typer.Option("--format", help="How to print it.")]
Cap = Annotated[
    str | None, typer.Option(help="Good region only: a cost, 'default' or 'quantile=0.25'.")
]
Leader = Annotated[
    Surrogate | None, typer.Option(help="Who leads; by default who cross-validates better.")
]
Level = Annotated[
    float, typer.Option(min=0.0, max=0.999, help="Level of the intervals; 0 to skip them.")
]
