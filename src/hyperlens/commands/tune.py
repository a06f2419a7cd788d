"""`hyperlens tune`: run an optimisation of a user's function, and go on with one."""

import json
import shlex
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import hyperlens as hl
from hyperlens.commands.next.settling import Settled
from hyperlens.commands.options import SEED
from hyperlens.commands.records import Form, print_record
from hyperlens.commands.runs import stopped_by_a_signal
from hyperlens.commands.signatures import expanded, like
from hyperlens.commands.wording.durations import duration
from hyperlens.errors import HyperlensError, SourceError, SpaceError
from hyperlens.explain.proposals.hindsight import hindsight, knew
from hyperlens.optimize.running.goal import Goal, as_goal
from hyperlens.optimize.running.loop import Setting
from hyperlens.optimize.running.minimize import OptimizerName, Place, built, name_of, run
from hyperlens.optimize.running.stopping import as_stop
from hyperlens.optimize.running.target import load
from hyperlens.proposal import Acquisition
from hyperlens.spaces.space import Space
from hyperlens.surrogates.protocol import SearchKind
from hyperlens.words import number

smbo_option = partial(typer.Option, rich_help_panel="Of the optimiser smbo")
race_option = partial(typer.Option, rich_help_panel="Of races: halving, hyperband, asha")
measured_option = partial(typer.Option, rich_help_panel="What the objective returns")
ending_option = partial(typer.Option, rich_help_panel="When it ends")
place_option = partial(typer.Option, rich_help_panel="Where trials run")
kept_option = partial(typer.Option, rich_help_panel="Where it is kept")


@dataclass(frozen=True)
class OptimizerOptions:
    """What some optimisers can be told; those that are left out are theirs to choose."""

    tau: Annotated[float | None, smbo_option(help="Weight of the uncertainty in the bound.")] = None
    acquisition: Annotated[
        Acquisition | None,
        smbo_option(help="Confidence bound or expected improvement; else both in turn."),
    ] = None
    surrogate: Annotated[
        SearchKind | None, smbo_option(help="What stands in for the objective.")
    ] = None
    initial: Annotated[
        int | None, smbo_option(min=0, help="Configurations before the first model.")
    ] = None
    explain: Annotated[
        float | None,
        smbo_option(help="Part of the trials that goes to the explanation, such as 0.3."),
    ] = None
    eta: Annotated[
        int | None,
        race_option(min=2, help="Of this many configurations one goes on to the next rung."),
    ] = None
    min_budget: Annotated[float | None, race_option(help="Smallest budget; the largest is 1.")] = (
        None
    )


@dataclass(frozen=True)
class Ending:
    """Whether a run stops before all its trials."""

    stop: Annotated[
        bool,
        ending_option(
            "--stop",
            help="Stop when more trials would gain less than the standard error of a cost.",
        ),
    ] = False
    error: Annotated[
        float | None,
        ending_option(
            min=0.0, help="The same with this standard error, if it is known; implies --stop."
        ),
    ] = None

    @property
    def rule(self) -> hl.Stop | None:
        return as_stop(self.stop if self.error is None else self.error)


@dataclass(frozen=True)
class Beforehand:
    """What is known before the run."""

    prior: Annotated[
        list[str] | None,
        smbo_option(help="A value thought good, as in lr=0.001; repeatable."),
    ] = None
    first: Annotated[
        Path | None,
        smbo_option(
            metavar="FILE", help="Configurations to try first, a JSON file with a list of dicts."
        ),
    ] = None
    learn_from: Annotated[
        list[str] | None,
        smbo_option(help="An earlier run to learn from; repeatable."),
    ] = None

    def options(self, space: Space) -> dict[str, Any]:
        """As the optimiser takes them, without what was not given."""
        found: dict[str, Any] = {}
        if self.prior:
            found["prior"] = dict(_guess(text, space) for text in self.prior)
        if self.first:
            found["first"] = _configurations(self.first)
        if self.learn_from:
            found["learn_from"] = [hl.read(source) for source in self.learn_from]
        return found


def _guess(text: str, space: Space) -> tuple[str, Any]:
    """A parameter and its value; a choice is found by how it is written."""
    name, equals, value = text.partition("=")
    if not equals:
        raise SpaceError(f"The prior '{text}' has no value; write it as in lr=0.001.")
    if name not in space.names or not space[name].choices:
        try:
            return name, float(value)
        except ValueError:
            raise SpaceError(f"The prior '{text}' is no number; write it as in lr=0.001.") from None
    named = {str(choice): choice for choice in space[name].choices}
    return name, named.get(value, value)


def _configurations(path: Path) -> list[dict[str, Any]]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise SourceError(f"'{path}' cannot be read as JSON ({problem}); correct it.") from problem
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise SourceError(f"'{path}' holds no list of configurations; write [{{...}}, ...].")
    return found


COUNTED = ("smbo", "random")  # optimisers whose trials are those of --trials; races have more


