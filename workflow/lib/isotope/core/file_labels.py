"""What upstream files are called in tables: by name, or by folder too where two have one name."""

import os
from collections.abc import Sequence
from pathlib import Path


def labels(paths: Sequence[Path]) -> dict[Path, str]:
    """Return the name of each file; where two share one, all have their path below the folder that
    holds them all."""
    if len({path.name for path in paths}) == len(set(paths)):
        return {path: path.name for path in paths}
    root = os.path.commonpath([path.parent for path in paths])
    return {path: path.relative_to(root).as_posix() for path in paths}
