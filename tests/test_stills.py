"""Still pictures show the numbers of the figure, and notebooks show records without a script."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from analyses import analysis, effect, footprint, runs, spending, timeline, trials
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import QuadMesh
from plotly.graph_objects import Figure, Parcoords
from views import searched, together, tree

from hyperlens.errors import AnalysisError
from hyperlens.explain.fanova import Importance
from hyperlens.plots import draw
from hyperlens.plots.still import said, still
from hyperlens.record import Record
from hyperlens.reports import check_stills, stills

EVIL = "<script>$\\frac</script>"


def pixels(figure: Any) -> Any:
    """The picture as it would be saved."""
    figure.set_dpi(40)
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())


def test_a_curve_has_the_points_of_the_record() -> None:
    record = effect("lr")
    figure = record.plot(backend="matplotlib")
    upper, rug = figure.axes
    drawn = [line.get_ydata() for line in upper.lines]
    assert any(np.array_equal(y, record.mean) for y in drawn)
    (band,) = upper.collections[:1]
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (record.low.min(), record.high.max())
    assert rug.get_xlabel() == "lr"
    assert upper.get_ylabel() == "loss (lower is better)"


def test_bars_have_the_lengths_of_the_record() -> None:
    record = analysis().importance
    assert isinstance(record, Importance)
    (axes,) = record.plot(backend="matplotlib").axes
    widths = sorted(bar.get_width() for bar in axes.patches)
    np.testing.assert_allclose(widths, sorted(record.share))
    assert [t.get_text() for t in axes.get_yticklabels()] == ["lr", "lr × opt", "opt"]


def test_stacked_bars_stand_on_each_other() -> None:
    record = spending()
    axes = record.plot(backend="matplotlib").axes[0]
    ends = {round(bar.get_x() + bar.get_width(), 9) for bar in axes.patches}
    assert {4.0, 2.0} <= ends  # 3 + 1 trials of the first model, 2 + 0 of the second


def test_a_map_has_the_cells_of_the_record() -> None:
    mean = np.arange(4.0)
    record = effect("lr")
    grid: dict[str, Any] = {"parameters": ("lr", "opt"), "values": ((1.0, 2.0), ("a", "b"))}
    flags: dict[str, Any] = {"log": (False, False), "numeric": (True, False), "incumbent": None}
    pair = replace(
        record, **grid, **flags, mean=mean, observed=((1.0,), ("a",)), observed_cost=np.ones(1)
    )
    axes = pair.plot(backend="matplotlib").axes[0]
    (mesh,) = [c for c in axes.collections if isinstance(c, QuadMesh)]
    np.testing.assert_array_equal(np.asarray(mesh.get_array()).ravel(), [0.0, 2.0, 1.0, 3.0])


def test_a_logarithmic_axis_stays_one() -> None:
    figure = tree().plot(backend="matplotlib")
    assert figure.axes[0].get_xscale() == "log"
    assert tree(log=False).plot(backend="matplotlib").axes[0].get_xscale() == "linear"


@pytest.mark.parametrize(
    "record",
    [
        analysis(name=EVIL).overview,
        analysis(name=EVIL).importance,
        effect(EVIL),
        effect("opt", EVIL),
        tree(EVIL, EVIL),
        tree(EVIL, values=("a", EVIL, "c"), numeric=False, log=False, incumbent="a"),
        searched(EVIL),
        together(EVIL),
        trials(EVIL, EVIL),
        timeline(),
        footprint(EVIL),
        spending(EVIL),
        runs(EVIL),
    ],
    ids=lambda record: type(record).__name__,
)
def test_every_figure_of_the_report_can_be_a_picture(record: Any) -> None:
    picture = pixels(record.plot(backend="matplotlib"))
    assert len(np.unique(picture.reshape(-1, 4), axis=0)) > 10  # it is not empty


def test_text_is_shown_as_it_is() -> None:
    assert said("<b>a</b> <br>&lt;b&gt; 5 &#37;{x} $x$") == "a \n<b> 5 %{x} \\$x\\$"


def test_what_cannot_be_a_picture_is_said() -> None:
    with pytest.raises(AnalysisError, match="parcoords figure has no still picture"):
        still(Figure([Parcoords()]))
    with pytest.raises(AnalysisError, match="There is no backend 'gnuplot'"):
        timeline().plot(backend="gnuplot")  # type: ignore[arg-type]


def test_a_missing_extra_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(AnalysisError, match=r"pip install hyperlens\[stills\]"):
        timeline().plot(backend="matplotlib")
    monkeypatch.setattr("hyperlens.reports.find_spec", lambda name: None)
    with pytest.raises(AnalysisError, match=r"pip install hyperlens\[stills\]"):
        check_stills()


def test_all_figures_are_written_to_a_folder(tmp_path: Path) -> None:
    written = stills(analysis(), tmp_path / "new" / "pictures")
    names = {path.stem for path in written}
    assert {"trace", "importance", "effect-1", "regions-1", "footprint", "beside"} <= names
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)


# Notebooks


def test_a_notebook_sees_numbers_and_no_markup() -> None:
    record = effect("opt", EVIL, note=EVIL)
    text = record._repr_html_()
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "It predicts well." in text  # the verdict of the surrogate
    assert "0.52" in text


def test_a_long_frame_is_cut() -> None:
    names = tuple(f"p{k}" for k in range(50))
    many = replace(
        searched(), parameters=names, parameter_mmd=np.zeros(50), parameter_p=np.zeros(50)
    )
    assert "… and 30 more rows" in many._repr_html_()


@dataclass(frozen=True)
class Bare(Record):
    """A record with neither frame nor figure."""

    sentence: str


def test_a_notebook_shows_the_figure_and_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    display = ModuleType("IPython.display")
    display.display = shown.append  # type: ignore[attr-defined]
    display.HTML = lambda text: ("html", text)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    timeline()._ipython_display_()
    assert shown == [draw(timeline()), ("html", timeline()._repr_html_())]
    shown.clear()
    Bare("Nothing <b>to see</b>.")._ipython_display_()
    assert shown == [("html", "<b>Bare</b><p>Nothing &lt;b&gt;to see&lt;/b&gt;.</p>")]
