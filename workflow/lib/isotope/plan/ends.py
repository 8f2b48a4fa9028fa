"""Which files a built collection has: what the target of each phase, and `all`, name.

Snakemake makes what is asked for and what that lacks; an intermediate file that is gone is no
reason to run. So each phase asks for all that its rules leave, and what is missing is made. The
files are those of the graph's jobs but for temporary ones (tests/workflow/test_targets.py).

What a rule writes beside the file that others read is its siblings, here in _SIBLINGS.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePath, PurePosixPath

from isotope.core import digests
from isotope.params.sections import model_values
from isotope.plan.paths import expanded, of_collection
from isotope.plan.plan import Plan

_TRAINED = {"learned": ("curve.csv",), "has_features": ("pictures.npy", "pictures.ids.parquet")}
# Suffixes of the shards of one side, by what a model leaves.
_VECTORS = ("npy", "ids.parquet")
_ENCODED = (*_VECTORS, "contents.parquet")
_LATE = (*_VECTORS, "tokens.npy", "tokens.parquet")
_TERMS = ("terms.parquet",)
_BOTH = ("texts", "images")
_JUDGED = ("pool.parquet", "sheet.parquet", "sheet.csv")
_GRADED = ("graded", "scores", "reuse", "tau", "agreement")
_SIBLINGS: Mapping[str, tuple[str, ...]] = {
    "subsets.parquet": ("tops.parquet",),
    "tops.parquet": ("subsets.parquet",),
}
_EXPLAINED = ("failures", "ranks", "concepts", "rejected_objects", "study", "perturbations")


class Targets:
    """The files of a plan, by phase; each method has the name of its phase's target."""

    def __init__(self, plan: Plan) -> None:
        """Of the collections that the params build, and of what these are made from."""
        self.plan = plan
        self.params = plan.params

    def all(self) -> list[str]:
        """Return what every phase but the release, which is made on request, leaves."""
        phases = (self.acquire, self.parse, self.crawl, self.project, self.collect, self.train)
        later = (self.encode, self.index, self.search, self.score, self.suggest, self.tabulate)
        return [path for phase in (*phases, *later) for path in phase()]

    # What collections are made from.

    @cached_property
    def collections(self) -> list[str]:
        """The collections that are built or compared, members of unions, and what vectors and
        indexes go on from.
        """
        names, after = [*self.plan.collections()], self.params["encode"]["after"]
        going_on = [*self.params["build"]]
        for name in names:
            members = self.params["collect"][name].get("of", [])
            earlier = [after[name]] if name in going_on and name in after else []
            going_on += earlier
            names += [c for c in dict.fromkeys([*members, *earlier]) if c not in names]
        return names

    @cached_property
    def _continued(self) -> list[tuple[str, str]]:
        """The earlier collections whose indexes, or vectors, others go on from: with `bm25`, or
        with the model.
        """
        after, found = self.params["encode"]["after"], list[tuple[str, str]]()
        waiting = [(c, m) for c in self.params["build"] for m in ["bm25", *self._models]]
        for collection, model in waiting:
            earlier = after.get(collection)
            own = model == "bm25" and bool(self._systems_of("bm25"))
            if earlier and (own or self._goes_on(earlier, model)):
                found.append((earlier, model))
                waiting.append((earlier, model))
        return list(dict.fromkeys(found))

    def _goes_on(self, earlier: str, model: str) -> bool:
        if model not in self.params["models"] or self.plan.learned_weights(earlier, model):
            return False
        return self.plan.model_kind(model).is_encoder and "weights_of" not in self._entry(model)

    @cached_property
    def sources(self) -> list[str]:
        """The sources of the collections, snapshots of their entities included."""
        own = (s for c in self.collections for s in self.plan.sources_of(c))
        knowledge = (k for c in self.collections for k in self.plan.knowledge_of(c))
        return sorted({*own, *knowledge})

    @cached_property
    def crawled(self) -> list[str]:
        """The sources whose pictures are fetched, and those whose crawls these go on from."""
        names = [s for s in self.sources if s in self.params["crawl"]]
        for name in names:
            entry = self.params["crawl"][name]
            bulk = (item.get("crawl") for item in entry.get("bulk", []))
            earlier = dict.fromkeys(filter(None, [entry.get("after"), *bulk]))
            names += [each for each in earlier if each not in names]
        return sorted(names)

    @cached_property
    def _bulk(self) -> set[str]:
        """What is acquired for its pictures alone."""
        items = (item for s in self.crawled for item in self.params["crawl"][s].get("bulk", []))
        return {item["source"] for item in items if "source" in item}

    # Phases.

    def acquire(self) -> list[str]:
        """Return the manifests of all sources, those of facts and dictionaries included."""
        plan = self.plan
        named = {path for c in self.params["build"] for path in plan.fact_sources(of_collection(c))}
        named |= {
            p for c in plan.explained_collections() for p in plan.dictionary(of_collection(c))
        }
        names = {PurePosixPath(p).parts[2] for p in named if p.startswith("data/acquire/")}
        known = {*names, *self.sources, *self.crawled, *self._bulk} & {*self.params["acquire"]}
        return [f"data/acquire/{source}/manifest.json" for source in sorted(known)]

    def parse(self) -> list[str]:
        """Return the tables that were parsed, and what could not be."""
        snapshots = {s for c in self._snapshots() for s in self.plan.sources_of(c)}
        known = {k for c in self.collections for k in self.plan.knowledge_of(c)}
        asked = {t for s in self.crawled for t in self._listed(s)}
        pictured = {s for s, table in asked if table == "associations"}
        dumps = snapshots | known | {s for s, table in asked if table == "infoboxes"}
        dumps |= {s for s in pictured if self._ways(s) != "wit"}
        of_dump = [*self.plan.DUMP.values(), "templates.parquet"]
        files = [f"data/parse/{s}/{f}" for s in sorted(dumps) for f in of_dump]
        named = [*self.plan.WIT.values()]
        files += [f"data/parse/{s}/{f}" for s in sorted(snapshots | pictured) for f in named]
        entities = self.plan.entities_of(sorted(dumps))
        files += [p for t in entities for p in (t, t.replace(".parquet", ".rejected.parquet"))]
        links = (p for c in self.params["build"] for p in self.plan.inlinks_of(c).values())
        return list(dict.fromkeys([*files, *links, *self.plan.parsed_files()]))

    def _snapshots(self) -> Iterator[str]:
        """The collections of snapshots; a union's members are among them."""
        return (c for c in self.collections if self.plan.is_snapshot(c))

    def _ways(self, source: str) -> str:
        return self.params["parse"].get(source, {}).get("associations", "wit")

    def _listed(self, source: str) -> list[tuple[str, str]]:
        """The parsed tables from which a crawl lists its pictures, with their source."""
        entry = self.params["crawl"][source]
        return [] if "pictures" in entry else [(source, table) for table in entry["of"]]

    def crawl(self) -> list[str]:
        """Return the lists, the ledgers and the pictures of all crawls."""
        shards = [self.plan.crawl_shard_files(source) for source in self.crawled]
        tables = expanded("data/crawl/{s}/{t}.parquet", s=self.crawled, t=["urls", "ledger"])
        bulk = [self.plan.bulk_tables(source) for source in self.crawled]
        return [*tables, *(path for of in (*shards, *bulk) for path in of)]

    def project(self) -> list[str]:
        """Return the projections, and the members of those that are snapshots."""
        snapshots = sorted({s for c in self._snapshots() for s in self.plan.sources_of(c)})
        files = expanded("data/project/{s}/{t}.parquet", s=snapshots, t=["members", "projection"])
        labels = [c for c in self.collections if self.plan.knowledge_of(c)]
        linked = dict.fromkeys(self.plan.source_of(c) for c in labels)
        return [*files, *(f"data/project/{source}/projection.parquet" for source in linked)]

    def collect(self) -> list[str]:
        """Return the tables of the collections."""
        own = list(self.plan.collect_outputs().values())
        return expanded(own, collection=self.collections)

    def train(self) -> list[str]:
        """Return the weights that models learn, and how they learned them."""
        return [
            f"data/train/{collection}/{model}/{name}"
            for collection, model in self._trained
            for name in ("model.safetensors", *self._beside(model))
        ]

    @cached_property
    def _trained(self) -> list[tuple[str, str]]:
        """The collections that models learn from, with the model."""
        learned_from = self.plan.training_collection
        pairs = [(learned_from(c, m), m) for c in self.params["build"] for m in self._learning]
        return list(dict.fromkeys(pairs))

    @cached_property
    def _learning(self) -> list[str]:
        """The models that are trained or fitted, and those that they go on from."""
        plan, build = self.plan, self.params["build"]
        waiting = [*map(plan.base_model, self._models), *self._asked]
        for model in waiting:
            entry = self._entry(model)
            origin = entry.get("from", entry.get("of") if plan.model_kind(model).is_mix else None)
            waiting += [origin] if origin and origin not in waiting else []
        return sorted({plan.base_model(m) for m in waiting if plan.learned_weights(build[0], m)})

    @cached_property
    def _asked(self) -> list[str]:
        """The models of prompts and of styles."""
        systems, styles = self.plan.system_entries, self.plan.styles["model"]
        return [
            *(s["model"] for s in systems.values() if "model" in s),
            *([styles] if styles else []),
        ]

    def _beside(self, model: str) -> list[str]:
        if model in self.plan.mixes(frozen=False):
            return ["accuracies.csv"]
        kind = self.plan.model_kind(model)
        return [name for flag, names in _TRAINED.items() if getattr(kind, flag) for name in names]

    def encode(self) -> list[str]:
        """Return vectors, tokens and terms, and the summaries that stand for captions."""
        plan, build = self.plan, self.params["build"]
        pairs = [(c, m) for c in build for m in self._encoding]
        earlier = [(c, m) for c, m in self._continued if m != "bm25"]
        files = [path for c, m in dict.fromkeys([*pairs, *earlier]) for path in self._vectors(c, m)]
        for collection in build:
            for mix in plan.mixes(frozen=True):
                if mix in self._encoding:
                    folder = f"data/encode/{collection}/{mix}"
                    files += [f"{folder}/mix.safetensors", f"{folder}/curve.csv"]
                    inner = f"{collection}/{plan.inner_model(mix)}"
                    files += self._shards(inner, ("questions", "pictures"), _VECTORS)
        told = {model_values(self._entry(m)).get("summary") for m in self._encoding} - {None}
        for name in sorted(map(str, told)):
            files += [f"data/encode/{c}/summaries/{name}.parquet" for c in build]
        files += [path for pair in plan.stale_pairs for path in self._stale_vectors(*pair)]
        return list(dict.fromkeys(files))

    @cached_property
    def _models(self) -> list[str]:
        """The models whose vectors systems search, and those that give candidates."""
        dense = self.plan.suggest_systems["dense"] if self.plan.suggested_collections() else None
        own = [self.params["systems"][dense]["model"]] if dense else []
        return sorted({*self.plan.used_models(), *own})

    @cached_property
    def _encoding(self) -> list[str]:
        """The models that encode: also those that others share pictures with, or mix."""
        plan = self.plan
        prompts = {s["model"] for s in plan.system_entries.values() if s["kind"] == "prompt"}
        texts = [m for m in self._models if m not in prompts or self._searched(m)]
        names = [m for m in texts if not plan.model_kind(m).reranks]
        names += [plan.image_encoder(m) for m in self._models if not plan.model_kind(m).reranks]
        names += [inner for m in names if m in plan.mixes(frozen=True) and (inner := self._of(m))]
        return list(
            dict.fromkeys([*names, *map(plan.base_model, filter(None, [plan.styles["model"]]))])
        )

    def _searched(self, model: str) -> bool:
        """Whether a system searches a model's vectors of texts, not its answers to prompts."""
        entries = (self.params["systems"][s] for s in self.plan.used_systems())
        return any(e.get("model") == model and e["kind"] != "prompt" for e in entries)

    def _of(self, model: str) -> str | None:
        return self.plan.inner_model(model)

    def _entry(self, model: str) -> Mapping[str, str]:
        return self.params["models"][model]

    def _shards(self, encoded: str, sides: Iterable[str], suffixes: Iterable[str]) -> list[str]:
        return [
            path
            for side in sides
            for suffix in suffixes
            for path in self.plan.side_shards(encoded, side, suffix)
        ]

    def _vectors(self, collection: str, model: str) -> list[str]:
        """What a model leaves of a collection, by the rule of its kind."""
        plan, encoded = self.plan, f"{collection}/{model}"
        kind = self._entry(model)["kind"]
        if kind in ("late", "sparse"):
            return self._shards(encoded, _BOTH, _LATE if kind == "late" else _TERMS)
        if kind == "dates" or plan.model_kind(model).is_mix:
            return self._shards(encoded, _BOTH, _VECTORS)
        return self._shards(encoded, self._sides(model), _ENCODED)

    def _sides(self, model: str) -> tuple[str, ...]:
        return _BOTH if self.plan.image_encoder(model) == model else ("texts",)

    def _stale_vectors(self, earlier: str, later: str) -> Iterator[str]:
        """The vectors of later queries by what models learned on an earlier collection."""
        used = {self.params["systems"][s].get("model") for s in self.plan.stale_systems()} - {None}
        models = {m for name in used for m in (name, self.plan.image_encoder(name))}
        for model in sorted(models):
            if self.plan.learned_weights(earlier, model):
                yield from self._shards(
                    f"{later}/since/{earlier}/{model}", self._sides(model), _ENCODED
                )

    def _systems_of(self, kind: str) -> list[str]:
        return [s for s in self._systems if self.params["systems"][s]["kind"] == kind]

    @cached_property
    def _systems(self) -> list[str]:
        """The systems that are searched or fused, and those that give candidates."""
        asked = self.plan.suggest_systems.values() if self.plan.suggested_collections() else ()
        return list(dict.fromkeys([*self.plan.used_systems(), *filter(None, asked)]))

    def index(self) -> list[str]:
        """Return the folders of indexes, those that others go on from included."""
        own = [s for s in self.plan.used_systems() if self.plan.system_kind(s).indexed]
        pairs = [(c, s) for c in self.params["build"] for s in own]
        words = [
            (c, s) for c, m in self._continued if m == "bm25" for s in self._systems_of("bm25")
        ]
        indexes = [p for c, s in [*pairs, *words] for p in self.plan.indexes_of(c, s)]
        asked = [p for c in self.plan.suggested_collections() for p in self._candidate_indexes(c)]
        return list(dict.fromkeys([*indexes, *asked]))

    def _candidate_indexes(self, collection: str) -> list[str]:
        system = self.plan.suggest_systems["bm25"]
        used = self.plan.suggest_index(of_collection(collection))
        return self.plan.indexes_of(collection, system) if used and system else []

    def search(self) -> list[str]:
        """Return all runs, and what systems tell beside them."""
        files = [path for c in self.params["build"] for path in self.searched(c)]
        pairs = [{"earlier": a, "collection": b} for a, b in self.plan.stale_pairs]
        systems = self.plan.stale_systems()
        grid = self.plan.stale_grid("setting", "split", "task")
        return [*files, *(p for pair in pairs for p in expanded(grid, system=systems, **pair))]

    def searched(self, collection: str) -> list[str]:
        """Return the runs on a collection, and what systems tell beside them."""
        plan = self.plan
        used = plan.used_systems()
        files = plan.runs_of(collection, used)
        own = [s for s in used if not plan.system_kind(s).foreign]
        files += expanded(plan.unjudged_grid, collection=collection, system=own)
        if plan.kind_family(collection) == "oven" and "m2t" in plan.tasks:
            cells = {"setting": plan.largest_setting(), "split": plan.unjudged}
            files += expanded(plan.SUBMISSION, collection=collection, system=own, **cells)
        for system in used:
            folder = f"results/search/{collection}"
            if plan.system_kind(system).measures_recall:
                files.append(f"{folder}/recall/{system}.csv")
            if plan.system_kind(system).reads_answers:
                told = ("rejected", "answered")
                files += [f"{folder}/answers/{system}.{name}.parquet" for name in told]
            if "tune" in self.params["systems"][system]:
                files.append(f"{folder}/tuning/{system}.csv")
        return files

    def score(self) -> list[str]:
        """Return scores, significance, and what judging leaves."""
        return [path for c in self.params["build"] for path in self.scored(c)]

    def scored(self, collection: str) -> list[str]:
        """Return the scores of a collection, and what judging leaves."""
        plan, folder = self.plan, f"results/score/{collection}"
        files = [f"{folder}.parquet", f"{folder}.significance.parquet"]
        if collection in plan.judged_collections():
            files += [f"{folder}/{name}" for name in _JUDGED]
        if collection in plan.graded_collections():
            files += [f"{folder}/{name}.parquet" for name in _GRADED]
        if models := plan.model_table(collection):
            files += [*models.values(), *plan.model_grades(of_collection(collection))]
        return files

    def suggest(self) -> list[str]:
        """Return feeds, what they are made from, and what became of them."""
        return [path for c in self.plan.suggested_collections() for path in self.suggested(c)]

    def suggested(self, collection: str) -> list[str]:
        """Return what the phase leaves of a collection."""
        names = ("pictures.parquet", "sections.parquet", "ought.json", "candidates.parquet")
        folder = self.plan.FOLDER.format(collection=collection)
        return [*(f"{folder}/{name}" for name in names), *self.plan.suggest_files(collection)]

    def tabulate(self) -> list[str]:
        """Return tables, figures and pages, the site's own, and the catalog."""
        plan, build = self.plan, self.params["build"]
        files = [path for c in build for path in self.tabulated(c)]
        if plan.verified["checks"]:
            files += [plan.CONFIRMED.format(collection=c) for c in build]
        files += [path for group in plan.groups for path in self._tables(group)]
        files += [path for pair in plan.compared_pairs() for path in self._compared(*pair)]
        records = [path for c in build for path in plan.record_files(c)]
        newest = [f"{plan.NEWEST}/{name}" for name in ("metrics.json", "headline.csv")]
        return list(dict.fromkeys([*files, *records, *newest, plan.FRONT_PAGE, plan.CATALOG]))

    def built(self, collection: str) -> list[str]:
        """Return what is there before a collection is entered in the registry: its own files and
        those of its groups and pairs.
        """
        plan = self.plan
        files = [*self.scored(collection), *self.tabulated(collection)]
        if collection in plan.suggested_collections():
            files += self.suggested(collection)
        groups = [g for g in plan.groups if collection in plan.group_members(g)]
        files += [path for group in groups for path in plan.exhibit_files(group)]
        pairs = [pair for pair in plan.compared_pairs() if collection in pair]
        files += [path for pair in pairs for path in self._compared(*pair)]
        return list(dict.fromkeys(files))

    def tabulated(self, collection: str) -> list[str]:
        """Return a collection's tables, figures and pages, but not its entry in the registry."""
        plan, wildcards = self.plan, of_collection(collection)
        report = f"results/report/{collection}"
        files = [*self._tables(collection), *plan.image_facts(wildcards).values()]
        files += [f"results/tables/{collection}/intervals.parquet"]
        files += [f"{report}/{page}.html" for page in (*plan.report_pages, *plan.FIRST_PAGES)]
        files += plan.verification(wildcards)
        files += [f"{report}/cases", *plan.failure_tables(collection)]
        files += plan.mistake_tables(collection)
        if collection in plan.suggested_collections():
            files.append(f"{report}/suggest.html")
            files += [f"results/{what}/{collection}/suggest" for what in ("tables", "figures")]
        if collection in plan.explained_collections():
            files += [f"results/tables/{collection}/{t}.parquet" for t in _EXPLAINED]
        return list(dict.fromkeys(files))

    def compared_by_others(self, collection: str) -> list[str]:
        """Return what the verification of a collection reads: all but the pages that show it."""
        plan, wildcards = self.plan, of_collection(collection)
        names = [f"results/report/{collection}/{page}.html" for page in plan.report_pages]
        files = [*plan.collection_tables(wildcards).values(), *plan.manifests(wildcards)]
        files += [
            *self.searched(collection),
            *self.scored(collection),
            *plan.report_tables(wildcards),
        ]
        models = {e["model"] for e in plan.used_entries().values() if e["kind"] == "dense"}
        files += [path for model in sorted(models) for path in self._vectors(collection, model)]
        return list(dict.fromkeys([*files, *names]))

    def _tables(self, subject: str) -> list[str]:
        """The exhibits of a collection or group, and the tables of data that they are made of."""
        read = self.plan.exhibit_sources(subject)(of_collection(subject))
        data = [path for path in read if path.startswith("results/tables/")]
        beside = [
            str(PurePosixPath(path).with_name(sibling))
            for path in data
            for sibling in _SIBLINGS.get(PurePosixPath(path).name, ())
        ]
        return [*data, *beside, *self.plan.exhibit_files(subject)]

    def _compared(self, earlier: str, later: str) -> list[str]:
        """What is told of two snapshots."""
        plan, folder = self.plan, f"results/tables/{later}/since/{earlier}"
        shown = expanded(f"{folder}/{{t}}.{{s}}", t=plan.CHANGE_TABLES, s=["csv", "md", "tex"])
        files = [f"{folder}/{name}.parquet" for name in ("changes", "identities")]
        files += [*shown, f"results/report/{later}/since/{earlier}.html"]
        if (earlier, later) in plan.stale_pairs:
            files += [f"{folder}/temporal.{s}" for s in ("csv", "md", "tex", "parquet")]
            files.append(f"results/figures/{later}/since/{earlier}/temporal.svg")
        return files

    def release(self) -> list[str]:
        """Return the releases, which are made on request."""
        return [f"results/release/{collection}" for collection in self.params["build"]]

    def absent(self, output: str) -> list[Path]:
        """Return the files of an output that is one of several files, and that are not there.

        They are those of a folder or of a manifest, by the digests that were written with them, and
        what the params name of an acquired source: what was never written is not gone.
        """
        path = Path(output)
        files = digests.absent(path)
        if path.name != digests.MANIFEST or not path.exists():
            return files
        written = (digests.recorded(Path(name)) for name in self._named_below(path.parent))
        recorded = dict.fromkeys(each for each in written if each)
        return [*files, *(file for each in recorded for file in digests.absent(each))]

    def _named_below(self, folder: PurePath) -> list[str]:
        """What facts, dictionaries and served pictures name below the folder of a source."""
        facts = self.params["tabulate"]["facts"].values()
        names = [path for own in facts for path in own.values()]
        names += [
            e["wordnet"] for e in self.params["tabulate"]["explain"].values() if "wordnet" in e
        ]
        names += [e["serve"] for e in self.params["crawl"].values() if e.get("serve")]
        return [name for name in names if PurePosixPath(name).is_relative_to(folder)]
