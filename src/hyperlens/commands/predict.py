"""`hyperlens predict`: what a model that was found says of a new table."""

import sys
from typing import Annotated

import typer

from hyperlens.cash.data.dataset import read_table
from hyperlens.cash.results.saved_model import read_safe
from hyperlens.commands.runs import refuse_overwriting


def predict(
    folder: Annotated[
        str, typer.Argument(metavar="MODEL", help="Folder of the model.", show_default=False)
    ],
    source: Annotated[
        str,
        typer.Argument(metavar="TABLE", help="CSV or Parquet, with a header.", show_default=False),
    ],
    out: Annotated[
        str | None, typer.Option(help="Write the predictions here.", show_default="standard output")
    ] = None,
) -> None:
    """The prediction, and of classes the chance of each, one line for each row of the table."""
    import pandas as pd

    if out:
        refuse_overwriting(source, out)
    rows = read_table(source)
    model = read_safe(folder)
    said = pd.DataFrame({"prediction": model.predict(rows)})
    if hasattr(model, "predict_proba"):
        for k, name in enumerate(model.classes_):
            said[f"chance of {name}"] = model.predict_proba(rows)[:, k]
    said.to_csv(out or sys.stdout, index=False)
