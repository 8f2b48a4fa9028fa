use rule sorting as collect_tables with:
    """collect {wildcards.collection}"""
    input:
        unpack(lambda w: collections[w.collection].relations),
    output:
        **collected(*ALL_TABLES),
    wildcard_constraints:
        collection=any_of(c for c in plan.params.collect if not is_cut(c)),
    params:
        call="collect.build:collect_tables",
        roots=lambda w: collections[w.collection].queries,
        spec=lambda w: collections[w.collection].spec,
        relations=lambda w: sorted(collections[w.collection].relations),


# With more than one shard.
if shards.are("collect"):

    use rule job as collect_texts with:
        """collect the texts of {wildcards.collection}, shard {wildcards.part}"""
        input:
            unpack(lambda w: {t: collections[w.collection].relations[t] for t in READ_BY["texts"]}),
        output:
            **pieces(collected(*TEXT_PIECES)),
        resources:
            mem_mb=jobs.needs(needs.DUCKDB_LARGE, shards="collect"),
        params:
            call="collect.build:collect_texts",
            language=lambda w: collections[w.collection].entry.language,
            relations=READ_BY["texts"],

    use rule job as collect_images with:
        """collect the images of {wildcards.collection}, shard {wildcards.part}"""
        input:
            unpack(lambda w: {t: collections[w.collection].relations[t] for t in READ_BY["images"]}),
            **shards.gathered("collect", collected(*EXCHANGED)),
        output:
            **pieces(collected(*IMAGE_PIECES)),
        resources:
            mem_mb=jobs.needs(needs.DUCKDB_LARGE, shards="collect"),
        params:
            call="collect.build:collect_images",
            relations=[*READ_BY["images"], *EXCHANGED],

    use rule sorting as collect_gather with:
        """gather the collection {wildcards.collection}"""
        input:
            **shards.gathered("collect", collected(*GATHERED)),
        output:
            **collected(*ALL_TABLES),
        wildcard_constraints:
            collection=any_of(filter(is_cut, plan.params.collect)),
        params:
            call="collect.build:collect_gather",
            pieces=GATHERED,
