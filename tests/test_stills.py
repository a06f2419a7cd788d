"""Still pictures show the numbers of the figure, and notebooks show records without a script."""

from __future__ import annotations

import json
import sys
from base64 import b64decode
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from analyses import LOW, analysis, effect, footprint, runs, spending, timeline, trials
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import QuadMesh
from plotly.graph_objects import Figure, Heatmap, Parcoords
from views import searched, together, tree

import hyperlens as hl
from hyperlens.errors import AnalysisError
from hyperlens.explain.effects.effect import Effect
from hyperlens.explain.importance.importance import Importance
from hyperlens.plots import draw
from hyperlens.plots.effects.region_growth import draw_growth
from hyperlens.plots.parts.colours import DARK
from hyperlens.plots.stills.looks import plain_text
from hyperlens.plots.stills.still import still
from hyperlens.record import Record, figure_bundle
from hyperlens.reports import check_stills, stills
from hyperlens.sections.parameters.importance import IMPORTANCE
from hyperlens.sections.run.overview import OVERVIEW

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
    _, band = upper.collections[:2]  # after what the trials measured
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (record.low.min(), record.high.max())
    assert rug.get_xlabel() == "lr"
    assert upper.get_ylabel() == "loss (lower is better)"


def test_the_curve_and_its_rug_have_one_axis() -> None:
    narrow = replace(effect("lr"), observed=((0.02, 0.03),), observed_cost=np.ones(2))
    upper, rug = narrow.plot(backend="matplotlib").axes
    assert upper.get_xlim() == rug.get_xlim()
    assert upper.get_xlim()[0] <= min(narrow.values[0]) < max(narrow.values[0])
    assert upper.get_xlim()[1] >= max(narrow.values[0])
    above, below = timeline().plot(backend="matplotlib").axes
    assert above.get_xlim() == below.get_xlim() == (0.0, 8.0)
    assert [t.get_text() for t in below.get_xticklabels()]


def legend(figure: Any) -> dict[str, Any]:
    """Signs of the legend by their names."""
    if not figure.legends:
        return {}
    (found,) = figure.legends
    return dict(zip((t.get_text() for t in found.get_texts()), found.legend_handles, strict=True))


def test_regions_are_named_in_their_colours() -> None:
    figure = still(draw_growth(tree()))
    signs = legend(figure)
    assert {"opt is sgd", "opt is adam", "the whole space and its 95 % band"} <= set(signs)
    for name, mean in (("opt is sgd", tree().tree[1].mean), ("opt is adam", tree().tree[2].mean)):
        (line,) = [y for y in figure.axes[0].lines if np.array_equal(y.get_ydata(), mean)]
        assert line.get_color() == signs[name].get_color()
    assert not legend(still(draw(together())))  # one kind of bars needs none


def test_what_no_trial_supports_is_named() -> None:
    support = np.where(np.arange(len(effect("lr").values[0])) == 0, 1.0, 0.0)
    guessed = replace(effect("lr"), support=support, observed=((0.01,),), observed_cost=np.ones(1))
    assert "no trial here" in legend(guessed.plot(backend="matplotlib"))
    assert "no trial here" not in legend(
        replace(guessed, support=np.ones(len(support))).plot(backend="matplotlib")
    )


def test_the_footprint_has_its_scale_and_names_its_trials() -> None:
    record = footprint()
    figure = record.plot(backend="matplotlib")
    (_, bar) = figure.axes
    assert bar.get_ylabel() == "loss (lower is better)"
    assert [t.get_text() for t in bar.get_yticklabels()] == ["0.4", "0.55", "0.7", "0.85", "1"]
    assert {"trials", "an even search", "best trial"} == set(legend(figure))


def test_white_marks_have_an_outline_in_the_legend() -> None:
    sign = legend(on_map().plot(backend="matplotlib"))["trials"]
    assert sign.get_markeredgecolor() == DARK
    assert sign.get_markeredgewidth() > 0


def test_numbers_on_a_map_can_be_read() -> None:
    """Light text on dark cells, dark text on bright ones."""
    cells = Heatmap(z=[[0.0, 1.0]], x=[0, 1], y=[0], text=[["a", "b"]], texttemplate="%{text}")
    dark, bright = still(Figure([cells])).axes[0].texts
    assert (dark.get_text(), dark.get_color()) == ("a", "white")
    assert (bright.get_text(), bright.get_color()) == ("b", "black")


def test_whole_numbers_have_whole_ticks() -> None:
    record, count = effect("lr"), len(effect("lr").values[0])
    whole: dict[str, Any] = {"values": (tuple(range(1, count + 1)),), "observed": ((1, 3),)}
    few = replace(record, log=(False,), observed_cost=np.ones(2), best_values=None, **whole)
    rug = few.plot(backend="matplotlib").axes[1]
    assert all(tick == round(tick) for tick in rug.get_xticks())
    counts = timeline().plot(backend="matplotlib").axes[1]
    assert all(tick == round(tick) for tick in counts.get_yticks())
    numbers = still(Figure([{"type": "scatter", "x": [1, 2], "y": [0.5, 1.5]}])).axes[0]
    assert all(tick == round(tick) for tick in numbers.get_xticks())


