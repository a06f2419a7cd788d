"""The oldest version of every package that pyproject.toml allows, as constraints for pip.

`make oldest` installs them and runs a part of the tests with them: bounds that nobody has tried are not
known to be true.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

EXTRAS = ("parquet", "stills")  # cash and experiments ask for newer versions themselves


def oldest(project: dict[str, object]) -> list[str]:
    """Lines such as "numpy==1.26", one for each package of the core and of some extras.

    >>> oldest({"dependencies": ["numpy>=1.26", "rich>=13.0"], "optional-dependencies": {}})
    ['numpy==1.26', 'rich==13.0']
    """
    core, extras = project["dependencies"], project["optional-dependencies"]
    assert isinstance(core, list)
    assert isinstance(extras, dict)
    listed = [*core, *(line for name in EXTRAS for line in extras.get(name, ()))]
    return [re.sub(r">=", "==", line) for line in listed]


if __name__ == "__main__":
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    sys.stdout.write("\n".join(oldest(tomllib.loads(text)["project"])) + "\n")
