"""`hyperlens cash` and `predict`: from a table to the best model for it, with the search explained, and
what that model says of a new table."""

import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Literal

import typer

from hyperlens.cash.data.dataset import Table, prepare, read_table
from hyperlens.cash.results.feature_use import FeatureUse
from hyperlens.cash.results.output_folder import check_folder
from hyperlens.cash.search.ensemble import Ensemble
from hyperlens.cash.search.optimizers import OptimizerName
from hyperlens.cash.search.search import Search
from hyperlens.commands.options import SEED, output_option
from hyperlens.commands.records import Form, print_record
from hyperlens.commands.runs import refuse_overwriting, stopped_by_a_signal
from hyperlens.commands.signatures import expanded, like
from hyperlens.commands.wording.durations import duration
from hyperlens.record import as_csv
from hyperlens.runs.history import History, Trial

MOST_OF_A_NAME = 60  # characters, of a column or a file in a study's name
BY_SIZE = "10; fewer from 10,000 rows on"
FOR_SEARCH = 0.2  # of --time is left at least, however long the table took to be read

FOR_WRITING, MOST_FOR_WRITING = 0.1, 3.0  # of --time, and seconds


def several(help: str, *flags: str) -> Any:
    return Annotated[list[str] | None, typer.Option(*flags, help=help)]


TABLE = like(
    prepare,
    target=typer.Option(help="Column to predict.", show_default=False),
    task=typer.Option(help="Predict classes or a number; by default the column says."),
    drop=several("Leave a column out; repeatable."),
    keep=several("Use a column that would be left out; repeatable."),
    weight=typer.Option(help="Column that says what each row counts."),
    group=typer.Option(help="Column whose equal values are held out together."),
)
SEARCH = like(
    Search,
    metric=typer.Option(
        help="A scorer of scikit-learn; by default log loss, or RMSE for a number."
    ),
    optimizer=Annotated[
        OptimizerName | None,
        typer.Option(
            help="How configurations are chosen.",
            show_default="anytime with --time, else hyperband",
        ),
    ],
    sampling=typer.Option(help="How often each model is drawn."),
    evaluations=typer.Option(
        min=1, help="Evaluations on all rows.", show_default="99; with --time what it allows"
    ),
    time=duration("--time", "Time for all of it until the model is written: 90s, 10m, 2h."),
    timeout=duration(
        "--timeout",
        "End an evaluation that takes longer; it counts as failed. By default a tenth of --time, "
        "with anytime a fifth.",
    ),
    folds=typer.Option(min=1, help="Splits of each evaluation.", show_default=BY_SIZE),
    refits=typer.Option(
        min=1, help="Trainings of the best that are averaged.", show_default=BY_SIZE
    ),
    ensemble=typer.Option(min=1, help="Configurations that predict together; 1 is the best alone."),
    stacking=typer.Option(help="Put them together by a model on top, if that helps."),
    split=typer.Option(
        help="Held-out rows: random ones, or later ones of a table in order of time."
    ),
    class_weight=Annotated[
        Literal["balanced"] | None, typer.Option(help="Let every class count the same.")
    ],
    models=several("Search these models only; repeatable.", "--model"),
    workers=typer.Option(min=1, help="Evaluations at once."),
    storage=Annotated[
        str | None,
        typer.Option(help="Where the search is kept.", show_default="search.db in the folder"),
    ],
    seed=SEED,
)


@expanded
def cash(
    source: Annotated[
        str,
        typer.Argument(metavar="TABLE", help="CSV or Parquet, with a header.", show_default=False),
    ],
    columns: Annotated[dict[str, Any], TABLE],
    choices: Annotated[dict[str, Any], SEARCH],
    out: Annotated[
        str, output_option(metavar="FOLDER", help="Where the model and its card are written.")
    ] = "model",
    html: Annotated[
        str | None, output_option(metavar="FILE", help="Write the report of the search.")
    ] = None,
    form: Form = "table",
) -> None:
    """Ctrl-C ends the search and trains and writes the best so far; a second one leaves at once."""
    from hyperlens.reports import check
    from hyperlens.terminal.text import say

    began = monotonic()
    if html:
        refuse_overwriting(source, html)
        check(html)
    table = prepare(read_table(source), name=Path(source).name, **columns)
    folder = check_folder(out)
    choices["storage"] = choices["storage"] or f"sqlite:///{folder / 'search.db'}"
    study = _study(columns["target"], table.name)
    if choices["time"] is not None:
        began = max(began, monotonic() - (1 - FOR_SEARCH) * choices["time"])
        began -= _for_writing(choices["time"])
    search = Search(
        table.X, table.y, table.task, study=study, began=began,
        weights=table.weights, groups=table.groups, **choices,
    )  # fmt: skip
    say(*table.sentences, *search.notes)
    history, stopped = _searched(search)
    _finish(search, table, history, folder, html, form)
    if stopped:
        say("Stopped early; the same command goes on with the search.")
        raise typer.Exit(130)


