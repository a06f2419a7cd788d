"""A search over models in so many seconds beside others that have as many: test log loss on OpenML.

python -m benchmarks.cash_time [--seconds 30] [--sets 25] [--splits 1] [--flaml PYTHON]
    [--autogluon PYTHON] [--clock processor] [--save]

Data sets are those of the folder that docs/results/cash_benchmark.md does not show: none of them was
looked at while the search was built. FLAML and AutoGluon are run by interpreters of their own. By
`--clock processor` a second is one of the processor (cpu_clock.py), for a machine that has other work.
Results are kept in a file, so that the benchmark can be stopped and go on; data set by data set, so that
a part of it is fair.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import pandas as pd

import hyperlens as hl
from benchmarks.cash import DATA, ROOT
from benchmarks.cash_players import METHODS
from benchmarks.machine import description

PAGE = ROOT / "docs" / "results" / "cash_time.md"
SHOWN = ROOT / "docs" / "results" / "cash_benchmark.md"
KEPT = ROOT.parent / "cash_time.csv"
PLAYER = Path(__file__).with_name("cash_players.py")
COLUMNS = ("dataset", "split", "budget", "method", "loss", "seconds", "cpu", "chosen")
SEEN = {  # a first form of the search by the clock was measured on these; it was changed then
    *("3_kr-vs-kp", "720_abalone", "728_analcatdata_supreme", "797_fri_c4_1000_50"),
    *("806_fri_c3_1000_50", "903_fri_c2_1000_25", "917_fri_c1_1000_25", "953_splice"),
}
OURS, FLAML = "hyperlens", "FLAML"
ALLOWED = 1.1  # of the time
ONE_CORE = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


def unseen(data: Path) -> list[Path]:
    """Data sets that are not on the page of the other benchmark and were not seen here, by number."""
    page = SHOWN.read_text(encoding="utf-8")
    files = pd.read_csv(data / "MANIFEST.csv")["file"]
    names = [name.removesuffix(".csv.gz") for name in files]
    fresh = [name not in SEEN and f"| {name} |" not in page for name in names]
    return [data / file for file, new in zip(files, fresh, strict=True) if new]


def played(
    method: str, path: Path, split: int, seconds: float, python: str, clock: str = "wall"
) -> dict[str, object]:
    """What a method says after so many seconds; its loss is nan where it fails."""
    where = {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    words = [python, str(PLAYER), method, str(path), str(split), str(seconds), clock]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=100 * seconds + 300,
        env=os.environ | where | dict.fromkeys(ONE_CORE, "1"),
    )  # fmt: skip
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason"])[-1]
        return {
            "loss": float("nan"),
            "seconds": float("nan"),
            "cpu": float("nan"),
            "chosen": reason,
        }
    found: dict[str, object] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def fill(
    paths: list[Path],
    splits: int,
    seconds: float,
    methods: list[str],
    pythons: dict[str, str],
    kept: Path,
    at_once: int,
    clock: str = "wall",
) -> None:
    """Measure what is not known yet; so many methods at once have the same share of the machine."""
    known = set()
    if kept.exists():
        known = {tuple(r) for r in pd.read_csv(kept, dtype=str)[list(COLUMNS[:4])].to_numpy()}
    with kept.open("a", newline="") as file, ThreadPoolExecutor(at_once) as pool:
        writer = csv.writer(file)
        if not known:
            writer.writerow(COLUMNS)
        for split, path in product(range(splits), paths):
            name = path.name.removesuffix(".csv.gz")
            keys = [(name, str(split), f"{seconds:g}", m) for m in methods]
            for some in batched([key for key in keys if key not in known], at_once):
                games = [
                    pool.submit(
                        played, key[3], path, split, seconds,
                        pythons.get(key[3], sys.executable), clock,
                    )
                    for key in some
                ]  # fmt: skip
                for key, game in zip(some, games, strict=True):
                    found = game.result()
                    writer.writerow([*key, *(found[column] for column in COLUMNS[4:])])
                    file.flush()
                    print(*key, found, flush=True)


def batched(keys: list[tuple[str, ...]], size: int) -> list[list[tuple[str, ...]]]:
    return [keys[k : k + size] for k in range(0, len(keys), size)]


def text(kept: pd.DataFrame, seconds: float, said: str) -> str:
    """What came out, as Markdown."""
    methods = [m for m in METHODS if m in set(kept["method"])]
    table = kept.pivot_table(index="dataset", columns="method", values="loss", sort=False)
    means = table[methods].dropna()
    by_method = kept[kept["dataset"].isin(means.index)].groupby("method")
    used, cpu = by_method["seconds"], by_method["cpu"]
    compared = hl.compare(means.reset_index(), dataset="dataset")
    splits = kept["split"].nunique()
    lines = [
        "# A search over models by the clock",
        "",
        f"`python -m benchmarks.cash_time --seconds {seconds:g} --sets {len(means)} --splits {splits} "
        f"--flaml PYTHON`. {description()}",
        "",
        f"Test log loss after {seconds:g} s of wall-clock time on one core each, on {len(means)} data "
        f"sets of OpenML, {'one split' if splits == 1 else f'{splits} splits'} into train (3/4) and "
        "test. The sets were not looked at while the search was built: development was on made tables "
        "and on those of the [other benchmark](cash_benchmark.md).",
        "",
        said,
        "",
        "| question | answer | wanted |",
        "|---|---|---|",
    ]
    for other in methods[1:]:
        fine = means[OURS] <= means[other]
        wanted = "65 %" if other == FLAML else ""
        lines.append(
            f"| log loss not worse than {other} | {int(fine.sum())} of {len(fine)} ({fine.mean():.0%}) "
            f"| {wanted} |"
        )
    mine = kept[kept["method"] == OURS]["seconds"]
    kept_time = (
        f"{int((mine <= ALLOWED * seconds).sum())} of {len(mine)}, longest {mine.max():.1f} s"
    )
    lines.append(f"| ends within {ALLOWED * seconds:g} s | {kept_time} | all |")
    lines += [
        "",
        *compared.sentences,
        "",
        "| method | average rank | median seconds | longest | of a processor |",
    ]
    lines += ["|---|---|---|---|---|"]
    lines += [
        f"| {m} | {rank:.2f} | {used.median()[m]:.1f} | {used.max()[m]:.1f} | {cpu.median()[m]:.1f} |"
        for m, rank in compared.ranks.items()
    ]
    lines += ["", f"| data set | {' | '.join(methods)} |", "|---|" + "---|" * len(methods)]
    for name, row in means.iterrows():
        best = row.min()
        cells = [f"**{v:.4f}**" if v == best else f"{v:.4f}" for v in row]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=30.0, help="that each method has")
    parser.add_argument("--sets", type=int, default=25, help="how many data sets")
    parser.add_argument("--splits", type=int, default=1, help="into train and test")
    parser.add_argument("--at-once", type=int, default=1, help="methods that run side by side")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--flaml", default=sys.executable, help="interpreter that has FLAML")
    parser.add_argument(
        "--autogluon", default=sys.executable, help="interpreter that has AutoGluon"
    )
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall", help="of seconds")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--kept", type=Path, default=KEPT, help="what is measured already")
    parser.add_argument("--said", default="", help="how far to trust it, for the page")
    parser.add_argument("--save", action="store_true", help="write docs/results/cash_time.md")
    parser.add_argument("--page", action="store_true", help="measure nothing, write what is known")
    chosen = parser.parse_args()
    paths = unseen(chosen.data)[: chosen.sets]
    if not chosen.page:
        fill(
            paths, chosen.splits, chosen.seconds, chosen.methods,
            {FLAML: chosen.flaml, "AutoGluon": chosen.autogluon}, chosen.kept, chosen.at_once,
            chosen.clock,
        )  # fmt: skip
    kept = pd.read_csv(chosen.kept, dtype={"chosen": str})
    here = kept["budget"].eq(chosen.seconds) & (kept["split"] < chosen.splits)
    found = text(kept[here], chosen.seconds, chosen.said)
    print(found)
    if chosen.save:
        PAGE.write_text(found, encoding="utf-8")


if __name__ == "__main__":
    main()