@dataclass(frozen=True)
class Measured:
    """What the objective returns, if it is more than one cost."""

    objectives: Annotated[
        list[str] | None,
        measured_option(
            "--objective",
            help="Names of what it returns, in their order or keys of a dict: 'loss,accuracy:max'; "
            "repeatable.",
        ),
    ] = None
    constraint: Annotated[
        list[str] | None,
        measured_option(help="What a trial must keep to be of use: 'latency < 20'; repeatable."),
    ] = None

    def goal(self, maximize: bool, name: str) -> Goal | None:
        return as_goal(self.objectives, self.constraint, maximize, name)


PLAN = like(
    hl.minimize,
    optimizer=Annotated[OptimizerName, typer.Option(help="How configurations are chosen.")],
    trials=typer.Option(min=1, help="Trials of the whole run; of a race, those at full budget."),
    time=duration("--time", "Stop after this time; the same command goes on later: 90s, 10m, 2h."),
    seed=SEED,
)
PLACE = like(
    Place,
    workers=place_option(min=1, help="Trials at once.", show_default="1, or all of Dask's"),
    timeout=duration(
        "--timeout",
        "End a trial that takes longer; it counts as failed: 90s, 10m, 2h.",
        rich_help_panel="Where trials run",
    ),
    scheduler=place_option(help="Address of a Dask scheduler, tcp://host:8786."),
)


Direction = Annotated[
    bool,
    measured_option(
        "--maximize/--minimize",
        help="Whether larger or smaller values of the objective are better.",
    ),
]
Storage = Annotated[
    str, kept_option(help="Where the run is kept: a database's address, or a file's path.")
]
Study = Annotated[
    str | None, kept_option(help="Name of the run in its storage; by default the function's.")
]
SpaceFile = Annotated[
    str,
    typer.Option(
        help="The space to search: a YAML or JSON file with a line such as "
        "'lr: {low: 1e-5, high: 1.0, log: true}', or as ConfigSpace writes it.",
        show_default=False,
    ),
]
EngineName = Annotated[Literal["processes", "dask"], place_option(help="Where trials run.")]


@expanded
def tune(
    target: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:FUNCTION",
            help="The objective: train.py:loss, or package.module:loss. It is given a "
            "configuration, a dict, and returns its cost, or several.",
            show_default=False,
        ),
    ],
    space: SpaceFile,
    plan: Annotated[dict[str, Any], PLAN],
    options: OptimizerOptions,
    place: Annotated[Place, PLACE],
    settled: Settled,
    ending: Ending,
    measured: Measured,
    beforehand: Beforehand,
    maximize: Direction = False,
    storage: Storage = "sqlite:///run.db",
    study: Study = None,
    engine: EngineName = "processes",
    form: Form = "table",
) -> None:
    from hyperlens.terminal import printable
    from hyperlens.terminal.progress import tuning
    from hyperlens.terminal.text import say

    known = {name: value for name, value in asdict(options).items() if value is not None}
    searched, trials, objective = Space.load(space), plan["trials"], load(target)
    known |= beforehand.options(searched)
    optimizer = built(plan["optimizer"], searched, trials, plan["seed"], known)
    study = objective.name if study is None else study
    goal = measured.goal(maximize, name_of(objective.function))
    more = {"stop": ending.rule, "seed": plan["seed"], "goal": goal}
    setting = Setting(searched, optimizer, trials, maximize, storage, study, plan["time"], **more)
    place = replace(place, engine=engine, files=objective.files)
    before = _trials(storage, study)
    try:
        with stopped_by_a_signal(), tuning(trials) as show:
            history = run(objective.function, setting, place, show)
        if settled.confirm:
            setting = replace(settled.after(history, setting), stop=None)
            with stopped_by_a_signal(), tuning(setting.trials) as show:
                history = run(objective.function, setting, place, show)
    except KeyboardInterrupt:
        kept = f"hyperlens: Stopped{_best_so_far(storage, study)}; the run is kept in"
        typer.echo(f"{kept} {printable(storage)}, and the same command goes on with it.", err=True)
        raise typer.Exit(130) from None
    if plan["optimizer"] in COUNTED and len(history.trials) == before > setting.trials:
        say(f"The run has {before} trials already, more than the {setting.trials} of --trials.")
    if form == "table":
        _show(history, setting, bool(settled.confirm))
    else:
        print_record(hl.overview(history), form, [])


def _show(history: hl.History, setting: Setting, confirmed: bool) -> None:
    from hyperlens.terminal import printable
    from hyperlens.terminal.run import show_run

    show_run(history)
    if knew(history):
        typer.echo(printable(hindsight(history).sentence))
    if confirmed:
        typer.echo(printable(hl.confirmed(history).sentence))
    where = [str(setting.storage), "--study", str(setting.study)]
    command = ["hyperlens", "explain", *where, "--html", "report.html"]
    typer.echo(f"Explain it: {printable(shlex.join(command))}")


def _trials(storage: str, study: str) -> int:
    """How many trials of the run there are."""
    try:
        return len(hl.read(storage, study).trials)
    except HyperlensError:
        return 0


def _best_so_far(storage: str, study: str) -> str:
    """Of a run that was stopped; nothing where nothing was measured yet."""
    try:
        best = hl.read(storage, study).best()
    except HyperlensError:
        return ""
    return f" with {number(best.costs[0])} as the best so far, in trial {best.number}"
