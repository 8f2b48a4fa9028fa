"""The plan of a run: what rules ask of the resolved params.

`Plan` has the parts in road order, one a module: paths, sources, models, systems, shards, tables,
since, exhibits, suggestions. What the pages of the report show stands here.
"""

from functools import cached_property
from typing import Any

from isotope.params.phases import collection_kind, with_preparation
from isotope.params.sections import system_kind
from isotope.plan import releases
from isotope.plan.paths import Wildcards
from isotope.plan.suggestions import Suggestions
from isotope.report import registry


class Plan(Suggestions):
    """The plan of a run, of all phases."""

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

    @cached_property
    def cases(self) -> dict[str, Any]:
        """The params of the case studies."""
        return self.params["tabulate"]["cases"]

    @cached_property
    def report_pages(self) -> list[str]:
        """The pages of a collection that are written with its tables, without suffix."""
        compared = ["queries"] if self.is_compared else []
        return ["collection", "systems", "cases", *compared]

    def templates(self) -> list[str]:
        """The templates of the report, as inputs; those of other pages have their own prefix."""
        paths = sorted(self.home.glob("workflow/lib/isotope/templates/*"))
        return [
            self.project_file(p) for p in paths if not p.name.startswith(("ask", "judge.", "show."))
        ]

    def report_tables(self, wildcards: Wildcards) -> list[str]:
        """Every table and figure of a collection."""
        of = wildcards.collection
        folder, temporal = "{collection}/since/{earlier}", list[str]()
        for file in (f"tables/{folder}/temporal.arrow", f"figures/{folder}/temporal.svg"):
            temporal += self.temporal_files(of, f"results/{file}")
        return [*self.exhibit_files(of), *temporal, *self.sorted_mistakes(of)]

    def report_scope(self, wildcards: Wildcards) -> dict[str, Any]:
        """The pool and the system that a collection's report is about."""
        return {
            "sources": self.sources_of(wildcards.collection),
            "setting": self.settings[0],
            "split": self.splits[0],
            "system": self.params["tabulate"]["system"],
            "explained": wildcards.collection in self.explained_collections(),
            "compared": self.is_compared,
            "suggested": wildcards.collection in self.suggested_collections(),
            "origin": collection_kind(self.params["collect"][wildcards.collection]).origin,
        }

    def suggest_page_spec(self, wildcards: Wildcards) -> dict[str, Any]:
        """What the page of suggestions reads: what its phase does, and what the report is about."""
        return {**self.suggest_spec(wildcards), "scope": self.report_scope(wildcards)}

    def report_params(self) -> dict[str, Any]:
        """What the params say of what the report shows."""
        own = {k: self.params["tabulate"][k] for k in ("alpha", "bootstrap", "overlap", "tail")}
        return {**own, "measure": self.params["score"]["measures"][0]}

    def build_facts(self, wildcards: Wildcards) -> dict[str, str]:
        """What a collection and its runs were made by: a fingerprint of the params, no paths."""
        entry = self.params["collect"][wildcards.collection]
        named = {
            "systems": self.used_systems(),
            "models": {*self.used_models(), *map(self.base_model, self.used_models())},
        }
        used = {k: {n: self.params[k][n] for n in names} for k, names in named.items()}
        parts = [self.params["collect"][member] for member in entry.get("of", [])]
        of = {
            "collect": [entry, *parts] if parts else entry,
            **used,
            "search": self.params["search"],
            "score": self.params["score"],
        }
        return {
            "kind": entry["kind"],
            "language": entry["language"],
            "fingerprint": registry.fingerprint(of),
        }

    def release_facts(self, wildcards: Wildcards) -> dict[str, Any]:
        """What the release of a collection says of it, the fingerprint of the params included."""
        built = {"fingerprint": self.build_facts(wildcards)["fingerprint"]}
        return {**releases.facts(self.params, self.home, wildcards.collection), **built}

    def case_systems(self, collection: str) -> list[str]:
        """The two systems side by side: those of the params, or the report's and the first BM25."""
        first = self.params["tabulate"]["system"]
        rivals = [s for s in self.systems if s != first]
        # A foreign system may lack a run on the largest pool.
        rivals.sort(
            key=lambda s: (
                not self.first_runs(collection, s),
                not self.system_kind(s).is_lexical,
            )
        )
        return self.cases.get("systems", [first, *rivals[:1]])

    def case_params(self, wildcards: Wildcards) -> dict[str, Any]:
        """What the case studies show."""
        own = {
            "systems": self.case_systems(wildcards.collection),
            "setting": self.largest_setting(),
        }
        return {**self.cases, **own, "overlap": self.params["tabulate"]["overlap"]}

    @cached_property
    def is_compared(self) -> bool:
        """Whether the case studies are about two systems that are scored."""
        named = "systems" in self.cases
        return named or (
            self.params["tabulate"]["system"] in self.systems and len(self.systems) > 1
        )

    def query_params(self, wildcards: Wildcards) -> dict[str, Any]:
        """What the page of a collection's queries shows; nothing for one system."""
        if not self.is_compared:
            return {}
        lexical = [s for s in self.systems if self.system_kind(s).is_lexical]
        entry = self.params["systems"][lexical[0]] if lexical else {"kind": "bm25"}
        bm25 = with_preparation(entry, self.params["collect"][wildcards.collection])
        bm25 = system_kind(entry).filled(bm25)
        words = {key: bm25[key] for key in ("k1", "b", "fields", "prepare", "engine")}
        languages = {"language": self.caption_language, "texts_language": self.language}
        return {
            **self.params["tabulate"]["queries"],
            "systems": self.case_systems(wildcards.collection),
            "setting": self.largest_setting(),
            "measure": self.params["score"]["measures"][0],
            "bootstrap": self.params["tabulate"]["bootstrap"],
            "words": {
                **words,
                **{key: of(wildcards) for key, of in languages.items()},
                "index": lexical[0] if lexical else None,
            },
        }

    def word_index(self, wildcards: Wildcards) -> list[str]:
        """The index of the words of a collection's largest pool, if a system has one."""
        index = self.query_params(wildcards).get("words", {}).get("index")
        setting = self.largest_setting()
        return [f"data/index/{wildcards.collection}/{setting}/{index}"] if index else []

    def case_runs(self, wildcards: Wildcards) -> list[str]:
        """The runs that the case studies read."""
        systems = sorted(
            {*self.case_systems(wildcards.collection), self.params["tabulate"]["system"]}
        )
        return self.runs_of(wildcards.collection, systems)

    def crawl_ledger(self, wildcards: Wildcards) -> list[str]:
        """The ledger of a collection's pictures, where they were crawled."""
        accounts = self.accounts(wildcards.collection)
        return [accounts[name] for name in ("ledger", "picture_ledger") if name in accounts]

    def report_sources(self, wildcards: Wildcards) -> list[str]:
        """Return the collection, runs, pictures and scores that a collection's pages show."""
        name = wildcards.collection
        files = [
            *self.collection_tables(wildcards).values(),
            f"data/collect/{name}/filters.parquet",
            *(f"results/score/{name}{suffix}.parquet" for suffix in ("", ".significance")),
            *self.pixels(wildcards),
            *self.runs(wildcards),
            *self.case_runs(wildcards),
            *self.word_index(wildcards),
            *self.manifests(wildcards),
        ]
        return list(dict.fromkeys(files))

    def report_facts(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return what a collection's pages say of the params, and of what was built."""
        built = {"built": self.build_facts(wildcards), "looks": self.looks}
        return {**self.report_params(), **built}

    # The verification of a collection's numbers, and the pages that show it.

    @cached_property
    def verified(self) -> dict[str, Any]:
        """How a run is verified at its end: checks, and the share of what is recomputed."""
        return self.params["tabulate"]["verify"]

    def verification(self, wildcards: Wildcards) -> list[str]:
        """Return the record of a collection's verification; nothing without checks."""
        record = self.VERIFIED.format(collection=wildcards.collection)
        return [record] if self.verified["checks"] else []

    def used_entries(self) -> dict[str, Any]:
        """Return the params of the used systems by name."""
        return {name: self.params["systems"][name] for name in self.used_systems()}

    def verified_spec(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return the params that a verification reads: what made the collection and its runs."""
        name = wildcards.collection
        sources = self.sources_of(name)
        crawled = [(s, e) for s, e in self.params["crawl"].items() if s in sources]
        members = [name, *self.params["collect"][name].get("of", [])]
        tabulate = {key: self.params["tabulate"][key] for key in ("alpha", "comparisons")}
        return {
            "build": [name],
            "acquire": {source: {} for source in sources if source in self.params["acquire"]},
            "crawl": {source: {"shards": entry["shards"]} for source, entry in crawled},
            "collect": {each: self.params["collect"][each] for each in members},
            "systems": self.used_entries(),
            **{key: self.params[key] for key in ("models", "encode", "search", "score")},
            "tabulate": tabulate,
        }

    # The registry of what is built, the front page and the catalog.

    def record_files(self, collection: str) -> list[str]:
        """Return what a collection is entered in the registry by: its costs and its record."""
        return [path.format(collection=collection) for path in (self.COSTS, self.RECORD)]

    def records(self, _: Wildcards = None) -> list[str]:
        """Return the records of all collections that are built, by these params or by others."""
        built = (self.RECORD.format(collection=c) for c in self.params["build"])
        there = (path.as_posix() for path in registry.records())
        return sorted({*built, *there})

    def record_of(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return what a collection's record says: the fields of `registry.Record`."""
        name = wildcards.collection
        entry = self.params["collect"][name]
        pairs = [pair for pair in self.compared_pairs() if name in pair]
        earlier = self.params["encode"]["after"].get(name)
        beside = [*(c for pair in pairs for c in pair), *entry.get("of", []), earlier]
        collections = list(dict.fromkeys([name, *filter(None, beside)]))
        sources = [s for c in collections for s in (*self.sources_of(c), *self.knowledge_of(c))]
        return {
            "kind": entry["kind"],
            "language": entry["language"],
            "collections": collections,
            "sources": sorted({*sources, *filter(None, map(self.crawled_before, sources))}),
            "setting": self.settings[0],
            "split": self.splits[0],
            "groups": {
                g: self.group_tables(g) for g in self.groups if name in self.group_members(g)
            },
            "fingerprint": self.build_facts(wildcards)["fingerprint"],
        }

    def crawled_before(self, source: str) -> str | None:
        """Return the source whose crawl that of a source goes on from, if there is one."""
        return self.params["crawl"].get(source, {}).get("after")
