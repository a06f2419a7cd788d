"""Small runs in the files of other tools, written as those tools document them."""

from __future__ import annotations

import json
import math
import sqlite3
import struct
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
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


def syne_tune(folder: Path) -> Path:
    """Three trials of up to two epochs; the second was stopped after the first epoch."""
    domain = {"domain_cls": "Float", "domain_kwargs": {"lower": 1e-4, "upper": 1.0}}
    space = {
        "lr": domain | {"sampler_cls": "LogUniform", "sampler_kwargs": {"base": 2.718}},
        "opt": {"domain_cls": "Categorical", "domain_kwargs": {"categories": ["sgd", "adam"]}},
        "width": {
            "domain_cls": "OrdinalNearestNeighbor",
            "domain_kwargs": {"categories": [16, 32, 64], "log_scale": False},
        },
        "depth": {"domain_cls": "Integer", "domain_kwargs": {"lower": 1, "upper": 4}},
        "epochs": 2,
    }
    metadata = {
        "st_tuner_creation_timestamp": 1.6e9,
        "scheduler_kwargs": {"time_attr": "epoch", "max_t": 2},
        "config_space": json.dumps(space),
        "metric_names": ["accuracy"],
        "metric_mode": "max",
    }
    put(folder / "metadata.json", metadata)
    rows = [
        "epoch,accuracy,st_worker_timestamp,st_worker_time,st_decision,st_status,trial_id,"
        "config_lr,config_opt,config_width,config_depth,config_epochs,st_tuner_time",
        "1,0.5,1600000011.0,1.0,CONTINUE,InProgress,0,0.1,adam,32,1,2,11",
        "1,0.1,1600000021.0,1.0,STOP,InProgress,1,0.9,sgd,16,2,2,21",
        "2,0.75,1600000012.0,2.0,STOP,InProgress,0,0.1,adam,32,1,2,12",
        "1,0.6,1600000031.0,1.0,CONTINUE,InProgress,2,0.01,adam,64,3,2,31",
        "2,0.875,1600000032.0,2.0,STOP,InProgress,2,0.01,adam,64,3,2,32",
    ]
    with zipfile.ZipFile(folder / "results.csv.zip", "w") as archive:
        archive.writestr("results.csv", "\n".join(rows) + "\n")
    (folder / "tuner.dill").write_bytes(b"\x80\x05never opened")
    return folder


def neps(folder: Path) -> Path:
    """Three trials of a fidelity; the third crashed."""
    for k, values in enumerate(CONFIGS.values(), 1):
        home = folder / "configs" / f"config_{k}"
        lines = [f"{name}: {value}" for name, value in sorted(values.items())]
        put(home / "config.yaml", "\n".join([*lines, f"epochs: {k % 2 * 2 + 1}", ""]))
        crashed = k == 3
        cost = "null" if crashed else COSTS[k - 1]
        curve = "null" if crashed else f"[1.0, {cost}]"
        put(
            home / "report.yaml",
            f"cost: null\nerr: {'boom' if crashed else 'null'}\nextra: {{}}\n"
            f"learning_curve: {curve}\nobjective_to_minimize: {cost}\ntb: null\n"
            f"reported_as: {'crashed' if crashed else 'success'}\n",
        )
        state = "crashed" if crashed else "success"
        times = {"time_sampled": 1.6e9, "time_started": 1.6e9 + k, "time_end": 1.6e9 + k + 1}
        put(home / "metadata.json", {"id": str(k), "state": state, **times})
    put(
        folder / "optimizer_info.yaml", "name: hyperband\nderived:\n  fidelity:\n    name: epochs\n"
    )
    (folder / "pipeline_space.pkl").write_bytes(b"\x80\x05never opened")
    return folder


def openbox(path: Path) -> Path:
    """Three observations of two objectives and a constraint; the third failed."""
    observations = [
        {
            "config": values,
            "objectives": [COSTS[k], 3.0 - k] if k < 2 else [math.inf, math.inf],
            "constraints": [k - 0.5] if k < 2 else None,
            "trial_state": 0 if k < 2 else 1,
            "elapsed_time": 2.0,
            "create_time": f"2026-11-16T10:34:0{k}.000000",
            "extra_info": {},
        }
        for k, values in enumerate(CONFIGS.values())
    ]
    about = {"task_id": "task", "num_objectives": 2, "num_constraints": 1, "ref_point": None}
    return put(path, about | {"observations": observations})


def _proto(*fields: tuple[int, Any]) -> bytes:
    """A protocol buffer: whole numbers, floats, texts and messages by the number of their field."""

    def whole(number: int) -> bytes:
        number %= 2**64
        digits = []
        while number > 127:
            digits.append(number & 127 | 128)
            number >>= 7
        return bytes([*digits, number])

    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += whole(number << 3) + whole(value)
        elif isinstance(value, float):
            out += whole(number << 3 | 1) + struct.pack("<d", value)
        else:
            content = value if isinstance(value, bytes) else value.encode()
            out += whole(number << 3 | 2) + whole(len(content)) + content
    return out


