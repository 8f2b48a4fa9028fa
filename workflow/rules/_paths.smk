import os
from itertools import repeat
from pathlib import Path

from isotope import params as isotope_params
from isotope import judge, provenance, trec_systems
from isotope.statistics_tables import FACTS, ROAD, STATISTICS, figures_from
from isotope.tables import FIVE_FIELDS

HOME = workflow.basedir
FOREIGN = trec_systems.discover()
SCHEMA = Path(HOME) / "workflow/schemas/params.schema.yaml"
PARAMS = isotope_params.resolve(config, SCHEMA, FOREIGN)
SYSTEMS = PARAMS["search"]["systems"]
SETTINGS = PARAMS["search"]["settings"]
SPLITS = PARAMS["search"]["splits"]
TASKS = PARAMS["search"]["tasks"]
SHARDS = [f"{n:05d}" for n in range(PARAMS["encode"]["shards"])]
TABLES = list(ROAD)
JUDGED = ["graded", "reuse", "tau", "agreement"]
COLLECTION = "data/collect/{collection}"
RUNS = "results/search/{{collection}}/{setting}/{split}/{task}/{{system}}.parquet"
NEVER = "(?!)"
LEARNED = ("trained", "lit")


def ours(path):
    """A file of the project, relative to the working directory, so that no rule depends on where."""
    return os.path.relpath(os.path.join(HOME, path))


def code(*modules):
    """These library files and all that they import, as inputs."""
    return [ours(f"workflow/lib/isotope/{m}.py") for m in provenance.modules(*modules)]


def configs(wildcards):
    """The architecture of a trained model."""
    spec = PARAMS["models"][base(wildcards.model)]
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


def any_of(names):
    """A wildcard constraint: one of these names."""
    return "|".join(re.escape(n) for n in names) or NEVER


def systems_of(*kinds):
    """A wildcard constraint: the systems of these kinds."""
    return any_of(n for n, s in PARAMS["systems"].items() if s["kind"] in kinds)


def fusions(*, tuned):
    """A wildcard constraint: the fusions whose parameters a split chooses, or the others."""
    kinds = {n: s for n, s in PARAMS["systems"].items() if s["kind"] in ("rrf", "wsum")}
    return any_of(n for n, s in kinds.items() if ("tune" in s) == tuned)


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
    given = PARAMS["collect"][wildcards.collection].get("relations")
    if given:
        return isotope_params.relation_files(given)
    return {
        "associations": f"data/parse/{source}/associations.parquet",
        "sections": f"data/parse/{source}/sections.parquet",
        "members": f"data/project/{source}/members.parquet",
        "projection": f"data/project/{source}/projection.parquet",
        "urls": f"data/crawl/{source}/urls.parquet",
        "ledger": f"data/crawl/{source}/ledger.parquet",
    }


def base(model):
    """The model whose weights, and whose vectors of images, a model shares: itself, mostly."""
    return PARAMS["models"][model].get("weights_of", model)


def models_of(*kinds):
    """A wildcard constraint: the models of these kinds."""
    return any_of(n for n, m in PARAMS["models"].items() if m["kind"] in kinds)


def model_of(wildcards):
    """The params of the model that encodes."""
    return PARAMS["models"][base(wildcards.model)]


def fields(wildcards):
    """The fields of a text that a model reads."""
    return PARAMS["models"][wildcards.model].get("fields", FIVE_FIELDS)


def learned(collection, model):
    """The weights that a model needs from this run: learned ones only."""
    if PARAMS["models"][base(model)]["kind"] not in LEARNED:
        return []
    return [f"data/train/{collection}/{base(model)}/model.safetensors"]


def weights(wildcards):
    """The weights of the rule's model."""
    return learned(wildcards.collection, wildcards.model)


def start_weights(wildcards):
    """The weights that a trained model goes on from."""
    other = PARAMS["models"][wildcards.model].get("from")
    return learned(wildcards.collection, other) if other else []


def recipe(wildcards):
    """The recipe of a trained model."""
    return PARAMS["models"][wildcards.model]["train"]


def vectors(side, suffix):
    """The encoded shards of one side for a dense system's model."""

    def of(wildcards):
        model = PARAMS["systems"][wildcards.system]["model"]
        model = base(model) if side == "images" else model
        folder = f"data/encode/{wildcards.collection}/{model}/{side}"
        return [f"{folder}/shard-{n}.{suffix}" for n in SHARDS]

    return of


def runs_of(collection, system):
    """Every run of a system; a foreign one need not fill the grid."""
    pattern = expand(RUNS, setting=SETTINGS, split=SPLITS, task=TASKS)
    names = [system] if isinstance(system, str) else system
    own = [s for s in names if PARAMS["systems"][s]["kind"] != "trec"]
    found = [p for p in FOREIGN if p.collection == collection and p.system in names]
    grid = [p for p in found if p[:-1] in set(trec_systems.cells(PARAMS))]
    foreign = [RUNS.replace("{{", "{").replace("}}", "}").format(**p._asdict()) for p in grid]
    return expand(pattern, collection=collection, system=own) + foreign


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
    return runs_of(wildcards.collection, PARAMS["systems"][wildcards.system]["of"])


