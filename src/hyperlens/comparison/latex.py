"""Ranks and adjusted p-values as LaTeX tables (as Sarigiannis et al. 2020 tables 4 to 7)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hyperlens.comparison.compare_words import over_both

if TYPE_CHECKING:
    from hyperlens.comparison.compare import Comparison

_SPECIAL = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def latex(record: Comparison) -> str:
    """Two tables for the package booktabs."""
    methods = [escape(name) for name in record.ranks]
    ranks = [
        rf"{name} & {rank:.3f} \\"
        for name, rank in zip(methods, record.ranks.values(), strict=True)
    ]
    values = {(p.second, p.first): p for p in record.pairs}
    rows = []
    for i, second in enumerate(record.ranks):
        pairs = [values[second, first] for first in list(record.ranks)[:i]]
        cells = [_p(pair.adjusted, bold=not pair.different) for pair in pairs]
        rows.append(" & ".join([methods[i], *cells, "--", *[""] * (len(methods) - i - 1)]) + r" \\")
    alone = len(record.pairs) == 1
    how = "" if alone else f", adjusted by {record.correction.capitalize()}'s procedure"
    return "\n".join(
        [
            *_table(
                f"Average ranks over {record.rows} data sets; 1 is best.",
                "lr",
                r"Method & Average rank \\",
                ranks,
            ),
            "",
            *_table(
                f"p-values of Wilcoxon signed-rank tests{over_both(record)}{how}; bold where no "
                f"difference could be shown at the level {record.alpha:g}.",
                "l" + "r" * len(methods),
                " & ".join(["", *methods]) + r" \\",
                rows,
            ),
            "",
        ]
    )


def escape(text: str) -> str:
    """Text that LaTeX prints literally, in one line.

    >>> escape("a_b & c")
    'a\\\\_b \\\\& c'
    """
    line = re.sub(r"\s+", " ", text)
    return "".join(_SPECIAL.get(c, c) for c in line if c.isprintable())


def _p(p: float, bold: bool) -> str:
    mantissa, exponent = f"{p:.1e}".split("e")
    text = rf"${mantissa}\cdot10^{{{int(exponent)}}}$" if p >= 1e-15 else r"$<10^{-15}$"
    text = f"{p:.3f}" if p >= 0.001 else text
    return rf"\textbf{{{text}}}" if bold else text


def _table(caption: str, columns: str, head: str, rows: list[str]) -> list[str]:
    return [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{caption}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        head,
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