def vizier(path: Path) -> Path:
    """A study of an accuracy and a latency; of its four trials one is infeasible, one active."""
    lr = _proto((1, "lr"), (2, _proto((1, 1e-4), (2, 1.0))), (6, 2))
    batch = _proto((1, "batch"), (5, _proto((1, struct.pack("<2d", 16.0, 32.0)))), (7, 2))
    bias = _proto((1, "bias"), (4, _proto((1, "False"), (1, "True"))), (7, 1))
    degree = _proto((1, "degree"), (3, _proto((1, -1), (2, 5))))
    child = _proto((1, degree), (4, _proto((1, "svm"))))
    model = _proto((1, "model"), (4, _proto((1, "svm"), (1, "tree"))), (10, child))
    goals = [(1, _proto((1, "acc"), (2, 1))), (1, _proto((1, "latency"), (2, 2)))]
    parameters = [(2, parameter) for parameter in (lr, batch, bias, model)]
    name = "owners/me/studies/tune"
    study = _proto((1, name), (2, "tune"), (3, _proto(*goals, *parameters)))

    def measured(acc: float, latency: float, step: int) -> bytes:
        metrics = (_proto((1, "acc"), (2, acc)), _proto((1, "latency"), (2, latency)))
        return _proto((2, step), *((3, metric) for metric in metrics))

    trials = []
    for k, (state, model_) in enumerate([(4, "svm"), (4, "tree"), (5, "svm"), (2, "tree")]):
        values: list[tuple[str, float | str]] = [("lr", 0.1**k), ("batch", 16.0), ("bias", "True")]
        values += [("model", model_)] + ([("degree", k - 1.0)] if model_ == "svm" else [])
        fields: list[tuple[int, Any]] = [(2, str(k + 1)), (3, state)]
        for parameter, value in values:
            content = _proto((3 if isinstance(value, str) else 2, value))
            fields.append((4, _proto((1, parameter), (2, content))))
        if state == 4:
            fields += [(5, measured(0.5 + k / 4, k + 1.0, 2))]
        fields += [(6, measured(0.25, k + 1.0, 1)), (6, measured(0.5 + k / 4, k + 1.0, 2))]
        fields += [(7, _proto((1, 1600000000), (2, 500000000))), (8, _proto((1, 1600000002)))]
        fields += [(10, "out of memory")] if state == 5 else []
        trials.append((f"{name}/trials/{k + 1}", "me", "tune", k + 1, _proto(*fields)))
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database:
        names = "study_name VARCHAR, owner_id VARCHAR, study_id VARCHAR, serialized_study VARCHAR"
        database.execute(f"CREATE TABLE studies ({names})")
        database.execute("INSERT INTO studies VALUES (?, ?, ?, ?)", (name, "me", "tune", study))
        database.execute(
            "CREATE TABLE trials (trial_name VARCHAR, owner_id VARCHAR, study_id VARCHAR, "
            "trial_id INTEGER, serialized_trial VARCHAR)"
        )
        database.executemany("INSERT INTO trials VALUES (?, ?, ?, ?, ?)", trials)
        database.commit()
    return path


def amltk(folder: Path) -> Path:
    rows = [
        "name,status,trial_seed,exception,traceback,bucket,created_at,reported_at,"
        'metric:loss (minimize),"metric:acc [0.0, 1.0] (maximize)",config:lr,config:model,config:degree,'
        "profile:trial:time:start",
        "config_id=1_seed=7_budget=1.0_instance=None,success,7,NA,NA,b,2026-11-16 10:28:08.5,"
        "2026-11-16 10:28:09.5,0.5,0.9,0.1,svm,2,1.0",
        "config_id=2_seed=7_budget=3.0_instance=None,success,7,NA,NA,b,2026-11-16 10:28:08.5,"
        "2026-11-16 10:28:09.5,0.25,0.8,0.01,tree,,1.0",
        "config_id=3_seed=7_budget=3.0_instance=None,fail,7,boom,tb,b,2026-11-16 10:28:08.5,"
        "2026-11-16 10:28:09.5,,,0.3,svm,5,1.0",
    ]
    put(folder / "history.csv", "\n".join(rows) + "\n")
    return folder


def cave(folder: Path, joined: bool = True) -> Path:
    """Evaluations by configuration, whose values stand in a table of their own or in each row."""
    rows = [
        "config_id,instance_id,cost,time,seed,status,budget",
        "1,i1,0.5,3,7,StatusType.SUCCESS,1",
        "2,i1,0.25,3,7,StatusType.SUCCESS,1",
        "3,i2,0.1,3,7,StatusType.SUCCESS,1",
        "3,i1,9.0,3,8,StatusType.TIMEOUT,1",
    ]
    values = {"1": "0.1,svm,2", "2": "0.01,tree,", "3": "0.30000000000000004,svm,5"}
    head = "lr,model,degree"
    if joined:
        lines = [f"{key}, {row}" for key, row in values.items()]
        put(folder / "configurations.csv", "\n".join([f"CONFIG_ID,{head}", *lines]) + "\n")
    else:
        cells = [row.split(",", 1) for row in rows]
        rows = [f"{rest},{values.get(key, head)}" for key, rest in cells]
    put(folder / "runhistory.csv", "\n".join(rows) + "\n")
    put(folder / "scenario.txt", "paramfile = configspace.pcs\n")
    pcs = [
        "lr real [0.0001, 1.0] [0.01] log",
        "model categorical {svm, tree} [svm]",
        "degree integer [1, 5] [3]",
        "",
        "degree | model == svm",
    ]
    put(folder / "configspace.pcs", "\n".join(pcs) + "\n")
    return folder


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
    "syne_tune": syne_tune,
    "neps": neps,
    "openbox": lambda at: openbox(at / "history.json"),
    "vizier": lambda at: vizier(at / "vizier.db"),
    "amltk": amltk,
    "cave": cave,
}
