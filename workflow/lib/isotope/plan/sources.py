"""What is made of sources before a collection: upstream files, tables of a dump, pictures."""

from collections import UserDict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from isotope.acquire import addresses
from isotope.params import links, pairs
from isotope.params.crawl import Bulk
from isotope.params.root import Params
from isotope.plan.paths import Wildcards, any_of, parsed

Spec = dict[str, Any]
Way = Literal["requests", "bulk", "pictures", "contents"]
# Params of a crawl that say where its pictures are requested.
_ORIGIN = ("serve", "mirror", "pictures", "lost_share")
# Params of a crawl that request no picture.
_OF_POLICY = ("after", "outage_tries", "outage_hours", "lost_share", "side_px")
_DECODING = ("max_pixels", "decoders", "decode_s", "decode_mb", "as_img2dataset")

# What the phase parse leaves: of WIT, of a dump, and of the templates of a part of one.
WIT = {
    "associations": "data/parse/{source}/associations.parquet",
    "rejected": "data/parse/{source}/associations.rejected.parquet",
}
DUMP = {
    **{n: f"data/parse/{{source}}/{n}.parquet" for n in ("sections", "links")},
    "rejected": "data/parse/{source}/sections.rejected.parquet",
    **{n: f"data/parse/{{source}}/{n}.parquet" for n in ("infoboxes", "pictures", "outline")},
    "counts": "data/parse/{source}/sections.counts.json",
}
TEMPLATES = {n: f"data/parse/{{source}}/{n}.parquet" for n in ("template_pages", "calls")}


