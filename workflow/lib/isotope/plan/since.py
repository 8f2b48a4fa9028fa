"""Systems of an earlier collection on a later one."""

from functools import cached_property

from snakemake.io import expand

from isotope.plan.tables import Tables


class Since(Tables):
    """Systems of an earlier collection on a later one."""

    STALE = "results/search/{collection}/since/{earlier}/{setting}/{split}/{task}/{system}.parquet"

    @cached_property
    def temporal_systems(self):
        """The systems of earlier collections that answer the queries of later ones."""
        return self.params["tabulate"]["temporal"]

    @cached_property
    def built_pairs(self):
        """The pairs of collections of which both are built."""
        return [pair for pair in self.compared_pairs() if {*pair} <= {*self.params["build"]}]

    @cached_property
    def stale_pairs(self):
        """The pairs of collections whose earlier systems answer the later queries."""
        return self.built_pairs if self.temporal_systems else []

    @cached_property
    def newest(self):
        """The last of the collections that are built."""
        return self.params["build"][-1]

    def stale_runs(self, wildcards):
        """The runs of systems that were built on the earlier collection, asked for the later
        one.
        """
        grid = expand(
            self.STALE,
            setting=self.settings,
            split=self.splits,
            task=self.tasks,
            system=self.temporal_systems,
            **wildcards,
        )
        return sorted(grid)

    def stale_parts(self, wildcards):
        """The runs that a fusion of such systems reads."""
        of = self.params["systems"][wildcards.system]["of"]
        names = {k: wildcards[k] for k in ("collection", "earlier")}
        return expand(
            self.STALE,
            setting=self.settings,
            split=self.splits,
            task=self.tasks,
            system=of,
            **names,
        )

    def all_stale_runs(self):
        """All runs of systems on the collections that came after theirs."""
        pairs = [{"earlier": a, "collection": b} for a, b in self.stale_pairs]
        return [path for pair in pairs for path in self.stale_runs(pair)]

    def temporal_files(self, collection, pattern):
        """A table or figure for each collection whose systems are asked for this one."""
        return [
            pattern.format(earlier=a, collection=b) for a, b in self.stale_pairs if b == collection
        ]

    def earlier_index(self, wildcards):
        """The indexes of the earlier collection."""
        return self.indexes_of(wildcards.earlier, wildcards.system)

    def stale_sides(self, side, suffix):
        """The vectors of one side: those of the later collection ask, those of the earlier are
        found.
        Both are made with the weights of the earlier one."""

        def of(wildcards):
            asking = {"t2m": "texts", "m2t": "images"}[wildcards.task] == side
            model = self.params["systems"][wildcards.system]["model"]
            model = self.image_encoder(model) if side == "images" else model
            old = (
                f"since/{wildcards.earlier}/"
                if self.learned_weights(wildcards.earlier, model)
                else ""
            )
            asked, found = f"{wildcards.collection}/{old}", f"{wildcards.earlier}/"
            return self.side_shards(f"{asked if asking else found}{model}", side, suffix)

        return of

    def all_earlier_vectors(self):
        """The vectors of later queries by the weights of earlier collections."""
        named = [self.params["systems"][s].get("model") for s in self.stale_systems()]
        sides = {(m, "texts") for m in named if m} | {
            (self.image_encoder(m), "images") for m in named if m
        }
        return [
            path
            for a, b in self.stale_pairs
            for m, side in sorted(sides)
            if self.learned_weights(a, m)
            for path in self.side_shards(f"{b}/since/{a}/{m}", side, "npy")
        ]

    def stale_systems(self):
        """The systems that are asked for later collections, and those that they fuse."""
        parts = [self.params["systems"][s].get("of", []) for s in self.temporal_systems]
        return sorted({*self.temporal_systems, *(p for of in parts for p in of)})

    def survival(self):
        """How many judgements hold in the newest collection, where it is compared with an earlier
        one.
        """
        pattern = "results/tables/{b}/since/{a}/snapshot_survival.csv"
        pairs = [(a, b) for a, b in self.compared_pairs() if b == self.newest]
        return [pattern.format(a=a, b=b) for a, b in pairs[-1:]]
