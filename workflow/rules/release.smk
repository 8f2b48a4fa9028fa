onstart:
    # DVC records the out of every stage, also of one that has not run: an empty folder will do.
    Path("results/release").mkdir(parents=True, exist_ok=True)


rule release_collection:
    input:
        unpack(plan.collection_tables),
        pixels=plan.pixels,
        runs=plan.runs,
        sql=plan.sql("release/*.sql", "index/*.sql"),
        code=plan.code("release.collection"),
    output:
        release=directory("results/release/{collection}"),
    log:
        "logs/release_collection/{collection}.log",
    benchmark:
        "logs/benchmarks/release_collection/{collection}.tsv"
    resources:
        mem_mb=plan.needs(DUCKDB_LARGE),
    params:
        language=plan.language,
        systems=lambda w: {s: plan.params["systems"][s] for s in plan.systems},
    message:
        "release {wildcards.collection}"
    script:
        "../scripts/release_collection.py"
