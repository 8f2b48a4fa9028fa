"""Systems of an earlier collection that answer the queries of a later one, and what has changed."""

from collections.abc import Sequence
from dataclasses import dataclass

from isotope.core.grid import query_side
from isotope.params.root import Params
from isotope.plan.collections import Collections
from isotope.plan.paths import Wildcards, expanded
from isotope.plan.sources import Spec
from isotope.plan.systems import RUN, FilesOf, Systems

FOLDER = "results/tables/{collection}/since/{earlier}"
CHANGES = ("snapshot_diff", "snapshot_survival")


@dataclass(frozen=True)
class Since:
    """What is told of two collections, of which one is earlier."""

    params: Params
    collections: Collections
    searched: Systems

    @property
    def systems(self) -> list[str]:
        """The systems of earlier collections that answer the queries of later ones."""
        return self.params.tabulate.temporal

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of collections whose earlier systems answer the later queries."""
        built = {*self.collections.built}
        pairs = [(a, b) for a, b in self.collections.pairs if {a, b} <= built]
        return pairs if self.systems else []

    def later(self, collection: str) -> list[str]:
        """Return the collections that are compared with an earlier one, in the params' order."""
        return [b for a, b in self.collections.pairs if a == collection]

    # What such systems read and leave.

    def grid(self, *axes: str) -> list[str]:
        """Return the runs of a rule's system over these axes of the grid; other wildcards stay."""
        search = self.params.search
        grid = {"setting": search.settings, "split": search.splits, "task": search.tasks}
        pattern = RUN.replace("{setting}", "since/{earlier}/{setting}")
        return expanded(pattern, **{key: grid[key] for key in axes})

    def runs(self, pair: Wildcards) -> list[str]:
        """The runs of a pair's `earlier` systems on the queries of its later `collection`."""
        return sorted(self._runs(pair, self.systems))

    def parts(self, wildcards: Wildcards) -> list[str]:
        """The runs that a fusion of such systems reads."""
        return self._runs(wildcards, self.searched.parts_of(wildcards.system))

    def _runs(self, pair: Wildcards, systems: Sequence[str]) -> list[str]:
        of = {key: pair[key] for key in ("earlier", "collection")}
        return expanded(self.grid("setting", "split", "task"), system=systems, **of)

    def vectors(self, side: str, suffix: str = "npy") -> FilesOf:
        """Return the function of the vectors of one side: of the later collection where it asks,
        else of the earlier; both by the weights of the earlier one.
        """

        def files(wildcards: Wildcards) -> list[str]:
            earlier, model = wildcards.earlier, self.searched.model(wildcards.system)
            if query_side(wildcards.task) != side:
                return model.vectors(earlier, side, suffix)
            return model.vectors(wildcards.collection, side, suffix, learned_on=earlier)

        return files

    # Tables of what has changed.

    def tables(self, collection: str) -> list[str]:
        """Return what the systems of earlier collections lose on a later one."""
        figure = FOLDER.replace("/tables/", "/figures/") + "/temporal.svg"
        patterns = [f"{FOLDER}/temporal.arrow", figure]
        earlier = [a for a, b in self.pairs if b == collection]
        return [p.format(earlier=a, collection=collection) for p in patterns for a in earlier]

    def survival(self) -> list[str]:
        """The judgements that hold in the newest collection, where an earlier one is compared."""
        newest = self.collections.built[-1]
        earlier = [a for a, b in self.collections.pairs if b == newest]
        pattern = f"{FOLDER}/snapshot_survival.arrow"
        return [pattern.format(earlier=a, collection=newest) for a in earlier[-1:]]

    @property
    def shown(self) -> Spec:
        """What the table of such systems shows."""
        search, shown = self.params.search, {"measures": self.params.score.measures}
        looks = {"systems": search.systems, "looks": self.searched.looks}
        return {**self.searched.cell, **shown, **looks}
