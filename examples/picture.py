"""The picture of the first page: `python examples/picture.py demo/study.db docs/picture.svg`.

Four questions of one run as its report answers them, drawn as one SVG file; a second one beside it,
`picture-narrow.svg`, has them below one another for a phone.
"""

import re
import sys
from io import StringIO
from pathlib import Path

import matplotlib.pyplot as plt

import hyperlens as hl
from hyperlens.record import Record

INCHES = (4.8, 3.2)
WIDTH, HEIGHT, TITLE, GAP = 480, 320, 34, 20  # of a figure, of the line above it, between two
BARS = 6  # effects whose names can be read


def panel(record: Record, title: str, name: str) -> str:
    """The figure of a record below its title; `name` keeps its marks apart from others'."""
    written = StringIO()
    with plt.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure = record.plot(backend="matplotlib")
        figure.set_size_inches(*INCHES)
        if isinstance(record, hl.Importance):
            figure.axes[0].set_ylim(min(BARS, len(record.parameters)) - 0.5, -0.5)
        figure.savefig(written, format="svg", metadata={"Date": None})
    drawn = re.sub(r"^.*?(?=<svg)", "", written.getvalue(), flags=re.DOTALL)
    drawn = re.sub(r"<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r'id="(?=[a-z]+_\d+")', f'id="{name}-', drawn)
    place = f'<svg y="{TITLE}" width="{WIDTH}" height="{HEIGHT}"'
    drawn = re.sub(r'<svg(.*?) width="[^"]*"(.*?) height="[^"]*"', rf"{place}\1\2", drawn, count=1)
    return f'<text x="8" y="22" font-family="sans-serif" font-size="17">{title}</text>{drawn}'


def together(panels: list[str], columns: int) -> str:
    """All panels on one white ground, row by row."""
    rows = -(-len(panels) // columns)
    wide, high = WIDTH + GAP, TITLE + HEIGHT + GAP
    parts = [
        f'<g transform="translate({wide * (k % columns)} {high * (k // columns)})">{drawn}</g>'
        for k, drawn in enumerate(panels)
    ]
    width, height = wide * columns - GAP, high * rows - GAP
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    ground = '<rect width="100%" height="100%" fill="#ffffff"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{ground}{"".join(parts)}</svg>\n'


def main(source: str, target: str) -> None:
    run = hl.read(source)
    best = hl.importance(run)
    strongest = next(parameters for parameters in best.parameters if len(parameters) == 1)
    made = [
        ("trace", "How good it got, and when", hl.overview(run)),
        ("shares", "What mattered most, with 90 % intervals", best),
        ("effect", f"How {strongest[0]} acts, with a 95 % band", hl.effect(run, strongest)),
        ("forecast", "What more trials would bring", hl.forecast(run)),
    ]
    panels = [panel(record, title, name) for name, title, record in made]
    wide = Path(target)
    wide.write_text(together(panels, 2), encoding="utf-8")
    narrow = wide.with_stem(f"{wide.stem}-narrow")
    narrow.write_text(together(panels, 1), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:3])
