"""What the pages of a collection show, what is verified, and how it is entered in the registry."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isotope.judge.ledger import sheet_paths
from isotope.params.phases import with_preparation
from isotope.params.root import Params
from isotope.params.sections import system_kind
from isotope.plan import releases
from isotope.plan.collections import Collections
from isotope.plan.exhibits import TABLES, Exhibits
from isotope.plan.paths import Wildcards, unique
from isotope.plan.since import Since
from isotope.plan.sources import Spec
from isotope.plan.suggestions import Suggestions
from isotope.plan.systems import Systems
from isotope.report import registry
from isotope.tabulate.table import FORMS

COSTS = "results/report/{collection}/costs.html"
RECORD = registry.RECORD
NEWEST = "results/tables/newest"
FRONT_PAGE = "results/report/index.html"
CATALOG = "results/catalog.duckdb"
# The pages that show a verification, without suffix.
FIRST_PAGES = ("index", "cite")
# What a verification found, for the report, and as the command prints it.
VERIFIED = "results/tables/{collection}/verified.json"
CONFIRMED = "results/tables/{collection}/verified.txt"
_WORDS = ("k1", "b", "fields", "prepare", "engine")
_SHOWN = ("alpha", "bootstrap", "overlap", "tail")


@dataclass(frozen=True)
class Report:
    """The pages about the collections of a run."""

    params: Params
    home: Path
    collections: Collections
    systems: Systems
    exhibits: Exhibits
    since: Since
    suggestions: Suggestions

    @property
    def pages(self) -> list[str]:
        """The pages of a collection that are written with its tables, without suffix."""
        return ["collection", "systems", "cases", *(["queries"] if self._compares else [])]

    @property
    def _compares(self) -> bool:
        """Whether the case studies are about two systems that are scored."""
        searched = self.systems.search.systems
        is_shown = self.params.tabulate.system in searched and len(searched) > 1
        return is_shown or bool(self.params.tabulate.cases.systems)

    # What the pages of a collection read.

    def tables(self, wildcards: Wildcards) -> list[str]:
        """Every table and figure of a collection."""
        name = wildcards.collection
        made = [*self.exhibits.files(name), *self.since.tables(name)]
        return [*made, *self.sorted_mistakes(name)]

    def sources(self, wildcards: Wildcards) -> list[str]:
        """The collection, runs, pictures and scores that a collection's pages show."""
        name, about, systems = (
            wildcards.collection,
            self.collections[wildcards.collection],
            self.systems,
        )
        compared = sorted({*self._case_systems(name), self.params.tabulate.system})
        scores = [f"results/score/{name}{suffix}.parquet" for suffix in ("", ".significance")]
        return unique(
            about.tables.values(),
            [f"data/collect/{name}/filters.parquet", *scores],
            about.pixels,
            systems.runs(name, systems.search.systems),
            systems.runs(name, compared),
            self._word_index(name),
            about.manifests,
        )

    def ledger(self, wildcards: Wildcards) -> list[str]:
        """The ledger of a collection's pictures, where they were crawled."""
        accounts = self.collections[wildcards.collection].accounts
        return [str(accounts[n]) for n in ("ledger", "picture_ledger") if n in accounts]

    # What they say of the params.

    def scope(self, wildcards: Wildcards) -> Spec:
        """The pool and the system that a collection's report is about."""
        name, about = wildcards.collection, self.collections[wildcards.collection]
        return {
            "sources": about.sources,
            **self.systems.cell,
            "system": self.params.tabulate.system,
            "explained": name in self.exhibits.explained,
            "compared": self._compares,
            "suggested": name in self.suggestions.collections,
            "origin": about.origin,
        }

    @property
    def _measure(self) -> str:
        return self.params.score.measures[0]

    def suggest_spec(self, wildcards: Wildcards) -> Spec:
        """What the page of suggestions reads: what its phase does, and what the report is about."""
        return {**self.suggestions.spec(wildcards), "scope": self.scope(wildcards)}

    def facts(self, wildcards: Wildcards) -> Spec:
        """What a collection's pages say of the params, and of what was built."""
        shown = {key: self.params["tabulate"][key] for key in _SHOWN}
        built = {"built": self._built(wildcards.collection), "looks": self.systems.looks}
        return {**shown, "measure": self._measure, **built}

    def _built(self, collection: str) -> dict[str, str]:
        """What a collection and its runs were made by: a fingerprint of the params, no paths."""
        about, systems = self.collections[collection], self.systems
        used = systems.models_of(systems.used)
        models = {*used, *(systems.models[name].base.name for name in used)}
        entries = [self.params["collect"][name] for name in (collection, *about.members)]
        of = {
            "collect": entries if about.members else entries[0],
            "systems": {name: self.params["systems"][name] for name in systems.used},
            "models": {name: self.params["models"][name] for name in sorted(models)},
            "search": self.params["search"],
            "score": self.params["score"],
        }
        fingerprint = registry.fingerprint(of)
        return {
            "kind": about.entry.kind, "language": about.entry.language, "fingerprint": fingerprint
        }  # fmt: skip

    def release(self, wildcards: Wildcards) -> Spec:
        """What the release of a collection says of it, the fingerprint of the params included."""
        name = wildcards.collection
        built = {"fingerprint": self._built(name)["fingerprint"]}
        return {**releases.facts(self.params, self.home, self.collections[name]), **built}

    # Two systems side by side.

    def _case_systems(self, collection: str) -> list[str]:
        """The two systems: those of the params, or the report's and the first BM25."""
        first, systems = self.params.tabulate.system, self.systems
        rivals = [s for s in systems.search.systems if s != first]
        # A foreign system may lack a run on the largest pool.
        lacks = {s: not systems.first_runs(collection, s) for s in rivals}
        rivals.sort(key=lambda s: (lacks[s], not systems[s].is_lexical))
        return self.params.tabulate.cases.systems or [first, *rivals[:1]]

    def _compared(self, collection: str) -> Spec:
        return {"systems": self._case_systems(collection), "setting": self.systems.largest}

    def cases(self, wildcards: Wildcards) -> Spec:
        """What the case studies show."""
        overlap = {"overlap": self.params.tabulate.overlap}
        return {
            **self.params["tabulate"]["cases"],
            **self._compared(wildcards.collection),
            **overlap,
        }

    def queries(self, wildcards: Wildcards) -> Spec:
        """What the page of a collection's queries shows; nothing for one system."""
        if not self._compares:
            return {}
        about, systems = self.collections[wildcards.collection], self.systems
        [lexical, *_] = [*systems.who(lambda system: system.is_lexical), None]
        entry = self.params["systems"][lexical] if lexical else {"kind": "bm25"}
        words = with_preparation(entry, self.params["collect"][about.name])
        bm25 = system_kind(words).filled(words)
        return {
            **self.params["tabulate"]["queries"],
            **self._compared(about.name),
            "measure": self._measure,
            "bootstrap": self.params["tabulate"]["bootstrap"],
            "words": {
                **{key: bm25[key] for key in _WORDS},
                "language": about.captions,
                "texts_language": about.entry.language,
                "index": lexical,
            },
        }

    def _word_index(self, collection: str) -> list[str]:
        """The index of the words of a collection's largest pool, if a system has one."""
        lexical = self.systems.who(lambda system: system.is_lexical) if self._compares else []
        folder = f"data/index/{collection}/{self.systems.largest}"
        return [f"{folder}/{name}" for name in lexical[:1]]

    # Answers that people sort.

    def mistake_runs(self, wildcards: Wildcards) -> list[str]:
        """The runs whose first answers people sort: those of a subset may be in any split."""
        systems = self.systems
        asked, splits = self.params.tabulate.mistakes, systems.search.splits
        splits = splits if asked and asked.subset else splits[:1]
        cell = {"setting": systems.largest, "split": splits, "task": "m2t"}
        return systems.runs(wildcards.collection, systems.search.systems, **cell)

    def sorted_mistakes(self, collection: str) -> list[str]:
        """Return the table of answers that people have sorted, once a sheet has come back."""
        back = self.params.tabulate.mistakes and sheet_paths(collection, "mistakes")
        return [f"{TABLES}/{collection}/mistakes_sorted.{s}" for s in FORMS] if back else []

    def mistakes(self, collection: str) -> list[str]:
        """Return the sheet of answers, where the params have one, and the table of those sorted."""
        asked = self.params.tabulate.mistakes
        sheets = [f"{TABLES}/{collection}/mistakes.{s}" for s in ("parquet", "csv") if asked]
        return [*sheets, *self.sorted_mistakes(collection)]

    # The verification of a collection's numbers, and the registry of what is built.

    def verification(self, wildcards: Wildcards) -> list[str]:
        """The record of a collection's verification; nothing without checks."""
        record = VERIFIED.format(collection=wildcards.collection)
        return [record] if self.params.tabulate.verify.checks else []

    def verified_spec(self, wildcards: Wildcards) -> Spec:
        """The params that a verification reads: what made the collection and its runs."""
        name, about = wildcards.collection, self.collections[wildcards.collection]
        acquire, tabulate = self.params["acquire"], self.params["tabulate"]
        compared = {key: tabulate[key] for key in ("alpha", "comparisons")}
        crawls = {s: self.params.crawl[s] for s in about.sources if s in self.params.crawl}
        return {
            "build": [name],
            "acquire": {s: acquire[s] for s in about.sources if s in acquire},
            "project": {},
            "crawl": {source: {"shards": entry.shards} for source, entry in crawls.items()},
            "collect": {c: self.params["collect"][c] for c in (name, *about.members)},
            "systems": {s: self.params["systems"][s] for s in self.systems.used},
            **{key: self.params[key] for key in ("models", "encode", "search", "score")},
            "tabulate": {"system": self.params.tabulate.system, "tokenizers": {}, **compared},
        }

    @property
    def records(self) -> list[str]:
        """The records of all collections that are built, by these params or by others."""
        built = (RECORD.format(collection=name) for name in self.collections.built)
        there = (path.as_posix() for path in registry.records())
        return sorted({*built, *there})

    def record(self, wildcards: Wildcards) -> dict[str, Any]:
        """What a collection's record says: the fields of `registry.Record`."""
        name, about, collections = (
            wildcards.collection,
            self.collections[wildcards.collection],
            self.collections,
        )
        beside = [c for pair in collections.pairs if name in pair for c in pair]
        earlier = self.params.encode.after.get(name)
        named = unique([name], beside, about.members, [earlier] if earlier else [])
        every = [collections[c] for c in named]
        sources = [s for c in every for s in (*c.sources, *c.knowledge)]
        before = (self.params.crawl[s].after for s in sources if s in self.params.crawl)
        groups = [g for g in collections.groups if name in collections.members(g)]
        return {
            "kind": about.entry.kind,
            "language": about.entry.language,
            "collections": named,
            "sources": sorted({*sources, *filter(None, before)}),
            **self.systems.cell,
            "groups": {group: self.exhibits.group_tables(group) for group in groups},
            "fingerprint": self._built(name)["fingerprint"],
        }
