"""A comparison of methods as one HTML file: the rank diagram, the sentences, every pair."""

import io
from pathlib import Path
from typing import Any

from hyperlens.comparison import Comparison
from hyperlens.errors import SourceError
from hyperlens.reports import check, check_stills, write
from hyperlens.reports.render import report_html
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import figure_of

RANKS, PAIRS = "Average ranks", "Pairs"
PAGE = ".html"
PICTURES: dict[str, dict[str, Any]] = {  # by ending; without the date, so the same bytes each time
    ".png": {},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}


def check_diagram(path: str | Path) -> None:
    """Refuse a file for the rank diagram that cannot be written, before anything is computed."""
    ending = Path(path).suffix.lower()
    if ending not in (PAGE, *PICTURES):
        raise SourceError(
            f"The ending of '{path}' does not say what the rank diagram shall be; choose a file that "
            f"ends in {', '.join(PICTURES)} or {PAGE}."
        )
    if ending in PICTURES:
        check_stills()
    check(path)


def write_diagram(record: Comparison, path: str | Path, source: str) -> Path:
    """Write the rank diagram as what the file's ending says: a picture, or the page."""
    path = Path(path)
    ending = path.suffix.lower()
    if ending == PAGE:
        return write(path, comparison_page(record, source))
    from matplotlib import rc_context

    picture = io.BytesIO()
    with rc_context({"svg.hashsalt": "hyperlens"}):
        drawn = record.plot(backend="matplotlib")
        drawn.savefig(picture, format=ending[1:], metadata=PICTURES[ending])
    try:
        path.write_bytes(picture.getvalue())
    except OSError as problem:
        reason = problem.strerror or type(problem).__name__
        raise SourceError(
            f"'{path}' cannot be written ({reason}); choose another file."
        ) from problem
    return path


def comparison_page(record: Comparison, source: str) -> str:
    """The comparison as one HTML document."""
    return report_html(comparison_cards(record), source)


def comparison_cards(record: Comparison) -> tuple[Card, ...]:
    ranks, pairs = record.tables
    return (
        Card(
            id="ranks",
            section=RANKS,
            title=RANKS,
            lead=record.sentences,
            figure=figure_of(record),
            csv=record.to_csv(),
            table=ranks,
            notes=record.notes,
            how=(
                "On each data set the methods are ranked, 1 is best and equals share their ranks; the "
                "diagram shows the averages. A bar joins methods that the tests cannot tell apart.",
            ),
        ),
        Card(
            id="pairs",
            section=PAIRS,
            title=PAIRS,
            lead=(
                "The difference is Hodges and Lehmann's median of the first minus the second, with "
                "an interval for this pair alone; the effect is the matched-pairs rank-biserial "
                "correlation, 1 where the first is better on every data set.",
            ),
            table=pairs,
            how=(
                "Every two methods are compared by Wilcoxon's signed-rank test over the data sets that "
                "both have; its p-values are adjusted for the number of pairs.",
            ),
        ),
    )
