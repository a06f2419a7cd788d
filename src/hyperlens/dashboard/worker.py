"""A process that reads runs and answers queries, one at a time, and says how far it is.

The page's own process computes nothing and loads no numerical library, so it answers at once
whatever happens here; to cancel is to end this process.
"""

import gc
import os
import re
import signal
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from hyperlens.dashboard.catalogue import Run, Source

FIELDS = {
    "add --maximize or --minimize": "choose one under 'Direction'",
    "--objective COLUMN": "'Cost'",
    "--objective": "'Cost'",
    "--maximize": "'Direction'",
    "--where": "'Only where'",
    "--constraint": "'Limits'",
}
MOMENT = 0.05  # seconds in which a first look follows upon the list of runs

Progress = Callable[[str, float], None]


def work(connection: Connection, sources: tuple[Source, ...]) -> None:
    """Serve until the other end is closed: tasks come in, progress and results go out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the page ends its workers itself
    from hyperlens.dashboard.reader import Reader

    reader = Reader(sources)
    ready = False
    while True:
        try:
            if not ready and not connection.poll(
                MOMENT
            ):  # load before it is needed what takes long
                import hyperlens.dashboard.query_cards  # noqa: F401

                ready = True
            task, content = connection.recv()
        except (EOFError, OSError):
            return
        try:
            result = TASKS[task](
                reader, content, lambda what, done: connection.send(("step", what, done))
            )
        except Exception as problem:
            connection.send(("failed", _sentence(problem), None))
        else:
            connection.send(("done", result, None))


def _sentence(problem: Exception) -> str:
    from hyperlens.errors import HyperlensError

    if isinstance(problem, HyperlensError):
        return _for_the_page(str(problem))
    if os.environ.get("HYPERLENS_DEBUG"):
        traceback.print_exc()
    return (
        f"Something went wrong inside hyperlens ({type(problem).__name__}); start the page with "
        "HYPERLENS_DEBUG=1 to see where, and please report it."
    )


def _for_the_page(sentence: str) -> str:
    """Where a sentence names an option, the field of the page that does the same."""
    sentence = re.sub(r" \([^()]*= ?[^()]* in Python\)", "", sentence)
    for option, field in FIELDS.items():
        sentence = re.sub(rf"{option}(?![-\w])", field, sentence)
    return sentence


def _list(reader: Any, content: Any, progress: Progress) -> list[Run]:
    runs: list[Run] = reader.runs()
    return runs


def _look(reader: Any, content: Any, progress: Progress) -> Any:
    from hyperlens.importers.uncollected import uncollected

    with uncollected():  # also while what is known of the run is made of it
        state = reader.look(*content)
    if (
        not gc.get_freeze_count()
    ):  # what was read first stays, and need not be gone through for cycles
        gc.freeze()
    return state


def _answer(reader: Any, content: Any, progress: Progress) -> dict[str, Any]:
    """Cards as HTML, and of what they were made."""
    import pandas  # noqa: F401  # whole before a thread begins: Plotly would use it half loaded

    from hyperlens.dashboard.query_cards import query_cards
    from hyperlens.reports.render import card_html
    from hyperlens.surrogates.random_forest.forest import compile_ahead

    run, query, others = content
    if not query.quick:
        compile_ahead()
    progress("reading", 0.0)
    shown = reader.read(run, query.part)
    compared = {other.title: reader.read(other, query.part) for other in others}
    runs = {title: other.history for title, other in compared.items()}
    cards = query_cards(shown.history, query, runs, progress)
    return {
        "versions": (
            shown.state.version,
            *(f"{other.state.version} {title}" for title, other in compared.items()),
        ),
        "trials": shown.state.trials,
        "html": "\n".join(
            card_html(card, own_title=card.title != card.section, live=True) for card in cards
        ),
    }


TASKS: dict[str, Callable[[Any, Any, Progress], Any]] = {
    "list": _list,
    "look": _look,
    "answer": _answer,
}
