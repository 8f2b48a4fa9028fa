import os
from pathlib import Path

from isotope.params import resolve as isotope_params
from isotope.acquire import addresses as origins
from isotope.params import paths as params_paths
from isotope.params import union as params_union
from isotope.core import provenance
from isotope.params import foreign as trec_systems
from isotope.plan import witnesses

HOME = workflow.basedir
FOREIGN = trec_systems.discover()
SCHEMA = Path(HOME) / "workflow/schemas/params.schema.yaml"
PARAMS = isotope_params.resolve(config, SCHEMA, FOREIGN)
params_paths.demand_files(PARAMS)
SYSTEMS = PARAMS["search"]["systems"]
SETTINGS = PARAMS["search"]["settings"]
SPLITS = PARAMS["search"]["splits"]
UNJUDGED = PARAMS["search"].get("unjudged", [])
TASKS = PARAMS["search"]["tasks"]
SHARDS = [f"{n:05d}" for n in range(PARAMS["encode"]["shards"])]
COLLECTION = "data/collect/{collection}"
NEVER = "(?!)"


def ours(path):
    """A file of the project, relative to the working directory, so that no rule depends on where."""
    return os.path.relpath(os.path.join(HOME, path))


def code(*modules):
    """The files that modules, or functions of them, depend on, as inputs."""
    return [ours(f"workflow/lib/isotope/{file}") for file in provenance.closure(*modules)]


def sql(*patterns):
    """Queries as inputs, by pattern below workflow/sql."""
    root = Path(HOME) / "workflow/sql"
    return [ours(p) for pattern in patterns for p in sorted(root.glob(pattern))]


def on_disk(*named, folders=True):
    """What tells that files which the params name have changed; a hub's models have none."""
    found = [witnesses.of_file(n, PARAMS["acquire"], folders=folders) for n in named]
    return list(dict.fromkeys(path for paths in found for path in paths))


def vocabulary(tokenizer):
    """A tokenizer's vocabulary, where it is a file."""
    return on_disk(tokenizer, folders=False)


def entry(phase):
    """The params of a phase for the rule's source or collection."""
    return lambda wildcards: PARAMS[phase][wildcards[0]]


def any_of(names):
    """A wildcard constraint: one of these names."""
    return "|".join(re.escape(n) for n in names) or NEVER


def source_of(collection):
    """The source that a collection is made of."""
    return PARAMS["collect"][collection]["source"]


def sources_of(collection):
    """The sources that a collection is made of, one for each edition."""
    return params_union.sources(PARAMS, collection)


def collected_as(wildcards):
    """The kind of a collection."""
    return PARAMS["collect"][wildcards.collection]["kind"]


def snapshot(collection):
    """Whether a collection is made of a snapshot of Wikipedia, and not of a published data set."""
    return PARAMS["collect"][collection]["kind"] == "wikipedia"


def since():
    """The pairs of collections, earlier and later, that are compared: one of the two is built."""
    return [pair for pair in PARAMS["tabulate"]["since"] if set(pair) & set(PARAMS["build"])]


def collections():
    """The collections that are built, and those that are only compared with them."""
    return list(dict.fromkeys([*PARAMS["build"], *(c for pair in since() for c in pair)]))


def sources(*, snapshots=False):
    """What the collections are made of; only the snapshots of Wikipedia if asked."""
    kinds = ("wikipedia", "union")
    chosen = [c for c in collections() if PARAMS["collect"][c]["kind"] in kinds or not snapshots]
    return sorted({source for c in chosen for source in sources_of(c)})


def language(wildcards):
    """The language of a collection's texts."""
    return PARAMS["collect"][wildcards.collection]["language"]


def spoken(wildcards):
    """The language of the captions that stand for a collection's images."""
    return PARAMS["collect"][wildcards.collection].get("captions", language(wildcards))


def language_of_source(wildcards):
    """The language that the source is collected in."""
    return next(
        c["language"] for c in PARAMS["collect"].values() if c.get("source") == wildcards.source
    )


def crawled(*, pictures):
    """A wildcard constraint: the sources that brought their pictures along, or the others."""
    return any_of(n for n, c in PARAMS["crawl"].items() if ("pictures" in c) == pictures)


def shards_of(source, pattern):
    """Every shard of a crawl; none for a source without pictures."""
    shards = PARAMS["crawl"].get(source, {"shards": 0})["shards"]
    return [pattern.format(source=source, n=n) for n in range(shards)]


def earlier_crawl(wildcards):
    """The ledger of the crawl that a crawl goes on from; it comes after all of its shards.

    The list of URLs waits for it in place of the shards, which are there for good: were the earlier
    crawl fetched again, Snakemake would want to make them anew. It is not ancient, because Snakemake
    does not look for reasons to run what comes after a job that runs, though by such inputs alone.
    """
    after = PARAMS["crawl"][wildcards.source].get("after")
    return [f"data/crawl/{after}/ledger.parquet"] if after else []


