"""Files that params name: what a rule takes as input to notice that one of them has changed.

A param's value is compared by Snakemake itself; what lies at the value is not.
"""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from isotope.params.sections import model_kind

_ACQUIRED = ("data", "acquire")


def of_file(named: str, sources: Collection[str] = (), *, folders: bool = True) -> list[str]:
    """Return the files that change when what lies at `named` does, sorted.

    They are the file itself, or all files in the folder `named` but hidden ones; of what a source
    of `sources` has acquired, its manifest, which is there before its files are. There are none for
    what is not on this disk (a hub's model, a tag, a word such as `toy`), nor for a folder unless
    `folders`.
    """
    parts = Path(os.path.relpath(named)).parts
    if parts[:2] == _ACQUIRED and parts[2:3] and parts[2] in sources:
        return [str(Path(*parts[:3], "manifest.json"))]
    path = Path(named)
    if path.is_dir() and folders:
        found = (p for p in path.rglob("*") if p.is_file())
        return sorted(str(p) for p in found if not _hidden(p.relative_to(path)))
    return [named] if path.is_file() else []


def of_model(spec: Mapping[str, object]) -> list[str]:
    """Return what a model's params say of where its weights are: paths, ids of a hub, tags."""
    found = (spec.get(key) for key in model_kind(spec).path_keys)
    return [value for value in found if isinstance(value, str)]


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
