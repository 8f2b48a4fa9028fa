rule index_approximate:
    input:
        collected=lambda w: [
            f"{plan.COLLECTION}/{t}.parquet".format(**w) for t in ("texts", "images")
        ],
        texts=plan.vectors("texts", "npy"),
        images=plan.vectors("images", "npy"),
        texts_ids=plan.vectors("texts", "ids.parquet"),
        images_ids=plan.vectors("images", "ids.parquet"),
        code=plan.code("index.dense", "index.bm25"),
    output:
        folders=directory(plan.index_pattern),
    log:
        "logs/index_approximate/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/index_approximate/{collection}.{system}.tsv"
    wildcard_constraints:
        system=plan.systems_of("approximate"),
    threads: 8
    resources:
        mem_mb=plan.needs(VECTORS),
    params:
        spec=plan.system_params,
        splits=[*plan.splits, *plan.unjudged],
    message:
        "index the vectors of {wildcards.collection} for {wildcards.system}"
    script:
        "../scripts/index_approximate.py"
