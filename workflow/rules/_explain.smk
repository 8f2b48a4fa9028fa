from isotope.judge import study


def askable(system):
    """Tell whether a system can be asked other queries: BM25, or what an encoder stands behind."""
    dense = system["kind"] == "dense" and PARAMS["models"][system["model"]]["kind"] in ENCODERS
    return dense or system["kind"] == "bm25"


ASKABLE = [s for s in SYSTEMS if askable(PARAMS["systems"][s])]
ASKED = "t2m" in TASKS and bool(ASKABLE)
EXPLAINED = ["explained", "ranking", "unknown_objects", *(["moved", "perturbed"] if ASKED else [])]
STUDIED = [
    *("study_ratings", "study_rating_counts", "study_classes", "study_class_counts"),
    *("study_rules", "study_agreement"),
]


def explained():
    """The built collections whose failures are explained."""
    return [c for c in PARAMS["build"] if c in PARAMS["tabulate"]["explain"]]


def ranked():
    """The built collections with a ranking table whose failures are not explained."""
    return [
        c for c in PARAMS["build"] if c in PARAMS["tabulate"]["rankings"] and c not in explained()
    ]


def explains(*keys):
    """Some of the params that a collection's failures are explained with."""
    return lambda w: {k: PARAMS["tabulate"]["explain"][w.collection].get(k) for k in keys}


def told_objects(wildcards):
    """The file that tells the objects of a collection, if it is not its own images."""
    return [path for t, path in facts(wildcards).items() if t == "objects"]


def dictionary(wildcards):
    """What a collection's WordNet rests on: the manifest, as it may be acquired, and itself."""
    named = PARAMS["tabulate"]["explain"][wildcards.collection].get("wordnet")
    return list(dict.fromkeys([*cited(wildcards), *(on_disk(named) if named else [])]))


def objects_and_dictionary(wildcards):
    """What the concepts of a collection rest on."""
    found = [*dictionary(wildcards), *known_by(wildcards, "objects")]
    return list(dict.fromkeys(found))


def explained_runs(wildcards):
    """The runs of all systems in the first setting and split."""
    return runs_of(wildcards.collection, SYSTEMS, setting=SETTINGS[0], split=SPLITS[0])


def asked_run(wildcards):
    """The run of the queries that are perturbed."""
    here = expand(RUNS, setting=SETTINGS[0], split=SPLITS[0], task="t2m")
    return expand(here, **wildcards)[0]


def perturbed_ranks(wildcards):
    """The ranks of perturbed queries, by the systems that can be asked anew."""
    pattern = "results/tables/{collection}/perturbed/{system}.parquet"
    return expand(pattern, system=ASKABLE if ASKED else [], **wildcards)


def tower(wildcards):
    """The name of the model that encodes a dense system's queries."""
    return PARAMS["systems"][wildcards.system]["model"]


def study_sheets(wildcards):
    """The sheets of the human study that have come back."""
    return study.sheet_paths(wildcards.collection)


def failures():
    """What explaining writes: pages, tables, the sheet, and what the sheets that came back say."""
    back = [c for c in explained() if study.sheet_paths(c)]
    pages = expand("results/report/{c}/failures.html", c=explained())
    sheets = expand("results/tables/{c}/study.csv", c=explained())
    tables = expand("results/tables/{c}/{t}.md", c=explained(), t=EXPLAINED)
    ranks = expand("results/tables/{c}/ranking.md", c=ranked())
    return [
        *pages,
        *sheets,
        *tables,
        *ranks,
        *expand("results/tables/{c}/{t}.md", c=back, t=STUDIED),
    ]
