"""Spaces as people write them by hand."""

from pathlib import Path

import pytest

import hyperlens as hl
from hyperlens.errors import SpaceError

BY_HAND = """
lr: {low: 1e-5, high: 1.0e0, log: true}
depth: {low: 1, high: 8}
rate: {min: 0, max: 1, type: float, default: 0.25}
optimizer: [adam, sgd]
epochs: 20
one: [x]
"""
MEANT = hl.Space.of(
    [
        hl.Parameter("lr", "float", 1e-5, 1.0, log=True),
        hl.Parameter("depth", "integer", 1, 8),
        hl.Parameter("rate", "float", 0, 1, default=0.25),
        hl.Parameter("optimizer", "categorical", choices=("adam", "sgd")),
    ],
    constants={"epochs": 20, "one": "x"},
)


def test_yaml_json_and_a_dict_say_the_same(tmp_path: Path) -> None:
    yaml, json = tmp_path / "space.yaml", tmp_path / "space.json"
    yaml.write_text(BY_HAND)
    json.write_text(
        '{"lr": {"low": 1e-5, "high": 1.0, "log": true}, "depth": {"low": 1, "high": 8}, '
        '"rate": {"low": 0, "high": 1, "type": "float", "default": 0.25}, '
        '"optimizer": ["adam", "sgd"], "epochs": 20, "one": ["x"]}'
    )
    for space in (hl.Space.load(yaml), hl.Space.load(json)):
        assert space.configspace == MEANT.configspace
    lines = {"x": {"low": 0.0, "high": 1.0}}
    history = hl.minimize(lambda c: c["x"] ** 2, lines, optimizer="random", trials=3)
    assert history.space.names == ("x",)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("x: {low: 1}", "needs two bounds"),
        ("x: {low: a, high: b}", "needs two bounds"),
        ("x: {low: 2, high: 1}", "widen its range"),
        ("x: {low: 0, high: 1, log: true}", "positive bound"),
        ("x: {low: 0, high: 1, steps: 3}", "steps"),
        ("x: {low: 0, high: 1, type: real}", "'int', 'float'"),
        ("x: []", "two or more"),
        ("x: 3", "holds no hyperparameters; write one a line"),
        ("", "holds no space; write one a line"),
        ("- x", "holds no space"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_write(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "space.yaml"
    file.write_text(line)
    with pytest.raises(SpaceError, match=said):
        hl.Space.load(file)
