"""Tables and figures of a collection, and what they read."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from isotope.judge.ledger import sheet_paths
from isotope.params import resolve
from isotope.plan.judges import Judges
from isotope.plan.models import FilesOf
from isotope.plan.paths import Wildcards, expanded
from isotope.tabulate.table import FORMS


class Tables(Judges):
    """Tables and figures of a collection, and what they read."""

    @cached_property
    def groups(self) -> dict[str, dict[str, list[str]]]:
        """Collections whose tables stand side by side, by group."""
        return self.params["tabulate"]["groups"]

    @cached_property
    def approximate_systems(self) -> list[str]:
        """The systems that search an approximate index."""
        return [s for s in self.systems if self.system_kind(s).measures_recall]

    @cached_property
    def answer_systems(self) -> list[str]:
        """The systems whose answers come as files."""
        return [s for s in self.systems if self.system_kind(s).reads_answers]

    @cached_property
    def caption_exhibits(self) -> list[str]:
        """The table of captions, where the params ask for it."""
        return ["captions"] if self.params["tabulate"]["captions"] else []

    @cached_property
    def caption_models(self) -> dict[str, dict[str, Any]]:
        """The models whose captions are scored, by name."""
        return self.params["tabulate"]["captioners"]

    @cached_property
    def side_by_side(self) -> dict[str, list[str]]:
        """People's choices between captions, by source."""
        return self.params["tabulate"]["side_by_side"]

    def curves(self, wildcards: Wildcards) -> list[str]:
        """The learning curves behind a collection's report."""
        folder = f"data/train/{wildcards.collection}"
        trained = self.learning_here(wildcards.collection, self.trained_models())
        accuracies = expanded("{f}/{m}/accuracies.csv", f=folder, m=self.fine_tuned_models())
        return expanded("{f}/{m}/curve.csv", f=folder, m=trained) + accuracies

    def accounts(self, collection: str) -> dict[str, str]:
        """Return what became of a collection's source, by relation.

        They are its crawl's ledger, or that of the pictures that came along with it; its
        projection, and the pictures of its snapshot's wikitext. A union has none: its members have
        them.
        """
        entry = self.params["collect"][collection]
        if "of" in entry:
            return {}
        source = self.source_of(collection)
        own: dict[str, str] = {}
        if source in self.params["crawl"]:
            came_along = "pictures" in self.params["crawl"][source]
            name = "picture_ledger" if came_along else "ledger"
            own[name] = f"data/crawl/{source}/ledger.parquet"
        if self.params["parse"].get(source, {}).get("associations", "wit") != "wit":
            own["pictures"] = f"data/parse/{source}/pictures.parquet"
        if self.is_snapshot(collection) or self.knowledge_of(collection):
            own["projection"] = f"data/project/{source}/projection.parquet"
        return own

    def kind_family(self, collection: str) -> str:
        """The kind of a collection, or what stands before its hyphen: kinds with the same
        statistics.
        """
        return self.params["collect"][collection]["kind"].partition("-")[0]

    def facts(self, wildcards: Wildcards) -> dict[str, str]:
        """The files of facts about a collection, of others or by a model, by name."""
        facts: dict[str, str] = self.params["tabulate"]["facts"].get(wildcards.collection, {})
        unused = ["views"] if self.params["tabulate"]["popularity"] == "inlinks" else []
        # The views of OVEN's entities are monthly ones, and have thresholds in place of deciles.
        is_oven = self.kind_family(wildcards.collection) == "oven"
        names = {"views": "monthly_views"} if is_oven else {}
        listed = {names.get(t, t): path for t, path in facts.items() if t not in unused}
        return {**self.own_facts(wildcards), **listed}

    def own_facts(self, wildcards: Wildcards) -> dict[str, str]:
        """The facts of a collection that rules of ours make."""
        return {**self.image_facts(wildcards), **self.inlinks_of(wildcards.collection)}

    def inlinks_of(self, collection: str) -> dict[str, str]:
        """The links to a collection's pages, where they measure popularity."""
        measure = self.params["tabulate"]["popularity"]
        facts = self.params["tabulate"]["facts"].get(collection, {})
        counts = measure == "inlinks" or (measure == "auto" and "views" not in facts)
        if not counts or not self.is_snapshot(collection):
            return {}
        return {"inlinks": f"data/parse/{self.source_of(collection)}/inlinks.parquet"}

    def image_facts(self, wildcards: Wildcards) -> dict[str, str]:
        """The tables of styles and objects in images, where the params name a model."""
        tables = {"styles": "styles", "detector": "objects"}
        own = [t for key, t in tables.items() if key in self.params["tabulate"]]
        return {t: f"results/tables/{wildcards.collection}/{t}.parquet" for t in own}

    @property
    def resampling(self) -> dict[str, float]:
        """How often, from which seed and to which level queries are resampled."""
        return dict(self.params["tabulate"]["bootstrap"])

    def vocabularies(self) -> list[str]:
        """Return the vocabularies of the tokenizers that are files."""
        return [
            p for t in self.params["tabulate"]["tokenizers"].values() for p in self.vocabulary(t)
        ]

    @property
    def styles(self) -> dict[str, Any]:
        """The model that classifies styles, its classes and prompts; empty ones where none does."""
        return self.params["tabulate"].get("styles", {"model": "", "classes": [], "prompts": []})

    @property
    def detector(self) -> dict[str, Any]:
        """The model that detects objects; nothing where none does."""
        return self.params["tabulate"].get("detector", {})

    @property
    def mistakes(self) -> dict[str, Any]:
        """How answers are drawn for people to sort; without classes where none are."""
        return self.params["tabulate"].get("mistakes", {"classes": []})

    def detector_files(self, wildcards: Wildcards) -> list[str]:
        """Return the files of the model that detects objects."""
        named = self.detector.get("name")
        return self.local_files(named) if named else []

    def style_model(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return the params of the model that classifies styles."""
        return self.params["models"].get(self.styles["model"], {})

    def style_configs(self, wildcards: Wildcards) -> list[str]:
        """Return the architecture and the weights on this disk of the model of styles."""
        return self.configs_of(self.params["tabulate"]["styles"]["model"])

    def style_code(self, wildcards: Wildcards) -> list[str]:
        """The files that the kind of the model that classifies styles depends on."""
        model = self.styles["model"]
        return self.code(*(self.code_of(model) if model else []))

    def style_inputs(self, what: str) -> FilesOf:
        """The shards of images, or the trained weights, of the model that classifies styles."""

        def of(wildcards: Wildcards) -> list[str]:
            model = self.base_model(self.params["tabulate"]["styles"]["model"])
            if what == "weights":
                return self.learned_weights(wildcards.collection, model)
            return self.side_shards(f"{wildcards.collection}/{model}", "images", what)

        return of

    def manifests(self, wildcards: Wildcards) -> list[str]:
        """The manifests of a collection's sources."""
        acquired = [s for s in self.sources_of(wildcards.collection) if s in self.params["acquire"]]
        return [f"data/acquire/{source}/manifest.json" for source in acquired]

    def fact_sources(self, wildcards: Wildcards) -> list[str]:
        """What a collection's facts rest on: the manifest, as they may be acquired, and
        themselves.
        """
        return [*self.manifests(wildcards), *self.fact_files(wildcards, *self.facts(wildcards))]

    def fact_files(self, wildcards: Wildcards, *names: str) -> list[str]:
        """Some facts of a collection as inputs: those that rules of ours make, or files of
        others.
        """
        own, ruled = self.facts(wildcards), self.own_facts(wildcards)
        groups = [
            [own[t]] if ruled.get(t) == own[t] else self.local_files(own[t])
            for t in names
            if t in own
        ]
        cites = self.manifests(wildcards)
        return [p for p in dict.fromkeys(p for paths in groups for p in paths) if p not in cites]

    def largest_setting(self) -> str:
        """The setting with the largest pool."""
        return next(s for s in ("large", "base", "small") if s in self.settings)

    @cached_property
    def independent_systems(self) -> list[str]:
        """The systems that judge one document at a time."""
        return [s for s in self.systems if self.system_kind(s).is_pointwise]

    def promotion_runs(self, wildcards: Wildcards) -> list[str]:
        """Return the runs of all systems whose queries are images."""
        task = [t for t in self.tasks if t == "m2t"]
        return self.runs_of(wildcards.collection, self.systems, task=task)

    def top_runs(self, wildcards: Wildcards) -> list[str]:
        """The runs of all systems on the largest pool."""
        return self.first_runs(wildcards.collection, self.systems)

    def first_runs(
        self, collection: str, systems: str | Sequence[str], **cell: str | Sequence[str]
    ) -> list[str]:
        """The runs on the largest pool, for the first split, by those systems that were run
        there.
        """
        return self.runs_of(
            collection, systems, setting=self.largest_setting(), split=self.splits[0], **cell
        )

    def cross_scores(self, wildcards: Wildcards) -> list[str]:
        """The scores on a collection and on the one that it is held against."""
        both = [wildcards.collection, self.cross_params(wildcards)["collection"]]
        return [f"results/score/{c}.parquet" for c in dict.fromkeys(both)]

    def cross_params(self, wildcards: Wildcards) -> dict[str, Any]:
        """What a collection is held against, and in which measures, setting and splits."""
        return self.params["tabulate"]["against"][wildcards.collection]

    def group_members(self, group: str) -> list[str]:
        """The collections of a group, in the order of the params; a collection is its own."""
        of = self.groups.get(group, {"": [group]}).values()
        return list(dict.fromkeys(c for part in of for c in part))

    def group_tables(self, group: str) -> list[str]:
        """The tables that hold the collections of a group side by side."""
        names = ["group", *self.caption_exhibits, *self.caption_tables(group)]
        return [f"results/tables/{group}/{name}.md" for name in names]

    def caption_sources(self, collection: str) -> dict[str, list[str]]:
        """The files of each model that captions the pictures of a collection's source."""
        source = self.params["collect"][collection].get("source")
        own = {
            name: entry["files"]
            for name, entry in self.caption_models.items()
            if entry["source"] == source
        }
        return {name: resolve.local_files(files) for name, files in own.items()}

    def caption_files(self, collection: str) -> list[str]:
        """All files of captions by models on a collection's pictures."""
        return [path for files in self.caption_sources(collection).values() for path in files]

    def choice_files(self, collection: str) -> list[str]:
        """Return the files of people's choices between captions of a collection's source."""
        return resolve.local_files(self.side_by_side[self.source_of(collection)])

    def languages_of(self, collection: str) -> list[str]:
        """The languages of the collections of one source, that of the collection first."""
        own = self.params["collect"][collection]
        same = [c for c in self.params["collect"].values() if c.get("source") == own.get("source")]
        return list(dict.fromkeys(entry["language"] for entry in (own, *same)))

    def has_captioners(self, collection: str) -> bool:
        """Whether models caption the pictures of a collection's source."""
        source = self.params["collect"][collection].get("source")
        return source in {entry["source"] for entry in self.caption_models.values()}

    def caption_tables(self, group: str) -> list[str]:
        """The tables of captions by models that a group, or a collection, has."""
        own = [c for c in self.group_members(group) if self.has_captioners(c)]
        chosen = [c for c in own if self.source_of(c) in self.side_by_side]
        both = ["side_by_side", "correlation"] if chosen else []
        return (["captioners"] if own else []) + both

    def member_tables(self, group: str, table: str) -> list[str]:
        """A table of captions by models, of those collections of a group that have it."""
        own = [c for c in self.group_members(group) if table in self.caption_tables(c)]
        return [f"results/tables/{c}/{table}.parquet" for c in own]

    def group_languages(self, group: str) -> list[list[str]]:
        """The languages of each part of a group."""
        return [
            [self.params["collect"][c]["language"] for c in of]
            for of in self.groups.get(group, {}).values()
        ]

    def uses_both_associations(self, collection: str) -> bool:
        """Whether a collection's associations come from WIT and from its snapshot."""
        source = self.params["collect"][collection].get("source")
        return self.params["parse"].get(source, {}).get("associations") == "both"

    def comparison_tables(self, collection: str) -> list[str]:
        """The tables of a collection that are compared with those of another snapshot."""
        return expanded(
            "data/collect/{c}/{t}.parquet", c=collection, t=["texts", "images", "qrels"]
        )

    def mistake_runs(self, collection: str) -> list[str]:
        """The runs whose first answers people sort: those of a subset may be in any split."""
        splits = self.splits if "subset" in self.params["tabulate"]["mistakes"] else self.splits[:1]
        return self.runs_of(
            collection, self.systems, setting=self.largest_setting(), split=splits, task="m2t"
        )

    def mistake_sheets(self, collection: str) -> list[str]:
        """Return the sheets of sorted answers that have come back."""
        return sheet_paths(collection, "mistakes")

    def sorted_mistakes(self, collection: str) -> list[str]:
        """The table of a collection's answers that people have sorted, once a sheet has come
        back.
        """
        back = "mistakes" in self.params["tabulate"] and sheet_paths(collection, "mistakes")
        pattern = f"results/tables/{collection}/mistakes_sorted.{{s}}"
        return expanded(pattern, s=FORMS) if back else []

    def mistake_tables(self, collection: str) -> list[str]:
        """A collection's sheet of answers, where the params have one, and the table of those
        sorted.
        """
        if "mistakes" not in self.params["tabulate"]:
            return []
        sheets = [f"results/tables/{collection}/mistakes.{s}" for s in ("parquet", "csv")]
        return [*sheets, *self.sorted_mistakes(collection)]
