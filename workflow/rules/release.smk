onstart:
    # DVC records the output of every stage, also of one that has not run: an empty folder is enough.
    Path("results/release").mkdir(parents=True, exist_ok=True)


rule release_collection:
    input:
        unpack(plan.collection_tables),
        pixels=plan.pixels,
        runs=plan.runs,
        scores="results/score/{collection}.parquet",
        significance="results/score/{collection}.significance.parquet",
        manifests=plan.manifests,
        sql=plan.sql("release/*.sql", "index/*.sql"),
        code=plan.code("release.collection:build"),
    output:
        release=directory("results/release/{collection}"),
    log:
        "logs/release_collection/{collection}.log",
    benchmark:
        "logs/benchmarks/release_collection/{collection}.tsv"
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
    message:
        "release {wildcards.collection}"
    script:
        "../scripts/call.py"


# A collection may have the name that the small form of another one would get.
ruleorder: release_collection > release_lite


rule release_lite:
    input:
        release="results/release/{collection}",
        sql=plan.sql("release/*.sql"),
        code=plan.code("release.lite:build"),
    output:
        lite=directory("results/release/{collection}-lite"),
    log:
        "logs/release_lite/{collection}.log",
    benchmark:
        "logs/benchmarks/release_lite/{collection}.tsv"
    wildcard_constraints:
        collection=plan.any_of(plan.params["build"]),
    resources:
        mem_mb=plan.needs(DUCKDB_LARGE),
    params:
        call="release.lite:build",
        negatives=plan.params["release"]["lite"]["negatives"],
        queries=plan.params["release"]["lite"]["queries"],
    message:
        "small release {wildcards.collection}"
    script:
        "../scripts/call.py"
