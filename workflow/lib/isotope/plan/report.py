"""What the pages of a collection show, and how it is entered in the registry."""

from collections.abc import Mapping
from dataclasses import dataclass

from isotope.params.root import Params
from isotope.plan import releases
from isotope.plan.collections import Collections
from isotope.plan.diff import Diff
from isotope.plan.exhibits import Exhibits
from isotope.plan.extension import Extension, ReportPage
from isotope.plan.paths import Wildcards, unique
from isotope.plan.sources import Spec
from isotope.plan.systems import Systems
from isotope.report import cases, queries, registry
from isotope.search.kinds.bm25 import Bm25
from isotope.tabulate.runs import OVERLAP

COSTS = "results/report/{collection}/costs.html"
RECORD = registry.RECORD
NEWEST = "results/tables/newest"
FRONT_PAGE = "results/report/index.html"
CATALOG = "results/catalog.duckdb"
# The pages that show the notes of plug-ins on the other pages, without suffix.
FIRST_PAGES = ("index", "cite")


@dataclass(frozen=True)
class Report:
    """The pages about the collections of a run."""

    params: Params
    collections: Collections
    systems: Systems
    exhibits: Exhibits
    diff: Diff
    extensions: Mapping[str, Extension]

    @property
    def pages(self) -> list[str]:
        """The pages of a collection that are written with its tables, without suffix."""
        return ["collection", "systems", "cases", *(["queries"] if self._compares else [])]

    @property
    def _compares(self) -> bool:
        """Whether the case studies are about two systems that are scored."""
        searched, tabulate = self.systems.search.systems, self.params.tabulate
        is_shown = tabulate.system in searched and len(searched) > 1
        return is_shown or bool(tabulate.cases.systems)

    # What the pages of a collection read.

    def tables(self, wildcards: Wildcards) -> list[str]:
        """Every table and figure of a collection."""
        name = wildcards.collection
        added = (path for extension in self.extensions.values() for path in extension.tables(name))
        return [*self.exhibits.files(name), *self.diff.tables(name), *added]

    def sources(self, wildcards: Wildcards) -> list[str]:
        """The collection, runs, pictures and scores that a collection's pages show."""
        name, systems = wildcards.collection, self.systems
        about, scores = self.collections[name], f"results/score/{name}"
        shown = [*systems.search.systems, *self._case_systems(name), self.params.tabulate.system]
        words = [f"data/index/{name}/{systems.largest}/{system}" for system in self._lexical]
        return unique(
            about.tables.values(),
            [f"data/collect/{name}/filters.parquet"],
            [f"{scores}.parquet", f"{scores}.significance.parquet"],
            about.pixels,
            systems.runs(name, unique(shown)),
            words if self._compares else [],
            about.manifests,
        )

    def ledger(self, wildcards: Wildcards) -> list[str]:
        """The ledger of a collection's pictures, where they were crawled."""
        accounts = self.collections[wildcards.collection].accounts
        return [str(accounts[n]) for n in ("ledger", "picture_ledger") if n in accounts]

    # What they say of the params: the fields of records that jobs take.

    def scope(self, wildcards: Wildcards) -> Spec:
        """What a collection's pages are about: `report.content.Scope`."""
        name, about = wildcards.collection, self.collections[wildcards.collection]
        return {
            "root": ".",
            "collection": name,
            "sources": about.sources,
            **self.systems.cell,
            "system": self.params.tabulate.system,
            "compared": self._compares,
            "further": {stem: [*page] for stem, page in self.further(name).items()},
            "origin": about.origin,
        }

    def further(self, collection: str) -> dict[str, ReportPage]:
        """Return the pages of a collection that plug-ins write."""
        added = (extension.pages(collection) for extension in self.extensions.values())
        return {stem: page for pages in added for stem, page in pages.items()}

    def notes(self, wildcards: Wildcards) -> list[Spec]:
        """What plug-ins say of a collection on its first pages: `collection.Note`."""
        added = (extension.note(wildcards.collection) for extension in self.extensions.values())
        return [note._asdict() for note in added if note]

    def noted(self, wildcards: Wildcards) -> list[str]:
        """The files of these notes."""
        return [str(note["file"]) for note in self.notes(wildcards) if note["file"]]

    def note_roots(self, wildcards: Wildcards) -> list[str]:
        """The functions that write them, which are code of the job that shows them."""
        return [str(note["call"]) for note in self.notes(wildcards)]

    def facts(self, wildcards: Wildcards) -> Spec:
        """What pages of a collection say of params and what was built: `collection.ReportFacts`."""
        tabulate = self.params.tabulate
        return {
            "measure": self.params.score.measures[0],
            "alpha": tabulate.alpha,
            "overlap": OVERLAP,
            "built": self._built(wildcards.collection),
            "looks": self.systems.looks,
        }

    def _built(self, collection: str) -> dict[str, str]:
        """What a collection and its runs were made by: a fingerprint of the params, no paths."""
        params, systems, about = self.params, self.systems, self.collections[collection]
        used = systems.models_of(systems.used)
        models = {*used, *(systems.models[name].base.name for name in used)}
        entries = [params.collect[name].filled() for name in (collection, *about.members)]
        made_by = {
            "collect": entries if about.members else entries[0],
            "systems": {name: systems[name].filled() for name in systems.used},
            "models": {name: params.models[name].filled() for name in sorted(models)},
            "search": params.search.filled(),
            "score": params.score.filled(),
        }
        about_kind = {"kind": about.entry.kind, "language": about.entry.language}
        return {**about_kind, "fingerprint": registry.fingerprint(made_by)}

    def release(self, wildcards: Wildcards) -> Spec:
        """What the release of a collection says of it: `release.about.CollectionFacts`."""
        about = self.collections[wildcards.collection]
        facts = releases.facts(self.params, about)
        return {**facts, "fingerprint": self._built(about.name)["fingerprint"]}

    # Two systems side by side.

    def _case_systems(self, collection: str) -> list[str]:
        """The two systems: those of the params, or the report's and the first BM25."""
        first, systems = self.params.tabulate.system, self.systems
        rivals = [s for s in systems.search.systems if s != first]
        # An external system may lack a run on the largest pool.
        lacks = {s: not systems.first_runs(collection, s) for s in rivals}
        rivals.sort(key=lambda s: (lacks[s], not systems[s].is_lexical))
        return self.params.tabulate.cases.systems or [first, *rivals[:1]]

    def _compared(self, collection: str) -> Spec:
        return {"systems": self._case_systems(collection), "setting": self.systems.largest}

    def cases(self, wildcards: Wildcards) -> Spec:
        """What the case studies show: `cases.Studies`."""
        tabulate = self.params.tabulate
        shown = {**tabulate.cases.values(), "hits": cases.HITS, "overlap": OVERLAP}
        return {**shown, **self._compared(wildcards.collection)}

    @property
    def _lexical(self) -> list[str]:
        """The first system of words, if there is one."""
        return self.systems.who("is_lexical")[:1]

    def queries(self, wildcards: Wildcards) -> Spec | None:
        """What the page of queries shows: `queries.SystemPair`; None for one system."""
        about = self.collections[wildcards.collection]
        bm25 = next((self.systems[name] for name in self._lexical), Bm25(kind="bm25"))
        if not self._compares or not isinstance(bm25, Bm25):
            return None
        return {
            "shown": queries.SHOWN,
            "hits": queries.HITS,
            **self._compared(about.name),
            "measure": self.params.score.measures[0],
            "words": {
                **{key: getattr(bm25, key) for key in ("k1", "b", "fields", "engine")},
                "prepare": bm25.prepare or about.entry.prepare,
                "language": about.captions,
                "texts_language": about.entry.language,
                "index": next(iter(self._lexical), None),
            },
        }

    # The registry of what is built.

    @property
    def records(self) -> list[str]:
        """The records of all collections that are built, by these params or by others."""
        built = (RECORD.format(collection=name) for name in self.collections.built)
        return sorted({*built, *(path.as_posix() for path in registry.records())})

    def record(self, wildcards: Wildcards) -> Spec:
        """What a collection's record says: `registry.Record`."""
        name, collections, crawl = wildcards.collection, self.collections, self.params.crawl
        beside = [c for pair in collections.pairs if name in pair for c in pair]
        earlier = self.params.encode.after.get(name)
        named = unique([name], beside, collections[name].members, [earlier] if earlier else [])
        related = [collections[c] for c in named]
        sources = {s for c in related for s in (*c.sources, *c.knowledge)}
        before = {crawl[s].after for s in sources if s in crawl}
        groups = [g for g in collections.groups if name in collections.members(g)]
        return {
            "name": name,
            **self._built(name),
            "collections": named,
            "sources": sorted({*sources, *filter(None, before)}),
            **self.systems.cell,
            "groups": {group: self.exhibits.tables(group) for group in groups},
        }
