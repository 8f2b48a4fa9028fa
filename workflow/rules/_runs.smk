from itertools import product

from isotope.judge import sheets as judge

RUNS = "results/search/{{collection}}/{setting}/{split}/{task}/{{system}}.parquet"
APART = "results/search/{{collection}}/unjudged/{setting}/{split}/{task}/{{system}}.parquet"
PIECE = ".isotope/search/{{collection}}/{{part}}/{setting}/{split}/{task}/{{system}}.parquet"
APART_PIECE = PIECE.replace("{setting}", "unjudged/{setting}")
ANSWERED = "results/search/{collection}/answers/{system}.answered.parquet"
INDEXED = ("bm25", "dense", "approximate", "answers")
GRID = [
    *expand(RUNS, setting=SETTINGS, split=SPLITS, task=TASKS),
    *expand(APART, setting=SETTINGS, split=UNJUDGED, task=TASKS),
]
PIECES = [
    *expand(PIECE, setting=SETTINGS, split=SPLITS, task=TASKS),
    *expand(APART_PIECE, setting=SETTINGS, split=UNJUDGED, task=TASKS),
]


def system(wildcards):
    """The params of a system."""
    return PARAMS["systems"][wildcards.system]


def systems_of(*kinds):
    """A wildcard constraint: the systems of these kinds."""
    return any_of(n for n, s in PARAMS["systems"].items() if s["kind"] in kinds)


def fusions(*, tuned):
    """A wildcard constraint: the fusions whose parameters a split chooses, or the others."""
    kinds = {n: s for n, s in PARAMS["systems"].items() if s["kind"] in ("rrf", "wsum")}
    return any_of(n for n, s in kinds.items() if ("tune" in s) == tuned)


def used_systems():
    """The experiment's systems and those that they fuse."""
    parts = [PARAMS["systems"][s].get("of", []) for s in SYSTEMS]
    return sorted({*SYSTEMS, *(p for of in parts for p in of)})


def by_kind(pattern, *kinds):
    """The pattern for every built collection and every used system of these kinds."""
    chosen = [s for s in used_systems() if PARAMS["systems"][s]["kind"] in kinds]
    return expand(pattern, collection=PARAMS["build"], setting=SETTINGS, system=chosen)


def runs_of(collection, systems, **cell):
    """The runs of some systems, or of one, that there are; of some cells only: setting, split or
    task, each one or several. Our own systems fill the grid, a foreign one need not."""
    within = {"setting": SETTINGS, "split": SPLITS, "task": TASKS, **cell}
    names = listed(systems)
    own = [s for s in names if PARAMS["systems"][s]["kind"] != "trec"]
    grid = [
        trec_systems.Place(collection, *where)
        for where in product(*(listed(within[k]) for k in ("setting", "split", "task")), names)
    ]
    there = [p for p in grid if p.system in own or p in FOREIGN]
    return [RUNS.replace("{{", "{").replace("}}", "}").format(**p._asdict()) for p in there]


def foreign_run(wildcards):
    """The TREC file behind a run."""
    return FOREIGN.get(trec_systems.Place(**wildcards), [])


def ranked_side(wildcards):
    """The table whose items a task ranks."""
    side = {"t2m": "images", "m2t": "texts"}[wildcards.task]
    return f"{COLLECTION}/{side}.parquet".format(**wildcards)


def runs(wildcards):
    """Every run on a collection."""
    return runs_of(wildcards.collection, SYSTEMS)


def fused(wildcards):
    """The runs that a fusion reads."""
    of = PARAMS["systems"][wildcards.system]["of"]
    pattern = expand(APART, setting=SETTINGS, split=UNJUDGED, task=TASKS)
    apart = expand(pattern, collection=wildcards.collection, system=of)
    return runs_of(wildcards.collection, of) + apart


def judging():
    """The built collections whose runs are pooled, where the params ask for it."""
    return PARAMS["build"] if "judge" in PARAMS["score"] else []


def pooled(wildcards):
    """The runs whose first hits people judge."""
    cell = PARAMS["score"]["judge"]
    every = runs(wildcards)
    return [path for path in every if f"/{cell['setting']}/{cell['split']}/" in path]


def judgement_sheets(wildcards):
    """The sheets that have come back."""
    return judge.sheet_paths(wildcards.collection)


def returned():
    """The built collections whose sheets have come back."""
    return [c for c in judging() if judge.sheet_paths(c)]


def judged():
    """What judging writes: the pools, and the scores once grades have come back."""
    pools = expand("results/score/{c}/pool.parquet", c=judging())
    return pools + expand("results/score/{c}/scores.parquet", c=returned())


def trials(wildcards):
    """The grids that the tuned systems were chosen from."""
    tuned = [s for s in SYSTEMS if "tune" in PARAMS["systems"][s]]
    return expand("results/search/{c}/tuning/{s}.csv", c=wildcards.collection, s=tuned)
