"""Where files of a run stand, and which collections and sources there are."""

import os
import re
from collections import UserDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from snakemake import iocontainers
from snakemake.io import expand

from isotope.params import links
from isotope.params.phases import collection_kind
from isotope.params.resolve import published_runs
from isotope.params.sections import model_kind
from isotope.plan.closures import Closures

# Names with their values, as attributes and as keys; Snakemake gives them no type.
Wildcards = Any
_ACQUIRED = ("data", "acquire")
# A function that reads from outside has this module in its closure.
_LIMITS = "intake/limits.py"


class Paths:
    """Where files of a run stand, and which collections and sources there are."""

    COLLECTION = "data/collect/{collection}"
    NEVER = "(?!)"

    def __init__(self, params: Mapping[str, Any], home: Path, foreign: Mapping[Any, str]) -> None:
        """Plan a run: resolved params, the project's folder, foreign runs by their place."""
        self.params = params
        self.home = home
        self._foreign = foreign

    @cached_property
    def foreign(self) -> Mapping[Any, str]:
        """The runs of others by their place: those below `runs/`, and those that params name."""
        published = published_runs(self.params).items()
        return {**self._foreign, **{place: str(file) for place, file in published}}

    @cached_property
    def systems(self) -> list[str]:
        """The experiment's systems, in the order of the tables."""
        return self.params["search"]["systems"]

    @cached_property
    def looks(self) -> dict[str, int]:
        """The number of each system's look: its place in `systems`, which other runs share."""
        places = {system: place for place, system in enumerate(self.params["systems"])}
        return {system: places[system] for system in self.systems}

    @cached_property
    def settings(self) -> list[str]:
        """The pools that are searched, the first for the report."""
        return self.params["search"]["settings"]

    @cached_property
    def splits(self) -> list[str]:
        """The splits that are searched, the first for the report."""
        return self.params["search"]["splits"]

    @cached_property
    def unjudged(self) -> list[str]:
        """Splits whose judgements are withheld."""
        return self.params["search"].get("unjudged", [])

    @cached_property
    def tasks(self) -> list[str]:
        """The directions that are searched: t2m, m2t."""
        return self.params["search"]["tasks"]

    @cached_property
    def shard_names(self) -> list[str]:
        """The names of the shards of vectors."""
        return [f"{n:05d}" for n in range(self.params["encode"]["shards"])]

    def project_file(self, path: str | Path) -> str:
        """Return the path of a project's file from here: rules do not depend on where it lies."""
        return os.path.relpath(self.home / path)

    @cached_property
    def closures(self) -> Closures:
        """What functions depend on, with what earlier runs have found."""
        return Closures()

    def code(self, *modules: str) -> list[str]:
        """The files that modules, or functions of them, depend on, as inputs."""
        library = self.project_file("workflow/lib/isotope")
        return [f"{library}/{file}" for file in self.closures.of(*modules)]

    def limit(self, rules: Iterable[Any]) -> None:
        """Hand the limits of the params `intake`, where there are any, to rules that read by them.

        Without any, rules are as they were, and so are the jobs that are done. What is parsed by
        other limits is parsed anew; nothing is fetched, encoded or searched again for them alone,
        as Snakemake compares plain values only.
        """
        limits = self.params.get("intake")
        for rule in rules if limits else ():
            call = dict(rule.params.items()).get("call")
            if isinstance(call, str) and _LIMITS in self.closures.of(call):
                is_parsed = call.startswith("parse.")
                rule.set_params(intake=limits if is_parsed else UserDict(limits))

    def sql(self, *patterns: str) -> list[str]:
        """Queries as inputs, by pattern below workflow/sql."""
        root = self.home / "workflow/sql"
        return [self.project_file(p) for pattern in patterns for p in sorted(root.glob(pattern))]

    def local_files(self, *names: str, folders: bool = True) -> list[str]:
        """What changes when files that the params name change; a hub's models have none."""
        files = [named_files(n, self.params["acquire"], folders=folders) for n in names]
        return list(dict.fromkeys(path for paths in files for path in paths))

    def vocabulary(self, tokenizer: str) -> list[str]:
        """A tokenizer's vocabulary, where it is a file."""
        return self.local_files(tokenizer, folders=False)

    def entry(self, phase: str) -> Callable[[Wildcards], Any]:
        """The params of a phase for the rule's source or collection."""
        return lambda wildcards: self.params[phase][wildcards[0]]

    def any_of(self, names: Iterable[str]) -> str:
        """A wildcard constraint: one of these names."""
        return "|".join(re.escape(n) for n in names) or self.NEVER

    def source_of(self, collection: str) -> str:
        """The source that a collection is made of."""
        return self.params["collect"][collection]["source"]

    def sources_of(self, collection: str) -> list[str]:
        """The sources that a collection is made of, one for each edition."""
        return links.sources(self.params, collection)

    def kind_of_collection(self, wildcards: Wildcards) -> str:
        """The kind of a collection."""
        return self.params["collect"][wildcards.collection]["kind"]

    def is_snapshot(self, collection: str) -> bool:
        """Whether a collection is made of a snapshot of Wikipedia, not of a published data set."""
        return collection_kind(self.params["collect"][collection]).is_snapshot

    def compared_pairs(self) -> list[Sequence[str]]:
        """The pairs of collections, earlier and later, of which one at least is built."""
        built = set(self.params["build"])
        return [pair for pair in self.params["tabulate"]["since"] if set(pair) & built]

    def collections(self) -> list[str]:
        """The collections that are built, and those that are only compared with them."""
        compared = (c for pair in self.compared_pairs() for c in pair)
        return list(dict.fromkeys([*self.params["build"], *compared]))

    def sources(self, *, snapshots: bool = False) -> list[str]:
        """What the collections are made of, sorted; with `snapshots` only those of Wikipedia."""
        kinds = {c: collection_kind(self.params["collect"][c]) for c in self.collections()}
        chosen = [
            c for c, kind in kinds.items() if kind.is_snapshot or kind.is_union or not snapshots
        ]
        return sorted({source for c in chosen for source in self.sources_of(c)})

    def language(self, wildcards: Wildcards) -> str:
        """The language of a collection's texts."""
        return self.params["collect"][wildcards.collection]["language"]

    def caption_language(self, wildcards: Wildcards) -> str:
        """The language of the captions that stand for a collection's images."""
        entry = self.params["collect"][wildcards.collection]
        return entry.get("captions", self.language(wildcards))

    def language_of_source(self, wildcards: Wildcards) -> str:
        """The language that the source is collected in."""
        return links.language_of(self.params, wildcards.source)

    def engine_of_source(self, wildcards: Wildcards) -> str:
        """What finds sections for the texts of the source."""
        return self.params["project"][wildcards.source]["engine"]

    def collection_tables(self, wildcards: Wildcards) -> dict[str, str]:
        """A collection's own tables."""
        folder = self.COLLECTION.format(**wildcards)
        return {t: f"{folder}/{t}.parquet" for t in ("texts", "images", "qrels")}


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
        files = (p for p in path.rglob("*") if p.is_file())
        return sorted(str(p) for p in files if not _hidden(p.relative_to(path)))
    return [name] if path.is_file() else []


def weight_names(spec: Mapping[str, object]) -> list[str]:
    """Return what a model's params say of where its weights are: paths, ids of a hub, tags."""
    names = (spec.get(key) for key in model_kind(spec).path_keys)
    return [name for name in names if isinstance(name, str)]


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
