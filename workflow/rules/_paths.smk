import os
from pathlib import Path

from isotope import params as isotope_params
from isotope import provenance

HOME = workflow.basedir
PARAMS = isotope_params.resolve(config, Path(HOME) / "workflow/schemas/params.schema.yaml")
SYSTEMS = PARAMS["search"]["systems"]
SETTINGS = PARAMS["search"]["settings"]
SPLITS = PARAMS["search"]["splits"]
TASKS = PARAMS["search"]["tasks"]
SHARDS = [f"{n:05d}" for n in range(PARAMS["encode"]["shards"])]
TABLES = ["table1", "account", "crawl", "projection", "table3", "headline"]
COLLECTION = "data/collect/{collection}"
RUNS = "results/search/{{collection}}/{setting}/{split}/{task}/{{system}}.parquet"
NEVER = "(?!)"


def ours(path):
    """A file of the project, relative to the working directory, so that no rule depends on where."""
    return os.path.relpath(os.path.join(HOME, path))


def code(*modules):
    """These library files and all that they import, as inputs."""
    return [ours(f"workflow/lib/isotope/{m}.py") for m in provenance.modules(*modules)]


def configs(wildcards):
    """The architecture of a trained model."""
    spec = PARAMS["models"][wildcards.model]
    name = spec.get("config")
    return [ours(f"workflow/lib/isotope/models/{name}.json")] if name else []


def sql(*patterns):
    """Queries as inputs, by pattern below workflow/sql."""
    root = Path(HOME) / "workflow/sql"
    return [ours(p) for pattern in patterns for p in sorted(root.glob(pattern))]


def entry(phase):
    """The params of a phase for the rule's source or collection."""
    return lambda wildcards: PARAMS[phase][wildcards[0]]


def system(wildcards):
    """The params of a system."""
    return PARAMS["systems"][wildcards.system]


def systems_of(*kinds):
    """A wildcard constraint: the systems of these kinds."""
    names = [n for n, s in PARAMS["systems"].items() if s["kind"] in kinds]
    return "|".join(re.escape(n) for n in names) or NEVER


def source_of(collection):
    """The source that a collection is made of."""
    return PARAMS["collect"][collection]["source"]


def language(wildcards):
    """The language of a collection's texts."""
    return PARAMS["collect"][wildcards.collection]["language"]


def language_of_source(wildcards):
    """The language that the source is collected in."""
    return next(
        c["language"] for c in PARAMS["collect"].values() if c["source"] == wildcards.source
    )


def shards_of(source, pattern):
    """Every shard of a crawl."""
    return [pattern.format(source=source, n=n) for n in range(PARAMS["crawl"][source]["shards"])]


def ledgers(wildcards):
    """The ledgers of a crawl's shards."""
    return shards_of(wildcards.source, "data/crawl/{source}/ledger-{n:05d}.parquet")


def pixels(wildcards):
    """The pictures that a collection draws on."""
    return shards_of(source_of(wildcards.collection), "data/crawl/{source}/shard-{n:05d}.parquet")


def relations(wildcards):
    """The tables that a collection's queries read."""
    source = source_of(wildcards.collection)
    return {
        "associations": f"data/parse/{source}/associations.parquet",
        "sections": f"data/parse/{source}/sections.parquet",
        "members": f"data/project/{source}/members.parquet",
        "projection": f"data/project/{source}/projection.parquet",
        "urls": f"data/crawl/{source}/urls.parquet",
        "ledger": f"data/crawl/{source}/ledger.parquet",
    }


def weights(wildcards):
    """The weights that a model needs from this run: trained ones only."""
    if PARAMS["models"][wildcards.model]["kind"] != "trained":
        return []
    return [f"data/train/{wildcards.collection}/{wildcards.model}/model.safetensors"]


def vectors(side, suffix):
    """The encoded shards of one side for a dense system's model."""

    def of(wildcards):
        model = PARAMS["systems"][wildcards.system]["model"]
        folder = f"data/encode/{wildcards.collection}/{model}/{side}"
        return [f"{folder}/shard-{n}.{suffix}" for n in SHARDS]

    return of


def runs_of(collection, system):
    """Every run of a system."""
    pattern = expand(RUNS, setting=SETTINGS, split=SPLITS, task=TASKS)
    return expand(pattern, collection=collection, system=system)


def runs(wildcards):
    """Every run on a collection."""
    return runs_of(wildcards.collection, SYSTEMS)


def fused(wildcards):
    """The runs that a fusion reads."""
    return runs_of(wildcards.collection, PARAMS["systems"][wildcards.system]["of"])


def trained():
    """The trained models that the experiment's systems use."""
    used = {PARAMS["systems"][s].get("model") for s in used_systems()}
    return sorted(m for m in used if m and PARAMS["models"][m]["kind"] == "trained")


def used_systems():
    """The experiment's systems and those that they fuse."""
    parts = [PARAMS["systems"][s].get("of", []) for s in SYSTEMS]
    return sorted({*SYSTEMS, *(p for of in parts for p in of)})


def curves(wildcards):
    """The learning curves behind a collection's report."""
    return expand("data/train/{c}/{m}/curve.csv", c=wildcards.collection, m=trained())


def tabulated(wildcards):
    """The tables that a collection's statistics are computed from."""
    source = source_of(wildcards.collection)
    collected = {t: f"{COLLECTION}/{t}.parquet" for t in ("texts", "images", "qrels", "filters")}
    return {
        **{name: path.format(**wildcards) for name, path in collected.items()},
        "ledger": f"data/crawl/{source}/ledger.parquet",
        "projection": f"data/project/{source}/projection.parquet",
        "scores": f"results/score/{wildcards.collection}.parquet",
        "significance": f"results/score/{wildcards.collection}.significance.parquet",
    }


def by_kind(pattern, *kinds):
    """The pattern for every built collection and every used system of these kinds."""
    chosen = [s for s in used_systems() if PARAMS["systems"][s]["kind"] in kinds]
    return expand(pattern, collection=PARAMS["build"], setting=SETTINGS, system=chosen)


def encoded():
    """Every shard of vectors that the experiment's dense systems search."""
    used = {PARAMS["systems"][s].get("model") for s in used_systems()} - {None}
    pattern = "data/encode/{collection}/{model}/{side}/shard-{n}.npy"
    return expand(
        pattern, collection=PARAMS["build"], model=sorted(used), side=["texts", "images"], n=SHARDS
    )


def sources():
    """The sources of the built collections."""
    return sorted({source_of(c) for c in PARAMS["build"]})


wildcard_constraints:
    source="[^/]+",
    collection="[^/]+",
    model="[^/]+",
    system="[^/]+",
    shard=r"\d{5}",
