use rule job as collect_tables with:
    """collect {wildcards.collection}"""
    input:
        unpack(plan.relations),
        sql=plan.collect_queries,
    output:
        **plan.collect_outputs(),
    wildcard_constraints:
        collection=plan.sharded_collections(shards=False),
    resources:
        mem_mb=plan.needs(DUCKDB_LARGE),
    params:
        call="collect.build:collect_tables",
        spec=plan.entry("collect"),
        relations=plan.relation_names,


# With more than one shard.
if plan.is_sharded("collect"):

    use rule job as collect_texts with:
        """collect the texts of {wildcards.collection}, shard {wildcards.part}"""
        input:
            unpack(plan.half_inputs("texts")),
            sql=plan.sql("collect/wikipedia/*.sql", "collect/wikipedia/text/*.sql"),
        output:
            **plan.collect_pieces(plan.TEXT_PIECES),
        resources:
            mem_mb=plan.needs(DUCKDB_LARGE, shards="collect"),
        params:
            call="collect.build:collect_texts",
            spec=plan.entry("collect"),
            part=plan.part,
            relations=plan.READ_BY["texts"],

    use rule job as collect_images with:
        """collect the images of {wildcards.collection}, shard {wildcards.part}"""
        input:
            unpack(plan.half_inputs("images")),
            **plan.collect_piece_files(plan.EXCHANGED),
            sql=plan.sql("collect/wikipedia/*.sql", "collect/wikipedia/image/*.sql"),
        output:
            **plan.collect_pieces(plan.IMAGE_PIECES),
        resources:
            mem_mb=plan.needs(DUCKDB_LARGE, shards="collect"),
        params:
            call="collect.build:collect_images",
            part=plan.part,
            relations=[*plan.READ_BY["images"], *plan.EXCHANGED],

    use rule job as collect_gather with:
        """gather the collection {wildcards.collection}"""
        input:
            **plan.collect_piece_files(plan.GATHERED),
            sql=plan.sql("collect/wikipedia/*.sql", "collect/wikipedia/gather/*.sql", "check/*.sql"),
        output:
            **plan.collect_outputs(),
        wildcard_constraints:
            collection=plan.sharded_collections(shards=True),
        resources:
            mem_mb=plan.needs(DUCKDB_LARGE),
        params:
            call="collect.build:collect_gather",
            pieces=plan.GATHERED,
