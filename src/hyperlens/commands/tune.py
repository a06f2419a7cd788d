"""`hyperlens tune`: run an optimisation of a user's function, and go on with one."""

from __future__ import annotations

import shlex
from enum import StrEnum
from typing import Annotated

import typer

from hyperlens.commands.options import Maximize, Seed, Surrogate
from hyperlens.commands.shared import stopped_by_a_signal


class Optimizer(StrEnum):
    """How configurations are chosen."""

    smbo = "smbo"
    random = "random"
    halving = "halving"
    hyperband = "hyperband"
    asha = "asha"


class Acquisition(StrEnum):
    """What makes a configuration desirable to the model."""

    lcb = "lcb"
    ei = "ei"


class Engine(StrEnum):
    """Where trials run."""

    processes = "processes"
    dask = "dask"


def tune(
    target: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:FUNCTION",
            help="The objective: train.py:loss, or package.module:loss. It is given a "
            "configuration, a dict, and returns its cost.",
            show_default=False,
        ),
    ],
    space: Annotated[
        str, typer.Option(help="Search space, ConfigSpace's JSON or YAML.", show_default=False)
    ],
    trials: Annotated[
        int,
        typer.Option(min=1, help="Trials of the whole run; of a race, its budget in full trials."),
    ] = 80,
    storage: Annotated[
        str,
        typer.Option(help="Where the run is kept: a database's address, or a file's path."),
    ] = "sqlite:///run.db",
    optimizer: Annotated[
        Optimizer, typer.Option(help="How configurations are chosen.")
    ] = Optimizer.smbo,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Trials at once.", show_default="1, or all of Dask's")
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(help="Seconds after which a trial is ended and fails.")
    ] = None,
    time: Annotated[
        float | None, typer.Option(help="Seconds after which the run stops, to be gone on with.")
    ] = None,
    maximize: Maximize = False,
    seed: Seed = 0,
    tau: Annotated[
        float | None, typer.Option(help="smbo: weight of the uncertainty in the bound.")
    ] = None,
    acquisition: Annotated[
        Acquisition | None,
        typer.Option(help="smbo: confidence bound or expected improvement; else both in turn."),
    ] = None,
    surrogate: Annotated[
        Surrogate | None, typer.Option(help="smbo: what stands in for the objective.")
    ] = None,
    initial: Annotated[
        int | None, typer.Option(min=0, help="smbo: configurations before the first model.")
    ] = None,
    eta: Annotated[
        int | None, typer.Option(min=2, help="Races: one of so many goes on to the next rung.")
    ] = None,
    min_budget: Annotated[
        float | None, typer.Option(help="Races: smallest budget; the largest is 1.")
    ] = None,
    study: Annotated[
        str | None, typer.Option(help="Name of the run in its storage; by default the function's.")
    ] = None,
    engine: Annotated[Engine, typer.Option(help="Where trials run.")] = Engine.processes,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, tcp://host:8786.")
    ] = None,
) -> None:
    """Tune a function; killed or stopped, the same command goes on where it was."""
    from hyperlens.optimize.running.loop import Setting
    from hyperlens.optimize.running.minimize import Place, built, run
    from hyperlens.optimize.running.target import load
    from hyperlens.spaces.space import Space
    from hyperlens.terminal import printable
    from hyperlens.terminal.runs import show_run, tuning

    given = {
        "tau": tau,
        "acquisition": None if acquisition is None else acquisition.value,
        "surrogate": None if surrogate is None else surrogate.value,
        "initial": initial,
        "eta": eta,
        "min_budget": min_budget,
    }
    options = {option: chosen for option, chosen in given.items() if chosen is not None}
    searched = Space.load(space)
    method = built(optimizer.value, searched, trials, seed, options)
    objective = load(target)
    name = objective.name if study is None else study
    setting = Setting(searched, method, trials, maximize, storage, name, time)
    place = Place(workers, timeout, engine.value, scheduler, objective.files)
    try:
        with stopped_by_a_signal(), tuning(trials) as show:
            history = run(objective.function, setting, place, show)
    except KeyboardInterrupt:
        kept = f"hyperlens: Stopped; the run is kept in {printable(storage)}, and the same command"
        typer.echo(f"{kept} goes on with it.", err=True)
        raise typer.Exit(130) from None
    show_run(history)
    command = ["hyperlens", "explain", storage, "--study", name, "--html", "report.html"]
    typer.echo(f"Explain it: {printable(shlex.join(command))}")
