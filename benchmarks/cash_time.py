"""A search over models in so many seconds beside others that have as many: test log loss on OpenML.

python -m benchmarks.cash_time [--seconds 30] [--sets 25] [--splits 1] [--flaml PYTHON]
    [--autogluon PYTHON] [--clock processor] [--save]
python -m benchmarks.cash_time --page --save    # measures nothing, writes the page anew

Data sets are those of the folder that docs/results/cash_benchmark.md does not show, without those in
SEEN: settings were chosen on the others. FLAML and AutoGluon are run by interpreters of their own. By
`--clock processor` a second is one of the processor (cpu_clock.py), for a machine that has other work.
Every run is a row of docs/results/cash_time.csv, with the clock and what was measured (of ours the
commit, of others the version), so that the benchmark can be stopped and go on, and anybody can add to
it; data set by data set, so that a part of it is fair. The page shows what was measured last of each
method in each time; what was tried, and what was measured before rows were kept, stays at its end.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pandas as pd

import hyperlens as hl
from benchmarks.cash import DATA, ROOT
from benchmarks.cash_players import METHODS, PACKAGES
from benchmarks.machine import description, revision
from hyperlens.words import counted

PAGE = ROOT / "docs" / "results" / "cash_time.md"
SHOWN = ROOT / "docs" / "results" / "cash_benchmark.md"
KEPT = PAGE.with_suffix(".csv")
WRITTEN = "## What was tried"  # here begins the part of the page that is not made anew
TRUST = "How far to trust it:"
PLAYER = Path(__file__).with_name("cash_players.py")
KEYS = ("dataset", "split", "budget", "clock", "method", "state")
COLUMNS = (*KEYS, "loss", "seconds", "cpu", "chosen")
SEEN = {  # a first form of the search by the clock was measured on these; it was changed then
    *("3_kr-vs-kp", "720_abalone", "728_analcatdata_supreme", "797_fri_c4_1000_50"),
    *("806_fri_c3_1000_50", "903_fri_c2_1000_25", "917_fri_c1_1000_25", "953_splice"),
}
MEASURED = {  # earlier forms were measured on these
    *("958_segment", "971_mfeat-fourier", "979_waveform-5000", "995_mfeat-zernike", "1049_pc4"),
    *("1050_pc3", "1444_PizzaCutter3", "1487_ozone-level-8hr", "1504_steel-plates-fault"),
    "40646_GAMETES_Epistasis_2-Way_20atts_0.1H_EDM-1_1",
    "40647_GAMETES_Epistasis_2-Way_20atts_0.4H_EDM-1_1",
    "40701_churn",
}
OURS, FLAML = "hyperlens", "FLAML"
ALLOWED = 1.1  # of the time
ENOUGH_SETS = 5  # to test whether methods differ
DIGITS = 4  # of a loss: what agrees in these is called the same, so that nothing is won by 1e-7
ONE_CORE = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


def unseen(data: Path) -> list[Path]:
    """Data sets that are not on the page of the other benchmark and were not seen here, by number."""
    page = SHOWN.read_text(encoding="utf-8")
    files = pd.read_csv(data / "MANIFEST.csv")["file"]
    names = [name.removesuffix(".csv.gz") for name in files]
    fresh = [name not in SEEN and f"| {name} |" not in page for name in names]
    return [data / file for file, new in zip(files, fresh, strict=True) if new]


def state_of(method: str, python: str) -> str:
    """Of ours the last commit of the search's sources, of others the version."""
    package = PACKAGES.get(method)
    if package is None:
        return revision("src/hyperlens/cash")
    code = f"from importlib.metadata import version; print(version({package!r}))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return f"{package} {done.stdout.strip()}"


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
        return dict.fromkeys(("loss", "seconds", "cpu"), float("nan")) | {"chosen": reason}
    found: dict[str, object] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


@dataclass(frozen=True)
class Game:
    """One run that is wanted: what it is kept by, and what is run."""

    key: tuple[str, ...]
    path: Path
    python: str

    def play(self) -> dict[str, object]:
        _, split, seconds, clock, method, _ = self.key
        return played(method, self.path, int(split), float(seconds), self.python, clock)


def games(
    paths: list[Path], splits: range, seconds: float, methods: list[str], pythons: dict[str, str],
    clock: str,
) -> list[Game]:  # fmt: skip
    """Data set by data set, and one split after the other."""
    python = {m: pythons.get(m, sys.executable) for m in methods}
    states = {m: state_of(m, python[m]) for m in methods}
    return [
        Game(
            (_name(path), str(split), f"{seconds:g}", clock, m, states[m]), path, python[m]
        )
        for split, path, m in product(splits, paths, methods)
    ]  # fmt: skip


