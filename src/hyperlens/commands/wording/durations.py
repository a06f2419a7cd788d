"""Options that take a time as people write it: 90, 90s, 10m, 1.5h."""

import re
from typing import Annotated, Any

import typer

from hyperlens.errors import AnalysisError

UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def duration(flag: str, help: str, **more: Any) -> Any:
    """An option that hands over seconds."""

    def read(text: str | None) -> float | None:
        return seconds(text, flag)

    option = typer.Option(metavar="TIME", callback=read, help=help, **more)
    return Annotated[str | None, option]


def seconds(text: str | None, option: str) -> float | None:
    """Of a duration such as 90, 90s, 1.5h."""
    if text is None:
        return None
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd]?)", text.strip().lower())
    if parts is None or not float(parts[1]):
        raise AnalysisError(
            f"'{text}' is no duration for {option}; write 90s, 10m or 2h, more than nothing."
        )
    return float(parts[1]) * UNITS[parts[2]]
