"""Systems of a run: their params and files, the runs that they leave, and who judges these."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import Any

from isotope.core.grid import document_side
from isotope.judge.ledger import sheet_paths
from isotope.params import resolve
from isotope.params.phases import with_preparation
from isotope.params.sections import SystemKind, model_values, system_kind, with_parts
from isotope.plan.models import Models
from isotope.plan.paths import Wildcards, as_list, expanded


class Systems(Models):
    """Systems of a run: their params and files, the runs that they leave, and who judges these."""

    RUNS = "results/search/{{collection}}/{setting}/{split}/{task}/{{system}}.parquet"
    UNJUDGED_RUNS = (
        "results/search/{{collection}}/unjudged/{setting}/{split}/{task}/{{system}}.parquet"
    )
    PIECE = ".isotope/search/{{collection}}/{{part}}/{setting}/{split}/{task}/{{system}}.parquet"
    UNJUDGED_PIECE = PIECE.replace("{setting}", "unjudged/{setting}")
    SUBMISSION = "results/search/{collection}/submissions/{setting}/{split}/{system}.jsonl"
    ANSWERED = "results/search/{collection}/answers/{system}.answered.parquet"

    @cached_property
    def run_grid(self) -> list[str]:
        """The runs of a rule's system."""
        return [
            *expanded(self.RUNS, setting=self.settings, split=self.splits, task=self.tasks),
            *self.unjudged_grid,
        ]

    @cached_property
    def unjudged_grid(self) -> list[str]:
        """The runs of a rule's system on splits whose judgements are withheld."""
        return expanded(
            self.UNJUDGED_RUNS, setting=self.settings, split=self.unjudged, task=self.tasks
        )

    @cached_property
    def run_pieces(self) -> list[str]:
        """The runs of a rule's system on one slice of the queries."""
        return [
            *expanded(self.PIECE, setting=self.settings, split=self.splits, task=self.tasks),
            *expanded(
                self.UNJUDGED_PIECE, setting=self.settings, split=self.unjudged, task=self.tasks
            ),
        ]

    def system_params(self, wildcards: Wildcards) -> Mapping[str, Any]:
        """The params of a rule's system."""
        return self.params["systems"][wildcards.system]

    def word_params(self, wildcards: Wildcards) -> Mapping[str, Any]:
        """The params of a rule's system of words, with how it prepares those of the collection."""
        return self.system_entry(wildcards.collection, wildcards.system)

    def system_entry(self, collection: str, system: str) -> Mapping[str, Any]:
        """The params of a system on a collection; one of words says how it prepares them."""
        entry = self.params["systems"][system]
        return with_preparation(entry, self.params["collect"][collection])

    def prepared_entries(self, wildcards: Wildcards) -> dict[str, Any]:
        """The params of the experiment's systems on the rule's collection."""
        return {name: self.system_entry(wildcards.collection, name) for name in self.systems}

    def system_kind(self, system: str) -> type[SystemKind]:
        """The class of the kind of a system."""
        return system_kind(self.params["systems"][system])

    @cached_property
    def system_entries(self) -> dict[str, Any]:
        """The params of the experiment's systems, in the order of the tables."""
        return {name: self.params["systems"][name] for name in self.systems}

    def systems_of(self, *kinds: str) -> str:
        """A wildcard constraint: the systems of these kinds."""
        return self.any_of(n for n, s in self.params["systems"].items() if s["kind"] in kinds)

    def systems_that(self, able: Callable[[type[SystemKind]], object]) -> str:
        """A wildcard constraint: the systems whose kind can do something, by its class."""
        entries = self.params["systems"].items()
        return self.any_of(name for name, entry in entries if able(system_kind(entry)))

    def called_systems(self) -> str:
        """A wildcard constraint: the systems whose kind names what answers from the tables."""
        return self.systems_that(lambda kind: kind.call)

    def sliced_systems(self) -> str:
        """A wildcard constraint: the systems whose queries may be shared among jobs."""
        return self.systems_that(lambda kind: kind.is_sliced)

    def system_call(self, wildcards: Wildcards) -> str:
        """What answers for a system from the tables, as `module:function`."""
        return system_kind(self.system_params(wildcards)).call

    def fusions(self, *, tuned: bool) -> str:
        """A wildcard constraint: the fusions whose parameters a split chooses, or the others."""
        fusions = {n: s for n, s in self.params["systems"].items() if system_kind(s).fuses}
        return self.any_of(n for n, s in fusions.items() if ("tune" in s) == tuned)

    def with_parts(self, systems: Sequence[str]) -> list[str]:
        """These systems and those whose runs they read, directly or through others, sorted."""
        return with_parts(self.params["systems"], systems)

    def used_systems(self) -> list[str]:
        """The experiment's systems and those that they fuse."""
        return self.with_parts(self.systems)

    def indexes(self, pattern: str = "data/index/{collection}/{setting}/{system}") -> list[str]:
        """The indexes of every built collection for the used systems that have one."""
        chosen = [s for s in self.used_systems() if self.system_kind(s).indexed]
        return expanded(
            pattern, collection=self.params["build"], setting=self.settings, system=chosen
        )

    # What a rule's system reads.

    def side_tables(self, wildcards: Wildcards) -> list[str]:
        """The texts and the images of a collection."""
        tables = self.collection_tables(wildcards)
        return [tables[side] for side in ("texts", "images")]

    def candidates(self, wildcards: Wildcards) -> str:
        """The table whose items a task ranks."""
        return self.collection_tables(wildcards)[document_side(wildcards.task)]

    def answer_files(self, wildcards: Wildcards) -> list[str]:
        """The files with a system's answers; their names may be patterns."""
        patterns = as_list(self.system_params(wildcards)["files"])
        return self.local_files(*resolve.local_files(patterns))

    def tokenizer_files(self, wildcards: Wildcards) -> list[str]:
        """The vocabulary that a system of answers splits names by, where it is a file."""
        return self.vocabulary(self.system_params(wildcards)["tokenizer"])

    def prompt_weights(self, wildcards: Wildcards) -> list[str]:
        """The learned weights of the model that reads a system's prompts."""
        return self.learned_weights(wildcards.collection, self.system_params(wildcards)["model"])

    def prompt_configs(self, wildcards: Wildcards) -> list[str]:
        """What makes up the model that reads a system's prompts, beside learned weights."""
        return self.configs_of(self.system_params(wildcards)["model"])

    def prompt_model(self, wildcards: Wildcards) -> Mapping[str, Any]:
        """The params of the model that reads a system's prompts."""
        return self.params["models"][self.base_model(self.system_params(wildcards)["model"])]

    def prompt_fields(self, wildcards: Wildcards) -> Sequence[str]:
        """The fields of a text that the model of a system's prompts reads."""
        model = self.params["models"][self.system_params(wildcards)["model"]]
        return model_values(model)["fields"]

    def reranker(self, wildcards: Wildcards) -> Mapping[str, Any]:
        """The params of the model that scores a system's pairs, with their defaults."""
        return model_values(self.params["models"][self.system_params(wildcards)["model"]])

    def reranked_pixels(self, wildcards: Wildcards) -> list[str]:
        """The pictures that a system's reranker sees, if it sees pictures."""
        sees = self.reranker(wildcards)["images"] == "pixels"
        return self.pixels(wildcards) if sees else []

    def rerank_costs(self, wildcards: Wildcards) -> str:
        """The file that says what a job of a reranker has scored."""
        part = f".{wildcards.part}" if wildcards.get("part") else ""
        return f"logs/rerank/{wildcards.collection}.{wildcards.system}{part}.json"

    def foreign_run(self, wildcards: Wildcards) -> str | list[str]:
        """The TREC file behind a run."""
        return self.foreign.get(resolve.Place(**wildcards), [])

    def fused_runs(self, wildcards: Wildcards) -> list[str]:
        """The runs that a fusion, or a reranker, reads."""
        of = self.system_params(wildcards)["of"]
        unjudged = expanded(self.unjudged_grid, collection=wildcards.collection, system=of)
        return self.runs_of(wildcards.collection, of) + unjudged

    # The runs that there are.

    def runs_of(
        self, collection: str, systems: str | Sequence[str], **cell: str | Sequence[str]
    ) -> list[str]:
        """The runs of some systems, or of one, that there are.

        `cell` keeps some cells only: setting, split or task, each one or several. Our own systems
        fill the grid, a foreign one need not.
        """
        within = {"setting": self.settings, "split": self.splits, "task": self.tasks, **cell}
        names = as_list(systems)
        own = [s for s in names if not self.system_kind(s).foreign]
        axes = [as_list(within[key]) for key in ("setting", "split", "task")]
        places = [resolve.Place(collection, *place) for place in product(*axes, names)]
        pattern = self.RUNS.replace("{{", "{").replace("}}", "}")
        return [
            pattern.format(**place._asdict())
            for place in places
            if place.system in own or place in self.foreign
        ]

    def runs(self, wildcards: Wildcards) -> list[str]:
        """Every run on a collection."""
        return self.runs_of(wildcards.collection, self.systems)

    def tuning_grids(self, wildcards: Wildcards) -> list[str]:
        """The grids that the tuned systems were chosen from."""
        tuned = [s for s in self.systems if "tune" in self.params["systems"][s]]
        return expanded("results/search/{c}/tuning/{s}.csv", c=wildcards.collection, s=tuned)

    # Judging the first hits of runs.

    def judging(self, key: str) -> Callable[[Wildcards], Any]:
        """One of the params of judging, which only rules of judging may ask for."""
        return lambda _: self.params["score"]["judge"][key]

    def judged_collections(self) -> list[str]:
        """The built collections whose runs are pooled, where the params ask for it."""
        return self.params["build"] if "judge" in self.params["score"] else []

    def pooled_runs(self, wildcards: Wildcards) -> list[str]:
        """The runs whose first hits people judge."""
        cell = self.params["score"]["judge"]
        every = self.runs(wildcards)
        return [path for path in every if f"/{cell['setting']}/{cell['split']}/" in path]

    def judgement_sheets(self, wildcards: Wildcards) -> list[str]:
        """The sheets that have come back."""
        return sheet_paths(wildcards.collection)

    def graded_sheets(self, wildcards: Wildcards) -> list[str]:
        """The sheets that have come back, and what people say of suggestions."""
        return sheet_paths(wildcards.collection) + sheet_paths(wildcards.collection, "suggestions")

    def graded_collections(self) -> list[str]:
        """The built collections whose sheets have come back."""
        return [c for c in self.judged_collections() if sheet_paths(c)]
