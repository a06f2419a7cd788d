"""Examples of docstrings as code, when the reference is built: an extension of griffe's."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^(?!>>> ).+\n?)*)+", re.MULTILINE)


def fenced(text: str) -> str:
    """The text with its examples between fences."""
    parts = re.split(f"({EXAMPLE.pattern})", text, flags=re.MULTILINE)
    return "".join(
        f"\n```pycon\n{part.rstrip()}\n```\n" if part.startswith(">>>") else part for part in parts
    )


class Examples(griffe.Extension):  # type: ignore[misc]
    """Puts fences around the examples of every docstring."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
