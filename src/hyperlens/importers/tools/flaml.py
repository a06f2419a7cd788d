"""FLAML's training log: one JSON object a line for each trial that was logged.

A trial has a learner, the learner's own configuration, a validation loss, which is minimised, and
the size of the sample it was trained on. The log holds no space.
"""

from itertools import pairwise
from pathlib import Path

from hyperlens.importers.files import json_lines, malformed
from hyperlens.importers.raw_run import RawRun
from hyperlens.importers.read_options import ReadOptions
from hyperlens.importers.values import Json, amount, flat, number
from hyperlens.runs.history import Objective, Trial

_SAMPLE = "FLAML_sample_size"


def recognised(start: bytes) -> bool:
    known = b'"validation_loss"' in start and b'"learner"' in start
    return known and start.lstrip().startswith(b"{")


def read(path: Path, options: ReadOptions) -> RawRun:
    records: list[Json] = []
    notes: list[str] = []
    for at, line in json_lines(path, notes):
        if isinstance(line, dict) and isinstance(line.get("config"), dict):
            records.append(line)
        elif not (isinstance(line, dict) and "curr_best_record_id" in line):
            raise malformed(path, f"a record of FLAML in line {at}")
    several = len({str(record.get("learner")) for record in records}) > 1
    trials = [_trial(k, record, several) for k, record in enumerate(records)]
    losses = [trial.costs[0] for trial in trials]
    if len(losses) > 2 and all(a >= b for a, b in pairwise(losses)):
        notes.append(
            "Every logged trial is at least as good as the one before: FLAML logs improvements "
            "alone unless fit is called with log_type='all', and what was worse is unknown."
        )
    return RawRun(f"FLAML log {path.name}", [Objective("validation_loss")], trials, notes=notes)


def _trial(position: int, record: Json, several: bool) -> Trial:
    """With several learners, 'learner' is a parameter and each has its own configuration."""
    learner = str(record.get("learner"))
    config = {k: v for k, v in flat(record["config"]).items() if k != _SAMPLE}
    if several:
        config = {"learner": learner} | {f"{learner}/{k}": v for k, v in config.items()}
    return Trial(
        position,
        config,
        (number(record.get("validation_loss")),),
        budget=amount(record.get("sample_size")),
        proposer="FLAML",
    )
