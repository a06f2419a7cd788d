"""What a card is made of. All texts are plain: whoever shows a card escapes them."""

from dataclasses import dataclass
from typing import Any, Literal

from hyperlens.explain.models.verdict import Verdict
from hyperlens.tables import Table


@dataclass(frozen=True)
class Fact:
    """A headline number, what it is, and the sentence that says how it came about."""

    label: str
    value: str
    detail: str = ""
    meaning: str = ""


@dataclass(frozen=True)
class Panel:
    """A question of the first screen: a small picture, a sentence, and the card that says more."""

    question: str
    sentence: str
    figure: dict[str, Any] | None
    more: str  # id of a card


@dataclass(frozen=True)
class Grid:
    """A long table that a page sorts and pages through; cells are texts, numbers or None."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    numeric: tuple[bool, ...]
    meanings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Control:
    """What a reader may choose. Traces and rows say under `when[name]` for which values they show."""

    name: str
    kind: Literal["list", "slider", "switch"]
    label: str
    options: tuple[tuple[int, str], ...]
    chosen: int


@dataclass(frozen=True)
class Node:
    """A region of a tree: what it is, and after which numbers of splits it is a leaf."""

    id: int
    parent: int | None
    text: str
    detail: str
    colour: str
    best: bool
    leaf_after: tuple[int, ...]


@dataclass(frozen=True)
class Tree:
    """Regions beneath each other; one of the leaves is highlighted in the figure."""

    parameter: str
    nodes: tuple[Node, ...]
    splits: int
    chosen: int


@dataclass(frozen=True)
class Card:
    """One thing to know. `section` is the title below which it stands.

    `panels` are small pictures that stand before all that is said, but for what must be known
    `ahead`. `figure` is Plotly's JSON, `csv` the numbers behind it. `captions` are sentences that go
    with some values of the controls, as `when` says. `problem` says why the card has nothing to
    show. `verdict` is on what the card shows; `how` says how it is to be read and how it was
    computed.
    """

    id: str
    title: str
    section: str = ""
    lead: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    ahead: tuple[str, ...] = ()
    panels: tuple[Panel, ...] = ()
    figure: dict[str, Any] | None = None
    csv: str | None = None
    csv_of: str | None = None  # the card whose table holds the numbers, where that is another
    controls: tuple[Control, ...] = ()
    captions: tuple[tuple[dict[str, tuple[int, ...]], str], ...] = ()
    tree: Tree | None = None
    table: Table | None = None
    grid: Grid | None = None
    trials: dict[str, Any] | None = None  # what is told of each trial, of which one is shown
    problem: str | None = None
    verdict: Verdict | None = None
    judged_in: str | None = None  # the card whose verdict has the same words, where that is another
    notes: tuple[str, ...] = ()
    how: tuple[str, ...] = ()
