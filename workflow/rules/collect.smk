rule collect_tables:
    input:
        unpack(plan.relations),
        sql=lambda w: plan.sql(
            f"collect/{plan.kind_of_collection(w)}/*.sql",
            f"collect/{plan.kind_of_collection(w)}/member/*.sql",
            "check/*.sql",
        ),
        code=plan.code("collect.build"),
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
        collection=plan.sharded_collections(shards=False),
    resources:
        mem_mb=plan.needs(DUCKDB_LARGE),
    params:
        spec=plan.entry("collect"),
        relations=lambda w: sorted(plan.relations(w)),
    message:
        "collect {wildcards.collection}"
    script:
        "../scripts/collect_tables.py"
