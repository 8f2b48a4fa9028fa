rule index_bm25:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        earlier=ancient(plan.earlier_indexes),
        sql=plan.sql("index/*.sql"),
        code=plan.code("index.bm25"),
    output:
        folders=directory(plan.index_pattern),
    log:
        "logs/index_bm25/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/index_bm25/{collection}.{system}.tsv"
    wildcard_constraints:
        system=plan.systems_of("bm25"),
    threads: 8
    resources:
        mem_mb=plan.needs(JAVA, reads=["texts", "images"]),
    params:
        spec=plan.system_params,
        splits=[*plan.splits, *plan.unjudged],
        language=plan.caption_language,
        texts_in=plan.language,
    message:
        "index the words of {wildcards.collection} for {wildcards.system}"
    script:
        "../scripts/index_bm25.py"


rule index_dense:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        texts_ids=plan.vectors("texts", "ids.parquet"),
        images_ids=plan.vectors("images", "ids.parquet"),
        code=plan.code("index.bm25"),
    output:
        folders=directory(plan.index_pattern),
    log:
        "logs/index_dense/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/index_dense/{collection}.{system}.tsv"
    wildcard_constraints:
        system=plan.systems_of("dense"),
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        splits=[*plan.splits, *plan.unjudged],
    message:
        "index the vectors of {wildcards.collection} for {wildcards.system}"
    script:
        "../scripts/index_dense.py"
