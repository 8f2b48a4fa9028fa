from isotope.collect import build as names

# Where the phase is cut into shards.
if plan.is_sharded("collect"):

    rule collect_texts:
        input:
            unpack(plan.half_inputs("texts")),
            sql=plan.sql("collect/wikipedia/*.sql", "collect/wikipedia/text/*.sql"),
            code=plan.code("collect.build"),
        output:
            **plan.collect_pieces(names.TEXT_PIECES),
        log:
            "logs/collect_texts/{collection}/{part}.log",
        benchmark:
            "logs/benchmarks/collect_texts/{collection}.{part}.tsv"
        resources:
            mem_mb=plan.needs(DUCKDB_LARGE, shards="collect"),
        params:
            spec=plan.entry("collect"),
            part=plan.part,
            relations=names.READ_BY["texts"],
        message:
            "collect the texts of {wildcards.collection}, shard {wildcards.part}"
        script:
            "../scripts/collect_texts.py"

    rule collect_images:
        input:
            unpack(plan.half_inputs("images")),
            **plan.collect_piece_files(names.EXCHANGED),
            sql=plan.sql("collect/wikipedia/*.sql", "collect/wikipedia/image/*.sql"),
            code=plan.code("collect.build"),
        output:
            **plan.collect_pieces(names.IMAGE_PIECES),
        log:
            "logs/collect_images/{collection}/{part}.log",
        benchmark:
            "logs/benchmarks/collect_images/{collection}.{part}.tsv"
        resources:
            mem_mb=plan.needs(DUCKDB_LARGE, shards="collect"),
        params:
            part=plan.part,
            relations=[*names.READ_BY["images"], *names.EXCHANGED],
        message:
            "collect the images of {wildcards.collection}, shard {wildcards.part}"
        script:
            "../scripts/collect_images.py"

    rule collect_gather:
        input:
            **plan.collect_piece_files(names.GATHERED),
            sql=plan.sql("collect/wikipedia/*.sql", "collect/wikipedia/gather/*.sql", "check/*.sql"),
            code=plan.code("collect.build"),
        output:
            texts="data/collect/{collection}/texts.parquet",
            images="data/collect/{collection}/images.parquet",
            qrels="data/collect/{collection}/qrels.parquet",
            filters="data/collect/{collection}/filters.parquet",
            rejected="data/collect/{collection}/rejected.parquet",
        log:
            "logs/collect_gather/{collection}.log",
        benchmark:
            "logs/benchmarks/collect_gather/{collection}.tsv"
        wildcard_constraints:
            collection=plan.sharded_collections(shards=True),
        resources:
            mem_mb=plan.needs(DUCKDB_LARGE),
        params:
            pieces=names.GATHERED,
        message:
            "gather the collection {wildcards.collection}"
        script:
            "../scripts/collect_gather.py"
