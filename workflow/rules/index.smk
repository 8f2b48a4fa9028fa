rule index_bm25:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        earlier=ancient(indexed_before),
        sql=sql("index/*.sql"),
        code=code("index.build"),
    output:
        folders=directory(INDEXES),
    log:
        "logs/index_bm25/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/index_bm25/{collection}.{system}.tsv"
    wildcard_constraints:
        system=systems_of("bm25"),
    threads: 8
    resources:
        mem_mb=memory("index_bm25"),
    params:
        spec=system,
        splits=[*SPLITS, *UNJUDGED],
        language=spoken,
        texts_in=language,
    message:
        "index the words of {wildcards.collection} for {wildcards.system}"
    script:
        "../scripts/index_bm25.py"


rule index_dense:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        texts_ids=vectors("texts", "ids.parquet"),
        images_ids=vectors("images", "ids.parquet"),
        code=code("index.build"),
    output:
        folders=directory(INDEXES),
    log:
        "logs/index_dense/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/index_dense/{collection}.{system}.tsv"
    wildcard_constraints:
        system=systems_of("dense"),
    resources:
        mem_mb=memory("index_dense"),
    params:
        splits=[*SPLITS, *UNJUDGED],
    message:
        "index the vectors of {wildcards.collection} for {wildcards.system}"
    script:
        "../scripts/index_dense.py"