def crawled_tables(wildcards=None):
    """What the crawls of all sources leave: a folder that was deleted is fetched again."""
    drawn = {*sources(), *(k for c in collections() for k in knowledge(c))} & {*PARAMS["crawl"]}
    patterns = (
        "data/crawl/{source}/ledger-{n:05d}.parquet",
        "data/crawl/{source}/shard-{n:05d}.parquet",
    )
    shards = [path for source in sorted(drawn) for p in patterns for path in shards_of(source, p)]
    return [*expand("data/crawl/{s}/ledger.parquet", s=sorted(drawn)), *shards]


def ledgers(wildcards):
    """The ledgers of a crawl's shards."""
    return shards_of(wildcards.source, "data/crawl/{source}/ledger-{n:05d}.parquet")


def pixels(wildcards):
    """The pictures that a collection draws on."""
    drawn = dict.fromkeys([*sources_of(wildcards.collection), *knowledge(wildcards.collection)])
    pattern = "data/crawl/{source}/shard-{n:05d}.parquet"
    return [path for source in drawn for path in shards_of(source, pattern)]


def pictures_of(collection):
    """The pictures of a collection's own sources."""
    pattern = "data/crawl/{source}/shard-{n:05d}.parquet"
    return [path for source in sources_of(collection) for path in shards_of(source, pattern)]


def pictured(wildcards):
    """The ledgers of the pictures that a collection draws on: they tell when any shard changed."""
    drawn = sorted({*sources_of(wildcards.collection), *knowledge(wildcards.collection)})
    return [f"data/crawl/{source}/ledger.parquet" for source in drawn if source in PARAMS["crawl"]]


def knowledge(collection):
    """The snapshot whose articles are a collection's entities, where it is made of labels."""
    entry = PARAMS["collect"][collection]
    return [entry["recognition"]["knowledge"]] if "recognition" in entry else []


def labelled():
    """The data sets whose labels are linked to a snapshot."""
    return sorted({source_of(c) for c in PARAMS["collect"] if knowledge(c)})


def recognition_of(source):
    """How the labels of a data set are linked to a snapshot."""
    made = (c for c in PARAMS["collect"].values() if c.get("source") == source)
    return next(c["recognition"] for c in made if "recognition" in c)


def entities(source, snapshot):
    """What a collection of recognition reads beside its labels; pictures of a snapshot that is not
    crawled are looked for among those that came with the labels."""
    brought = snapshot if snapshot in PARAMS["crawl"] else source
    crawl, parse = f"data/crawl/{brought}", f"data/parse/{snapshot}"
    return {
        "projection": f"data/project/{source}/projection.parquet",
        "sections": f"{parse}/sections.parquet",
        "infoboxes": f"{parse}/infoboxes.parquet",
        "knowledge_urls": f"{crawl}/urls.parquet",
        "knowledge_ledger": f"{crawl}/ledger.parquet",
    }


def relations(wildcards):
    """The tables that a collection's queries read; a data set's own come with its manifest."""
    if collected_as(wildcards) == "union":
        members = PARAMS["collect"][wildcards.collection]["of"]
        tables = ("texts", "images", "qrels", "filters")
        return {t: expand("data/collect/{c}/{t}.parquet", c=members, t=t) for t in tables}
    source = source_of(wildcards.collection)
    own = ("urls", "ledger") if source in PARAMS["crawl"] else ()
    if not snapshot(wildcards.collection):
        manifest = f"data/acquire/{source}/manifest.json"
        linked = [entities(source, k) for k in knowledge(wildcards.collection)]
        tables = {t: f"data/crawl/{source}/{t}.parquet" for t in own}
        return {"manifest": manifest, **tables, **dict(*linked)}
    return {
        "associations": f"data/parse/{source}/associations.parquet",
        "sections": f"data/parse/{source}/sections.parquet",
        "members": f"data/project/{source}/members.parquet",
        "projection": f"data/project/{source}/projection.parquet",
        "urls": f"data/crawl/{source}/urls.parquet",
        "ledger": f"data/crawl/{source}/ledger.parquet",
    }


def collected(wildcards):
    """A collection's own tables."""
    return {
        t: f"{COLLECTION}/{t}.parquet".format(**wildcards) for t in ("texts", "images", "qrels")
    }


wildcard_constraints:
    source="[^/]+",
    collection="[^/]+",
    model="[^/]+",
    system="[^/]+",
    shard=r"\d{5}",


def upstream(wildcards):
    """The params of a source, and what tells that a local file of it is another than it was."""
    spec, source = PARAMS["acquire"][wildcards.source], wildcards.source
    memory = Path(".isotope/acquire") / f"{source}.touched.json"
    found = origins.originals(spec, Path("data/acquire") / source, memory)
    return spec | ({"originals": found} if found else {})
