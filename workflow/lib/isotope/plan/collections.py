"""Collections of a run: what each is made of, which tables it has, and what stands beside them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from isotope.core.syntax import file_of
from isotope.params import links, pairs
from isotope.params.collect import CollectionKind, folders
from isotope.params.root import Params
from isotope.plan.paths import parsed, unique
from isotope.plan.sources import Sources

# The tables that every collection has, with those of what was left out.
TABLES = ("texts", "images", "qrels")
ALL_TABLES = (*TABLES, "filters", "rejected")
Files = str | Sequence[str]


def collected(*tables: str, collection: str = "{collection}") -> dict[str, str]:
    """Return the tables of a collection, or some of them by name; or their patterns."""
    return _tables("collect", collection, *tables or TABLES)


def _tables(phase: str, name: str, *tables: str) -> dict[str, str]:
    return {table.replace(".", "_"): f"data/{phase}/{name}/{table}.parquet" for table in tables}


@dataclass(frozen=True)
class PlannedCollection:
    """A collection of the params."""

    name: str
    params: Params
    crawls: Sources

    @property
    def entry(self) -> CollectionKind:
        """Its params."""
        return self.params.collect[self.name]

    @property
    def family(self) -> str:
        """Its kind, or what stands before its hyphen: kinds with the same statistics."""
        return self.entry.kind.partition("-")[0]

    @property
    def captions(self) -> str:
        """The language of the captions that stand for its images."""
        return self.entry.captions or self.entry.language

    @property
    def members(self) -> list[str]:
        """The collections that it is made of, if it is a union."""
        return getattr(self.entry, "of", None) or []

    @property
    def source(self) -> str:
        """The source that it is made of; a union has none of its own."""
        return self.entry.source or ""

    @property
    def origin(self) -> str:
        """By what words its pages speak of it."""
        return self.entry.origin

    @property
    def sources(self) -> list[str]:
        """The sources that it is made of, one for each edition."""
        return links.sources(self.params.part("collect"), self.name)

    @property
    def knowledge(self) -> list[str]:
        """The snapshot whose articles are its entities, where it is made of labels."""
        recognition = getattr(self.entry, "recognition", None)
        return [recognition.knowledge] if recognition else []

    # Files.

    @property
    def tables(self) -> dict[str, str]:
        """Its texts, images and judgements."""
        return collected(collection=self.name)

    @property
    def queries(self) -> list[str]:
        """The patterns of the queries of its kind."""
        folder = file_of(folders()[self.entry.kind])
        return [f"{folder}/{below}*.sql" for below in ("", "member/")]

    @property
    def spec(self) -> dict[str, Any]:
        """What its queries may ask for; what its source's rows are was asked before."""
        before = ("source", "pictures", *pairs.ROWS)
        return {key: value for key, value in self.entry.spec().items() if key not in before}

    @property
    def manifests(self) -> list[str]:
        """The manifests of its sources."""
        return [f"data/acquire/{s}/manifest.json" for s in self.sources if s in self.params.acquire]

    def parsed(self, *tables: str) -> list[str]:
        """Return parsed tables of each of its sources, in their order."""
        return [path for source in self.sources for path in parsed(source, *tables)]

    @property
    def pictures(self) -> list[str]:
        """The pictures of its own sources."""
        return [path for source in self.sources for path in self.crawls.shards(source)]

    @property
    def pixels(self) -> list[str]:
        """The pictures that it draws on, those of its knowledge included."""
        drawn = unique(self.sources, self.knowledge)
        return [path for source in drawn for path in self.crawls.shards(source)]

    @property
    def ledgers(self) -> list[str]:
        """The ledgers of the pictures that it draws on."""
        return self.crawls.ledgers([*self.sources, *self.knowledge])

    @property
    def relations(self) -> dict[str, Files]:
        """The tables that its queries read; a data set's own come with its manifest.

        What became of labels is told by a snapshot, whose pictures, where it is not crawled, are
        among those that came with the labels.
        """
        entry, source = self.entry, self.source
        if entry.is_union:
            members = [collected(*TABLES, "filters", collection=member) for member in self.members]
            return {table: [files[table] for files in members] for table in members[0]}
        crawled = _tables("crawl", source, "urls", "ledger") if source in self.params.crawl else {}
        if entry.is_snapshot:
            parse_tables = _tables("parse", source, "associations", "sections")
            return {
                **parse_tables,
                **_tables("project", source, "members", "projection"),
                **crawled,
            }
        if entry.parsed:
            return {**_tables("parse", source, *entry.parsed), **crawled}
        relations = {"manifest": f"data/acquire/{source}/manifest.json", **crawled}
        for snapshot in self.knowledge:
            relations |= _tables("project", source, "projection")
            relations |= _tables("parse", snapshot, "sections", "infoboxes")
            crawl = snapshot if snapshot in self.params.crawl else source
            pictures = _tables("crawl", crawl, "urls", "ledger")
            relations |= {f"knowledge_{table}": file for table, file in pictures.items()}
        return {**relations}

    @property
    def accounts(self) -> dict[str, Files]:
        """What became of its source, by relation.

        They are its crawl's ledger, or that of the pictures that came along with it; its
        projection, and the pictures of its snapshot's wikitext. A union has none: its members have
        them.
        """
        files, crawl = dict[str, Files](), self.params.crawl.get(self.source)
        if crawl:
            name = "picture_ledger" if crawl.pictures else "ledger"
            files[name] = f"data/crawl/{self.source}/ledger.parquet"
        if self.crawls.associations(self.source) != "wit":
            files |= _tables("parse", self.source, "pictures")
        if self.entry.is_snapshot or self.knowledge:
            files |= _tables("project", self.source, "projection")
        return files


@dataclass(frozen=True)
class Collections:
    """The collections of the params, and groups of them."""

    params: Params
    crawls: Sources

    def __getitem__(self, name: str) -> PlannedCollection:
        """Return a collection by its name."""
        return PlannedCollection(name, self.params, self.crawls)

    @property
    def built(self) -> list[str]:
        """The collections that are built, the newest last."""
        return self.params.build

    @property
    def pairs(self) -> list[list[str]]:
        """The pairs of collections, earlier and later, of which one at least is built."""
        return [pair for pair in self.params.tabulate.diff if {*pair} & {*self.built}]

    @property
    def all(self) -> list[str]:
        """The collections that are built, and those that are only compared with them."""
        return unique(self.built, *self.pairs)

    @property
    def groups(self) -> dict[str, dict[str, list[str]]]:
        """Collections whose tables stand side by side, by group and part of it."""
        return self.params.tabulate.groups

    def members(self, subject: str) -> list[str]:
        """The collections of a group, in the order of the params; a collection is its own."""
        return unique(*self.groups.get(subject, {"": [subject]}).values())

    def languages(self, name: str) -> list[str]:
        """The languages of the collections of one source, that of this collection first."""
        entry = self.params.collect[name]
        same = (other for other in self.params.collect.values() if other.source == entry.source)
        return unique([entry.language], (other.language for other in same))
