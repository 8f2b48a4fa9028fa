rule index_approximate:
    input:
        collected=lambda w: [f"{COLLECTION}/{t}.parquet".format(**w) for t in ("texts", "images")],
        texts=vectors("texts", "npy"),
        images=vectors("images", "npy"),
        texts_ids=vectors("texts", "ids.parquet"),
        images_ids=vectors("images", "ids.parquet"),
        code=code("index.approximate", "index.build"),
    output:
        folders=directory(INDEXES),
    log:
        "logs/index_approximate/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/index_approximate/{collection}.{system}.tsv"
    wildcard_constraints:
        system=systems_of("approximate"),
    threads: 8
    resources:
        mem_mb=memory("index_approximate"),
    params:
        spec=system,
        splits=[*SPLITS, *UNJUDGED],
    message:
        "index the vectors of {wildcards.collection} for {wildcards.system}"
    script:
        "../scripts/index_approximate.py"
