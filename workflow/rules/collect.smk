rule collect_tables:
    input:
        unpack(plan.relations),
        sql=plan.collect_queries,
        code=plan.code("collect.build:collect_tables"),
    output:
        **plan.collect_outputs(),
    log:
        "logs/collect_tables/{collection}.log",
    benchmark:
        "logs/benchmarks/collect_tables/{collection}.tsv"
    wildcard_constraints:
        collection=plan.sharded_collections(shards=False),
    resources:
        mem_mb=plan.needs(DUCKDB_LARGE),
    params:
        call="collect.build:collect_tables",
        spec=plan.entry("collect"),
        relations=plan.relation_names,
    message:
        "collect {wildcards.collection}"
    script:
        "../scripts/call.py"


# With more than one shard.
if plan.is_sharded("collect"):

    rule collect_texts:
        input:
            unpack(plan.half_inputs("texts")),
            sql=plan.sql("collect/wikipedia/*.sql", "collect/wikipedia/text/*.sql"),
            code=plan.code("collect.build:collect_texts"),
        output:
            **plan.collect_pieces(plan.TEXT_PIECES),
        log:
            "logs/collect_texts/{collection}/{part}.log",
        benchmark:
            "logs/benchmarks/collect_texts/{collection}.{part}.tsv"
        resources:
            mem_mb=plan.needs(DUCKDB_LARGE, shards="collect"),
        params:
            call="collect.build:collect_texts",
            spec=plan.entry("collect"),
            part=plan.part,
            relations=plan.READ_BY["texts"],
        message:
            "collect the texts of {wildcards.collection}, shard {wildcards.part}"
        script:
            "../scripts/call.py"

    rule collect_images:
        input:
            unpack(plan.half_inputs("images")),
            **plan.collect_piece_files(plan.EXCHANGED),
            sql=plan.sql("collect/wikipedia/*.sql", "collect/wikipedia/image/*.sql"),
            code=plan.code("collect.build:collect_images"),
        output:
            **plan.collect_pieces(plan.IMAGE_PIECES),
        log:
            "logs/collect_images/{collection}/{part}.log",
        benchmark:
            "logs/benchmarks/collect_images/{collection}.{part}.tsv"
        resources:
            mem_mb=plan.needs(DUCKDB_LARGE, shards="collect"),
        params:
            call="collect.build:collect_images",
            part=plan.part,
            relations=[*plan.READ_BY["images"], *plan.EXCHANGED],
        message:
            "collect the images of {wildcards.collection}, shard {wildcards.part}"
        script:
            "../scripts/call.py"

    rule collect_gather:
        input:
            **plan.collect_piece_files(plan.GATHERED),
            sql=plan.sql("collect/wikipedia/*.sql", "collect/wikipedia/gather/*.sql", "check/*.sql"),
            code=plan.code("collect.build:collect_gather"),
        output:
            **plan.collect_outputs(),
        log:
            "logs/collect_gather/{collection}.log",
        benchmark:
            "logs/benchmarks/collect_gather/{collection}.tsv"
        wildcard_constraints:
            collection=plan.sharded_collections(shards=True),
        resources:
            mem_mb=plan.needs(DUCKDB_LARGE),
        params:
            call="collect.build:collect_gather",
            pieces=plan.GATHERED,
        message:
            "gather the collection {wildcards.collection}"
        script:
            "../scripts/call.py"
