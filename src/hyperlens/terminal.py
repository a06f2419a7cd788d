"""Records in a terminal: tables, progress, and nothing that a user's text could smuggle in."""

from __future__ import annotations

import math
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from hyperlens.explain.bias import Bias
from hyperlens.explain.effects import Effect
from hyperlens.explain.fanova import Importance
from hyperlens.explain.interaction import Interactions
from hyperlens.explain.regions import Regions
from hyperlens.record import Record
from hyperlens.reports.analysis import Analysis, Unavailable
from hyperlens.reports.sentences import rank, where_it_is_sure, where_it_looked
from hyperlens.surrogates.quality import Quality

MOST_ROWS = 15  # of importance in the summary
MOST_LISTED = 100  # of importance or interactions on their own
MOST_VALUES = 20  # of the best configuration
CONTROL = ("Cc", "Cf", "Cs")  # Unicode's control and format characters, and lone surrogates
BANDS = {
    "pointwise": "The band is pointwise: how unsure a single prediction is, on average.",
    "joint": "The band is joint: how unsure the average itself is.",
}
COLOURS = {"trust": "green", "caution": "yellow", "do not trust": "red"}


def printable(text: object) -> str:
    """One line without control characters: what a file says must not steer the terminal."""
    clean = (" " if c in "\n\r\t" else c for c in str(text))
    return "".join(c for c in clean if unicodedata.category(c) not in CONTROL)


def escaped(value: Any) -> Any:
    """A text whose control characters are written out (\\x1b); several names joined by ':'."""
    if isinstance(value, tuple):
        return escaped(":".join(map(str, value)))
    if not isinstance(value, str):
        return value
    return "".join(
        c.encode("unicode_escape").decode() if unicodedata.category(c) in CONTROL else c
        for c in value
    )


def csv(record: Record) -> str:
    """The record's frame as CSV, its texts escaped."""
    frame = record.frame
    for column in frame.columns:
        if frame[column].map(lambda value: isinstance(value, (str, tuple))).any():
            frame[column] = [escaped(value) for value in frame[column]]
    frame.columns = [escaped(column) for column in frame.columns]
    text: str = frame.to_csv(index=False)
    return text


@contextmanager
def progress() -> Iterator[Callable[[str, float], None]]:
    """A progress bar on standard error while something long is computed; silent in a pipe."""
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with bar:
        task = bar.add_task("reading", total=1.0)
        yield lambda what, done: bar.update(task, description=printable(what), completed=done)


@contextmanager
def announced_compilation() -> Iterator[None]:
    """Say so once if numerical code has to be compiled, which happens once on a machine."""
    from numba.core import event

    class Announce(event.Listener):
        said = False

        def on_start(self, event: object) -> None:
            if not self.said:
                self.said = True
                print("Compiling numerical code, once on this machine ...", file=sys.stderr)

        def on_end(self, event: object) -> None:
            """Nothing to say."""

    with event.install_listener("numba:compile", Announce()):
        yield


def show(record: Record, warnings: Sequence[str] = ()) -> None:
    """Print one record, and what is to be known of the run it is from."""
    console = Console()
    if isinstance(record, Importance):
        trials = "1 trial" if record.trials == 1 else f"{record.trials} trials"
        console.print(Text(f"Importance for {printable(record.objective)}, from {trials}"))
        console.print(_importance(record, MOST_LISTED))
        _rest(console, record)
    elif isinstance(record, Effect):
        console.print(_effect(record))
        console.print(Text(BANDS[record.band]))
    elif isinstance(record, Regions):
        console.print(Text(printable(where_it_is_sure(record))))
        console.print(_regions(record))
    elif isinstance(record, Interactions):
        console.print(_interactions(record))
    elif isinstance(record, Bias):
        console.print(_bias(record))
        console.print(Text(printable(where_it_looked(record))))
    _sentences(console, _quality_of(record), (*warnings, *getattr(record, "notes", ())))


def show_analysis(analysis: Analysis) -> None:
    """Print the summary of a whole explanation."""
    console = Console()
    seen = analysis.overview
    states = ", ".join(f"{n} {state}" for state, n in seen.states.items())
    facts = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    facts.add_column(style="bold")
    facts.add_column(overflow="fold")
    facts.add_row("source", Text(printable(seen.source)))
    facts.add_row("trials", f"{seen.trials} ({states})")
    direction = "maximised" if seen.maximize else "minimised"
    facts.add_row("objective", Text(f"{printable(seen.objective)} ({direction})"))
    facts.add_row("best", f"{_number(seen.best)} in trial {seen.best_trial}")
    values = [f"{k} = {_value(v)}" for k, v in seen.best_values.items()]
    if len(values) > MOST_VALUES:
        values[MOST_VALUES:] = [f"and {len(values) - MOST_VALUES} more"]
    facts.add_row("", Text(printable(", ".join(values))))
    for quality in analysis.qualities:
        verdict = Text(quality.verdict, style=COLOURS[quality.verdict])
        numbers = (
            f" (R2 {_digits(quality.r2)}, rank correlation {_digits(quality.rank_correlation)}, "
            f"95 % band covers {_percent(quality.coverage)})"
        )
        facts.add_row(quality.surrogate, verdict + Text(numbers))
    console.print(facts)
    console.print()
    if isinstance(analysis.importance, Unavailable):
        console.print(Text(printable(analysis.importance.why)))
        notes: tuple[str, ...] = ()
    else:
        console.print(_importance(analysis.importance, MOST_ROWS))
        _rest(console, analysis.importance)
        notes = analysis.importance.notes
    parts = [where_it_is_sure(r) for r in analysis.regions[:1] if isinstance(r, Regions)]
    looked = analysis.bias.notes[-1:] if isinstance(analysis.bias, Bias) else (analysis.bias.why,)
    said = getattr(analysis.importance, "why", None)
    warnings = [warning for warning in analysis.warnings if warning != said]
    doubts = [q.sentence for q in analysis.qualities if q.verdict != "trust"]
    _sentences(console, None, (*parts, *looked, *seen.notes, *notes, *warnings, *doubts))


