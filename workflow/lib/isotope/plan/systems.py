"""Systems of a run and the runs that they leave."""

from functools import cached_property
from itertools import product

from snakemake.io import expand

from isotope.judge import sheets as judge
from isotope.params import foreign
from isotope.plan.models import Models
from isotope.plan.paths import as_list


class Systems(Models):
    """Systems of a run and the runs that they leave."""

    RUNS = "results/search/{{collection}}/{setting}/{split}/{task}/{{system}}.parquet"
    UNJUDGED_RUNS = (
        "results/search/{{collection}}/unjudged/{setting}/{split}/{task}/{{system}}.parquet"
    )
    PIECE = ".isotope/search/{{collection}}/{{part}}/{setting}/{split}/{task}/{{system}}.parquet"
    UNJUDGED_PIECE = PIECE.replace("{setting}", "unjudged/{setting}")
    ANSWERED = "results/search/{collection}/answers/{system}.answered.parquet"
    INDEXED = ("bm25", "dense", "approximate", "answers")

    @cached_property
    def run_grid(self):
        """The runs of a rule's system."""
        return [
            *expand(self.RUNS, setting=self.settings, split=self.splits, task=self.tasks),
            *expand(
                self.UNJUDGED_RUNS, setting=self.settings, split=self.unjudged, task=self.tasks
            ),
        ]

    @cached_property
    def run_pieces(self):
        """The runs of a rule's system on one slice of the queries."""
        return [
            *expand(self.PIECE, setting=self.settings, split=self.splits, task=self.tasks),
            *expand(
                self.UNJUDGED_PIECE, setting=self.settings, split=self.unjudged, task=self.tasks
            ),
        ]

    def system_params(self, wildcards):
        """The params of a system."""
        return self.params["systems"][wildcards.system]

    def systems_of(self, *kinds):
        """A wildcard constraint: the systems of these kinds."""
        return self.any_of(n for n, s in self.params["systems"].items() if s["kind"] in kinds)

    def fusions(self, *, tuned):
        """A wildcard constraint: the fusions whose parameters a split chooses, or the others."""
        kinds = {n: s for n, s in self.params["systems"].items() if s["kind"] in ("rrf", "wsum")}
        return self.any_of(n for n, s in kinds.items() if ("tune" in s) == tuned)

    def used_systems(self):
        """The experiment's systems and those that they fuse."""
        parts = [self.params["systems"][s].get("of", []) for s in self.systems]
        return sorted({*self.systems, *(p for of in parts for p in of)})

    def by_kind(self, pattern, *kinds):
        """The pattern for every built collection and every used system of these kinds."""
        chosen = [s for s in self.used_systems() if self.params["systems"][s]["kind"] in kinds]
        return expand(
            pattern, collection=self.params["build"], setting=self.settings, system=chosen
        )

    def runs_of(self, collection, systems, **cell):
        """The runs of some systems, or of one, that there are; of some cells only: setting, split
        or
        task, each one or several. Our own systems fill the grid, a foreign one need not."""
        within = {"setting": self.settings, "split": self.splits, "task": self.tasks, **cell}
        names = as_list(systems)
        own = [s for s in names if self.params["systems"][s]["kind"] != "trec"]
        grid = [
            foreign.Place(collection, *where)
            for where in product(*(as_list(within[k]) for k in ("setting", "split", "task")), names)
        ]
        there = [p for p in grid if p.system in own or p in self.foreign]
        return [
            self.RUNS.replace("{{", "{").replace("}}", "}").format(**p._asdict()) for p in there
        ]

    def foreign_run(self, wildcards):
        """The TREC file behind a run."""
        return self.foreign.get(foreign.Place(**wildcards), [])

    def candidates(self, wildcards):
        """The table whose items a task ranks."""
        side = {"t2m": "images", "m2t": "texts"}[wildcards.task]
        return f"{self.COLLECTION}/{side}.parquet".format(**wildcards)

    def runs(self, wildcards):
        """Every run on a collection."""
        return self.runs_of(wildcards.collection, self.systems)

    def fused_runs(self, wildcards):
        """The runs that a fusion reads."""
        of = self.params["systems"][wildcards.system]["of"]
        pattern = expand(
            self.UNJUDGED_RUNS, setting=self.settings, split=self.unjudged, task=self.tasks
        )
        apart = expand(pattern, collection=wildcards.collection, system=of)
        return self.runs_of(wildcards.collection, of) + apart

    def judged_collections(self):
        """The built collections whose runs are pooled, where the params ask for it."""
        return self.params["build"] if "judge" in self.params["score"] else []

    def pooled_runs(self, wildcards):
        """The runs whose first hits people judge."""
        cell = self.params["score"]["judge"]
        every = self.runs(wildcards)
        return [path for path in every if f"/{cell['setting']}/{cell['split']}/" in path]

    def judgement_sheets(self, wildcards):
        """The sheets that have come back."""
        return judge.sheet_paths(wildcards.collection)

    def graded_collections(self):
        """The built collections whose sheets have come back."""
        return [c for c in self.judged_collections() if judge.sheet_paths(c)]

    def judgement_tables(self):
        """What judging writes: the pools, and the scores once grades have come back."""
        pools = expand("results/score/{c}/pool.parquet", c=self.judged_collections())
        return pools + expand("results/score/{c}/scores.parquet", c=self.graded_collections())

    def tuning_grids(self, wildcards):
        """The grids that the tuned systems were chosen from."""
        tuned = [s for s in self.systems if "tune" in self.params["systems"][s]]
        return expand("results/search/{c}/tuning/{s}.csv", c=wildcards.collection, s=tuned)
