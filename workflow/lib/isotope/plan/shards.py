"""How the work of a phase is cut into shards, whose pieces are gathered.

A piece of `data/parse/{source}/links.parquet` is `.isotope/parse/{source}/{part}/links.parquet`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from snakemake.io import temp

from isotope.core.store import part_of
from isotope.params.root import Params
from isotope.plan.call import part_named
from isotope.plan.paths import Wildcards, expanded

PART = r"\d{5}-of-\d{5}"
_GATHERED = re.compile(r"(?:data|results)/(\w+)/(\{\w+\})/")
Files = TypeVar("Files", str, list[str], Mapping[str, str])


@dataclass(frozen=True)
class ShardPlan:
    """The shards of each phase; where there is one alone, it writes what needs no gathering."""

    params: Params

    def are(self, phase: str) -> bool:
        """Tell whether a phase has several shards."""
        return len(self.parts(phase)) > 1

    def parts(self, phase: str) -> list[str]:
        """Return the names of a phase's shards, each with its number and how many there are."""
        n: int = getattr(self.params.shards, phase)
        return [f"{i:05d}-of-{n:05d}" for i in range(n)]

    def slice(self, wildcards: Wildcards, files: list[str]) -> Sequence[str]:
        """The files that a shard is about: a slice of them, by their names."""
        ordered = sorted(files, key=lambda path: Path(path).with_suffix("").parts)
        return part_of(ordered, part_named(wildcards))

    def outputs(self, phase: str, files: Files) -> Files:
        """Return the outputs of a shard: pieces to be gathered, or the files themselves."""
        return pieces(files) if self.are(phase) else files

    def gathered(self, phase: str, files: Files) -> Any:  # noqa: ANN401 (inputs of a rule)
        """Return the pieces of files by all shards of a phase, as inputs."""
        return _mapped(lambda path: expanded(piece(path), part=self.parts(phase)), files)


def piece(path: str) -> str:
    """Return where a shard leaves its piece of a file."""
    return _GATHERED.sub(r".isotope/\1/\2/{part}/", path)


def pieces(files: Files) -> Files:
    """Return the pieces of files as outputs of a shard, which go once they are gathered."""
    return cast("Files", _mapped(lambda path: temp(piece(path)), files))


def _mapped(change: Callable[[str], Any], files: str | list[str] | Mapping[str, str]) -> Any:  # noqa: ANN401
    if isinstance(files, Mapping):
        return {name: change(path) for name, path in files.items()}
    return change(files) if isinstance(files, str) else [change(path) for path in files]
