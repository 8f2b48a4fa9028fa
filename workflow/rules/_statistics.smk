from isotope.judge import study
from isotope.tabulate.exhibits import ACCOUNTS, FACTS, ROAD, STATISTICS, figures_from

TABLES = list(ROAD)
JUDGED = ["graded", "reuse", "tau", "agreement"]
GROUPS = PARAMS["tabulate"]["groups"]
APPROXIMATE = [s for s in SYSTEMS if PARAMS["systems"][s]["kind"] == "approximate"]
SAYING = [s for s in SYSTEMS if PARAMS["systems"][s]["kind"] == "answers"]
SPOKEN = ["captions"] if PARAMS["tabulate"]["captions"] else []
CAPTIONERS = PARAMS["tabulate"]["captioners"]
SIDE_BY_SIDE = PARAMS["tabulate"]["side_by_side"]


def curves(wildcards):
    """The learning curves behind a collection's report."""
    folder = f"data/train/{wildcards.collection}"
    accuracies = expand("{f}/{m}/accuracies.csv", f=folder, m=whole())
    return expand("{f}/{m}/curve.csv", f=folder, m=trained()) + accuracies


def tabulated(wildcards):
    """The tables that a collection's statistics are computed from."""
    return {
        **collected(wildcards),
        "filters": f"{COLLECTION}/filters.parquet".format(**wildcards),
        "scores": f"results/score/{wildcards.collection}.parquet",
        "significance": f"results/score/{wildcards.collection}.significance.parquet",
    }


def accounts(collection):
    """What is told of a collection's source, by table: how its crawl and its projection went,
    and what no word of its wiki explains, where its captions are the snapshot's own. A
    union's members tell it each of their own."""
    if "of" in PARAMS["collect"][collection]:
        return {}
    source = source_of(collection)
    crawl = {"crawl": f"data/crawl/{source}/ledger.parquet"}
    projected = {"projection": f"data/project/{source}/projection.parquet"}
    shown = {"picture_words": f"data/parse/{source}/pictures.parquet"}
    associations = PARAMS["parse"].get(source, {}).get("associations", "wit")
    return {
        **(crawl if source in PARAMS["crawl"] else {}),
        **(shown if associations != "wit" else {}),
        **(projected if snapshot(collection) or knowledge(collection) else {}),
    }


def kind_of(collection):
    """The kind of a collection, or what stands before its hyphen: kinds with the same statistics."""
    return PARAMS["collect"][collection]["kind"].partition("-")[0]


def kind_tables(kind):
    """The statistics that a kind of data set brings of its own."""
    return sorted({Path(p).stem for p in sql(f"tabulate/{kind}/*.sql")})


def reads(wildcards):
    """The tables that a kind's statistic reads: those that its query names."""
    [query] = sql(f"tabulate/{kind_of(wildcards.collection)}/{wildcards.table}.sql")
    text = Path(query).read_text(encoding="utf-8")
    scored = {
        "scores": f"results/score/{wildcards.collection}.parquet",
        "answered": f"results/tables/{wildcards.collection}/answered.parquet",
    }
    own = {**collected(wildcards), **scored}
    return {t: path for t, path in own.items() if re.search(rf"\b{t}\b", text)}


def facts(wildcards):
    """The files with what others, or a model, know of a collection, by name."""
    told = PARAMS["tabulate"]["facts"].get(wildcards.collection, {})
    unasked = ["views"] if PARAMS["tabulate"]["popularity"] == "inlinks" else []
    # The views of OVEN's entities are monthly ones, and have thresholds in place of deciles.
    named = {"views": "monthly_views"} if kind_of(wildcards.collection) == "oven" else {}
    known = {named.get(t, t): p for t, p in told.items() if t not in unasked}
    return {**made(wildcards), **known}


def made(wildcards):
    """The facts of a collection that rules of ours make."""
    return {**seen(wildcards), **linked(wildcards.collection)}


def linked(collection):
    """The links to a collection's pages, where popularity is told by them."""
    by, told = PARAMS["tabulate"]["popularity"], PARAMS["tabulate"]["facts"].get(collection, {})
    wanted = by == "inlinks" or (by == "auto" and "views" not in told)
    if not wanted or not snapshot(collection):
        return {}
    return {"inlinks": f"data/parse/{source_of(collection)}/inlinks.parquet"}


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
        return side_of(f"{wildcards.collection}/{model}", "images", what)

    return of


def witness(wildcards):
    """What a collection's facts rest on: the manifest, as they may be acquired, and themselves."""
    return [*cited(wildcards), *known_by(wildcards, *facts(wildcards))]


def known_by(wildcards, *names):
    """Some facts of a collection as inputs: those that rules of ours make, or files of others."""
    own, ruled = facts(wildcards), made(wildcards)
    found = [[own[t]] if ruled.get(t) == own[t] else on_disk(own[t]) for t in names if t in own]
    cites = cited(wildcards)
    return [p for p in dict.fromkeys(p for paths in found for p in paths) if p not in cites]


def largest():
    """The setting with the largest pool."""
    return next(s for s in ("large", "base", "small") if s in SETTINGS)


def whole_runs(wildcards):
    """The runs on the largest pool by systems that judge one document at a time."""
    kinds = ("random", "bm25", "dense", "prompt", "answers")
    own = [s for s in SYSTEMS if PARAMS["systems"][s]["kind"] in kinds]
    return first_runs(wildcards.collection, own)


