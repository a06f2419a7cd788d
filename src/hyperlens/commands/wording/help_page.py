"""How a command's options are shown: its own first, then those that many commands share, by topic.

Two columns and no box: in 80 columns a sentence then has twice the room that it has in a table.
"""

import re
from typing import Any

from typer.core import TyperCommand

THE_RUN = "How the run is read"
TRIALS = "Which trials count"
OUTPUT = "What is written"

ARGUMENTS, OPTIONS = "Arguments", "Options"
ORDER = (ARGUMENTS, OPTIONS, OUTPUT, THE_RUN, TRIALS)  # other topics come after the options


class SortedCommand(TyperCommand):
    """A command whose options stand under their topics."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        topics: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is not None:
                topics.setdefault(_topic(parameter), []).append((_evened(row[0]), row[1]))
        for topic in sorted(topics, key=_place):
            with formatter.section(topic):
                formatter.write_dl(topics[topic])


def _topic(parameter: Any) -> str:
    usual = ARGUMENTS if parameter.param_type_name == "argument" else OPTIONS
    return getattr(parameter, "rich_help_panel", None) or usual


def _place(topic: str) -> float:
    return ORDER.index(topic) if topic in ORDER else ORDER.index(OPTIONS) + 0.5


def _evened(flags: str) -> str:
    """Types as people say them; the bounds of a range stand at the end of its sentence."""
    return re.sub(r"<list\[(\w+)\]>", r"<\1>", flags.replace(" range>", ">"))
