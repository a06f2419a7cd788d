"""Formulas of the documentation as MathML, when its site is built: no script, no network.

Pages write them as `$x^2$`, or between `$$` in lines of their own; mkdocs calls `on_page_markdown`.
"""

from __future__ import annotations

import re

CODE = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.DOTALL | re.MULTILINE)
FORMULA = re.compile(r"\$\$(?P<block>.+?)\$\$|\$(?P<line>[^$\s](?:[^$\n]*[^$\s])?)\$", re.DOTALL)

SCROLLS = '<div style="overflow: auto hidden" tabindex="0">'  # what is wider than a phone


def on_page_markdown(markdown: str, **_: object) -> str:
    """The page with every formula outside of code converted."""
    parts = CODE.split(markdown)
    return "".join(part if k % 2 else FORMULA.sub(_mathml, part) for k, part in enumerate(parts))


def _mathml(found: re.Match[str]) -> str:
    from latex2mathml.converter import convert

    block = found["block"]
    text = " ".join((block or found["line"]).split())
    converted: str = convert(text, display="block" if block else "inline")
    return f"\n\n{SCROLLS}{converted}</div>\n\n" if block else f"<span>{converted}</span>"
