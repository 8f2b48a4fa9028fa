"""Systems of a run: their params and files, and the runs that they leave.

A system of an earlier collection may answer the queries of a later one: its rules have a wildcard
`earlier`, and read what is that collection's.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from isotope.core.grid import document_side, query_side
from isotope.params import resolve
from isotope.params.phases import Search
from isotope.params.resolve import ExternalRun
from isotope.params.root import Params
from isotope.params.sections import SystemKind, with_parts
from isotope.plan.collections import Collections, collected
from isotope.plan.models import Model, Models
from isotope.plan.paths import Wildcards, any_of, as_list, expanded, unique
from isotope.plan.sources import Spec

RUN = "results/search/{collection}/{setting}/{split}/{task}/{system}.parquet"
INDEX = "data/index/{collection}/{setting}/{system}"
ANSWERED = "results/search/{collection}/answers/{system}.answered.parquet"
FilesOf = Callable[[Wildcards], list[str]]


def only(systems: str, patterns: Iterable[str]) -> list[str]:
    """Return patterns of files of those systems alone that a constraint lets be."""
    return [pattern.replace("{system}", f"{{system,{systems}}}") for pattern in patterns]


@dataclass(frozen=True)
class Systems:
    """The systems of the params, those that are searched, and their runs."""

    params: Params
    collections: Collections
    models: Models
    # Runs of others below `runs/`, by place.
    below_runs: Mapping[Any, str]

    # Which systems, and on what.

    @cached_property
    def external(self) -> Mapping[Any, str]:
        """The runs of others by their place: those below `runs/`, and those that params name."""
        published = resolve.published_runs(self.params).items()
        return {**self.below_runs, **{key: str(file) for key, file in published}}

    @property
    def search(self) -> Search:
        """Which systems are searched, and in which cells; the first cell is for the report."""
        return self.params.search

    @property
    def axes(self) -> dict[str, Sequence[str]]:
        """The grid: every setting, split and task."""
        search = self.params.search
        return {"setting": search.settings, "split": search.splits, "task": search.tasks}

    @property
    def used(self) -> list[str]:
        """The experiment's systems and those that they fuse, directly or through others."""
        return with_parts(self.params.systems, self.search.systems)

    @property
    def ranked_here(self) -> list[str]:
        """Those of them that rank here; the runs of others are read from files."""
        return [name for name in self.used if not self[name].external]

    @property
    def largest(self) -> str:
        """The setting with the largest pool."""
        return next(s for s in ("large", "base", "small") if s in self.search.settings)

    @property
    def unjudged(self) -> list[str]:
        """Splits whose judgements are withheld."""
        return [*(self.search.unjudged or [])]

    @property
    def pooled_splits(self) -> list[str]:
        """The splits with pools of their own: the judged ones, then those for fusions."""
        return unique(self.search.splits, self.unjudged)

    @property
    def cell(self) -> dict[str, str]:
        """The setting and the split that the report is about."""
        return {"setting": self.search.settings[0], "split": self.search.splits[0]}

    @property
    def looks(self) -> dict[str, int]:
        """The number of each system's look: its place in `systems`, which other runs share."""
        places = [*self.params.systems]
        return {system: places.index(system) for system in self.search.systems}

    def __getitem__(self, name: str) -> SystemKind:
        """Return the params of a system."""
        return self.params.systems[name]

    def model(self, name: str) -> Model:
        """Return the model of a system that has one."""
        return self.models[getattr(self[name], "model", "")]

    def parts_of(self, name: str) -> list[str]:
        """Return the systems whose runs a system reads."""
        return as_list(getattr(self[name], "of", []))

    def composed(self, name: str) -> SystemKind | None:
        """Return the params of a system that is made of a model or of others' runs."""
        is_made = self.parts_of(name) or getattr(self[name], "model", None)
        return self[name] if is_made else None

    def on(self, name: str, collection: str) -> SystemKind:
        """Return the params of a system on a collection; one of words says how it prepares them."""
        return self[name].on(self.params.collect[collection].prepare)

    def spec(self, wildcards: Wildcards) -> Spec:
        """The params of a rule's system on its collection, as they are handed over."""
        return self.on(wildcards.system, wildcards.collection).spec()

    def words(self, *names: str) -> dict[str, Callable[[Wildcards], Any]]:
        """Return what is read of the words of a rule's collection, or some of it, by name."""
        by_name: dict[str, Callable[[Wildcards], Any]] = {
            "language": lambda w: self.collections[w.collection].captions,
            "texts_language": lambda w: self.collections[w.collection].entry.language,
            **self.params_by_key("fields", "prepare", "engine"),
        }
        return {name: by_name[name] for name in names or by_name}

    def params_by_key(self, *keys: str) -> dict[str, Callable[[Wildcards], Any]]:
        """Return some params of a rule's system on its collection, by key."""
        return {key: lambda w, k=key: getattr(self.on(w.system, w.collection), k) for key in keys}

    def who(self, able: str) -> list[str]:
        """Return those of the searched systems that can do something, by its name in their class.

        Of what a kind lacks, such as `tune`, its systems have nothing.
        """
        return [name for name in self.search.systems if getattr(self[name], able, None)]

    def that(self, able: Callable[[SystemKind], object]) -> str:
        """Return a wildcard constraint: those of all systems that can do something."""
        return any_of(name for name in self.params.systems if able(self[name]))

    def of_kind(self, *kinds: str) -> str:
        """Return a wildcard constraint: the systems of these kinds."""
        return any_of(n for n, entry in self.params.systems.items() if entry.kind_name() in kinds)

    def models_of(self, names: Sequence[str]) -> list[str]:
        """Return the models of some systems, sorted."""
        models = {getattr(self[name], "model", None) for name in names}
        return sorted(name for name in models if name)

    @property
    def trained(self) -> list[str]:
        """The trained models that the systems use, with a learning curve."""
        bases = {self.models[name].base.name for name in self.models_of(self.used)}
        return sorted(name for name in bases if self.models[name].kind.learned)

    # Runs.

    @property
    def grid(self) -> list[str]:
        """The runs of a rule's system, those without judgements last."""
        return [*expanded(RUN, **self.axes), *self.unjudged_grid]

    @property
    def unjudged_grid(self) -> list[str]:
        """The runs of a rule's system on splits whose judgements are withheld."""
        return expanded(_below("unjudged"), **{**self.axes, "split": self.unjudged})

    def earlier_runs(self, *axes: str) -> list[str]:
        """Return the runs of an earlier system over these axes of the grid; other ones stay."""
        values = {axis: self.axes[axis] for axis in axes or self.axes}
        return expanded(_below("since/{earlier}"), **values)

    def runs(
        self, collection: str, systems: str | Sequence[str], **cell: str | Sequence[str]
    ) -> list[str]:
        """Return the runs of some systems, or of one, that there are.

        `cell` keeps some cells only: setting, split or task, each one or several. Our own systems
        fill the grid, an external one need not.
        """
        axes = [
            [v for v in values if v in as_list(cell.get(axis, values))]
            for axis, values in self.axes.items()
        ]
        places = (
            ExternalRun(collection, *axes_values)
            for axes_values in product(*axes, as_list(systems))
        )
        return [
            RUN.format(**axes_values._asdict())
            for axes_values in places
            if axes_values in self.external or not self[axes_values.system].external
        ]

    def first_runs(self, collection: str, systems: str | Sequence[str]) -> list[str]:
        """Return the runs on the largest pool, for the first split, that there are."""
        return self.runs(collection, systems, setting=self.largest, split=self.search.splits[0])

    def parts(self, wildcards: Wildcards) -> list[str]:
        """The runs that a fusion, or a reranker, reads."""
        names, collection = self.parts_of(wildcards.system), wildcards.collection
        labels = {"collection": collection, "system": names}
        if earlier := wildcards.get("earlier"):
            return expanded(self.earlier_runs(), **labels, earlier=earlier)
        return self.runs(collection, names) + expanded(self.unjudged_grid, **labels)

    def external_run(self, wildcards: Wildcards) -> str | list[str]:
        """The TREC file behind a run."""
        return self.external.get(ExternalRun(**wildcards), [])

    # What else a rule's system reads.

    @property
    def index(self) -> list[str]:
        """The indexes of a rule's system."""
        return expanded(INDEX, setting=self.search.settings)

    def indexes(self, wildcards: Wildcards) -> list[str]:
        """The indexes that a rule's system searches."""
        collection = wildcards.get("earlier", wildcards.collection)
        return expanded(self.index, collection=collection, system=wildcards.system)

    def earlier_indexes(self, wildcards: Wildcards) -> list[str]:
        """The indexes of the collection that encoding goes on from, if from any."""
        earlier = self.params.encode.after.get(wildcards.collection, [])
        return expanded(self.index, collection=earlier, system=wildcards.system)

    def vectors(self, side: str, suffix: str = "npy") -> FilesOf:
        """Return the function of the encoded shards of one side by the model of a rule's system.

        Those of an earlier system are of the later collection where that asks, else of the earlier;
        both by the weights of the earlier one.
        """

        def files(w: Wildcards) -> list[str]:
            model, earlier = self.model(w.system), w.get("earlier")
            if earlier and query_side(w.task) != side:
                return model.vectors(earlier, side, suffix)
            return model.vectors(w.collection, side, suffix, learned_on=earlier or "")

        return files

    def encoded(self, names: Mapping[str, str]) -> dict[str, FilesOf]:
        """Return inputs, the shards of both sides, by their names and by what their files end in.

        `{"{side}_ids": "ids.parquet"}` is `text_ids` and `image_ids`.
        """
        return {
            name.format(side=side): self.vectors(f"{side}s", suffix)
            for name, suffix in names.items()
            for side in ("text", "image")
        }

    def searched(self, names: Mapping[str, str]) -> dict[str, Any]:
        """Return what a search over `encoded` shards reads."""
        judged, after = collected("qrels"), [*collected("texts", "images").values()]
        return {**judged, "after": after, "indexes": self.indexes, **self.encoded(names)}

    def reranked_pixels(self, wildcards: Wildcards) -> list[str]:
        """The pictures that a system's reranker sees, if it sees pictures."""
        sees = self.model(wildcards.system).key("images") == "pixels"
        return self.collections[wildcards.collection].pixels if sees else []

    def rerank_costs(self, wildcards: Wildcards) -> str:
        """The file that says what a job of a reranker has scored."""
        names = (wildcards.get(name) for name in ("collection", "system", "part"))
        return f"logs/rerank/{'.'.join(filter(None, names))}.json"

    def answers(self, wildcards: Wildcards) -> list[str]:
        """The files with a system's answers; their names may be patterns."""
        names = resolve.local_files(as_list(getattr(self[wildcards.system], "files", [])))
        return self.models.paths.local_files(*names)

    def vocabulary(self, wildcards: Wildcards) -> list[str]:
        """The vocabulary that a system of answers splits names by, where it is a file."""
        tokenizer = getattr(self[wildcards.system], "tokenizer", "")
        return self.models.paths.local_files(tokenizer, folders=False)

    def candidates(self, wildcards: Wildcards) -> str:
        """The table whose items a task ranks."""
        return self.collections[wildcards.collection].tables[document_side(wildcards.task)]


def _below(folder: str) -> str:
    return RUN.replace("{setting}", f"{folder}/{{setting}}")
