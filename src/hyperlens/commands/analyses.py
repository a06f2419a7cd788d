"""One command for each analysis of a run: what mattered, how it acts, what lies around the best."""

from dataclasses import replace
from typing import Annotated, Any

import typer

import hyperlens as hl
from hyperlens.commands.options import (
    CAP,
    LEVEL,
    LEVEL_OR_NONE,
    SEED,
    SURROGATE,
    WHICH,
    Part,
    Source,
    TableReading,
    configuration,
    numbers_by_name,
    output_option,
)
from hyperlens.commands.records import Form, print_record, record_command
from hyperlens.commands.runs import read, refuse_overwriting
from hyperlens.commands.signatures import expanded, like
from hyperlens.explain.importance.good import Among

QUANTILE = "Which part of the space is good; else what the trials support."


@expanded
def importance(
    source: Source,
    reading: TableReading,
    *,
    options: Annotated[
        dict[str, Any],
        like(
            hl.importances,
            order=typer.Option(min=1, max=3, help="1: parameters, 2: pairs too, 3: triples too."),
            quantile=typer.Option(min=0.01, max=0.99, help=QUANTILE),
            surrogate=SURROGATE,
            level=LEVEL_OR_NONE,
            trees=typer.Option(min=2, help="Trees of the forest."),
            seed=SEED,
        ),
    ],
    among: Annotated[
        Among | None,
        typer.Option(help="Over the whole space, or among the good; else both, side by side."),
    ] = None,
    cap: CAP = None,
    subspace: Annotated[
        str | None,
        output_option(
            metavar="FILE", help="Write the important subspace, as ConfigSpace's JSON or YAML."
        ),
    ] = None,
    size: Annotated[
        dict[str, Any],
        like(
            hl.Importance.subspace,
            coverage=typer.Option(
                min=0.01,
                max=1.0,
                help="Share of the variance that the parameters of --subspace must cover.",
            ),
        ),
    ],
    part: Part,
    form: Form = "table",
) -> None:
    from hyperlens import terminal
    from hyperlens.reports import check
    from hyperlens.surrogates.random_forest.forest import compile_ahead

    if subspace:
        refuse_overwriting(source, subspace)
        check(subspace)
    history, objective = read(source, reading, part)
    with terminal.announced_compilation(), terminal.progress() as step:
        compile_ahead()
        step("importance", 0.0)
        record = _importance(history, among, cap, {"objective": objective, **options})
    print_record(record, form, history.warnings(objective))
    if subspace:
        answer = record.leading if isinstance(record, hl.Importances) else record
        _write_subspace(answer.subspace(**size), subspace)


def _importance(
    history: hl.History, among: Among | None, cap: str | None, asked: dict[str, Any]
) -> hl.Importance | hl.Importances:
    """Over the space and among the good side by side, or what was asked for alone."""
    if among is None and cap is None:
        return hl.importances(history, **asked)
    return hl.importance(history, among=among or "all", cap=cap, **asked)


def _write_subspace(small: hl.Subspace, file: str) -> None:
    from hyperlens import terminal
    from hyperlens.reports import write

    yaml = file.lower().endswith((".yaml", ".yml"))
    path = write(file, small.space.to_yaml() if yaml else small.space.to_json())
    parameters = terminal.printable(", ".join(small.keep))
    typer.echo(f"Subspace of {parameters}: {terminal.printable(path)}", err=True)
    for note in small.notes:
        typer.echo(note, err=True)


effect = record_command(
    hl.effect,
    parameters=Annotated[
        list[str], typer.Argument(metavar="PARAMETER", help="One, or two.", show_default=False)
    ],
    surrogate=SURROGATE,
    band=typer.Option(help="Pointwise: of a single prediction. Joint: of the average."),
    level=typer.Option(min=0.01, max=0.999, help="Level of the band."),
    grid=typer.Option(min=2, max=500, help="Points per parameter."),
    exact=typer.Option(
        "--exact", help="Compute the band of a large forest exactly, however long it takes."
    ),
    cap=CAP,
    seed=SEED,
)

regions = record_command(
    hl.regions,
    parameter=typer.Argument(metavar="PARAMETER", help="Whose effect.", show_default=False),
    levels=typer.Option(min=1, max=10, help="How many times every region is split; else 3."),
    splits=typer.Option(min=1, max=500, help="How many splits are made in all, the best first."),
    until=typer.Option(
        min=0.0,
        help="Split the best trial's region until the effect's standard deviation is this on average.",
    ),
    criterion=typer.Option(help="What is to be alike within a region."),
    curve=typer.Option(
        help="What l2 and area compare: variances of the effect, or standard deviations."
    ),
    surrogate=SURROGATE,
    min_size=typer.Option(min=1, help="Fewest points of the sample on either side of a split."),
    min_improvement=typer.Option(
        min=0.0,
        max=1.0,
        help="Smallest part of the differences between curves that a split must remove.",
    ),
    seed=SEED,
)

interactions = record_command(hl.interactions, surrogate=SURROGATE, level=LEVEL_OR_NONE, seed=SEED)

failures = record_command(hl.failures, level=LEVEL, seed=SEED)

feasibility = record_command(hl.feasibility, level=LEVEL, seed=SEED)


