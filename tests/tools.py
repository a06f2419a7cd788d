"""Small runs in the files of other tools, written as those tools document them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

SPACE: dict[str, Any] = {
    "name": None,
    "hyperparameters": [
        {
            "type": "uniform_float",
            "name": "lr",
            "lower": 1e-4,
            "upper": 1.0,
            "default_value": 0.01,
            "log": True,
            "meta": None,
        },
        {
            "type": "categorical",
            "name": "model",
            "choices": ["svm", "tree"],
            "weights": None,
            "default_value": "svm",
            "meta": None,
        },
        {
            "type": "uniform_int",
            "name": "degree",
            "lower": 1,
            "upper": 5,
            "default_value": 3,
            "log": False,
            "meta": None,
        },
    ],
    "conditions": [{"type": "EQ", "child": "degree", "parent": "model", "value": "svm"}],
    "forbiddens": [],
    "python_module_version": "1.2.0",
    "format_version": 0.4,
}
OLD_SPACE: dict[str, Any] = {  # as ConfigSpace 0.4 wrote it
    "hyperparameters": [
        {
            "name": "lr",
            "type": "uniform_float",
            "log": True,
            "lower": 1e-4,
            "upper": 1.0,
            "default": 0.01,
            "q": None,
        },
        {
            "name": "model",
            "type": "categorical",
            "choices": ["svm", "tree"],
            "default": "svm",
            "weights": None,
        },
        {
            "name": "degree",
            "type": "uniform_int",
            "log": False,
            "lower": 1,
            "upper": 5,
            "default": 3,
            "q": None,
        },
    ],
    "conditions": [{"child": "degree", "parent": "model", "type": "EQ", "value": "svm"}],
    "forbiddens": [],
    "python_module_version": "0.4.21",
    "json_format_version": 0.2,
}
CONFIGS: dict[str, dict[str, Any]] = {
    "1": {"lr": 0.1, "model": "svm", "degree": 2},
    "2": {"lr": 0.01, "model": "tree"},
    "3": {"lr": 0.30000000000000004, "model": "svm", "degree": 5},
}
COSTS = [0.5, 0.25, 0.1]


def put(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def lines(path: Path, rows: Sequence[Any]) -> Path:
    return put(path, "".join(json.dumps(row) + "\n" for row in rows))


def smac_1(folder: Path, costs: Sequence[Any] = COSTS, status: str = "SUCCESS") -> Path:
    """Pairs of key and value; a budget of 0 where there is none."""
    data = [
        [
            [k + 1, "i1", 7, 0.0],
            [cost, 0.5, {"__enum__": f"StatusType.{status}"}, 1600000000.0, 1600000001.0, {}],
        ]
        for k, cost in enumerate(costs)
    ]
    origins = dict.fromkeys(CONFIGS, "Sobol")
    put(folder / "runhistory.json", {"data": data, "config_origins": origins, "configs": CONFIGS})
    put(folder / "configspace.json", OLD_SPACE)
    return folder


def smac_2(folder: Path, rows: Sequence[Any], objectives: Any = "cost", space: bool = True) -> Path:
    """Flat lists (2.0) or objects (2.3)."""
    put(
        folder / "runhistory.json",
        {
            "stats": {"submitted": len(rows), "finished": len(rows), "running": 0},
            "data": rows,
            "configs": CONFIGS,
            "config_origins": dict.fromkeys(CONFIGS, "Initial Design: Sobol"),
        },
    )
    put(folder / "scenario.json", {"objectives": objectives, "min_budget": 1, "max_budget": 9})
    if space:
        put(folder / "configspace.json", SPACE)
    return folder


def smac_list(
    config: int, cost: Any, budget: float | None = None, seed: int = 0, status: int = 1
) -> list[Any]:
    return [config, None, seed, budget, cost, 0.5, status, 1.6e9, 1.6e9 + 1, {}]


def smac_object(
    config: int,
    cost: Any,
    budget: float | None = None,
    instance: str | None = None,
    status: int = 1,
    info: Any = None,
) -> dict[str, Any]:
    return {
        "config_id": config,
        "instance": instance,
        "seed": 3,
        "budget": budget,
        "cost": cost,
        "time": 0.5,
        "cpu_time": 0.4,
        "status": status,
        "starttime": 1.6e9,
        "endtime": 1.6e9 + 1,
        "additional_info": info or {},
    }


def hpbandster(folder: Path) -> Path:
    lines(
        folder / "configs.json",
        [[[0, 0, k], CONFIGS[str(k + 1)], {"model_based_pick": k == 2}] for k in range(3)],
    )
    times = {"submitted": 1.6e9, "started": 1.6e9 + 1, "finished": 1.6e9 + 2}
    lines(
        folder / "results.json",
        [
            [[0, 0, 0], 1.0, times, {"loss": 0.5, "info": {}}, None],
            [[0, 0, 1], 1.0, times, {"loss": 0.25, "info": {}}, None],
            [[0, 0, 2], 1.0, times, None, "Traceback: no memory"],
            [[0, 0, 1], 3.0, times, {"loss": 0.2, "info": {}}, None],
        ],
    )
    return folder


def ray(folder: Path, csv: bool = False) -> Path:
    """An experiment of three trials that report a loss and an accuracy; one failed."""
    states = []
    for k in range(3):
        trial = folder / f"train_27c5f_0000{k}_{k}_lr=0.1_2025-05-22_16-15-2{k}"
        put(trial / "params.json", {"lr": 10.0 ** -(k + 1), "opt": {"name": "adam"}, "depth": k})
        reports = [
            {
                "loss": 1.0 / (k + i),
                "acc": 0.1 * i,
                "training_iteration": i,
                "trial_id": f"27c5f_0000{k}",
                "timestamp": 1600000000 + 10 * k + i,
                "time_total_s": 0.5,
                "done": i == 3 - k,
                "config": {"lr": 10.0 ** -(k + 1)},
            }
            for i in range(1, 4 - k)
        ]
        if csv:
            header = ["loss", "acc", "training_iteration", "trial_id", "timestamp"]
            rows = [",".join(str(report[name]) for name in header) for report in reports]
            put(trial / "progress.csv", "\n".join([",".join(header), *rows]) + "\n")
        else:
            lines(trial / "result.json", reports)
        status = "ERROR" if k == 2 else "TERMINATED"
        states.append([json.dumps({"trial_id": f"27c5f_0000{k}", "status": status}), "{}"])
        if k == 2:
            put(trial / "error.txt", "Failure # 1\nValueError: boom\n")
    put(folder / "experiment_state-2025-05-22_16-15-21.json", {"trial_data": states})
    (folder / "tuner.pkl").write_bytes(b"\x80\x05never opened")
    (folder / "basic-variant-state-2025.json").write_bytes(b"\x80\x05never opened")
    return folder


def keras_space() -> list[dict[str, Any]]:
    def entry(kind: str, name: str, **config: Any) -> dict[str, Any]:
        return {"class_name": kind, "config": {"name": name, "conditions": [], **config}}

    parent = {"class_name": "Parent", "config": {"name": "model", "values": ["a"]}}
    return [
        entry("Int", "units", default=None, min_value=32, max_value=96, step=32, sampling="linear"),
        entry(
            "Float", "lr", default=1e-4, min_value=1e-4, max_value=0.1, step=None, sampling="log"
        ),
        entry("Choice", "model", default="a", values=["a", "b"], ordered=False),
        entry("Float", "dropout", min_value=0.0, max_value=0.5, step=0.25, sampling="linear")
        | {
            "config": {
                "name": "dropout",
                "conditions": [parent],
                "min_value": 0.0,
                "max_value": 0.5,
                "step": 0.25,
                "sampling": "linear",
            }
        },
        entry("Boolean", "bn", default=False),
        entry("Fixed", "fixed", value=3),
    ]


def keras(folder: Path) -> Path:
    values: list[dict[str, Any]] = [
        {"units": 32, "lr": 0.01, "model": "a", "dropout": 0.25, "bn": True, "fixed": 3},
        {"units": 64, "lr": 0.001, "model": "b", "bn": False, "fixed": 3},
        {"units": 96, "lr": 0.1, "model": "a", "dropout": 0.5, "bn": False, "fixed": 3},
    ]
    for k, row in enumerate(values):
        failed = k == 2
        score = 0.5 + 0.1 * k
        metric = {"direction": "max", "observations": [{"value": [score], "step": 0}]}
        other = {"direction": "min", "observations": [{"value": [1.0], "step": 0}]}
        put(
            folder / f"trial_{k}" / "trial.json",
            {
                "trial_id": str(k),
                "hyperparameters": {
                    "space": keras_space(),
                    "values": row | {"tuner/epochs": 3, "tuner/bracket": 1},
                },
                "metrics": {
                    "metrics": {} if failed else {"val_loss": other, "val_accuracy": metric}
                },
                "score": None if failed else score,
                "best_step": 0,
                "status": "FAILED" if failed else "COMPLETED",
                "message": "Traceback\nValueError: too big" if failed else None,
            },
        )
    put(folder / "oracle.json", {"ongoing_trials": {}})
    return folder


def flaml(path: Path, losses: Sequence[float] = (0.5, 0.6, 0.3, 0.4)) -> Path:
    records: list[dict[str, Any]] = [
        {
            "record_id": k,
            "iter_per_learner": 1,
            "logged_metric": {"pred_time": 1e-5},
            "trial_time": 0.1,
            "wall_clock_time": 0.1 * k,
            "validation_loss": loss,
            "config": {"C": 2.0**k} if k % 2 else {"n_estimators": 4 + k, "criterion": "gini"},
            "learner": "lrl1" if k % 2 else "rf",
            "sample_size": 150,
        }
        for k, loss in enumerate(losses)
    ]
    return lines(path, [*records, {"curr_best_record_id": 2}])


def ax(path: Path, objective: Any, wrapped: bool = True) -> Path:
    def kind(name: str) -> dict[str, str]:
        return {"__type": "ParameterType", "name": name}

    parameters = [
        {
            "__type": "RangeParameter",
            "name": "lr",
            "parameter_type": kind("FLOAT"),
            "lower": 1e-4,
            "upper": 0.1,
            "log_scale": True,
        },
        {
            "__type": "ChoiceParameter",
            "name": "m",
            "parameter_type": kind("STRING"),
            "values": ["a", "b"],
            "is_ordered": True,
            "dependents": {"a": ["n"]},
        },
        {
            "__type": "RangeParameter",
            "name": "n",
            "parameter_type": kind("INT"),
            "lower": 1,
            "upper": 8,
            "log_scale": False,
        },
        {"__type": "FixedParameter", "name": "f", "parameter_type": kind("INT"), "value": 3},
    ]
    values = [
        {"lr": 0.01, "m": "a", "n": 2, "f": 3},
        {"lr": 0.1, "m": "b", "f": 3},
        {"lr": 0.001, "m": "a", "n": 7, "f": 3},
    ]
    status = ["COMPLETED", "COMPLETED", "FAILED"]
    trials = {
        str(k): {
            "__type": "Trial",
            "index": k,
            "status": {"__type": "TrialStatus", "name": status[k]},
            "time_created": {"__type": "datetime", "value": "2026-11-15 11:33:06.917671"},
            "time_completed": {"__type": "datetime", "value": "2026-11-15 11:33:07.917671"},
            "generator_run": {
                "__type": "GeneratorRun",
                "generator_key": "Sobol",
                "arms": [{"__type": "Arm", "parameters": row, "name": f"{k}_0"}],
            },
        }
        for k, row in enumerate(values)
    }

    def frame(k: int) -> str:
        columns = {"trial_index": k, "arm_name": f"{k}_0", "metric_name": "loss", "mean": 0.5 + k}
        return json.dumps({name: {"0": value} for name, value in columns.items()})

    experiment = {
        "__type": "Experiment",
        "name": "exp",
        "search_space": {"__type": "SearchSpace", "parameters": parameters},
        "optimization_config": objective,
        "trials": trials,
        "data_by_trial": {
            str(k): {
                "__type": "OrderedDict",
                "value": [
                    [0, {"__type": "Data", "df": {"__type": "DataFrame", "value": frame(k)}}]
                ],
            }
            for k in range(2)
        },
    }
    return put(path, {"_type": "AxClient", "experiment": experiment} if wrapped else experiment)


AX_METRIC = {
    "__type": "OptimizationConfig",
    "objective": {
        "__type": "Objective",
        "metric": {"__type": "Metric", "name": "loss"},
        "minimize": True,
    },
}
AX_EXPRESSION = {
    "__type": "OptimizationConfig",
    "objective": {"__type": "Objective", "expression": "-loss"},
}

# every kind of run, for tests that mutate files: a name and how to write it below a folder
WRITERS: dict[str, Callable[[Path], Path]] = {
    "smac_1": smac_1,
    "smac_list": lambda at: smac_2(at, [smac_list(k + 1, c) for k, c in enumerate(COSTS)]),
    "smac_object": lambda at: smac_2(at, [smac_object(k + 1, c) for k, c in enumerate(COSTS)]),
    "hpbandster": hpbandster,
    "ray": ray,
    "ray_csv": lambda at: ray(at, csv=True),
    "keras": keras,
    "flaml": lambda at: flaml(at / "flaml.log"),
    "ax": lambda at: ax(at / "ax.json", AX_METRIC),
}
