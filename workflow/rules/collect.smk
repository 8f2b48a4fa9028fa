rule collect_tables:
    input:
        unpack(relations),
        sql=lambda w: sql(
            f"collect/{collected_as(w)}/*.sql",
            f"collect/{collected_as(w)}/member/*.sql",
            "check/*.sql",
        ),
        code=code("collect.build"),
    output:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        filters="data/collect/{collection}/filters.parquet",
        rejected="data/collect/{collection}/rejected.parquet",
    log:
        "logs/collect_tables/{collection}.log",
    benchmark:
        "logs/benchmarks/collect_tables/{collection}.tsv"
    wildcard_constraints:
        collection=collected_in(shards=False),
    resources:
        mem_mb=memory("collect_tables"),
    params:
        spec=entry("collect"),
        relations=lambda w: sorted(relations(w)),
    message:
        "collect {wildcards.collection}"
    script:
        "../scripts/collect_tables.py"