def test_values_below_the_rows_are_in_the_picture() -> None:
    shown = trials().plot(backend="matplotlib").axes[0].texts
    assert {"adam", "sgd", "off", "≤ 0.412"} <= {t.get_text() for t in shown}


def test_bars_have_the_lengths_of_the_record() -> None:
    record = analysis()[IMPORTANCE]
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
    axes = on_map().plot(backend="matplotlib").axes[0]
    (mesh,) = [c for c in axes.collections if isinstance(c, QuadMesh)]
    np.testing.assert_array_equal(np.asarray(mesh.get_array()).ravel(), [0.0, 2.0, 1.0, 3.0])


def on_map() -> Effect:
    """Two numbers by two categories."""
    grid: dict[str, Any] = {"parameters": ("lr", "opt"), "values": ((1.0, 2.0), ("a", "b"))}
    flags: dict[str, Any] = {"log": (False, False), "numeric": (True, False), "best_values": None}
    seen: dict[str, Any] = {"observed": ((1.0,), ("a",)), "observed_cost": np.ones(1)}
    return replace(effect("lr"), **grid, **flags, **seen, mean=np.arange(4.0))


def test_a_logarithmic_axis_stays_one() -> None:
    figure = tree().plot(backend="matplotlib")
    assert figure.axes[0].get_xscale() == "log"
    assert tree(log=False).plot(backend="matplotlib").axes[0].get_xscale() == "linear"


@pytest.mark.parametrize(
    "record",
    [
        analysis(name=EVIL)[OVERVIEW],
        analysis(name=EVIL)[IMPORTANCE],
        effect(EVIL),
        effect("opt", EVIL),
        tree(EVIL, EVIL),
        tree(EVIL, values=("a", EVIL, "c"), numeric=False, log=False, best_value="a"),
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
    assert plain_text("<b>a</b> <br>&lt;b&gt; 5 &#37;{x} $x$") == "a \n<b> 5 %{x} \\$x\\$"


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
    assert {"trace", "importance", "effect-1", "regions-1", "footprint", "comparison"} <= names
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)


# Notebooks


def test_a_notebook_sees_numbers_and_no_markup() -> None:
    record = effect("opt", EVIL, note=EVIL)
    text = record._repr_html_()
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "This can be trusted: it predicts well." in text
    assert "0.52" in text


def test_a_long_frame_is_cut() -> None:
    names = tuple(f"p{k}" for k in range(50))
    many = replace(
        searched(), parameters=names, parameter_mmd=np.zeros(50), parameter_p=np.zeros(50)
    )
    assert "… and 31 more rows" in many._repr_html_()  # one row is of all parameters


@dataclass(frozen=True)
class Bare(Record):
    """A record without a figure, with a frame of everything that a cell may hold."""

    sentence: str
    notes: tuple[str, ...] = ("A <i>note</i>.", "A <i>note</i>.")

    @property
    def frame(self) -> pd.DataFrame:
        cells = {"n": [1, 12345.678], "t": [("a", "<b>"), None], "m": [True, 0.25], "x": [None, 2]}
        return pd.DataFrame(cells, dtype=object)


def test_a_notebook_shows_the_figure_below_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    display = ModuleType("IPython.display")
    display.display = lambda what, raw=False: shown.append(what)  # type: ignore[attr-defined]
    display.HTML = lambda text: ("html", text)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    timeline()._ipython_display_()
    words, figure = shown
    assert words == ("html", timeline()._repr_html_())
    assert figure["application/vnd.plotly.v1+json"] == json.loads(draw(timeline()).to_json())
    assert b64decode(figure["image/png"]).startswith(b"\x89PNG")
    shown.clear()
    Bare("Nothing <b>to see</b>.")._ipython_display_()
    assert [what for what, _ in shown] == ["html"]


def test_a_notebook_needs_no_stills(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert set(figure_bundle(draw(timeline()))) == {"application/vnd.plotly.v1+json", "text/html"}


def test_a_notebook_aligns_numbers_and_escapes_texts() -> None:
    text = Bare("Nothing <b>to see</b>.")._repr_html_()
    assert "<h4>Bare</h4><p>Nothing &lt;b&gt;to see&lt;/b&gt;.</p>" in text
    assert '<td class="n">1</td><td>a × &lt;b&gt;</td><td>True</td><td class="n">–</td>' in text
    assert '<td class="n">12346</td><td>–</td><td>0.25</td><td class="n">2</td>' in text
    assert text.count("A &lt;i&gt;note&lt;/i&gt;.") == 1


def test_a_surrogate_and_its_quality_are_short_and_show_their_verdict() -> None:
    assert repr(LOW) == (
        "<Quality of the random forest: caution; R2 0.40, rank correlation 0.60, coverage 0.80, "
        "4 trials>"
    )
    assert '<span class="badge caution">caution</span>' in LOW._repr_html_()
    rows = [{"x": x / 9, "loss": (x / 9) ** 2} for x in range(10)]
    fitted = hl.fit(hl.read(pd.DataFrame(rows), objective="loss"), "forest")
    assert repr(fitted).startswith("<Fitted random forest: 10 trials of 1 parameter; <Quality of")
    assert len(repr(fitted)) < 200
    assert "Fitted random forest" in fitted._repr_html_()
