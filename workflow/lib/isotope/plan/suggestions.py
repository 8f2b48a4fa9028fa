"""Suggestions of a run: which collections get them, and what they are made of."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from isotope.judge.ledger import sheet_paths
from isotope.params import links
from isotope.params.phases import Generate, collection_kind
from isotope.params.suggest import candidate_system
from isotope.plan.exhibits import Exhibits
from isotope.plan.paths import Wildcards, expanded, of_collection

_DUMP = re.compile(r"(?P<wiki>[a-z_]+)[-_](?P<date>\d{8})(?!\d)")
_DAY = "%Y%m%d"
# The embedded encyclopedia's second edition is that much younger (toy.dump).
_MONTH = timedelta(days=31)
_TOY = "toywiki"


class Suggestions(Exhibits):
    """Suggestions of a run: which collections get them, and what they are made of."""

    FOLDER = "results/suggest/{collection}"
    FEED: Mapping[str, str] = {
        "scored": f"{FOLDER}/scored.parquet",
        "rejected": f"{FOLDER}/rejected.parquet",
        "calibration": f"{FOLDER}/calibration.json",
        "feed": f"{FOLDER}/feed.parquet",
        "lines": f"{FOLDER}/feed.jsonl",
    }
    SHEET = "suggestions"

    def suggested_collections(self) -> list[str]:
        """The built collections whose sections get suggestions, where the params ask for any."""
        asked = self.params.get("suggest")
        if asked is None:
            return []
        return [c for c in asked.get("collections", self.params["build"]) if self._has_sections(c)]

    def _has_sections(self, collection: str) -> bool:
        kind = collection_kind(self.params["collect"][collection])
        return kind.is_snapshot or kind.is_union

    @cached_property
    def suggest_systems(self) -> dict[str, str | None]:
        """The systems of words and of vectors whose hits are candidates."""
        return {kind: candidate_system(self.params, kind) for kind in ("bm25", "dense")}

    def suggest_spec(self, wildcards: Wildcards) -> dict[str, Any]:
        """What the functions of the phase read of the params, about the rule's collection."""
        own = {k: v for k, v in self.params["suggest"].items() if k != "collections"}
        words = self.suggest_systems["bm25"]
        entry = self.system_entry(wildcards.collection, words) if words else {}
        sources = self.sources_of(wildcards.collection)
        return {
            **own,
            **self.suggest_systems,
            **{key: entry.get(key) for key in ("k1", "b", "fields", "prepare", "engine")},
            "collection": wildcards.collection,
            "sources": sources,
            "languages": [links.language_of(self.params, source) for source in sources],
            "union": collection_kind(self.params["collect"][wildcards.collection]).is_union,
            "wikis": [self._dump_of(source)[0] for source in sources],
            "snapshot": self.snapshot_date(wildcards.collection),
            "language": self.language(wildcards),
            "captions": self.caption_language(wildcards),
        }

    def snapshot_date(self, collection: str) -> str:
        """The date of a collection's first dump, YYYYMMDD, or the name of its source."""
        return self._dump_of(self.sources_of(collection)[0])[1]

    def _dump_of(self, source: str) -> tuple[str, str]:
        """The wiki and the date of a source's dump, as its file's name has them.

        Where it has none they are `<language>wiki` and the source's name.
        """
        spec = self.params["acquire"].get(source, {})
        if "generate" in spec:
            made = {**Generate.defaults(), **spec["generate"]}
            first = datetime.strptime(made["date"], _DAY).replace(tzinfo=UTC)
            return _TOY, f"{first + (made['edition'] - 1) * _MONTH:{_DAY}}"
        urls = [
            f["url"] if isinstance(f, dict) else f for f in spec.get("files", {}).get("dump", [])
        ]
        found = (_DUMP.match(PurePosixPath(url).name) for url in urls)
        named = next(filter(None, found), None)
        return (
            (named["wiki"], named["date"])
            if named
            else (f"{links.language_of(self.params, source)}wiki", source)
        )

    # What the rules read.

    def suggest_tables(self, table: str) -> Callable[[Wildcards], list[str]]:
        """A parsed table of each of a collection's sources, in their order."""
        return lambda w: [f"data/parse/{s}/{table}.parquet" for s in self.sources_of(w.collection)]

    def suggest_entities(self, wildcards: Wildcards) -> list[str]:
        """The pages of Wikidata of those of a collection's sources that have a snapshot of it."""
        return self.entities_of(self.sources_of(wildcards.collection))

    def suggest_projections(self, wildcards: Wildcards) -> list[str]:
        """The projection of each of a collection's sources, in their order."""
        sources = self.sources_of(wildcards.collection)
        return [f"data/project/{source}/projection.parquet" for source in sources]

    def suggest_index(self, wildcards: Wildcards) -> list[str]:
        """The index of the words of the largest pool, if a system has one.

        The setting `small` has a pool for each split, and none of all pictures.
        """
        system, setting = self.suggest_systems["bm25"], self.largest_setting()
        pooled = system is not None and setting != "small"
        return [f"data/index/{wildcards.collection}/{setting}/{system}"] if pooled else []

    def suggest_vectors(self, side: str, suffix: str) -> Callable[[Wildcards], list[str]]:
        """The shards of one side's vectors, if a system of vectors gives candidates."""

        def of(wildcards: Wildcards) -> list[str]:
            system = self.suggest_systems["dense"]
            if system is None:
                return []
            model = self.params["systems"][system]["model"]
            model = self.image_encoder(model) if side == "images" else model
            return self.side_shards(f"{wildcards.collection}/{model}", side, suffix)

        return of

    def suggest_topics(self, wildcards: Wildcards) -> list[str]:
        """The tables of topics of a collection's pages, where the params have them."""
        facts = self.facts(wildcards)
        return [facts["topics"]] if "topics" in facts else []

    def topic_files(self, wildcards: Wildcards) -> list[str]:
        """What changes when these do."""
        return [*self.manifests(wildcards), *self.fact_files(wildcards, "topics")]

    def verdict_sheets(self, wildcards: Wildcards) -> list[str]:
        """The verdicts on suggestions that have come back."""
        return sheet_paths(wildcards.collection, self.SHEET)

    def later_of(self, wildcards: Wildcards) -> list[str]:
        """The collections that are compared with this earlier one, in the order of the params."""
        return [b for a, b in self.compared_pairs() if a == wildcards.collection]

    def later_snapshots(self, wildcards: Wildcards) -> dict[str, Any]:
        """Date, and tables of all sources, of each later collection."""
        return {
            name: {
                "date": self.snapshot_date(name),
                "outlines": self.suggest_tables("outline")(of_collection(name)),
                "placed": self.suggest_tables("pictures")(of_collection(name)),
            }
            for name in self.later_of(wildcards)
        }

    def later_files(self, wildcards: Wildcards) -> list[str]:
        """Those tables, as inputs."""
        each = self.later_snapshots(wildcards).values()
        return [path for own in each for key in ("outlines", "placed") for path in own[key]]

    # What the rules write.

    def suggest_files(self, collection: str) -> list[str]:
        """What the phase ends with for a collection that gets suggestions."""
        ends = [*self.FEED.values(), f"{self.FOLDER}/sheet.parquet"]
        if sheet_paths(collection, self.SHEET):
            ends.append(f"{self.FOLDER}/judgements.parquet")
        feeds = expanded(ends, collection=collection)
        return [*feeds, *self.taken_up(collection), *self.delta_files(collection)]

    def taken_up(self, collection: str) -> list[str]:
        """What editors did with a collection's suggestions, where a later snapshot is there."""
        later = any(a == collection for a, _ in self.compared_pairs())
        return [f"results/suggest/{collection}/taken_up.parquet"] if later else []

    def taken_up_of(self, wildcards: Wildcards) -> list[str]:
        """The same for the rule's collection."""
        return self.taken_up(wildcards.collection)

    def delta_files(self, collection: str) -> list[str]:
        """The changes since the feeds of earlier snapshots that have one."""
        own = {*self.suggested_collections()}
        pattern = f"{self.FOLDER}/since/{{earlier}}/delta.parquet"
        pairs = [(a, b) for a, b in self.compared_pairs() if {a, b} <= own and b == collection]
        return [pattern.format(earlier=a, collection=b) for a, b in pairs]
