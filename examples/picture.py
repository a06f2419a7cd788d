"""The picture of the first page: `python examples/picture.py demo/study.db docs/picture.svg`.

Four questions of one run as its report answers them, drawn as one SVG file.
"""

import re
import sys
from io import StringIO
from pathlib import Path

import matplotlib.pyplot as plt

import hyperlens as hl
from hyperlens.record import Record

WIDTH, HEIGHT, TITLE = 560, 420, 44


def panel(record: Record, title: str, name: str, x: int, y: int) -> str:
    """The figure of a record as a part of a larger one; `name` keeps its marks apart from others'."""
    written = StringIO()
    with plt.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        record.plot(backend="matplotlib").savefig(written, format="svg", metadata={"Date": None})
    drawn = re.sub(r"^.*?(?=<svg)", "", written.getvalue(), flags=re.DOTALL)
    drawn = re.sub(r"<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r'id="(?=[a-z]+_\d+")', f'id="{name}-', drawn)
    place = f'<svg x="{x}" y="{y + TITLE}" width="{WIDTH - 20}" height="{HEIGHT - TITLE}"'
    place += ' preserveAspectRatio="xMinYMin meet"'
    words = (
        f'<text x="{x + 12}" y="{y + 28}" font-family="sans-serif" font-size="17">{title}</text>'
    )
    drawn = re.sub(r'<svg(.*?) width="[^"]*"(.*?) height="[^"]*"', rf"{place}\1\2", drawn, count=1)
    return words + drawn


def main(source: str, target: str) -> None:
    run = hl.read(source)
    best = hl.importance(run)
    strongest = next(parameters for parameters in best.parameters if len(parameters) == 1)
    made = [
        ("trace", "How good it got, and when", hl.overview(run)),
        ("shares", "What mattered, with 90 % intervals", best),
        ("effect", f"How {strongest[0]} acts, with a 95 % band", hl.effect(run, strongest)),
        ("forecast", "What more trials would bring", hl.forecast(run)),
    ]
    parts = [
        panel(record, title, name, WIDTH * (k % 2), HEIGHT * (k // 2))
        for k, (name, title, record) in enumerate(made)
    ]
    size = f'width="{2 * WIDTH}" height="{2 * HEIGHT}" viewBox="0 0 {2 * WIDTH} {2 * HEIGHT}"'
    ground = '<rect width="100%" height="100%" fill="#ffffff"/>'
    page = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{ground}{"".join(parts)}</svg>\n'
    Path(target).write_text(page)


if __name__ == "__main__":
    main(*sys.argv[1:3])
