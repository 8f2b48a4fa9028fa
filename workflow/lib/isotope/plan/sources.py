"""What is made of sources before a collection: upstream files, pictures, labels, relations."""

from collections import UserDict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from isotope.acquire import addresses
from isotope.params import pairs
from isotope.params.phases import Bulk, collection_kind
from isotope.plan.paths import Paths, Wildcards


class Sources(Paths):
    """What is made of sources before a collection: upstream files, pictures, labels, relations."""

    _PIXELS = "data/crawl/{source}/shard-{n:05d}.parquet"
    _LEDGERS = "data/crawl/{source}/ledger-{n:05d}.parquet"
    # Params of a crawl that say where its pictures are requested.
    _ORIGIN = ("serve", "mirror", "pictures", "lost_share")
    # Params of a crawl that request no picture.
    _OF_POLICY = ("after", "outage_tries", "outage_hours", "lost_share", "side_px")
    # What a bulk source brings, beside the list of its files.
    _BULK = "data/crawl/{source}/bulk/{n:02d}/{table}.parquet"
    _BULK_TABLES = ("shard-00000", "ledger", "files", "damaged")
    _DECODING = ("max_pixels", "decoders", "decode_s", "decode_mb", "as_img2dataset")
    # Params of a collection of kind pairs that say what its rows are.
    _OF_FORM = ("data", "form", "options")
    _OF_ROWS = (*_OF_FORM, "columns", "languages", "keep", "splits")

    def upstream(self, wildcards: Wildcards) -> dict[str, Any]:
        """The params of a source, and digests of its local files that change when these do."""
        spec, source = self.params["acquire"][wildcards.source], wildcards.source
        memory = Path(".isotope/acquire") / f"{source}.touched.json"
        originals = addresses.originals(spec, Path("data/acquire") / source, memory)
        return spec | ({"originals": originals} if originals else {})

    def parse_splits(self, wildcards: Wildcards) -> dict[str, float]:
        """The shares of test and validation among a snapshot's own associations."""
        return self.params["parse"][wildcards.source]["splits"]

    def parse_variant(self, wildcards: Wildcards) -> str | None:
        """The variant of its language that a snapshot is read in; None for the usual one."""
        return self.params["parse"].get(wildcards.source, {}).get("variant")

    def parsed_tables(self, collection: str) -> list[str]:
        """The parsed tables that a collection's queries read in place of the acquired files."""
        return [*collection_kind(self.params["collect"][collection]).parsed]

    def parsed_files(self) -> list[str]:
        """The parsed tables of all collections that read such ones."""
        return [
            f"data/parse/{source}/{table}.parquet"
            for collection in self.collections()
            for source in self.sources_of(collection)
            for table in self.parsed_tables(collection)
        ]

    def entities_of(self, sources: Iterable[str]) -> list[str]:
        """The tables of Wikidata of those sources that have a snapshot of it."""
        named = (s for s in sources if self._has_part(s, "wikidata"))
        return [f"data/parse/{source}/wikidata.parquet" for source in named]

    def wikidata_sources(self) -> str:
        """A wildcard constraint: the sources that have a snapshot of Wikidata."""
        return self.any_of(s for s in self.params["acquire"] if self._has_part(s, "wikidata"))

    def _has_part(self, source: str, part: str) -> bool:
        return part in self.params["acquire"].get(source, {}).get("files", {})

    def pairs_sources(self) -> str:
        """A wildcard constraint: the sources that are tables of anybody's pictures and texts."""
        return self.any_of(c for c in self.params["collect"] if self.parsed_tables(c))

    def pairs_spec(self, wildcards: Wildcards) -> dict[str, Any]:
        """What the params say of the rows of such a source."""
        entry = self.params["collect"][wildcards.source]
        return {k: v for k, v in entry.items() if k in self._OF_ROWS} | self._intake()

    def contents_spec(self, wildcards: Wildcards) -> dict[str, Any]:
        """What the params say of the pictures within such a source: its form, no columns."""
        entry = self.params["collect"][wildcards.source]
        return {k: v for k, v in entry.items() if k in self._OF_FORM} | self._intake()

    def _intake(self) -> dict[str, Any]:
        """The limits of what comes from outside, where the params have any."""
        return {"intake": self.params["intake"]} if self.params.get("intake") else {}

    def _decoding(self, wildcards: Wildcards) -> dict[str, Any]:
        """The limits of a source's pictures that come along."""
        crawl = self.params["crawl"][wildcards.source]
        limits = {k: crawl[k] for k in self._DECODING if k in crawl} | self._side(crawl)
        largest = {"member_mib": crawl["max_mib"]}
        return {"limits": limits, "intake": {**(self.params.get("intake") or {}), **largest}}

    @staticmethod
    def _side(crawl: dict[str, Any]) -> dict[str, Any]:
        """The shorter side at which pictures are stored, where it is not their own."""
        return {"side_px": crawl["side_px"]} if crawl.get("side_px") else {}

    def contents_within(self, wildcards: Wildcards) -> dict[str, Any]:
        """`contents_spec` with the limits of pictures."""
        return self.contents_spec(wildcards) | self._decoding(wildcards)

    def pictures_within(self, wildcards: Wildcards) -> dict[str, Any]:
        """`crawl_pictures` with the limits of pictures."""
        return self.crawl_pictures(wildcards) | self._decoding(wildcards)

    def _is_contents(self, source: str) -> bool:
        """Whether the pictures of a source are within its rows."""
        entry = self.params["collect"].get(source, {"kind": ""})
        pictures = self.params["crawl"].get(source, {}).get("pictures", {})
        return bool(collection_kind(entry).parsed) and pictures.get("part") == pairs.DATA

    def crawl_sources(
        self, *, pictures: bool, contents: bool = False, bulk: bool | None = None
    ) -> str:
        """A wildcard constraint: the sources whose data sets contain pictures, or the others.

        With `contents` they are those whose rows have them; with `bulk` those with bulk sources, or
        without.
        """
        return self.any_of(
            n
            for n, c in self.params["crawl"].items()
            if ("pictures" in c) == pictures
            and self._is_contents(n) == contents
            and bulk in (None, "bulk" in c)
        )

    def _bulk_item(self, wildcards: Wildcards) -> dict[str, Any]:
        return self.params["crawl"][wildcards.source]["bulk"][int(wildcards.bulk)]

    def bulk_spec(self, wildcards: Wildcards) -> dict[str, Any]:
        """An item of the bulk sources of a crawl, with its defaults."""
        return Bulk.filled(self._bulk_item(wildcards))

    def bulk_decoding(self, wildcards: Wildcards) -> "UserDict[str, Any]":
        """The limits of what bulk sources hold, which are no reason to read them anew."""
        decoding = self._decoding(wildcards)
        return UserDict({**decoding["limits"], "intake": decoding["intake"]})

    def bulk_listed(self, wildcards: Wildcards) -> list[str]:
        """What lists the files of a bulk source: a manifest, or the ledger of an earlier crawl."""
        item = self._bulk_item(wildcards)
        manifests = [f"data/acquire/{s}/manifest.json" for s in [item.get("source")] if s]
        return manifests + [f"data/crawl/{c}/ledger.parquet" for c in [item.get("crawl")] if c]

    def bulk_taken(self, wildcards: Wildcards) -> list[str]:
        """The ledgers of the bulk sources before one, whose pictures it need not bring."""
        return self.bulk_ledgers(wildcards)[: int(wildcards.bulk)]

    def bulk_ledgers(self, wildcards: Wildcards) -> list[str]:
        """The ledgers of the bulk sources of a crawl, in their order."""
        return self._bulk_files(wildcards.source, "ledger")

    def bulk_tables(self, source: str) -> list[str]:
        """All that the bulk sources of a crawl leave."""
        return [path for table in self._BULK_TABLES for path in self._bulk_files(source, table)]

    def _bulk_files(self, source: str, table: str) -> list[str]:
        items = self.params["crawl"].get(source, {}).get("bulk", [])
        return [self._BULK.format(source=source, n=n, table=table) for n in range(len(items))]

    def crawl_shards(self, wildcards: Wildcards) -> int:
        """The number of shards of a crawl."""
        return self.params["crawl"][wildcards.source]["shards"]

    def crawl_spec(self, wildcards: Wildcards) -> dict[str, Any]:
        """The params of a crawl that decide which pictures come, and how they are requested."""
        spec = self.params["crawl"][wildcards.source]
        return {k: v for k, v in spec.items() if k not in (*self._OF_POLICY, "bulk")}

    def crawl_policy(self, wildcards: Wildcards) -> "UserDict[str, Any]":
        """The other params of a crawl: what it goes on from, when it gives up, how large it stores.

        Snakemake compares plain values only, and these are no reason to crawl anew.
        """
        spec = self.params["crawl"][wildcards.source]
        return UserDict({k: spec.get(k) for k in self._OF_POLICY})

    def crawl_origin(self, wildcards: Wildcards) -> dict[str, Any]:
        """The params of a crawl that say where its pictures are, how large, how many may fail."""
        spec = self.params["crawl"][wildcards.source]
        own = self._intake() if spec.get("pictures") else self._side(spec)
        return {k: spec.get(k) for k in self._ORIGIN} | own

    def crawl_decoding(self, wildcards: Wildcards) -> "UserDict[str, Any]":
        """The limits of a crawl's decoders, which are no reason to gather its ledgers anew."""
        spec = self.params["crawl"][wildcards.source]
        return UserDict({k: spec[k] for k in self._DECODING if k in spec})

    def crawl_pictures(self, wildcards: Wildcards) -> dict[str, Any]:
        """Where the pictures are that came with a source: its part, and the address below it."""
        return self.params["crawl"][wildcards.source]["pictures"] | self._intake()

    def listing_tables(self, wildcards: Wildcards) -> list[str]:
        """The parsed tables whose image_url a crawl requests."""
        tables = self.params["crawl"][wildcards.source]["of"]
        return [f"data/parse/{wildcards.source}/{t}.parquet" for t in tables]

    def earlier_crawl(self, wildcards: Wildcards) -> list[str]:
        """The ledger of the crawl that a crawl goes on from; it comes after all of its shards.

        The list of URLs waits for it in place of the shards, which are there for good: were the
        earlier crawl fetched again, Snakemake would want to make them anew. It is not ancient,
        because Snakemake does not look for reasons to run what comes after a job that runs, though
        by such inputs alone.
        """
        after = self.params["crawl"][wildcards.source].get("after")
        return [f"data/crawl/{after}/ledger.parquet"] if after else []

    def picture_shards(self, source: str, pattern: str) -> list[str]:
        """Every shard of a crawl; none for a source without pictures."""
        shards = self.params["crawl"].get(source, {"shards": 0})["shards"]
        return [pattern.format(source=source, n=n) for n in range(shards)]

    def ledgers(self, wildcards: Wildcards) -> list[str]:
        """The ledgers of a crawl's shards."""
        return self.picture_shards(wildcards.source, self._LEDGERS)

    def crawl_shard_files(self, source: str) -> list[str]:
        """The pictures and the ledgers of a crawl's shards."""
        patterns = (self._LEDGERS, self._PIXELS)
        return [path for pattern in patterns for path in self.picture_shards(source, pattern)]

    def pixels(self, wildcards: Wildcards) -> list[str]:
        """The pictures that a collection draws on, those of its knowledge included."""
        drawn = [*self.sources_of(wildcards.collection), *self.knowledge_of(wildcards.collection)]
        return [p for s in dict.fromkeys(drawn) for p in self.picture_shards(s, self._PIXELS)]

    def pictures_of(self, collection: str) -> list[str]:
        """The pictures of a collection's own sources."""
        sources = self.sources_of(collection)
        return [path for source in sources for path in self.picture_shards(source, self._PIXELS)]

    def picture_ledgers(self, wildcards: Wildcards) -> list[str]:
        """The ledgers of the pictures that a collection draws on; one changes when a shard does."""
        drawn = {*self.sources_of(wildcards.collection), *self.knowledge_of(wildcards.collection)}
        crawled = sorted(drawn & {*self.params["crawl"]})
        return [f"data/crawl/{source}/ledger.parquet" for source in crawled]

    def knowledge_of(self, collection: str) -> list[str]:
        """The snapshot whose articles are a collection's entities, where it is made of labels."""
        entry = self.params["collect"][collection]
        return [entry["recognition"]["knowledge"]] if "recognition" in entry else []

    def recognition_sources(self) -> list[str]:
        """The data sets whose labels are linked to a snapshot."""
        return sorted({self.source_of(c) for c in self.params["collect"] if self.knowledge_of(c)})

    def recognition_of(self, source: str) -> dict[str, Any]:
        """How the labels of a data set are linked to a snapshot."""
        entries = (c for c in self.params["collect"].values() if c.get("source") == source)
        return next(c["recognition"] for c in entries if "recognition" in c)

    def recognition(self, wildcards: Wildcards) -> dict[str, Any]:
        """How the labels of the rule's data set are linked to a snapshot."""
        return self.recognition_of(wildcards.source)

    def knowledge_table(self, file: str) -> Callable[[Wildcards], str]:
        """A parsed table of the snapshot that a data set's labels are linked to."""
        return lambda w: f"data/parse/{self.recognition_of(w.source)['knowledge']}/{file}"

    def label_vocabulary(self, wildcards: Wildcards) -> list[str]:
        """The vocabulary of the tokenizer that links labels, where it is a file."""
        return self.vocabulary(self.recognition_of(wildcards.source)["tokenizer"])

    def entities(self, source: str, snapshot: str) -> dict[str, str]:
        """What a collection of recognition reads beside its labels.

        The pictures of a snapshot that is not crawled are among those that came with the labels.
        """
        crawled = snapshot if snapshot in self.params["crawl"] else source
        crawl, parse = f"data/crawl/{crawled}", f"data/parse/{snapshot}"
        return {
            "projection": f"data/project/{source}/projection.parquet",
            "sections": f"{parse}/sections.parquet",
            "infoboxes": f"{parse}/infoboxes.parquet",
            "knowledge_urls": f"{crawl}/urls.parquet",
            "knowledge_ledger": f"{crawl}/ledger.parquet",
        }

    def relations(self, wildcards: Wildcards) -> dict[str, Any]:
        """The tables that a collection's queries read; a data set's own come with its manifest."""
        if collection_kind(self.params["collect"][wildcards.collection]).is_union:
            members = self.params["collect"][wildcards.collection]["of"]
            tables = ("texts", "images", "qrels", "filters")
            return {t: [f"data/collect/{c}/{t}.parquet" for c in members] for t in tables}
        source = self.source_of(wildcards.collection)
        own = ("urls", "ledger") if source in self.params["crawl"] else ()
        parsed = self.parsed_tables(wildcards.collection)
        if parsed:
            crawled = {t: f"data/crawl/{source}/{t}.parquet" for t in own}
            return {
                **{t.replace(".", "_"): f"data/parse/{source}/{t}.parquet" for t in parsed},
                **crawled,
            }
        if not self.is_snapshot(wildcards.collection):
            manifest = f"data/acquire/{source}/manifest.json"
            linked = [self.entities(source, k) for k in self.knowledge_of(wildcards.collection)]
            crawled = {t: f"data/crawl/{source}/{t}.parquet" for t in own}
            return {"manifest": manifest, **crawled, **dict(*linked)}
        return {
            "associations": f"data/parse/{source}/associations.parquet",
            "sections": f"data/parse/{source}/sections.parquet",
            "members": f"data/project/{source}/members.parquet",
            "projection": f"data/project/{source}/projection.parquet",
            "urls": f"data/crawl/{source}/urls.parquet",
            "ledger": f"data/crawl/{source}/ledger.parquet",
        }

    def relation_names(self, wildcards: Wildcards) -> list[str]:
        """The names of the tables that a collection's queries read."""
        return sorted(self.relations(wildcards))

    def collect_queries(self, wildcards: Wildcards) -> list[str]:
        """The queries of a collection's kind, and the checks."""
        kind = f"collect/{self.kind_of_collection(wildcards)}"
        return self.sql(f"{kind}/*.sql", f"{kind}/member/*.sql", "check/*.sql", "check/*/*.sql")