@dataclass(frozen=True)
class Sources:
    """What is made of sources before a collection."""

    params: Params

    def acquired(self, *, here: bool) -> str:
        """A wildcard constraint: the sources that are made here, or those that are fetched."""
        entries = self.params["acquire"].items()
        return any_of(name for name, entry in entries if ("generate" in entry) == here)

    def upstream(self, wildcards: Wildcards) -> Spec:
        """The params of a source, and digests of its local files that change when these do."""
        spec, source = self.params["acquire"][wildcards.source], wildcards.source
        memory = Path(".isotope/acquire") / f"{source}.touched.json"
        originals = addresses.originals(spec, Path("data/acquire") / source, memory)
        return spec | ({"originals": originals} if originals else {})

    def language(self, source: str) -> str:
        """The language that a source is collected in."""
        return links.language_of(self.params, source)

    def associations(self, source: str) -> str:
        """Where the associations of a source come from: wit, dump or both."""
        entry = self.params.parse.get(source)
        return entry.associations if entry else "wit"

    def associated(self, *ways: str) -> str:
        """A wildcard constraint: the sources whose associations come from one of these."""
        return any_of(s for s in self.params.acquire if self.associations(s) in ways)

    def entities(self, sources: Iterable[str]) -> list[str]:
        """The tables of Wikidata of those sources that have a snapshot of it."""
        return [path for s in sources if self.has_wikidata(s) for path in parsed(s, "wikidata")]

    def has_wikidata(self, source: str) -> bool:
        """Whether a source has a snapshot of Wikidata."""
        entry = self.params.acquire.get(source)
        return bool(entry and entry.files and "wikidata" in entry.files)

    def with_rows(self) -> str:
        """A wildcard constraint: the sources with rows of anybody's pictures and texts."""
        entries = (entry for entry in self.params.collect.values() if entry.parsed)
        return any_of(dict.fromkeys(entry.source for entry in entries if entry.source))

    def pairs(self, wildcards: Wildcards) -> Spec:
        """What the params say of the rows of a source, the same in all collections of it.

        Rows are in `data`, or else in the parts of the source but its pictures and lists of splits.
        """
        source = wildcards.source
        entry = min(pairs.sharing(self.params, source).values(), key=lambda e: not e.get("data"))
        crawl, files = self.params.crawl.get(source), self.params.acquire[source].files or {}
        pictures = crawl.pictures.part if crawl and crawl.pictures else None
        parts = [p for p in files if p != pictures and not p.startswith(pairs.LISTS)]
        told = {} if entry.get("data") else {"parts": parts}
        return _some(entry, pairs.ROWS) | told | self._intake()

    # Pictures, and how they come.

    def way(self, source: str) -> Way:
        """How the pictures of a source come: by requests, after bulk sources, or with its files.

        These are files of their own (`pictures`), or within its rows (`contents`).
        """
        crawl, entry = self.params.crawl[source], self.params.collect.get(source)
        if not crawl.pictures:
            return "bulk" if crawl.bulk else "requests"
        is_within = entry and entry.parsed and crawl.pictures.part == pairs.DATA
        return "contents" if is_within else "pictures"

    def crawled(self, *ways: Way) -> str:
        """A wildcard constraint: the sources whose pictures come in one of these ways."""
        return any_of(source for source in self.params.crawl if self.way(source) in ways)

    def shards(self, source: str, name: str = "shard") -> list[str]:
        """The pictures of a crawl, or with `ledger` what became of them; none without a crawl."""
        crawl = self.params.crawl.get(source)
        numbers = range(crawl.shards if crawl else 0)
        return [f"data/crawl/{source}/{name}-{n:05d}.parquet" for n in numbers]

    def ledgers(self, sources: Iterable[str | None]) -> list[str]:
        """The ledgers of those sources that are crawled, sorted: one changes when a shard does."""
        named = {source for source in sources if source}
        crawled = sorted(source for source in self.params.crawl if source in named)
        return [f"data/crawl/{source}/ledger.parquet" for source in crawled]

    def earlier_crawl(self, wildcards: Wildcards) -> list[str]:
        """The ledger of the crawl that a crawl goes on from; it comes after all of its shards.

        The list of URLs waits for it in place of the shards, which are there for good: were the
        earlier crawl fetched again, Snakemake would want to make them anew. It is not ancient,
        because Snakemake does not look for reasons to run what comes after a job that runs, though
        by such inputs alone.
        """
        return self.ledgers([self.params.crawl[wildcards.source].after])

    def bulk_ledgers(self, source: str, before: str | None = None) -> list[str]:
        """The ledgers of the bulk sources of a crawl in their order, or of those before one."""
        count = len(self.params.crawl[source].bulk or []) if before is None else int(before)
        return [f"data/crawl/{source}/bulk/{n:02d}/ledger.parquet" for n in range(count)]

    def bulk_listed(self, wildcards: Wildcards) -> list[str]:
        """What lists the files of a bulk source: a manifest, or the ledger of an earlier crawl."""
        item = self._bulk(wildcards)
        manifests = [f"data/acquire/{item.source}/manifest.json"] if item.source else []
        return manifests + self.ledgers([item.crawl])

    def bulk_spec(self, wildcards: Wildcards) -> Spec:
        """An item of the bulk sources of a crawl, with its defaults."""
        items = self.params["crawl"][wildcards.source]["bulk"]
        return Bulk.filled(items[int(wildcards.bulk)])

    def bulk_decoding(self, wildcards: Wildcards) -> "UserDict[str, Any]":
        """The limits of what bulk sources hold, which are no reason to read them anew."""
        return UserDict(self.limits(wildcards))

    def _bulk(self, wildcards: Wildcards) -> Bulk:
        return (self.params.crawl[wildcards.source].bulk or [])[int(wildcards.bulk)]

    def crawl_spec(self, wildcards: Wildcards) -> Spec:
        """The params of a crawl that decide which pictures come, and how they are requested."""
        spec = self.params["crawl"][wildcards.source]
        return {k: v for k, v in spec.items() if k not in (*_OF_POLICY, "bulk")}

    def crawl_policy(self, wildcards: Wildcards) -> "UserDict[str, Any]":
        """The other params of a crawl: what it goes on from, when it gives up, how large it stores.

        Snakemake compares plain values only, and these are no reason to crawl anew.
        """
        return UserDict(self._part(wildcards, *_OF_POLICY))

    def crawl_origin(self, wildcards: Wildcards) -> Spec:
        """The params of a crawl that say where its pictures are, how large, how many may fail."""
        return self._part(wildcards, *_ORIGIN, "side_px")

    def crawl_decoding(self, wildcards: Wildcards) -> "UserDict[str, Any]":
        """The limits of a crawl's decoders, which are no reason to gather its ledgers anew."""
        return UserDict(self._part(wildcards, *_DECODING))

    def pictures(self, wildcards: Wildcards) -> Spec:
        """Where the pictures are that came with a source: its part, and the address below it, or
        the form of the rows that have them.
        """
        if self.way(wildcards.source) == "contents":
            return _some(self.params["collect"][wildcards.source], pairs.FORM)
        return self.params["crawl"][wildcards.source]["pictures"]

    def limits(self, wildcards: Wildcards) -> Spec:
        """The limits of a source's pictures that come along."""
        return self._part(wildcards, *_DECODING, "max_mib", "side_px")

    def _part(self, wildcards: Wildcards, *keys: str) -> Spec:
        """Some keys of a crawl's entry; none is an entry without its shards."""
        return _some(self.params["crawl"][wildcards.source], ("shards", *keys))

    def _intake(self) -> Spec:
        """The limits of what comes from outside, where the params have any."""
        return {"intake": self.params["intake"]} if self.params.get("intake") else {}

    # Labels that are linked to a snapshot.

    def recognition(self, source: str) -> Spec:
        """How the labels of a data set are linked to a snapshot; nothing for other sources."""
        entries = (c for c in self.params["collect"].values() if c.get("source") == source)
        return next((c["recognition"] for c in entries if "recognition" in c), {})


def _some(entry: Spec, keys: Iterable[str]) -> Spec:
    return {key: entry[key] for key in keys if key in entry}
