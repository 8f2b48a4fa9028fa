"""Where files of a run stand, and what changes when a file that the params name does."""

import os
import re
from collections import UserDict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from snakemake import iocontainers
from snakemake.io import expand

from isotope.params.root import Params
from isotope.plan.closures import Closures

# Names with their values, as attributes and as keys; Snakemake gives them no type.
Wildcards = Any
NEVER = "(?!)"
_ACQUIRED = ("data", "acquire")
# A function that reads from outside has this module in its closure.
_LIMITS = "intake/limits.py"


@dataclass(frozen=True)
class Paths:
    """Files of the project, and files that the params name, as inputs of rules."""

    params: Params

    @cached_property
    def closures(self) -> Closures:
        """What functions depend on, with what earlier runs have found."""
        return Closures()

    def local_files(self, *names: str | None, folders: bool = True) -> list[str]:
        """What changes when files that the params name change; a hub's models have none."""
        files = [named_files(n, self.params.acquire, folders=folders) for n in names if n]
        return list(dict.fromkeys(path for paths in files for path in paths))

    def limit(self, rules: Iterable[Any]) -> None:
        """Hand the limits of the params `intake`, where there are any, to rules that read by them.

        Without any, rules are as they were, and so are the jobs that are done. What is parsed or
        copied by other limits is made anew; nothing is fetched, encoded or searched again for them
        alone, as Snakemake compares plain values only.
        """
        is_said = "intake" in self.params.model_fields_set
        limits = self.params.intake.spec() if is_said else None
        for rule in rules if limits else ():
            call = dict(rule.params.items()).get("call")
            if isinstance(call, str) and _LIMITS in self.closures.files_of(call):
                is_read = call.startswith(("parse.", "crawl.pictures:", "crawl.contents:"))
                rule.set_params(intake=limits if is_read else UserDict(limits))


def parsed(source: str, *tables: str) -> list[str]:
    """Return parsed tables of a source."""
    return [f"data/parse/{source}/{table}.parquet" for table in tables]


def any_of(names: Iterable[str]) -> str:
    """Return a wildcard constraint: one of these names."""
    return "|".join(re.escape(n) for n in names) or NEVER


def unique(*paths: Iterable[str]) -> list[str]:
    """Return paths in their order, each once."""
    return list(dict.fromkeys(path for some in paths for path in some))


def of_collection(collection: str) -> Wildcards:
    """Return the wildcards of a rule of a collection."""
    return iocontainers.Wildcards(fromdict={"collection": collection})


def as_list(names: str | Sequence[str]) -> list[str]:
    """Return one name or path, or several, as a list."""
    return [names] if isinstance(names, str) else list(names)


def expanded(patterns: str | Sequence[str], **names: str | Sequence[str]) -> list[str]:
    """Return the patterns with every combination of the names; other wildcards stay."""
    return cast("list[str]", expand(patterns, **names, allow_missing=True))


def named_files(name: str, sources: Collection[str] = (), *, folders: bool = True) -> list[str]:
    """Return the files that change when what lies at `name` does, sorted.

    A param's value is compared by Snakemake itself; what lies at the value is not. The files are
    the file itself, or all files in the folder `name` but hidden ones; of what a source of
    `sources` has acquired, its manifest, which is there before its files are. There are none for
    what is not on this disk (a hub's model, a tag, a word such as `toy`), nor for a folder unless
    `folders`.
    """
    parts = Path(os.path.relpath(name)).parts
    if parts[:2] == _ACQUIRED and parts[2:3] and parts[2] in sources:
        return [str(Path(*parts[:3], "manifest.json"))]
    path = Path(name)
    if path.is_dir() and folders:
        files = (p.relative_to(path) for p in path.rglob("*") if p.is_file())
        return sorted(str(path / p) for p in files if not any(n.startswith(".") for n in p.parts))
    return [name] if path.is_file() else []
