"""`hyperlens tune`: run an optimisation of a user's function, and go on with one."""

import shlex
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal

import typer

import hyperlens as hl
from hyperlens.commands.next.settling import Settled
from hyperlens.commands.options import SEED
from hyperlens.commands.runs import stopped_by_a_signal
from hyperlens.commands.signatures import expanded, like
from hyperlens.optimize.running.loop import Setting
from hyperlens.optimize.running.minimize import OptimizerName, Place, built, run
from hyperlens.optimize.running.stopping import as_stop
from hyperlens.optimize.running.target import load
from hyperlens.proposal import Acquisition
from hyperlens.spaces.space import Space
from hyperlens.surrogates.protocol import SearchKind


@dataclass(frozen=True)
class OptimizerOptions:
    """What some optimisers can be told; those that are left out are theirs to choose."""

    tau: Annotated[
        float | None, typer.Option(help="smbo: weight of the uncertainty in the bound.")
    ] = None
    acquisition: Annotated[
        Acquisition | None,
        typer.Option(help="smbo: confidence bound or expected improvement; else both in turn."),
    ] = None
    surrogate: Annotated[
        SearchKind | None, typer.Option(help="smbo: what stands in for the objective.")
    ] = None
    initial: Annotated[
        int | None, typer.Option(min=0, help="smbo: configurations before the first model.")
    ] = None
    explain: Annotated[
        float | None,
        typer.Option(help="smbo: part of the trials that goes to the explanation, such as 0.3."),
    ] = None
    eta: Annotated[
        int | None, typer.Option(min=2, help="Races: one of so many goes on to the next rung.")
    ] = None
    min_budget: Annotated[
        float | None, typer.Option(help="Races: smallest budget; the largest is 1.")
    ] = None


@dataclass(frozen=True)
class Ending:
    """Whether a run stops before all its trials."""

    stop: Annotated[
        bool,
        typer.Option(
            "--stop", help="Stop when more trials would gain less than the noise of costs."
        ),
    ] = False
    error: Annotated[
        float | None,
        typer.Option(min=0.0, help="Stop too; this is the standard error of a cost."),
    ] = None

    @property
    def rule(self) -> hl.Stop | None:
        return as_stop(self.stop if self.error is None else self.error)


PLAN = like(
    hl.minimize,
    optimizer=Annotated[OptimizerName, typer.Option(help="How configurations are chosen.")],
    trials=typer.Option(min=1, help="Trials of the whole run; of a race, so many at full budget."),
    time=typer.Option(help="Seconds after which the run stops, to be gone on with."),
    seed=SEED,
)
PLACE = like(
    Place,
    workers=typer.Option(min=1, help="Trials at once.", show_default="1, or all of Dask's"),
    timeout=typer.Option(help="Seconds after which a trial is ended and fails."),
    scheduler=typer.Option(help="Address of a Dask scheduler, tcp://host:8786."),
)


@expanded
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
    plan: Annotated[dict[str, Any], PLAN],
    options: OptimizerOptions,
    place: Annotated[Place, PLACE],
    settled: Settled,
    ending: Ending,
    maximize: Annotated[
        bool, typer.Option("--maximize", help="Larger values of the objective are better.")
    ] = False,
    storage: Annotated[
        str, typer.Option(help="Where the run is kept: a database's address, or a file's path.")
    ] = "sqlite:///run.db",
    study: Annotated[
        str | None, typer.Option(help="Name of the run in its storage; by default the function's.")
    ] = None,
    engine: Annotated[
        Literal["processes", "dask"], typer.Option(help="Where trials run.")
    ] = "processes",
) -> None:
    from hyperlens.terminal import printable
    from hyperlens.terminal.progress import tuning
    from hyperlens.terminal.run import show_run

    known = {name: value for name, value in asdict(options).items() if value is not None}
    searched, trials = Space.load(space), plan["trials"]
    optimizer = built(plan["optimizer"], searched, trials, plan["seed"], known)
    objective = load(target)
    study = objective.name if study is None else study
    more = {"stop": ending.rule, "seed": plan["seed"]}
    setting = Setting(searched, optimizer, trials, maximize, storage, study, plan["time"], **more)
    place = replace(place, engine=engine, files=objective.files)
    try:
        with stopped_by_a_signal(), tuning(trials) as show:
            history = run(objective.function, setting, place, show)
        if settled.confirm:
            setting = replace(settled.after(history, setting), stop=None)
            with stopped_by_a_signal(), tuning(setting.trials) as show:
                history = run(objective.function, setting, place, show)
    except KeyboardInterrupt:
        kept = f"hyperlens: Stopped; the run is kept in {printable(storage)}, and the same command"
        typer.echo(f"{kept} goes on with it.", err=True)
        raise typer.Exit(130) from None
    show_run(history)
    if settled.confirm:
        typer.echo(printable(hl.confirmed(history).sentence))
    command = ["hyperlens", "explain", storage, "--study", study, "--html", "report.html"]
    typer.echo(f"Explain it: {printable(shlex.join(command))}")