def predict(
    folder: Annotated[
        str, typer.Argument(metavar="MODEL", help="Folder of the model.", show_default=False)
    ],
    source: Annotated[
        str,
        typer.Argument(metavar="TABLE", help="CSV or Parquet, with a header.", show_default=False),
    ],
    out: Annotated[
        str | None,
        output_option(
            metavar="FILE", help="Write the predictions.", show_default="standard output"
        ),
    ] = None,
) -> None:
    """The prediction, and of classes the chance of each, one line for each row of the table."""
    import pandas as pd

    from hyperlens.cash.results.saved_model import read_safe

    if out:
        refuse_overwriting(source, out)
    rows = read_table(source)
    model = read_safe(folder)
    said = pd.DataFrame({"prediction": model.predict(rows)})
    if hasattr(model, "predict_proba"):
        for k, name in enumerate(model.classes_):
            said[f"chance of {name}"] = model.predict_proba(rows)[:, k]
    text = as_csv(said)
    if out:
        Path(out).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


def _for_writing(time: float) -> float:
    """Seconds of the time that are kept for the safe form of the model, if that can be written."""
    from hyperlens.cash.results.saved_model import can_be_safe

    return min(FOR_WRITING * time, MOST_FOR_WRITING) if can_be_safe() else 0.0


def _left(search: Search) -> float:
    """Seconds in which the model is to be written."""
    return search.pace.left + (0.0 if search.time is None else _for_writing(search.time))


def _study(target: str, table: str) -> str:
    """The study's name: what is predicted, and from what."""
    from hyperlens.terminal import printable

    target, table = (printable(name)[:MOST_OF_A_NAME] for name in (target, table))
    return f"cash {target} of {table}"


def _searched(search: Search) -> tuple[History, bool]:
    """The run, and whether it was stopped."""
    from hyperlens.cash.results.model_search import furthest
    from hyperlens.terminal.progress import tuning
    from hyperlens.terminal.text import say

    try:
        with stopped_by_a_signal(), tuning(search.planned or 0) as show:
            return search.run(show), False
    except KeyboardInterrupt:
        history = search.history()
        if not furthest(history):
            say("Stopped before anything was measured; the same command goes on.")
            raise typer.Exit(130) from None
        say("Stopping: the best so far is trained and written; Ctrl-C again leaves at once.")
        return history, True


def _features(search: Search, best: Trial, ensemble: Ensemble, report: bool) -> FeatureUse | None:
    """Which columns the best configuration uses; a report takes its own time for it."""
    from hyperlens.cash.results.feature_use import feature_use
    from hyperlens.cash.search.refit import Member

    left = float("inf") if report or search.time is None else search.pace.left
    key = Member({**search.searched.constants, **best.values}, 1.0).name
    if 2 * (search.pace.training(*key, 1.0) or 0.0) > left or left <= 0:
        return None
    trees = dict(zip(ensemble.trials.tolist(), ensemble.trees.tolist(), strict=True))
    values = {**search.searched.constants, **best.values}
    built = Member(values, 1.0, trees=trees.get(best.number) or None).built
    return feature_use(search.evaluation, built, search.target.__name__, left)


def _finish(
    search: Search, table: Table, history: History, folder: Path, html: str | None, form: str
) -> None:
    from hyperlens import terminal
    from hyperlens.cash.results.model_card import model_card
    from hyperlens.cash.results.model_search import ModelSearch, model_search
    from hyperlens.cash.results.output_folder import whole_pipeline, write_folder
    from hyperlens.cash.search.search import best_trial

    best = best_trial(history)
    record = model_search(history)
    model, ensemble = search.finish(history)
    features = _features(search, best, ensemble, bool(html))
    record = replace(record, features=features, calibration=ensemble.calibration)
    print_record(record, form, [])
    aside = form != "table"
    typer.echo(ensemble.sentence, err=aside)
    for said in (features, ensemble.calibration):
        if said is not None:
            typer.echo(terminal.printable(said.sentence), err=aside)
    for note in ensemble.notes:
        typer.echo(note, err=aside)
    card = model_card(search, table, record, best, model, ensemble)
    path, page = write_folder(
        folder, whole_pipeline(table, model), card, max(1.0, search.pace.left)
    )
    typer.echo(f"Model: {terminal.printable(path)}", err=aside)
    typer.echo(f"Card: {terminal.printable(page)}", err=aside)
    if html:
        from hyperlens.cash.results.model_search import so_far
        from hyperlens.reports import page as report_page
        from hyperlens.reports import write
        from hyperlens.sections.analysis import analyse
        from hyperlens.sections.choices import Choices

        analysis = analyse(so_far(history), Choices(seed=search.seed))
        seen = analysis.records["models"]
        if isinstance(seen, ModelSearch):
            seen = replace(seen, features=features, calibration=ensemble.calibration)
            analysis = replace(analysis, records={**analysis.records, "models": seen})
        path = write(html, report_page(analysis))
        typer.echo(f"Report: {terminal.printable(path)}", err=aside)
