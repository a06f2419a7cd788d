"""The command line. It reads, asks for records, and shows them; it computes nothing itself."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from hyperlens import __version__
from hyperlens.errors import HyperlensError, SourceError
from hyperlens.options import (
    Band,
    Budget,
    Cap,
    Cost,
    Criterion,
    Curve,
    Format,
    Interval,
    Leader,
    Maximize,
    Seed,
    Shown,
    Source,
    SpaceFile,
    Study,
    Surrogate,
)

if TYPE_CHECKING:
    from hyperlens.history import History
    from hyperlens.record import Record

app = typer.Typer(
    name="hyperlens",
    help="Explain a hyperparameter tuning run: what mattered, how, and how surely.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def version_or_help(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


@app.command()
def explain(
    source: Source,
    study: Study = None,
    space: SpaceFile = None,
    cost: Cost = None,
    maximize: Maximize = False,
    html: Annotated[str | None, typer.Option(help="Write the report to this file.")] = None,
    json: Annotated[str | None, typer.Option(help="Write all records to this file.")] = None,
    interval: Interval = 0.9,
    seed: Seed = 0,
) -> None:
    """Explain a whole run: a summary here, and a report with --html."""
    from hyperlens import terminal
    from hyperlens.reports import check, page, write
    from hyperlens.reports.analysis import analyse
    from hyperlens.surrogates.forest import compile_ahead

    for path in filter(None, (html, json)):
        _spare(source, path)
        check(path)
    history = _read(source, study, space, cost, maximize)
    with terminal.announced_compilation(), terminal.progress() as step:
        compile_ahead()
        analysis = analyse(
            history,
            objective=_objective(history, cost),
            seed=seed,
            interval=interval or None,
            progress=step,
        )
    terminal.show_analysis(analysis)
    if html:
        typer.echo(f"Report: {terminal.printable(write(html, page(analysis)))}")
    if json:
        written = write(json, analysis.to_json() + "\n")
        typer.echo(f"Records: {terminal.printable(written)}")


@app.command()
def importance(
    source: Source,
    study: Study = None,
    space: SpaceFile = None,
    cost: Cost = None,
    maximize: Maximize = False,
    order: Annotated[
        int, typer.Option(min=1, max=3, help="1: parameters, 2: pairs too, 3: triples too.")
    ] = 2,
    cap: Cap = None,
    budget: Budget = None,
    surrogate: Leader = None,
    subspace: Annotated[
        str | None,
        typer.Option(help="Write the important subspace (ConfigSpace JSON or YAML) to this file."),
    ] = None,
    coverage: Annotated[
        float, typer.Option(min=0.01, max=1.0, help="Share that the subspace must cover.")
    ] = 0.9,
    interval: Interval = 0.9,
    trees: Annotated[int, typer.Option(min=2, help="Trees of the forest.")] = 64,
    seed: Seed = 0,
    shown: Shown = Format.table,
) -> None:
    """Which parameters and pairs the variance of the cost comes from (functional ANOVA)."""
    from hyperlens import terminal
    from hyperlens.explain.fanova import importance as compute
    from hyperlens.reports import check, write
    from hyperlens.surrogates.forest import compile_ahead

    if subspace:
        _spare(source, subspace)
        check(subspace)
    history = _read(source, study, space, cost, maximize)
    objective = _objective(history, cost)
    with terminal.announced_compilation(), terminal.progress() as step:
        compile_ahead()
        step("importance", 0.0)
        record = compute(
            history,
            order,
            interval=interval or None,
            surrogate=None if surrogate is None else surrogate.value,
            cap=cap,
            trees=trees,
            seed=seed,
            objective=objective,
            budget=budget,
        )
    _print(record, shown, history.warnings(objective))
    if subspace:
        chosen = record.subspace(coverage)
        yaml = subspace.lower().endswith((".yaml", ".yml"))
        path = write(subspace, chosen.space.to_yaml() if yaml else chosen.space.to_json())
        kept = terminal.printable(", ".join(chosen.keep))
        typer.echo(f"Subspace of {kept}: {terminal.printable(path)}", err=True)
        for note in chosen.notes:
            typer.echo(note, err=True)


@app.command()
def effect(
    source: Source,
    parameters: Annotated[
        list[str], typer.Argument(help="One parameter, or two.", show_default=False)
    ],
    study: Study = None,
    space: SpaceFile = None,
    cost: Cost = None,
    maximize: Maximize = False,
    surrogate: Annotated[Surrogate, typer.Option(help="What to explain.")] = Surrogate.gp,
    band: Annotated[
        Band, typer.Option(help="Pointwise: of a single prediction. Joint: of the average.")
    ] = Band.pointwise,
    level: Annotated[float, typer.Option(min=0.01, max=0.999, help="Level of the band.")] = 0.95,
    grid: Annotated[int, typer.Option(min=2, max=500, help="Points per parameter.")] = 20,
    cap: Cap = None,
    budget: Budget = None,
    seed: Seed = 0,
    shown: Shown = Format.table,
) -> None:
    """How the cost depends on one or two parameters, with a confidence band."""
    from hyperlens.explain.effects import effect as compute

    history = _read(source, study, space, cost, maximize)
    objective = _objective(history, cost)
    record = compute(
        history,
        parameters,
        surrogate=surrogate.value,
        band=band.value,
        level=level,
        grid=grid,
        seed=seed,
        objective=objective,
        budget=budget,
        cap=cap,
    )
    _print(record, shown, history.warnings(objective))


@app.command()
def regions(
    source: Source,
    parameter: Annotated[str, typer.Argument(help="Whose effect.", show_default=False)],
    study: Study = None,
    space: SpaceFile = None,
    cost: Cost = None,
    maximize: Maximize = False,
    levels: Annotated[
        int | None, typer.Option(min=1, max=10, help="Split every region so often; else 3.")
    ] = None,
    splits: Annotated[
        int | None, typer.Option(min=1, max=500, help="So many splits, the best first.")
    ] = None,
    until: Annotated[
        float | None,
        typer.Option(min=0.0, help="Split the best trial's region down to this mean std."),
    ] = None,
    criterion: Annotated[
        Criterion, typer.Option(help="What is to be alike within a region.")
    ] = Criterion.l2,
    curve: Annotated[
        Curve, typer.Option(help="Which curves l2 and area compare.")
    ] = Curve.variance,
    surrogate: Annotated[Surrogate, typer.Option(help="What to explain.")] = Surrogate.gp,
    min_size: Annotated[
        int, typer.Option(min=1, help="Points of the sample on each side of a split.")
    ] = 2,
    min_improvement: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Part of the impurity a split takes away.")
    ] = 0.0,
    seed: Seed = 0,
    shown: Shown = Format.table,
) -> None:
    """Where the effect of a parameter is sure: regions of the space, by rules."""
    from hyperlens import terminal
    from hyperlens.explain.regions import regions as compute

    history = _read(source, study, space, cost, maximize)
    objective = _objective(history, cost)
    with terminal.announced_compilation(), terminal.progress() as step:
        step("regions", 0.0)
        record = compute(
            history,
            parameter,
            levels=levels,
            splits=splits,
            until=until,
            min_size=min_size,
            min_improvement=min_improvement,
            criterion=criterion.value,
            curve=curve.value,
            surrogate=surrogate.value,
            seed=seed,
            objective=objective,
        )
    _print(record, shown, history.warnings(objective))


@app.command()
def interactions(
    source: Source,
    study: Study = None,
    space: SpaceFile = None,
    cost: Cost = None,
    maximize: Maximize = False,
    surrogate: Leader = None,
    interval: Interval = 0.9,
    seed: Seed = 0,
    shown: Shown = Format.table,
) -> None:
    """How strongly each two parameters act together (Friedman's H)."""
    from hyperlens import terminal
    from hyperlens.explain.interaction import interactions as compute

    history = _read(source, study, space, cost, maximize)
    objective = _objective(history, cost)
    with terminal.announced_compilation(), terminal.progress() as step:
        step("interactions", 0.0)
        record = compute(
            history,
            surrogate=None if surrogate is None else surrogate.value,
            interval=interval or None,
            seed=seed,
            objective=objective,
        )
    _print(record, shown, history.warnings(objective))


@app.command()
def bias(
    source: Source,
    study: Study = None,
    space: SpaceFile = None,
    cost: Cost = None,
    maximize: Maximize = False,
    seed: Seed = 0,
    shown: Shown = Format.table,
) -> None:
    """Where the search looked and where it did not, against an even search."""
    from hyperlens.explain.bias import bias as compute

    history = _read(source, study, space, cost, maximize)
    _print(compute(history, seed=seed), shown, history.warnings(_objective(history, cost)))


def _read(
    source: str, study: str | None, space: str | None, cost: str | None, maximize: bool
) -> History:
    from hyperlens.importers import read

    return read(source, study, space, cost, maximize or None)


def _objective(history: History, cost: str | None) -> str | None:
    return cost if cost in {o.name for o in history.objectives} else None


def _spare(source: str, path: str) -> None:
    """Never write over the run that is read."""
    run = Path(source.split(":///")[-1])
    if run.exists() and Path(path).exists() and run.samefile(path):
        raise SourceError(f"'{path}' is the run itself; choose another file to write to.")


def _print(record: Record, shown: Format, warnings: list[str]) -> None:
    from hyperlens import terminal

    if shown is Format.json:
        typer.echo(record.to_json())
    elif shown is Format.csv:
        typer.echo(terminal.csv(record), nl=False)
    else:
        terminal.show(record, warnings)


def main() -> NoReturn:
    """Run the command line; an error is one sentence on standard error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without Unicode shows what it can
            stream.reconfigure(errors="backslashreplace")
    try:
        sys.exit(app(standalone_mode=False))
    except HyperlensError as problem:
        _complain(str(problem))
        sys.exit(2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except (KeyboardInterrupt, typer.Abort):
        _complain("Stopped.")
        sys.exit(130)
    except Exception as problem:
        if hasattr(problem, "format_message"):  # Typer's, or in its older versions Click's
            _complain(_usage(problem))
            sys.exit(2)
        if os.environ.get("HYPERLENS_DEBUG"):
            raise
        _complain(
            f"Something went wrong inside hyperlens ({type(problem).__name__}: {problem}); "
            "set HYPERLENS_DEBUG=1 to see where, and please report it."
        )
        sys.exit(1)


def _usage(problem: Any) -> str:
    """A wrong call in one sentence."""
    command = problem.ctx.command_path if getattr(problem, "ctx", None) else "hyperlens"
    return f"{problem.format_message().rstrip('.')}; see '{command} --help'."


def _complain(sentence: str) -> None:
    from hyperlens.terminal import printable

    typer.echo(f"hyperlens: {printable(sentence)}", err=True)
