"""What tools write, whatever it is, as a number, a moment, a text, a list or an object."""

import datetime
import math
from collections.abc import Iterable, Mapping
from typing import Any

from hyperlens.runs.history import State
from hyperlens.spaces.parameter import choice_text

Json = dict[str, Any]


def number(value: Any) -> float:
    """A cost as a float; nan where it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def amount(value: Any) -> float | None:
    """A budget as a float; None where it is none."""
    size = number(value)
    return None if math.isnan(size) else size


def moment(value: Any) -> float | None:
    """Seconds since 1970, where a tool wrote a positive number."""
    since = number(value)
    return since if 0 < since < 1e12 else None


def seconds(moment: Any, utc: bool = False) -> float | None:
    """Seconds since 1970; a moment without a zone is local time, or UTC on request."""
    if moment is None:
        return None
    try:
        if not isinstance(moment, datetime.datetime):
            moment = datetime.datetime.fromisoformat(str(moment))
        if utc and moment.tzinfo is None:
            moment = moment.replace(tzinfo=datetime.UTC)
        return float(moment.timestamp())
    except (ValueError, OverflowError, OSError):
        return None


def states(**words: str) -> dict[str, State]:
    """States by the words of a tool: `states(complete="SUCCESS DONE")`."""
    return {word: State(state) for state, listed in words.items() for word in listed.split()}


def text(value: Any) -> str | None:
    return None if value is None else str(value)


def one_line(problem: BaseException) -> str:
    """An error of another library, fit to stand inside a sentence."""
    words = " ".join(str(problem).split()).replace(". ", ": ")
    return (words or type(problem).__name__)[:160].rstrip(" .;:,")


def last_line(message: Any) -> str | None:
    """What a traceback ends with."""
    lines = str(message or "").strip().splitlines()
    return lines[-1][:500] if lines else None


def as_list(value: Any) -> list[Any]:
    """A list; empty where there is none."""
    return value if isinstance(value, list) else []


def as_dict(value: Any) -> Json:
    """A JSON object; empty where there is none."""
    return value if isinstance(value, dict) else {}


def scalar(value: Any) -> Any:
    """A value that a choice can be; the text of any other."""
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def distinct_choices(values: Iterable[Any]) -> tuple[Any, ...]:
    """Values without repeats; as texts where ConfigSpace could not tell them apart (True, 1)."""
    distinct = tuple({(type(value), value): value for value in values}.values())
    texts = {value for value in distinct if isinstance(value, str)}
    ends = {text.rstrip("\0") for text in texts}
    lost = ends != texts and len(texts) < len(distinct)  # beside other values it never finds them
    repeated = len(set(distinct)) < len(distinct) or len(ends) < len(texts)
    if lost or repeated or any(value != value for value in distinct):
        return tuple(dict.fromkeys(map(choice_text, distinct)))
    return distinct


def flat(config: Mapping[str, Any], above: str = "", depth: int = 0) -> Json:
    """A nested configuration with its keys joined by '/'."""
    values: Json = {}
    for key, value in config.items():
        name = f"{above}{key}"
        if isinstance(value, Mapping) and value and depth < 20:
            values |= flat(value, f"{name}/", depth + 1)
        else:
            values[name] = value
    return values
