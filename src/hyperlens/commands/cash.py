"""`hyperlens cash`: from a table to the best model for it, with the search explained."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hyperlens.commands.options import Seed
from hyperlens.commands.shared import spare, stopped_by_a_signal
from hyperlens.errors import AnalysisError

if TYPE_CHECKING:
    from hyperlens.cash.data.dataset import Table
    from hyperlens.cash.search.search import Search
    from hyperlens.runs.history import History

MOST_OF_A_NAME = 60  # characters, of a column or a file in a study's name
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


class Optimizer(StrEnum):
    """How configurations are chosen."""

    hyperband = "hyperband"
    halving = "halving"
    asha = "asha"
    random = "random"
    smbo = "smbo"


class Sampling(StrEnum):
    """How often a model is drawn."""

    weighted = "weighted"
    volume = "volume"
    uniform = "uniform"


class Task(StrEnum):
    """What is predicted."""

    classification = "classification"
    regression = "regression"


def cash(
    source: Annotated[
        str,
        typer.Argument(metavar="TABLE", help="CSV or Parquet, with a header.", show_default=False),
    ],
    target: Annotated[str, typer.Option(help="Column to predict.", show_default=False)],
    task: Annotated[
        Task | None, typer.Option(help="Predict classes or a number; by default the column says.")
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(help="A scorer of scikit-learn; by default log loss, or RMSE for a number."),
    ] = None,
    optimizer: Annotated[
        Optimizer, typer.Option(help="How configurations are chosen.")
    ] = Optimizer.hyperband,
    sampling: Annotated[
        Sampling, typer.Option(help="How often each model is drawn.")
    ] = Sampling.weighted,
    budget: Annotated[int, typer.Option(min=1, help="Evaluations on all rows.")] = 99,
    time: Annotated[
        str | None, typer.Option(help="Then no evaluation begins: 90s, 10m, 2h.")
    ] = None,
    timeout: Annotated[
        str | None,
        typer.Option(help="Ends one evaluation, which fails; by default a tenth of --time."),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            min=1, help="Splits of each evaluation.", show_default="10; fewer from 10,000 rows on"
        ),
    ] = None,
    refits: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Trainings of the best that are averaged.",
            show_default="10; fewer from 10,000 rows on",
        ),
    ] = None,
    models: Annotated[
        list[str] | None, typer.Option("--model", help="Search these models only (repeat).")
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Leave a column out (repeat).")] = None,
    keep: Annotated[
        list[str] | None, typer.Option(help="Use a column that would be left out (repeat).")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Evaluations at once.")] = 1,
    storage: Annotated[
        str | None,
        typer.Option(help="Where the search is kept.", show_default="search.db in the folder"),
    ] = None,
    out: Annotated[str, typer.Option(help="Folder for the model and its card.")] = "model",
    html: Annotated[str | None, typer.Option(help="Write the report of the search here.")] = None,
    seed: Seed = 0,
) -> None:
    """Find the best model for a table and train it; stopped, the same command goes on.

    Ctrl-C ends the search and trains and writes the best so far; a second one leaves at once.
    """
    from hyperlens.cash.data.dataset import prepare, read_table
    from hyperlens.cash.results.output_folder import check_folder
    from hyperlens.cash.search.search import Search
    from hyperlens.reports import check
    from hyperlens.terminal.cash import say

    if html:
        spare(source, html)
        check(html)
    frame = read_table(source)
    table = prepare(
        frame,
        target,
        None if task is None else task.value,
        name=Path(source).name,
        keep=keep or (),
        drop=drop or (),
    )
    limit, patience = seconds(time, "--time"), seconds(timeout, "--timeout")
    folder = check_folder(out)
    search = Search(
        table.X,
        table.y,
        table.task,
        budget,
        optimizer.value,
        sampling.value,
        folds,
        metric,
        limit,
        patience,
        workers,
        storage or f"sqlite:///{folder / 'search.db'}",
        _study(target, table.name),
        seed=seed,
        models=models,
        refits=refits,
    )
    say(*table.sentences, *search.notes)
    history, stopped = _searched(search)
    _finish(search, table, history, folder, html)
    if stopped:
        say("Stopped early; the same command goes on with the search.")
        raise typer.Exit(130)


def seconds(text: str | None, option: str) -> float | None:
    """A duration such as 90, 90s, 1.5h."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd]?)", text.strip().lower())
    if found is None or not float(found[1]):
        raise AnalysisError(
            f"'{text}' is no duration for {option}; write 90s, 10m or 2h, more than nothing."
        )
    return float(found[1]) * UNITS[found[2]]


def _study(target: str, table: str) -> str:
    """The study's name: what is predicted, and from what."""
    from hyperlens.terminal import printable

    target, table = (printable(name)[:MOST_OF_A_NAME] for name in (target, table))
    return f"cash {target} of {table}"


def _searched(search: Search) -> tuple[History, bool]:
    """The run, and whether it was stopped."""
    from hyperlens.cash.results.model_search import furthest
    from hyperlens.terminal.cash import say
    from hyperlens.terminal.runs import tuning

    try:
        with stopped_by_a_signal(), tuning(search.budget) as show:
            return search.run(show), False
    except KeyboardInterrupt:
        history = search.history()
        if not furthest(history):
            say("Stopped before anything was measured; the same command goes on.")
            raise typer.Exit(130) from None
        say("Stopping: the best so far is trained and written; Ctrl-C again leaves at once.")
        return history, True


def _finish(search: Search, table: Table, history: History, folder: Path, html: str | None) -> None:
    from hyperlens import terminal
    from hyperlens.cash.results.model_card import model_card
    from hyperlens.cash.results.model_search import model_search
    from hyperlens.cash.results.output_folder import deliver, whole_pipeline
    from hyperlens.cash.search.search import best_trial

    best = best_trial(history)
    record = model_search(history, search.sampling, search.budget)
    terminal.show(record)
    model = search.refit(best)
    card = model_card(search, table, record, best, model)
    written, page = deliver(folder, whole_pipeline(table, model), card)
    typer.echo(f"Model: {terminal.printable(written)}")
    typer.echo(f"Card: {terminal.printable(page)}")
    if html:
        from hyperlens.reports import write
        from hyperlens.reports.models import models_page

        path = write(html, models_page(history, record, search.seed))
        typer.echo(f"Report: {terminal.printable(path)}")
