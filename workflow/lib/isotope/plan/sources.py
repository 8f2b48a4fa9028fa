"""What is made of sources before a collection: upstream files, tables of a dump, pictures."""

from collections import UserDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from isotope.acquire import addresses
from isotope.core.files import is_zim
from isotope.params import links, pairs
from isotope.params.crawl import OF_POLICY, Bulk
from isotope.params.root import Params
from isotope.plan.paths import Wildcards, any_of, parsed

Spec = dict[str, Any]
Way = Literal["requests", "bulk", "pictures", "contents"]

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

    def upstream(self, wildcards: Wildcards) -> Spec:
        """The params of a source, and a digest of its local files that changes when these do."""
        source, entry = wildcards.source, self.params.acquire[wildcards.source]
        memory = Path(f".isotope/acquire/{source}.touched.json")
        originals = addresses.originals(entry, Path("data/acquire", source), memory)
        return entry.spec() | ({"originals": originals} if originals else {})

    def packages(self, source: str) -> set[str]:
        """The packages that read the files of a source, which extras have."""
        files = self.params.acquire[source].stated() if source in self.params.acquire else {}
        read = pairs.sharing(self.params.collect, source).values()
        data = [path for entry in read for path in pairs.listed(entry.data)]
        urls = [*(file.url for files_of_part in files.values() for file in files_of_part), *data]
        zim = {"libzim"} if any(is_zim(Path(url)) for url in urls) else set[str]()
        named = any(url.startswith(pairs.IR_DATASETS) for url in data)
        return zim | ({"ir_datasets"} if named else set[str]())

    def language(self, source: str) -> str:
        """The language that a source is collected in."""
        return links.language_of(self.params.part("collect"), source)

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
        return "wikidata" in ((entry and entry.files) or ())

    # Rows of anybody's pictures and texts.

    def with_rows(self) -> str:
        """A wildcard constraint: the sources with such rows."""
        return any_of({str(e.source): None for e in self.params.collect.values() if e.parsed})

    def rows(self, wildcards: Wildcards) -> Spec:
        """What the params say of the rows of a source, the same in all collections of it."""
        return self._pairs(wildcards.source).spec(*pairs.ROWS)

    def parts(self, wildcards: Wildcards) -> list[str]:
        """The parts of a source with rows: `data`, or all but its pictures and lists of splits."""
        source = wildcards.source
        if self._pairs(source).data:
            return [pairs.DATA]
        crawl, files = self.params.crawl.get(source), self.params.acquire[source].files or ()
        pictures = crawl.pictures.part if crawl and crawl.pictures else None
        return [p for p in files if p != pictures and not p.startswith(pairs.LISTS)]

    def _pairs(self, source: str) -> Any:  # noqa: ANN401
        sharing = pairs.sharing(self.params.collect, source).values()
        return min(sharing, key=lambda entry: not entry.data)

    def recognition(self, source: str) -> Any:  # noqa: ANN401
        """How the labels of a data set are linked to a snapshot; None for other sources."""
        entries = (c for c in self.params.collect.values() if c.source == source)
        return next(filter(None, (getattr(c, "recognition", None) for c in entries)), None)

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
        crawled = sorted({*filter(None, sources)} & {*self.params.crawl})
        return [f"data/crawl/{source}/ledger.parquet" for source in crawled]

    def earlier_crawl(self, wildcards: Wildcards) -> list[str]:
        """The ledger of the crawl that a crawl goes on from; it comes after all of its shards.

        The list of URLs waits for it in place of the shards, which are there for good: were the
        earlier crawl fetched again, Snakemake would want to make them anew. It is not ancient,
        because Snakemake does not look for reasons to run what comes after a job that runs, though
        by such inputs alone.
        """
        return self.ledgers([self.params.crawl[wildcards.source].after])

    def bulk_ledgers(self, wildcards: Wildcards) -> list[str]:
        """The ledgers of the bulk sources of a crawl in their order, or of those before one."""
        source, before = wildcards.source, wildcards.get("bulk")
        count = len(self.params.crawl[source].bulk or []) if before is None else int(before)
        return [f"data/crawl/{source}/bulk/{n:02d}/ledger.parquet" for n in range(count)]

    def bulk_listed(self, wildcards: Wildcards) -> list[str]:
        """What lists the files of a bulk source: a manifest, or the ledger of an earlier crawl."""
        item = self._bulk(wildcards)
        manifests = [f"data/acquire/{item.source}/manifest.json"] if item.source else []
        return manifests + self.ledgers([item.crawl])

    # What is finished was requested with these values: others would be a reason to crawl anew.

    def crawl_spec(self, wildcards: Wildcards) -> Spec:
        """The params of a crawl that decide which pictures come, and how they are requested."""
        entry = self.params.crawl[wildcards.source].recorded()
        return {k: v for k, v in entry.items() if k not in (*OF_POLICY, "bulk")}

    def bulk_spec(self, wildcards: Wildcards) -> Spec:
        """An item of the bulk sources of a crawl, with its defaults."""
        return self._bulk(wildcards).filled()

    def _bulk(self, wildcards: Wildcards) -> Bulk:
        return (self.params.crawl[wildcards.source].bulk or [])[int(wildcards.bulk)]

    def crawl(self, *keys: str) -> Callable[[Wildcards], Spec]:
        """A param of a rule: what the entry of a crawl says by these keys."""
        return lambda wildcards: self.params.crawl[wildcards.source].spec("shards", *keys)

    def uncompared(self, *keys: str) -> "Callable[[Wildcards], UserDict[str, Any]]":
        """The same as no reason to do anything anew: Snakemake compares plain values only."""
        return lambda wildcards: UserDict(self.crawl(*keys)(wildcards))

    def pictures(self, wildcards: Wildcards) -> Spec:
        """Where the pictures are that came with a source: its part, and the address below it, or
        the form of the rows that have them.
        """
        source = wildcards.source
        if self.way(source) == "contents":
            return self.params.collect[source].spec(*pairs.FORM)
        pictures = self.params.crawl[source].pictures
        return pictures.spec() if pictures else {}
