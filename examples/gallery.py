"""Every kind of figure, drawn from small runs: `python examples/gallery.py FOLDER` writes SVG files.

The documentation's gallery is made of them when its site is built.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import hyperlens as hl
from hyperlens import Parameter
from hyperlens.record import Record

SPACE = hl.Space.of(
    [
        Parameter("lr", "float", 1e-5, 1.0, log=True),
        Parameter("depth", "integer", 1, 8),
        Parameter("dropout", "float", 0.0, 0.8),
    ]
)
NAMES = (
    *("overview", "trials", "importances", "effect", "effect_of_two", "regions", "interactions"),
    *("winner", "forecast", "advise", "confirm", "bias", "footprint", "why", "path"),
    *("ablation", "pareto", "compare"),
)


def loss(values: dict[str, float]) -> float:
    """A valley in the learning rate, which lies lower for deeper models."""
    lr = np.log10(values["lr"]) + 3
    return float((lr + 0.2 * values["depth"] - 0.8) ** 2 + 2 * (values["dropout"] - 0.3) ** 2)


def records() -> dict[str, Record]:
    """A record of each kind, by the name of its picture."""
    run = hl.minimize(loss, SPACE, trials=40, seed=0)
    sizes = pd.DataFrame(
        [{**t.values, "loss": t.costs[0], "size": 2.0 ** t.values["depth"]} for t in run.trials]
    )
    both = hl.read(sizes, space=SPACE, objective=["loss", "size"], maximize=False)
    rng = np.random.default_rng(0)
    level = rng.random(12)
    gaps = {"grid": 0.12, "random": 0.06, "bayes": 0.0}
    methods = pd.DataFrame({m: level + g + 0.03 * rng.random(12) for m, g in gaps.items()})
    made: list[Record] = [
        hl.overview(run),
        hl.trials(run),
        hl.importances(run),
        hl.effect(run, "lr"),
        hl.effect(run, ("lr", "depth")),
        hl.regions(run, "lr", levels=1),
        hl.interactions(run),
        hl.winner(run),
        hl.forecast(run),
        hl.advise(run),
        hl.confirm(run, "dropout", trials=3),
        hl.bias(run),
        hl.footprint(run),
        hl.why(run, trial=39),
        hl.path(run),
        hl.ablation(run),
        hl.pareto(both),
        hl.compare(methods),
    ]
    return dict(zip(NAMES, made, strict=True))


def main(folder: str) -> None:
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for name, record in records().items():
        picture = record.plot(backend="matplotlib")
        picture.savefig(place / f"{name}.svg")
        print(place / f"{name}.svg")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "gallery")