def top_runs(wildcards):
    """The runs of all systems on the largest pool."""
    return first_runs(wildcards.collection, SYSTEMS)


def first_runs(collection, systems, **cell):
    """The runs on the largest pool, for the first split, by those systems that were run there."""
    return runs_of(collection, systems, setting=largest(), split=SPLITS[0], **cell)


def both_scores(wildcards):
    """The scores on a collection and on the one that it is held against."""
    both = [wildcards.collection, held(wildcards)["collection"]]
    return [f"results/score/{c}.parquet" for c in dict.fromkeys(both)]


def held(wildcards):
    """What a collection is held against, and in which measures, setting and splits."""
    return PARAMS["tabulate"]["against"][wildcards.collection]


def members(group):
    """The collections of a group, in the order of the params; a collection is its own."""
    of = GROUPS.get(group, {"": [group]}).values()
    return list(dict.fromkeys(c for part in of for c in part))


def grouped():
    """The tables that hold collections side by side."""
    tables = {group: ["group", *SPOKEN, *captioned(group)] for group in GROUPS}
    return [f"results/tables/{group}/{t}.md" for group, own in tables.items() for t in own]


def captioners(collection):
    """The files of each model that captions the pictures of a collection's source."""
    source = PARAMS["collect"][collection].get("source")
    own = {name: entry["files"] for name, entry in CAPTIONERS.items() if entry["source"] == source}
    return {name: isotope_params.local_files(files) for name, files in own.items()}


def captioned_files(collection):
    """All files of captions by models on a collection's pictures."""
    return [path for files in captioners(collection).values() for path in files]


def languages_of(collection):
    """The languages of the collections of one source, that of the collection first."""
    own = PARAMS["collect"][collection]
    same = [c for c in PARAMS["collect"].values() if c.get("source") == own.get("source")]
    return list(dict.fromkeys(entry["language"] for entry in (own, *same)))


def is_captioned(collection):
    """Whether models caption the pictures of a collection's source."""
    source = PARAMS["collect"][collection].get("source")
    return source in {entry["source"] for entry in CAPTIONERS.values()}


def captioned(group):
    """The tables of captions by models that a group, or a collection, has."""
    own = [c for c in members(group) if is_captioned(c)]
    chosen = [c for c in own if source_of(c) in SIDE_BY_SIDE]
    both = ["side_by_side", "correlation"] if chosen else []
    return (["captioners"] if own else []) + both


def of_members(group, table):
    """A table of captions by models, of those collections of a group that have it."""
    own = [c for c in members(group) if table in captioned(c)]
    return [f"results/tables/{c}/{table}.parquet" for c in own]


def spoken_in(group):
    """The languages of each part of a group."""
    return [[PARAMS["collect"][c]["language"] for c in of] for of in GROUPS.get(group, {}).values()]


def statistics(wildcards):
    """The tables and figures that a collection has, beyond those of tabulate_tables."""
    other = ["against"] if wildcards.collection in PARAMS["tabulate"]["against"] else []
    own = [*figures_from(facts(wildcards)), *other]
    kind = kind_tables(kind_of(wildcards.collection))
    learned = ["table5"] if adapted() else []
    learned += ["recall"] if APPROXIMATE else []
    compared = ["associations", "associations_missed"] if from_both(wildcards.collection) else []
    said = [*SPOKEN, *captioned(wildcards.collection)]
    told = [*STATISTICS, *own, *kind, *accounts(wildcards.collection), *learned, *compared, *said]
    tables = expand("results/tables/{c}/{t}.md", c=wildcards.collection, t=told)
    drawn = ["subsets", *own, *(["popularity"] if "monthly_views" in facts(wildcards) else [])]
    return tables + expand("results/figures/{c}/{t}.svg", c=wildcards.collection, t=drawn)


def from_both(collection):
    """Whether a collection's associations come from WIT and from its snapshot."""
    told = PARAMS["parse"].get(PARAMS["collect"][collection].get("source"), {})
    return told.get("associations") == "both"


def compared(collection):
    """The tables of a collection that are compared with those of another snapshot."""
    return expand("data/collect/{c}/{t}.parquet", c=collection, t=["texts", "images", "qrels"])


def changes():
    """The pages on what has changed between the collections that are compared."""
    pattern = "results/report/{later}/since/{earlier}.html"
    return [pattern.format(earlier=a, later=b) for a, b in since()]


def sorted_runs(collection):
    """The runs whose first answers people sort: those of a subset may be in any split."""
    splits = SPLITS if "subset" in PARAMS["tabulate"]["mistakes"] else SPLITS[:1]
    return runs_of(collection, SYSTEMS, setting=largest(), split=splits, task="m2t")


def sorted_answers(collection):
    """The table of a collection's answers that people have sorted, once a sheet has come back."""
    back = "mistakes" in PARAMS["tabulate"] and study.sheet_paths(collection, "mistakes")
    return [f"results/tables/{collection}/mistakes_sorted.md"] if back else []


def mistakes():
    """The sheets of answers, where they are asked for, and the tables of those sorted."""
    asked = PARAMS["build"] if "mistakes" in PARAMS["tabulate"] else []
    sheets = expand("results/tables/{c}/mistakes.csv", c=asked)
    return sheets + [table for c in asked for table in sorted_answers(c)]
