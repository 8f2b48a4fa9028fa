"""Systems of an earlier collection that answer the queries of a later one."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from isotope.core.grid import query_side
from isotope.plan.paths import Wildcards, expanded
from isotope.plan.tables import Tables


class Since(Tables):
    """Systems of an earlier collection that answer the queries of a later one."""

    CHANGE_TABLES = ("snapshot_diff", "snapshot_survival")
    STALE = "results/search/{collection}/since/{earlier}/{setting}/{split}/{task}/{system}.parquet"

    # Which collections and systems.

    @cached_property
    def temporal_systems(self) -> list[str]:
        """The systems of earlier collections that answer the queries of later ones."""
        return self.params["tabulate"]["temporal"]

    def stale_systems(self) -> list[str]:
        """The systems that answer the queries of later collections, and those that they fuse."""
        return self.with_parts(self.temporal_systems)

    @cached_property
    def built_pairs(self) -> list[tuple[str, str]]:
        """The pairs of collections, earlier and later, of which both are built."""
        built = {*self.params["build"]}
        return [(a, b) for a, b in self.compared_pairs() if {a, b} <= built]

    @cached_property
    def stale_pairs(self) -> list[tuple[str, str]]:
        """The pairs of collections whose earlier systems answer the later queries."""
        return self.built_pairs if self.temporal_systems else []

    @cached_property
    def newest(self) -> str:
        """The last of the collections that are built."""
        return self.params["build"][-1]

    # Runs.

    def stale_grid(self, *axes: str) -> list[str]:
        """The runs of a rule's system over these axes of the grid; other wildcards stay."""
        grid = {"setting": self.settings, "split": self.splits, "task": self.tasks}
        return expanded(self.STALE, **{key: grid[key] for key in axes})

    def stale_runs(self, pair: Mapping[str, str]) -> list[str]:
        """The runs of a pair's `earlier` systems on the queries of its later `collection`."""
        runs = expanded(
            self.stale_grid("setting", "split", "task"), system=self.temporal_systems, **pair
        )
        return sorted(runs)

    def stale_parts(self, wildcards: Wildcards) -> list[str]:
        """The runs that a fusion of such systems reads."""
        return expanded(
            self.stale_grid("setting", "split", "task"),
            system=self.system_params(wildcards)["of"],
            collection=wildcards.collection,
            earlier=wildcards.earlier,
        )

    def all_stale_runs(self) -> list[str]:
        """All runs of systems on the collections that came after theirs."""
        pairs = [{"earlier": a, "collection": b} for a, b in self.stale_pairs]
        return [path for pair in pairs for path in self.stale_runs(pair)]

    # What these systems read.

    def earlier_index(self, wildcards: Wildcards) -> list[str]:
        """The indexes of the earlier collection."""
        return self.indexes_of(wildcards.earlier, wildcards.system)

    def stale_sides(self, side: str, suffix: str) -> Callable[[Wildcards], list[str]]:
        """The vectors of one side: of the later collection where it asks, else of the earlier.

        Both are made with the weights of the earlier collection.
        """

        def of(wildcards: Wildcards) -> list[str]:
            model = self.params["systems"][wildcards.system]["model"]
            model = self.image_encoder(model) if side == "images" else model
            if query_side(wildcards.task) != side:
                return self.side_shards(f"{wildcards.earlier}/{model}", side, suffix)
            learned = self.learned_weights(wildcards.earlier, model)
            stale = f"since/{wildcards.earlier}/" if learned else ""
            return self.side_shards(f"{wildcards.collection}/{stale}{model}", side, suffix)

        return of

    def all_earlier_vectors(self) -> list[str]:
        """The vectors of later queries by the weights of earlier collections."""
        used = [self.params["systems"][s].get("model") for s in self.stale_systems()]
        sides = {(m, "texts") for m in used if m}
        sides |= {(self.image_encoder(m), "images") for m in used if m}
        return [
            path
            for a, b in self.stale_pairs
            for m, side in sorted(sides)
            if self.learned_weights(a, m)
            for path in self.side_shards(f"{b}/since/{a}/{m}", side, "npy")
        ]

    # Tables of what has changed.

    def temporal_files(self, collection: str, pattern: str) -> list[str]:
        """A table or figure for each collection whose systems answer this one's queries."""
        return [
            pattern.format(earlier=a, collection=b) for a, b in self.stale_pairs if b == collection
        ]

    def survival(self) -> list[str]:
        """How many judgements hold in the newest collection, where an earlier one is compared."""
        pattern = "results/tables/{b}/since/{a}/snapshot_survival.arrow"
        pairs = [(a, b) for a, b in self.compared_pairs() if b == self.newest]
        return [pattern.format(a=a, b=b) for a, b in pairs[-1:]]

    def temporal_params(self) -> dict[str, Any]:
        """Return what the table of stale systems shows."""
        own = {"setting": self.settings[0], "split": self.splits[0], "systems": self.systems}
        return {"measures": self.params["score"]["measures"], "looks": self.looks, **own}
