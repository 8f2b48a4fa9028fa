onstart:
    # DVC records the output of every stage, also of one that has not run: an empty folder is enough.
    Path("results/release").mkdir(parents=True, exist_ok=True)


rule release_collection:
    input:
        unpack(plan.collection_tables),
        pixels=plan.pixels,
        runs=plan.runs,
        manifests=plan.manifests,
        sql=plan.sql("release/*.sql", "index/*.sql"),
        code=plan.code("release.collection:build", "release.mteb_tasks"),
    output:
        release=directory("results/release/{collection}"),
    log:
        "logs/release_collection/{collection}.log",
    benchmark:
        "logs/benchmarks/release_collection/{collection}.tsv"
    resources:
        mem_mb=plan.needs(DUCKDB_LARGE),
    params:
        call="release.collection:build",
        language=plan.language,
        captions=plan.caption_language,
        facts=plan.release_facts,
        systems=plan.system_entries,
    message:
        "release {wildcards.collection}"
    script:
        "../scripts/call.py"
