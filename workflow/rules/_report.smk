from isotope.report import collection as report_cite

CASES = PARAMS["tabulate"]["cases"]


def templates():
    """The templates of the report, as inputs; those of other pages have their own prefix."""
    found = sorted(Path(HOME).glob("workflow/lib/isotope/templates/*"))
    return [ours(p) for p in found if not p.name.startswith(("judge.", "show."))]


def shown(wildcards):
    """Every table and figure of a collection."""
    of = wildcards.collection
    judged = expand("results/tables/{c}/{t}.md", c=of, t=JUDGED) if of in returned() else []
    why = expand("results/tables/{c}/{t}.md", c=of, t=EXPLAINED) if of in explained() else []
    aged = temporal(of, "results/tables/{collection}/since/{earlier}/temporal.md")
    aged += temporal(of, "results/figures/{collection}/since/{earlier}/temporal.svg")
    return [*statistics(wildcards), *judged, *why, *aged, *sorted_answers(of)]


def cell(wildcards):
    """The pool and the system that a collection's report is about."""
    return {
        "sources": sources_of(wildcards.collection),
        "setting": SETTINGS[0],
        "split": SPLITS[0],
        "system": PARAMS["tabulate"]["system"],
    }


def told():
    """What the params say of what the report shows."""
    own = {k: PARAMS["tabulate"][k] for k in ("alpha", "bootstrap", "overlap", "tail")}
    return {**own, "measure": PARAMS["score"]["measures"][0]}


def built(wildcards):
    """What a collection and its runs were made by: a fingerprint of the params, no paths."""
    entry = PARAMS["collect"][wildcards.collection]
    named = {"systems": used_systems(), "models": {*used_models(), *map(base, used_models())}}
    used = {k: {n: PARAMS[k][n] for n in names} for k, names in named.items()}
    parts = [PARAMS["collect"][member] for member in entry.get("of", [])]
    of = {
        "collect": [entry, *parts] if parts else entry,
        **used,
        "search": PARAMS["search"],
        "score": PARAMS["score"],
    }
    return {
        "kind": entry["kind"],
        "language": entry["language"],
        "fingerprint": report_cite.fingerprint(of),
    }


def cited(wildcards):
    """The manifests of a collection's sources."""
    acquired = [s for s in sources_of(wildcards.collection) if s in PARAMS["acquire"]]
    return expand("data/acquire/{source}/manifest.json", source=acquired)


def case_systems(collection):
    """The two systems side by side: those asked for, or the report's and the first BM25."""
    first = PARAMS["tabulate"]["system"]
    rivals = [s for s in SYSTEMS if s != first]
    # A foreign system may lack a run on the largest pool.
    rivals.sort(
        key=lambda s: (not first_runs(collection, s), PARAMS["systems"][s]["kind"] != "bm25")
    )
    return CASES.get("systems", [first, *rivals[:1]])


def case_params(wildcards):
    """What the case studies show."""
    own = {"systems": case_systems(wildcards.collection), "setting": largest()}
    return {**CASES, **own, "overlap": PARAMS["tabulate"]["overlap"]}


def case_runs(wildcards):
    """The runs that the case studies read."""
    shown = sorted({*case_systems(wildcards.collection), PARAMS["tabulate"]["system"]})
    return runs_of(wildcards.collection, shown)


def crawl_ledger(wildcards):
    """The ledger of a collection's pictures, where they were crawled."""
    told = accounts(wildcards.collection)
    return [told["crawl"]] if "crawl" in told else []