def fill(wanted: list[Game], kept: Path, at_once: int) -> None:
    """Measure what is not known yet; so many methods at once have the same share of the machine."""
    known = set()
    if kept.exists():
        known = {tuple(r) for r in pd.read_csv(kept, dtype=str)[list(KEYS)].to_numpy()}
    missing = [game for game in wanted if game.key not in known]
    with kept.open("a", newline="") as file, ThreadPoolExecutor(at_once) as pool:
        writer = csv.writer(file, lineterminator="\n")
        if not kept.stat().st_size:
            writer.writerow(COLUMNS)
        for k in range(0, len(missing), at_once):
            some = missing[k : k + at_once]
            for game, found in zip(some, pool.map(Game.play, some), strict=True):
                numbers = (float(str(found[column])) for column in COLUMNS[6:9])
                said = (f"{number:.9g}" for number in numbers)
                writer.writerow([*game.key, *said, found["chosen"]])
                file.flush()
                print(*game.key, found, flush=True)


def _name(path: Path) -> str:
    return path.name.removesuffix(".csv.gz")


def newest(kept: pd.DataFrame) -> pd.DataFrame:
    """Of each method what was measured last in each time: one state of it, by one clock."""
    last = kept.groupby(["budget", "method"])[["state", "clock"]].transform("last")
    return kept[(kept[["state", "clock"]] == last).all(axis=1)]


def page(kept: pd.DataFrame, said: str) -> str:
    """What came out, as Markdown: a section for each time that was given. How far to trust it stays as
    it stands unless it is `said` anew, and so does what was written by hand."""
    before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    doubts = [line for line in before.splitlines() if line.startswith(TRUST)]
    lines = [
        "# A search over models by the clock",
        "",
        "`python -m benchmarks.cash_time --seconds 30 --flaml PYTHON --autogluon PYTHON`. "
        f"{description()}",
        "",
        "Test log loss after so many seconds on one core, on data sets of OpenML, split into train "
        "(3/4) and test; each run is a row of [cash_time.csv](cash_time.csv). Settings were chosen on "
        "other sets: those of the [other benchmark](cash_benchmark.md) and eight more (`SEEN` in "
        "benchmarks/cash_time.py). Twelve of the sets below (`MEASURED` there) had been measured by "
        "earlier forms of the search. By the clock *processor* a second is one of the processor. Losses "
        f"that agree in {DIGITS} digits after the point are called the same.",
        "",
        *([f"{TRUST} {said}"] if said else doubts[:1]),
        "",
    ]
    parts = [(float(s), part) for s, part in newest(kept).groupby("budget") if _beside(part)]
    lines += [*overview(parts), ""]
    for seconds, part in parts:
        lines += [*section(part, seconds), ""]
    if WRITTEN in before:
        lines += [WRITTEN + before.split(WRITTEN, 1)[1]]
    return "\n".join(lines).rstrip() + "\n"


def overview(parts: list[tuple[float, pd.DataFrame]]) -> list[str]:
    """What is wanted, for each time: a row of a table."""
    lines = [
        "| seconds | sets | splits | not worse than FLAML (65 % wanted) | average ranks "
        "| end in the time and a tenth | longest |",
        "|---|---|---|---|---|---|---|",
    ]
    for seconds, part in parts:
        runs, splits = losses(part)
        table = _means(runs)
        whole = table[[m for m in runs.columns if runs[m].notna().all()]]
        ranks = whole.rank(axis=1).mean().sort_values()
        ranked = ", ".join(f"{method} {rank:.2f}" for method, rank in ranks.items())
        fine = table[OURS] <= table[FLAML] if FLAML in table else pd.Series(dtype=bool)
        share = f"{int(fine.sum())} of {len(fine)} ({fine.mean():.0%})" if len(fine) else ""
        mine = part[part["method"] == OURS]["seconds"]
        in_time = f"{int((mine <= ALLOWED * seconds).sum())} of {len(mine)}"
        lines.append(
            f"| {seconds:g} | {len(table)} | {splits} | {share} | {ranked} | {in_time} | "
            f"{mine.max():.1f} s |"
        )
    return lines


def _beside(kept: pd.DataFrame) -> bool:
    """Is ours there, and another method on the same sets?"""
    return OURS in set(kept["method"]) and len(losses(kept)[0].columns) > 1