def trained():
    """The trained models that the experiment's systems use."""
    return sorted(m for m in {*map(base, used_models())} if PARAMS["models"][m]["kind"] in LEARNED)


def used_models():
    """The models of the experiment's dense systems."""
    return sorted({PARAMS["systems"][s].get("model") for s in used_systems()} - {None})


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
    return {
        **collected(wildcards),
        "filters": f"{COLLECTION}/filters.parquet".format(**wildcards),
        "ledger": f"data/crawl/{source}/ledger.parquet",
        "projection": f"data/project/{source}/projection.parquet",
        "scores": f"results/score/{wildcards.collection}.parquet",
        "significance": f"results/score/{wildcards.collection}.significance.parquet",
    }


def collected(wildcards):
    """A collection's own tables."""
    return {
        t: f"{COLLECTION}/{t}.parquet".format(**wildcards) for t in ("texts", "images", "qrels")
    }


def facts(wildcards):
    """The files with what others, or a model, know of a collection, by name."""
    told = PARAMS["tabulate"]["facts"].get(wildcards.collection, {})
    return {**seen(wildcards), **told}


def seen(wildcards):
    """What models say of a collection's images, where the params ask for them."""
    asked = {"styles": "styles", "detector": "objects"}
    own = [t for key, t in asked.items() if key in PARAMS["tabulate"]]
    return {t: f"results/tables/{wildcards.collection}/{t}.parquet" for t in own}


def stylist(what):
    """The shards of images, or the trained weights, of the model that tells styles apart."""

    def of(wildcards):
        model = base(PARAMS["tabulate"]["styles"]["model"])
        if what == "weights":
            return learned(wildcards.collection, model)
        folder = f"data/encode/{wildcards.collection}/{model}/images"
        return [f"{folder}/shard-{n}.{what}" for n in SHARDS]

    return of


def witness(wildcards):
    """What a collection's facts rest on: the manifest, as they may be acquired, and models."""
    source = source_of(wildcards.collection)
    manifest = [f"data/acquire/{source}/manifest.json"] if source in PARAMS["acquire"] else []
    own = facts(wildcards)
    return [*manifest, *(p for t, p in seen(wildcards).items() if own[t] == p)]


def largest():
    """The setting with the largest pool."""
    return next(s for s in ("large", "base", "small") if s in SETTINGS)


def whole_runs(wildcards):
    """The runs on the largest pool by systems that judge one document at a time."""
    own = [s for s in SYSTEMS if PARAMS["systems"][s]["kind"] in ("random", "bm25", "dense")]
    return first_runs(wildcards.collection, own)


def top_runs(wildcards):
    """The runs of all systems on the largest pool."""
    return first_runs(wildcards.collection, SYSTEMS)


def first_runs(collection, systems):
    """The runs on the largest pool, for the first split."""
    pattern = expand(RUNS, setting=largest(), split=SPLITS[0], task=TASKS)
    return expand(pattern, collection=collection, system=systems)


def both_scores(wildcards):
    """The scores on a collection and on the one that it is held against."""
    other = PARAMS["tabulate"]["against"][wildcards.collection]["collection"]
    return [f"results/score/{c}.parquet" for c in dict.fromkeys([wildcards.collection, other])]


def statistics(wildcards):
    """The tables and figures that a collection has, beyond those of tabulate_tables."""
    held = ["against"] if wildcards.collection in PARAMS["tabulate"]["against"] else []
    own = [*figures_from(facts(wildcards)), *held]
    tables = expand("results/tables/{c}/{t}.md", c=wildcards.collection, t=[*STATISTICS, *own])
    return tables + expand(
        "results/figures/{c}/{t}.svg", c=wildcards.collection, t=["subsets", *own]
    )


def by_kind(pattern, *kinds):
    """The pattern for every built collection and every used system of these kinds."""
    chosen = [s for s in used_systems() if PARAMS["systems"][s]["kind"] in kinds]
    return expand(pattern, collection=PARAMS["build"], setting=SETTINGS, system=chosen)


def encoded():
    """Every shard of vectors that the experiment's dense systems search."""
    used = used_models()
    pattern = "data/encode/{collection}/{model}/{side}/shard-{n}.npy"
    sides = [
        *zip(used, repeat("texts")),
        *zip(sorted({*map(base, used)}), repeat("images")),
    ]
    return [
        path
        for model, side in sides
        for path in expand(pattern, collection=PARAMS["build"], model=model, side=side, n=SHARDS)
    ]


def sources():
    """The snapshots that the built collections are made of."""
    return sorted({source_of(c) for c in PARAMS["build"]} & set(PARAMS["acquire"]))


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
    return judge.found_sheets(wildcards.collection)


def returned():
    """The built collections whose sheets have come back."""
    return [c for c in judging() if judge.found_sheets(c)]


def judged():
    """What judging writes: the pools, and the scores once grades have come back."""
    pools = expand("results/score/{c}/pool.parquet", c=judging())
    return pools + expand("results/score/{c}/scores.parquet", c=returned())


wildcard_constraints:
    source="[^/]+",
    collection="[^/]+",
    model="[^/]+",
    system="[^/]+",
    shard=r"\d{5}",
