"""A model card in Markdown. Names from a table are put in so that they stay names."""

import math
import unicodedata
from collections.abc import Iterable
from typing import Any

from hyperlens.cash.results.model_card import FACTS, MODEL, ModelCard

CONTROL = ("Cc", "Cf", "Cs")
MOST_COLUMNS = 15
SPECIAL = "\\`*_{}[]<>#|~!&"


def markdown(card: ModelCard) -> str:
    """The card as one page."""
    better = "larger is better" if card.maximize else "smaller is better"
    spread = (
        "" if math.isnan(card.spread) else f" ± {card.spread:.2g} over {len(card.folds)} splits"
    )
    parts = [
        f"# {safe(card.target)} by {safe(card.model)}",
        f"A model for {card.task} that predicts `{_code(card.target)}`, found by a search over "
        f"models and their hyperparameters. Made {card.made}.",
        "## How good it is",
        f"Validation {safe(card.metric)}: **{card.mean:.4g}**{spread} ({better}). "
        f"A guess without looking at the columns has {card.guess:.4g}.",
        _bullets(f"split {k + 1}: {loss:.5g}" for k, loss in enumerate(card.folds)),
        _averaged(card),
        _held_out(card),
        "## How to use it",
        "The model is a scikit-learn pipeline. It takes a table as it is read from a file, with the "
        "columns below, and needs the package `hyperlens` and the versions at the end.",
        _example(card),
        f"`{MODEL}` is a joblib file, and loading one runs code that it holds: load it only if you "
        f"trust where it came from. `{FACTS}` holds this card for programs, `schema.json` the columns. "
        "From a shell: `python predict.py new.csv`, or, where there is a `model.skops`, which runs no "
        "code when it is read, `hyperlens predict FOLDER new.csv`.",
        "## What it learnt from",
        f"{card.rows} rows of `{_code(card.table)}`."
        + (f" Classes: {_classes(card)}." if card.classes else ""),
        _table(
            ("column", "read as", "why"),
            ((safe(c["name"]), c["role"], safe(c["why"])) for c in card.columns),
        ),
        "## The configuration",
        _table(
            ("hyperparameter", "value"),
            ((safe(k), safe(_value(v))) for k, v in card.configuration.items()),
        ),
        "## How it was found",
        _bullets(f"{safe(k)}: {safe(_value(v))}" for k, v in card.search.items()),
        _bullets(safe(sentence) for sentence in card.story),
        _table(
            ("place", "model", safe(card.metric)),
            (
                (str(i + 1), safe(x["model"]), _value(x[card.metric]))
                for i, x in enumerate(card.leaders)
            ),
        ),
        "## Limits",
        _bullets(safe(limit) for limit in card.limits),
        "## Versions",
        _bullets(f"{name} {number}" for name, number in card.versions.items()),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def safe(text: object) -> str:
    """One line that Markdown shows as it is."""
    return "".join(f"\\{c}" if c in SPECIAL else c for c in _line(text))


def _line(text: object) -> str:
    line = " ".join(str(text).split())
    return "".join(c for c in line if unicodedata.category(c) not in CONTROL)


def _code(text: object) -> str:
    return _line(text).replace("`", "'")


def _example(card: ModelCard) -> str:
    proba = "\nprint(model.predict_proba(rows))" if card.task == "classification" else ""
    return (
        "```python\nimport joblib\nimport pandas as pd\n\n"
        f'model = joblib.load("{MODEL}")\n'
        f"rows = {reading(card)}  # the columns below; the target is not needed\n"
        f"print(model.predict(rows)){proba}\n```"
    )


def reading(card: ModelCard, source: str | None = None) -> str:
    """How a new table in the form of the first is read, from a file or what an expression names."""
    if card.separator is None:
        return f"""pd.read_parquet({source or '"new.parquet"'})"""
    form = "" if card.separator == "," else f", sep={card.separator!r}".replace("'", '"')
    return f"""pd.read_csv({source or '"new.csv"'}{form})"""


def _averaged(card: ModelCard) -> str:
    if card.trainings == 1:
        how = "The model was trained once."
    else:
        how = (
            f"The model is the mean of {card.trainings} trainings, each with another seed or another "
            "configuration; the losses above are those of the best configuration alone, trained once."
        )
    return " ".join([*(safe(sentence) for sentence in card.together), how])


def _held_out(card: ModelCard) -> str:
    """Which columns are used and how true chances are, where that was measured."""
    parts = []
    if card.features is not None:
        pairs = zip(card.features.columns, card.features.rise, card.features.error, strict=True)
        rows = [(safe(c), f"{r:.3g} ± {e:.2g}") for c, r, e in list(pairs)[:MOST_COLUMNS]]
        parts += [
            "## Which columns it uses",
            safe(" ".join([card.features.sentence, *card.features.notes])),
            _table(("column", f"{safe(card.metric)} is worse by, when it is shuffled"), rows),
        ]
    if card.calibration is not None:
        bins = zip(card.calibration.said, card.calibration.came, card.calibration.rows, strict=True)
        parts += [
            "## Are its chances true?",
            safe(card.calibration.sentence),
            _table(
                ("said", "came", "rows"),
                ((f"{s:.1%}", f"{c:.1%}", str(int(n))) for s, c, n in bins),
            ),
        ]
    return "\n\n".join(parts)


def _classes(card: ModelCard) -> str:
    return ", ".join(f"{safe(name)} ({count})" for name, count in card.classes.items())


def _value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
