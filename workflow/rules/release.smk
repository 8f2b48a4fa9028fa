onstart:
    # DVC records the out of every stage, also of one that has not run: an empty folder will do.
    Path("results/release").mkdir(parents=True, exist_ok=True)


rule release_collection:
    input:
        unpack(collected),
        pixels=pixels,
        runs=runs,
        sql=sql("release/*.sql", "index/*.sql"),
        code=code("release.collection"),
    output:
        release=directory("results/release/{collection}"),
    log:
        "logs/release_collection/{collection}.log",
    benchmark:
        "logs/benchmarks/release_collection/{collection}.tsv"
    resources:
        mem_mb=memory("release_collection"),
    params:
        language=language,
        systems=lambda w: {s: PARAMS["systems"][s] for s in SYSTEMS},
    message:
        "release {wildcards.collection}"
    script:
        "../scripts/release_collection.py"
