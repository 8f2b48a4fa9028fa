"""A pair of collections: what systems of the earlier find for the later, and what has changed."""

from dataclasses import dataclass

from isotope.params.root import Params
from isotope.plan.collections import Collections
from isotope.plan.paths import Wildcards, expanded
from isotope.plan.sources import Spec
from isotope.plan.systems import Systems

FOLDER = "results/tables/{collection}/since/{earlier}"
CHANGES = ("snapshot_diff", "snapshot_survival")


@dataclass(frozen=True)
class Diff:
    """What is told of two collections, of which one is earlier."""

    params: Params
    collections: Collections
    searched: Systems

    @property
    def systems(self) -> list[str]:
        """The systems of earlier collections that answer the queries of later ones."""
        return self.params.tabulate.temporal

    def later(self, collection: str) -> list[str]:
        """Return the collections that are compared with an earlier one, in the params' order."""
        return [b for a, b in self.collections.pairs if a == collection]

    def earlier(self, collection: str) -> list[str]:
        """Return the built collections that a built one is compared with, in the params' order."""
        built = self.collections.built
        return [a for a, b in self.collections.pairs if b == collection and {a, b} <= {*built}]

    def runs(self, wildcards: Wildcards) -> list[str]:
        """The runs of a pair's `earlier` systems on the queries of its later `collection`."""
        labels = {key: wildcards[key] for key in ("earlier", "collection")}
        return sorted(expanded(self.searched.earlier_runs(), system=self.systems, **labels))

    def tables(self, collection: str) -> list[str]:
        """Return what the systems of earlier collections lose on a later one."""
        figure = FOLDER.replace("/tables/", "/figures/") + "/temporal.svg"
        earlier = self.earlier(collection) if self.systems else []
        patterns = [f"{FOLDER}/temporal.arrow", figure]
        return expanded(patterns, collection=collection, earlier=earlier)

    def survival(self) -> list[str]:
        """The judgements that hold in the newest collection, where an earlier one is compared."""
        newest = self.collections.built[-1]
        earlier = [a for a, b in self.collections.pairs if b == newest][-1:]
        pattern = f"{FOLDER}/snapshot_survival.arrow"
        return expanded(pattern, collection=newest, earlier=earlier)

    @property
    def shown(self) -> Spec:
        """What the table of such systems shows."""
        search, shown = self.params.search, {"measures": self.params.score.measures}
        looks = {"systems": search.systems, "looks": self.searched.looks}
        return {**self.searched.cell, **shown, **looks}
