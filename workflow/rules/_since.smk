AGED = "results/search/{collection}/since/{earlier}/{setting}/{split}/{task}/{system}.parquet"
TEMPORAL = PARAMS["tabulate"]["temporal"]
BUILT = [pair for pair in since() if {*pair} <= {*PARAMS["build"]}]
SINCE = BUILT if TEMPORAL else []
NEWEST = PARAMS["build"][-1]


def aged(wildcards):
    """The runs of systems that were built on the earlier collection, asked for the later one."""
    grid = expand(AGED, setting=SETTINGS, split=SPLITS, task=TASKS, system=TEMPORAL, **wildcards)
    return sorted(grid)


def aged_parts(wildcards):
    """The runs that a fusion of such systems reads."""
    of = PARAMS["systems"][wildcards.system]["of"]
    names = {k: wildcards[k] for k in ("collection", "earlier")}
    return expand(AGED, setting=SETTINGS, split=SPLITS, task=TASKS, system=of, **names)


def every_aged():
    """All runs of systems on the collections that came after theirs."""
    pairs = [{"earlier": a, "collection": b} for a, b in SINCE]
    return [path for pair in pairs for path in aged(pair)]


def temporal(collection, pattern):
    """A table or figure for each collection whose systems are asked for this one."""
    return [pattern.format(earlier=a, collection=b) for a, b in SINCE if b == collection]


def old_index(wildcards):
    """The indexes of the earlier collection."""
    return indexes_of(wildcards.earlier, wildcards.system)


def either(side, suffix):
    """The vectors of one side: those of the later collection ask, those of the earlier are found.
    Both are made with the weights of the earlier one."""

    def of(wildcards):
        asking = {"t2m": "texts", "m2t": "images"}[wildcards.task] == side
        model = PARAMS["systems"][wildcards.system]["model"]
        model = eyes(model) if side == "images" else model
        old = f"since/{wildcards.earlier}/" if learned(wildcards.earlier, model) else ""
        asked, found = f"{wildcards.collection}/{old}", f"{wildcards.earlier}/"
        return side_of(f"{asked if asking else found}{model}", side, suffix)

    return of


def old_weights(wildcards):
    """The weights that a model has learned on the earlier collection."""
    return learned(wildcards.earlier, wildcards.model)


def of_old(side, suffix):
    """One side of the earlier collection as its own weights have encoded it."""

    return lambda w: side_of(f"{w.earlier}/{w.model}", side, suffix)


def every_old_vector():
    """The vectors of later queries by the weights of earlier collections."""
    named = [PARAMS["systems"][s].get("model") for s in aged_systems()]
    sides = {(m, "texts") for m in named if m} | {(eyes(m), "images") for m in named if m}
    return [
        path
        for a, b in SINCE
        for m, side in sorted(sides)
        if learned(a, m)
        for path in side_of(f"{b}/since/{a}/{m}", side, "npy")
    ]


def aged_systems():
    """The systems that are asked for later collections, and those that they fuse."""
    parts = [PARAMS["systems"][s].get("of", []) for s in TEMPORAL]
    return sorted({*TEMPORAL, *(p for of in parts for p in of)})


def survival():
    """How many judgements hold in the newest collection, where it is compared with an earlier one."""
    pattern = "results/tables/{b}/since/{a}/snapshot_survival.csv"
    pairs = [(a, b) for a, b in since() if b == NEWEST]
    return [pattern.format(a=a, b=b) for a, b in pairs[-1:]]