@expanded
def curves(
    source: Source,
    reading: TableReading,
    *,
    options: Annotated[dict[str, Any], like(hl.curves, level=LEVEL, seed=SEED)],
    trial: Annotated[int | None, typer.Option(help="Say why this trial was pruned.")] = None,
    part: Part,
    form: Form = "table",
) -> None:
    from hyperlens import terminal

    history, objective = read(source, reading, part)
    with terminal.announced_compilation(), terminal.progress() as step:
        step("curves", 0.0)
        record = hl.curves(history, objective=objective, **options)
        shown = record if trial is None else record.stopped(trial)
    print_record(shown, form, history.warnings(objective) if trial is None else [])


winner = record_command(
    hl.winner,
    test=typer.Option(help="A cost on other data that was recorded too, to see overtuning."),
    noise=typer.Option(min=0.0, help="Standard deviation of a repeated cost, if it is known."),
    matters=typer.Option(min=0.0, help="The smallest difference of interest."),
    sure=typer.Option(min=0.5, max=0.999, help="How certain repeats are to make it."),
    level=LEVEL,
    seed=SEED,
)

pareto = record_command(
    hl.pareto,
    reference=Annotated[
        str | None,
        typer.Option(
            callback=numbers_by_name("reference"),
            help="Up to where the hypervolume counts: 'error=1,time=20'; else the worst measured.",
        ),
    ],
)


true_front = record_command(
    hl.true_front,
    noise=Annotated[
        str | None,
        typer.Option(
            callback=numbers_by_name("noise"),
            help="Standard deviation of a repeated measurement, where it is known: 'latency=0'.",
        ),
    ],
    level=LEVEL,
    seed=SEED,
)

effects_of = record_command(
    hl.effects_of,
    parameter=typer.Argument(metavar="PARAMETER", help="Whose effects.", show_default=False),
    surrogate=SURROGATE,
    band=typer.Option(help="Pointwise: of a single prediction. Joint: of the average."),
    level=typer.Option(min=0.01, max=0.999, help="Level of the bands."),
    grid=typer.Option(min=2, max=500, help="Points of the parameter."),
    seed=SEED,
)

tradeoff = record_command(
    hl.tradeoff,
    between=Annotated[
        str | None,
        typer.Option(
            callback=lambda text: text and tuple(name.strip() for name in text.split(",")),
            help="The two objectives, as 'loss,latency'; else the first two.",
        ),
    ],
    order=typer.Option(min=1, max=2, help="1: parameters, 2: pairs too."),
    scale=typer.Option(help="What objectives are divided by before they are weighed."),
    level=LEVEL,
    seed=SEED,
)


@expanded
def choose(
    source: Source,
    reading: TableReading,
    *,
    prefer: Annotated[
        str | None, typer.Option(help="The objective to be best in; else one without a limit.")
    ] = None,
    trial: Annotated[
        int | None, typer.Option(help="A trial to look at instead of choosing one.")
    ] = None,
    why: Annotated[
        bool, typer.Option("--why", help="What each of its values does to each objective.")
    ] = False,
    seed: Annotated[int, SEED] = 0,
    part: Part,
    form: Form = "table",
) -> None:
    """Limits are given by --where: "latency < 20 and size <= 3"."""
    from hyperlens import terminal

    history, _ = read(source, reading, replace(part, where=None))
    with terminal.announced_compilation(), terminal.progress() as step:
        step("choose", 0.0)
        record = hl.choose(history, part.where, prefer=prefer, trial=trial, why=why, seed=seed)
    print_record(record, form, history.warnings(every=True))


bias = record_command(hl.bias, seed=SEED)

ERROR = typer.Option(min=0.0, help="Standard error of a cost; else from repeats, or estimated.")

forecast = record_command(hl.forecast, error=ERROR, level=LEVEL, seed=SEED)


@expanded
def advise(
    source: Source,
    reading: TableReading,
    *,
    options: Annotated[dict[str, Any], like(hl.advise, seed=SEED)],
    part: Part,
    out: Annotated[
        str | None,
        output_option(
            metavar="FILE",
            help="Write the space: ConfigSpace's .yaml or .json, or .py with Optuna's suggestions.",
        ),
    ] = None,
    form: Form = "table",
) -> None:
    from hyperlens import terminal
    from hyperlens.reports import check, write

    if out:
        refuse_overwriting(source, out)
        check(out)
    history, objective = read(source, reading, part)
    with terminal.progress() as step:
        step("advice", 0.0)
        record = hl.advise(history, objective=objective, **options)
    print_record(record, form, history.warnings(objective))
    if out:
        typer.echo(f"Space: {terminal.printable(write(out, record.written(out)))}", err=True)


ablation = record_command(
    hl.ablation,
    source=Annotated[str, configuration("--from", help=f"Where to begin: {WHICH}")],
    target=Annotated[str, configuration("--to", help=f"Where to end: {WHICH}")],
    method=typer.Option(help="From which end to walk."),
    surrogate=SURROGATE,
    cap=CAP,
    seed=SEED,
)

local_importance = record_command(
    hl.local_importance,
    trial=Annotated[str, configuration()],
    surrogate=SURROGATE,
    cap=CAP,
    seed=SEED,
)
