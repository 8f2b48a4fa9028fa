"""Where files of a run stand, and which ones a collection is made of."""

import os
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from snakemake.io import expand

from isotope.core import addresses as origins
from isotope.core import provenance
from isotope.params import union as params_union
from isotope.params.phases import collection_kind
from isotope.plan import witnesses

# Names with their values, as attributes and as keys; Snakemake gives them no type.
Wildcards = Any


class Paths:
    """Where files of a run stand, and which ones a collection is made of."""

    COLLECTION = "data/collect/{collection}"
    NEVER = "(?!)"

    def __init__(self, params: Mapping[str, Any], home: Path, foreign: Mapping[Any, str]) -> None:
        """Plan a run: resolved params, the project's folder, foreign runs by their place."""
        self.params = params
        self.home = home
        self.foreign = foreign

    @cached_property
    def systems(self):
        """The experiment's systems, in the order of the tables."""
        return self.params["search"]["systems"]

    @cached_property
    def settings(self):
        """The pools that are searched, the first for the report."""
        return self.params["search"]["settings"]

    @cached_property
    def splits(self):
        """The splits that are searched, the first for the report."""
        return self.params["search"]["splits"]

    @cached_property
    def unjudged(self):
        """Splits without judgements that are searched for fusions."""
        return self.params["search"].get("unjudged", [])

    @cached_property
    def tasks(self):
        """The directions that are searched: t2m, m2t."""
        return self.params["search"]["tasks"]

    @cached_property
    def shard_names(self):
        """The names of the shards of vectors."""
        return [f"{n:05d}" for n in range(self.params["encode"]["shards"])]

    def project_file(self, path):
        """Return the path of a project's file from here: rules do not depend on where it lies."""
        return os.path.relpath(self.home / path)

    def code(self, *modules):
        """The files that modules, or functions of them, depend on, as inputs."""
        return [
            self.project_file(f"workflow/lib/isotope/{file}")
            for file in provenance.closure(*modules)
        ]

    def sql(self, *patterns):
        """Queries as inputs, by pattern below workflow/sql."""
        root = self.home / "workflow/sql"
        return [self.project_file(p) for pattern in patterns for p in sorted(root.glob(pattern))]

    def local_files(self, *named, folders=True):
        """What tells that files which the params name have changed; a hub's models have none."""
        found = [witnesses.of_file(n, self.params["acquire"], folders=folders) for n in named]
        return list(dict.fromkeys(path for paths in found for path in paths))

    def vocabulary(self, tokenizer):
        """A tokenizer's vocabulary, where it is a file."""
        return self.local_files(tokenizer, folders=False)

    def entry(self, phase):
        """The params of a phase for the rule's source or collection."""
        return lambda wildcards: self.params[phase][wildcards[0]]

    def any_of(self, names):
        """A wildcard constraint: one of these names."""
        return "|".join(re.escape(n) for n in names) or self.NEVER

    def source_of(self, collection):
        """The source that a collection is made of."""
        return self.params["collect"][collection]["source"]

    def sources_of(self, collection):
        """The sources that a collection is made of, one for each edition."""
        return params_union.sources(self.params, collection)

    def kind_of_collection(self, wildcards):
        """The kind of a collection."""
        return self.params["collect"][wildcards.collection]["kind"]

    def is_snapshot(self, collection):
        """Whether a collection is made of a snapshot of Wikipedia, and not of a published data
        set.
        """
        return collection_kind(self.params["collect"][collection]).is_snapshot

    def compared_pairs(self):
        """The pairs of collections, earlier and later, that are compared: one of the two is
        built.
        """
        return [
            pair
            for pair in self.params["tabulate"]["since"]
            if set(pair) & set(self.params["build"])
        ]

    def collections(self):
        """The collections that are built, and those that are only compared with them."""
        return list(
            dict.fromkeys(
                [*self.params["build"], *(c for pair in self.compared_pairs() for c in pair)]
            )
        )

    def sources(self, *, snapshots=False):
        """What the collections are made of; only the snapshots of Wikipedia if asked."""
        kinds = {c: collection_kind(self.params["collect"][c]) for c in self.collections()}
        chosen = [
            c for c, kind in kinds.items() if kind.is_snapshot or kind.is_union or not snapshots
        ]
        return sorted({source for c in chosen for source in self.sources_of(c)})

    def language(self, wildcards):
        """The language of a collection's texts."""
        return self.params["collect"][wildcards.collection]["language"]

    def caption_language(self, wildcards):
        """The language of the captions that stand for a collection's images."""
        return self.params["collect"][wildcards.collection].get(
            "captions", self.language(wildcards)
        )

    def language_of_source(self, wildcards):
        """The language that the source is collected in."""
        return next(
            c["language"]
            for c in self.params["collect"].values()
            if c.get("source") == wildcards.source
        )

    def crawl_sources(self, *, pictures):
        """A wildcard constraint: the sources that brought their pictures along, or the others."""
        return self.any_of(
            n for n, c in self.params["crawl"].items() if ("pictures" in c) == pictures
        )

    def picture_shards(self, source, pattern):
        """Every shard of a crawl; none for a source without pictures."""
        shards = self.params["crawl"].get(source, {"shards": 0})["shards"]
        return [pattern.format(source=source, n=n) for n in range(shards)]

    def earlier_crawl(self, wildcards):
        """The ledger of the crawl that a crawl goes on from; it comes after all of its shards.

        The list of URLs waits for it in place of the shards, which are there for good: were the
        earlier
        crawl fetched again, Snakemake would want to make them anew. It is not ancient, because
        Snakemake
        does not look for reasons to run what comes after a job that runs, though by such inputs
        alone.
        """
        after = self.params["crawl"][wildcards.source].get("after")
        return [f"data/crawl/{after}/ledger.parquet"] if after else []

    def crawl_tables(self, wildcards=None):
        """What the crawls of all sources leave: a folder that was deleted is fetched again."""
        drawn = {
            *self.sources(),
            *(k for c in self.collections() for k in self.knowledge_of(c)),
        } & {*self.params["crawl"]}
        patterns = (
            "data/crawl/{source}/ledger-{n:05d}.parquet",
            "data/crawl/{source}/shard-{n:05d}.parquet",
        )
        shards = [
            path
            for source in sorted(drawn)
            for p in patterns
            for path in self.picture_shards(source, p)
        ]
        return [*expand("data/crawl/{s}/ledger.parquet", s=sorted(drawn)), *shards]

    def ledgers(self, wildcards):
        """The ledgers of a crawl's shards."""
        return self.picture_shards(wildcards.source, "data/crawl/{source}/ledger-{n:05d}.parquet")

    def pixels(self, wildcards):
        """The pictures that a collection draws on."""
        drawn = dict.fromkeys(
            [*self.sources_of(wildcards.collection), *self.knowledge_of(wildcards.collection)]
        )
        pattern = "data/crawl/{source}/shard-{n:05d}.parquet"
        return [path for source in drawn for path in self.picture_shards(source, pattern)]

    def pictures_of(self, collection):
        """The pictures of a collection's own sources."""
        pattern = "data/crawl/{source}/shard-{n:05d}.parquet"
        return [
            path
            for source in self.sources_of(collection)
            for path in self.picture_shards(source, pattern)
        ]

    def picture_ledgers(self, wildcards):
        """The ledgers of the pictures that a collection draws on: they tell when any shard
        changed.
        """
        drawn = sorted(
            {*self.sources_of(wildcards.collection), *self.knowledge_of(wildcards.collection)}
        )
        return [
            f"data/crawl/{source}/ledger.parquet"
            for source in drawn
            if source in self.params["crawl"]
        ]

    def knowledge_of(self, collection):
        """The snapshot whose articles are a collection's entities, where it is made of labels."""
        entry = self.params["collect"][collection]
        return [entry["recognition"]["knowledge"]] if "recognition" in entry else []

    def recognition_sources(self):
        """The data sets whose labels are linked to a snapshot."""
        return sorted({self.source_of(c) for c in self.params["collect"] if self.knowledge_of(c)})

    def recognition_of(self, source):
        """How the labels of a data set are linked to a snapshot."""
        made = (c for c in self.params["collect"].values() if c.get("source") == source)
        return next(c["recognition"] for c in made if "recognition" in c)

    def entities(self, source, snapshot):
        """What a collection of recognition reads beside its labels; pictures of a snapshot that
        is not
        crawled are looked for among those that came with the labels."""
        brought = snapshot if snapshot in self.params["crawl"] else source
        crawl, parse = f"data/crawl/{brought}", f"data/parse/{snapshot}"
        return {
            "projection": f"data/project/{source}/projection.parquet",
            "sections": f"{parse}/sections.parquet",
            "infoboxes": f"{parse}/infoboxes.parquet",
            "knowledge_urls": f"{crawl}/urls.parquet",
            "knowledge_ledger": f"{crawl}/ledger.parquet",
        }

    def relations(self, wildcards):
        """The tables that a collection's queries read; a data set's own come with its manifest."""
        if collection_kind(self.params["collect"][wildcards.collection]).is_union:
            members = self.params["collect"][wildcards.collection]["of"]
            tables = ("texts", "images", "qrels", "filters")
            return {t: expand("data/collect/{c}/{t}.parquet", c=members, t=t) for t in tables}
        source = self.source_of(wildcards.collection)
        own = ("urls", "ledger") if source in self.params["crawl"] else ()
        if not self.is_snapshot(wildcards.collection):
            manifest = f"data/acquire/{source}/manifest.json"
            linked = [self.entities(source, k) for k in self.knowledge_of(wildcards.collection)]
            tables = {t: f"data/crawl/{source}/{t}.parquet" for t in own}
            return {"manifest": manifest, **tables, **dict(*linked)}
        return {
            "associations": f"data/parse/{source}/associations.parquet",
            "sections": f"data/parse/{source}/sections.parquet",
            "members": f"data/project/{source}/members.parquet",
            "projection": f"data/project/{source}/projection.parquet",
            "urls": f"data/crawl/{source}/urls.parquet",
            "ledger": f"data/crawl/{source}/ledger.parquet",
        }

    def collection_tables(self, wildcards):
        """A collection's own tables."""
        return {
            t: f"{self.COLLECTION}/{t}.parquet".format(**wildcards)
            for t in ("texts", "images", "qrels")
        }

    def upstream(self, wildcards):
        """The params of a source, and what tells that a local file of it is another than it was."""
        spec, source = self.params["acquire"][wildcards.source], wildcards.source
        memory = Path(".isotope/acquire") / f"{source}.touched.json"
        found = origins.originals(spec, Path("data/acquire") / source, memory)
        return spec | ({"originals": found} if found else {})


def as_list(names: str | Sequence[str]) -> list[str]:
    """Return one name or path, or several, as a list."""
    return [names] if isinstance(names, str) else list(names)


def expanded(patterns: str | Sequence[str], **names: str | Sequence[str]) -> list[str]:
    """Return the patterns with every combination of the names; other wildcards stay."""
    return cast("list[str]", expand(patterns, **names, allow_missing=True))