def _importance(record: Importance, most: int) -> Table:
    table = Table(title=None, box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("importance", overflow="fold", min_width=20)
    table.add_column("share", justify="right")
    table.add_column("spread", justify="right")
    if record.interval is not None:
        table.add_column(f"{record.interval:.0%} interval", justify="right", no_wrap=True)
        table.add_column("rank", justify="right")
    if record.witness_name is not None:
        table.add_column(record.witness_name, justify="right")
    for k, effect in enumerate(record.parameters[:most]):
        row: list[Any] = [Text(printable(" × ".join(effect)))]
        row += [_percent(record.share[k]), _percent(record.std[k])]
        if record.interval is not None:
            row.append(f"{_percent(record.low[k])} to {_percent(record.high[k])}")
            row.append(rank(record.rank_low[k], record.rank_high[k]))
        if record.witness_name is not None:
            row.append(_percent(record.witness[k]))
        table.add_row(*row)
    if len(record.parameters) > most:
        table.add_row(f"and {len(record.parameters) - most} more")
    return table


def _rest(console: Console, record: Importance) -> None:
    parameters = sum(len(effect) == 1 for effect in record.parameters)
    if parameters > record.order and not math.isnan(record.rest):
        console.print(f"{_percent(record.rest)} is left for interactions of higher order.")


def _effect(record: Effect) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in record.parameters:
        table.add_column(Text(printable(name)), justify="right", overflow="fold")
    band = f"{record.level:.0%} {record.band} band"
    for name in (record.objective, "std", band, "trials nearest"):
        table.add_column(Text(printable(name)), justify="right")
    for k, values in enumerate(product(*record.values)):
        at = [Text(printable(_value(value))) for value in values]
        band = f"{_number(record.low[k])} to {_number(record.high[k])}"
        mean, std = _number(record.mean[k]), _number(record.std[k])
        table.add_row(*at, mean, std, band, f"{record.support[k]:.0f}")
    return table


def _regions(record: Regions) -> Table:
    """The whole space, then each leaf."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(Text(printable(f"regions of {record.parameter}")), overflow="fold")
    for name in ("share of space", "trials", "mean std", "best trial"):
        table.add_column(name, justify="right")
    leaves = record.leaves if len(record.tree) > 1 else ()
    for region in (record.tree[0], *leaves[:MOST_LISTED]):
        table.add_row(
            Text(printable(region.rule)),
            _percent(region.share),
            str(region.trials),
            _number(region.confidence),
            "here" if region.holds_incumbent else "",
        )
    if len(leaves) > MOST_LISTED:
        table.add_row(f"and {len(leaves) - MOST_LISTED} more")
    return table


def _interactions(record: Interactions) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("interaction", overflow="fold")
    table.add_column("H", justify="right")
    if record.interval is not None:
        table.add_column(f"{record.interval:.0%} interval", justify="right")
    table.add_column("share of variance", justify="right")
    for k, pair in enumerate(record.pairs[:MOST_LISTED]):
        row: list[Any] = [Text(printable(" × ".join(pair))), _digits(record.h[k])]
        if record.interval is not None:
            row.append(f"{_digits(record.low[k])} to {_digits(record.high[k])}")
        table.add_row(*row, _percent(record.share[k]))
    if len(record.pairs) > MOST_LISTED:
        table.add_row(f"and {len(record.pairs) - MOST_LISTED} more")
    return table


def _bias(record: Bias) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("searched unevenly", overflow="fold")
    table.add_column("MMD", justify="right")
    table.add_column("p", justify="right")
    table.add_row("all parameters", _digits(record.mmd), f"{record.p:.3f}")
    numbers = zip(record.parameters, record.parameter_mmd, record.parameter_p, strict=True)
    for name, mmd, p in list(numbers)[:MOST_LISTED]:
        table.add_row(Text(printable(name)), _digits(mmd), f"{p:.3f}")
    if len(record.parameters) > MOST_LISTED:
        table.add_row(f"and {len(record.parameters) - MOST_LISTED} more")
    return table


def _quality_of(record: Record) -> Quality | None:
    return getattr(record, "quality", None)


def _sentences(console: Console, quality: Quality | None, notes: tuple[str, ...]) -> None:
    if quality is not None:
        console.print()
        console.print(Text(quality.sentence, style=COLOURS[quality.verdict]))
    for note in dict.fromkeys(notes):
        console.print(Text(f"- {printable(note)}"))


def _number(x: float) -> str:
    return "unknown" if math.isnan(x) else f"{x:.4g}"


def _digits(x: float) -> str:
    return "unknown" if math.isnan(x) else f"{round(x, 2) + 0.0:.2f}"  # never -0.00


def _percent(x: float) -> str:
    return "unknown" if math.isnan(x) else f"{100 * x:.1f} %"


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
