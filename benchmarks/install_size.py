"""What an installation of Hyperlens weighs: its core dependencies and theirs, by their own files.

    python -m benchmarks.install_size [extra ...]

Run it in an environment in which Hyperlens is installed. Sizes are those of the files that each
distribution lists, without what Python compiles of them.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement


def closure(name: str, extras: tuple[str, ...] = ()) -> dict[str, Distribution]:
    """A distribution and all that it needs, by normalised name."""
    found: dict[str, Distribution] = {}
    ahead = [(name, extras)]
    while ahead:
        name, extras = ahead.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in found and not extras:
            continue
        try:
            found[key] = distribution(name)
        except PackageNotFoundError:
            continue  # not needed on this platform, or an extra that is not installed
        for text in found[key].requires or ():
            needed = Requirement(text)
            kinds = extras or ("",)
            if needed.marker is None or any(needed.marker.evaluate({"extra": e}) for e in kinds):
                ahead.append((needed.name, tuple(needed.extras)))
    return found


def megabytes(installed: Distribution) -> float:
    """Its files without compiled Python, in MB."""
    listed = [file for file in installed.files or () if file.suffix != ".pyc"]
    paths = [Path(str(installed.locate_file(file))) for file in listed]
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def main(*extras: str) -> None:
    sizes = {key: megabytes(d) for key, d in closure("hyperlens", extras).items()}
    for key, size in sorted(sizes.items(), key=lambda item: -item[1]):
        print(f"{size:8.1f} MB  {key}")
    print(f"{sum(sizes.values()):8.1f} MB  together")


if __name__ == "__main__":
    main(*sys.argv[1:])