def losses(kept: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Losses by data set and split, a column for each method, of those that ours and FLAML both have;
    and how many splits they are of. Where a method is known by its mean over several splits alone, so
    are all."""
    runs = kept.pivot(index=["dataset", "split"], columns="method", values="loss")
    spans = [name for name in runs.index.unique("split") if "-" in name]
    splits = runs.groupby("dataset").size().max()
    for span in spans:
        first, last = (int(word) for word in span.split("-"))
        within = [str(split) for split in range(first, last + 1)]
        single = runs[runs.index.isin(within, level="split")]
        by_set = single.groupby("dataset")
        means = by_set.mean().where(by_set.count() == len(within)).assign(split=span)
        runs = runs.drop(single.index).combine_first(means.set_index("split", append=True))
        splits = len(within)
    runs = runs[[m for m in METHODS if m in runs.columns]]
    runs = runs.dropna(subset=[m for m in (OURS, FLAML) if m in runs.columns])
    return runs.round(DIGITS).dropna(axis=1, how="all"), int(splits)


def section(kept: pd.DataFrame, seconds: float) -> list[str]:
    """What came out in one time, as means over the splits that ours and FLAML both have; methods that
    were not run on all of these are compared on those that they have, and are not ranked."""
    runs, count = losses(kept)
    table = _means(runs)
    whole = [m for m in runs.columns if runs[m].notna().all()]
    splits = f"{count} splits" if count > 1 else "one split"
    sets = counted(len(table), "set")
    lines = [
        f"## {seconds:g} s, {sets}, {splits}",
        "",
        "| question | answer | wanted |",
        "|---|---|---|",
    ]
    for other in runs.columns[1:]:
        both = _means(runs[[OURS, other]].dropna())
        fine = both[OURS] <= both[other]
        wanted = "65 %" if other == FLAML else ""
        share = f"{int(fine.sum())} of {len(fine)} ({fine.mean():.0%})"
        lines.append(f"| log loss not worse than {other} | {share} | {wanted} |")
        fresh = fine[[name not in MEASURED for name in fine.index]]
        if other == FLAML and len(fresh):
            share = f"{int(fresh.sum())} of {len(fresh)}"
            lines.append(f"| the same on sets that no earlier form was measured on | {share} | |")
    mine = kept[kept["method"] == OURS]["seconds"]
    in_time = int((mine <= ALLOWED * seconds).sum())
    answer = f"{in_time} of {len(mine)}, longest {mine.max():.1f} s"
    lines += [f"| ends within {ALLOWED * seconds:g} s | {answer} | all |", ""]
    if len(table) >= ENOUGH_SETS and len(whole) > 1:
        lines += [*hl.compare(table[whole].reset_index(), dataset="dataset").sentences, ""]
    ranks = table[whole].rank(axis=1).mean()
    used = kept.groupby("method")
    lines += [
        "| method | measured | clock | average rank | median seconds | longest | of a processor |"
    ]
    lines += ["|---|---|---|---|---|---|---|"]
    for method in sorted(table.columns, key=lambda m: ranks.get(m, float("inf"))):
        last = used.last().loc[method]
        rank = f"{ranks[method]:.2f}" if method in whole else ""
        numbers = (used["seconds"].median(), used["seconds"].max(), used["cpu"].median())
        took = " | ".join(_number(each[method], 1) for each in numbers)
        lines.append(f"| {method} | {last['state']} | {last['clock']} | {rank} | {took} |")
    lines += ["", f"| data set | {' | '.join(table.columns)} |", "|---|" + "---|" * table.shape[1]]
    for name, row in table.iterrows():
        lines.append(f"| {name} | {' | '.join(_cell(v, v == row.min()) for v in row)} |")
    return lines


def _means(runs: pd.DataFrame) -> pd.DataFrame:
    """Over splits, data set by data set in the order of their numbers."""
    table = runs.groupby("dataset").mean()
    return table.sort_index(key=lambda names: [int(name.split("_")[0]) for name in names])


def _number(value: float, digits: int) -> str:
    return "" if value != value else f"{value:.{digits}f}"


def _cell(loss: float, best: bool) -> str:
    return f"**{loss:.4f}**" if best else _number(loss, 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=30.0, help="that each method has")
    parser.add_argument("--sets", type=int, default=25, help="how many data sets")
    parser.add_argument("--named", nargs="+", default=[], help="only these data sets")
    parser.add_argument("--splits", type=int, default=1, help="into train and test")
    parser.add_argument("--first-split", type=int, default=0, help="number of the first of them")
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
    if chosen.named:
        paths = [path for path in paths if _name(path) in chosen.named]
    if not chosen.page:
        pythons = {FLAML: chosen.flaml, "AutoGluon": chosen.autogluon}
        splits = range(chosen.first_split, chosen.first_split + chosen.splits)
        wanted = games(paths, splits, chosen.seconds, chosen.methods, pythons, chosen.clock)
        fill(wanted, chosen.kept, chosen.at_once)
    found = page(pd.read_csv(chosen.kept, dtype={"chosen": str, "split": str}), chosen.said)
    print(found)
    if chosen.save:
        PAGE.write_text(found, encoding="utf-8")


if __name__ == "__main__":
    main()
