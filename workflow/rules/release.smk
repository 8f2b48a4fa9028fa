onstart:
    # DVC records the output of every stage, also of one that has not run: an empty folder is enough.
    Path("results/release").mkdir(parents=True, exist_ok=True)


use rule job as release_collection with:
    """release {wildcards.collection}"""
    input:
        **collected(),
        pixels=plan.pixels,
        runs=plan.runs,
        scores="results/score/{collection}.parquet",
        significance="results/score/{collection}.significance.parquet",
        manifests=plan.manifests,
        sql=plan.sql("release/*.sql", "index/*.sql"),
    output:
        release=directory("results/release/{collection}"),
    wildcard_constraints:
        collection=plan.any_of(plan.params["build"]),
    resources:
        mem_mb=plan.needs(DUCKDB_LARGE),
    params:
        call="release.collection:build",
        language=plan.language,
        captions=plan.caption_language,
        facts=plan.release_facts,
        systems=plan.prepared_entries,


# A collection may have the name that the small form of another one would get.
ruleorder: release_collection > release_lite


use rule job as release_lite with:
    """small release {wildcards.collection}"""
    input:
        release="results/release/{collection}",
        sql=plan.sql("release/*.sql"),
    output:
        lite=directory("results/release/{collection}-lite"),
    wildcard_constraints:
        collection=plan.any_of(plan.params["build"]),
    resources:
        mem_mb=plan.needs(DUCKDB_LARGE),
    params:
        call="release.lite:build",
        negatives=plan.params["release"]["lite"]["negatives"],
        queries=plan.params["release"]["lite"]["queries"],
