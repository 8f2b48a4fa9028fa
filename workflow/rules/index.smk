use rule job as index_bm25 with:
    """index the words of {wildcards.collection} for {wildcards.system}"""
    input:
        **collected("texts", "images"),
        earlier=ancient(plan.earlier_indexes),
        sql=plan.sql("index/*.sql"),
    output:
        folders=directory(plan.index_pattern),
    wildcard_constraints:
        system=plan.systems_of("bm25"),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(COUNTS, by_lucene=JAVA, reads=["texts", "images"]),
    params:
        call="index.bm25:index_bm25",
        splits=plan.searched_splits,
        language=plan.caption_language,
        texts_language=plan.language,
        fields=plan.bm25_fields,
        prepare=plan.bm25_prepare,
        engine=plan.bm25_engine,


# With more than one shard, three rules replace index_bm25.
if plan.is_sharded("index"):

    use rule job as index_digests with:
        """digest the words of {wildcards.collection} for {wildcards.system}"""
        input:
            **collected("texts", "images"),
            earlier=ancient(plan.earlier_indexes),
            sql=plan.sql("index/*.sql"),
        output:
            digests=temp(".isotope/index/{collection}/{system}.digests.json"),
        wildcard_constraints:
            system=plan.systems_of("bm25"),
        resources:
            mem_mb=plan.needs(BUFFERS),
        params:
            call="index.bm25:index_digests",
            settings=plan.settings,
            splits=plan.searched_splits,
            language=plan.caption_language,
            texts_language=plan.language,
            fields=plan.bm25_fields,
            prepare=plan.bm25_prepare,
            engine=plan.bm25_engine,

    use rule job as index_bm25_shard with:
        """index the words of {wildcards.collection} for {wildcards.system}, shard {wildcards.part}"""
        input:
            **collected("texts", "images"),
            digests=".isotope/index/{collection}/{system}.digests.json",
            sql=plan.sql("index/*.sql"),
        output:
            folders=temp(directory(plan.index_pieces)),
        wildcard_constraints:
            system=plan.systems_of("bm25"),
        threads: plan.threads(2)
        resources:
            mem_mb=plan.needs(COUNTS, by_lucene=JAVA, reads=["texts", "images"], shards="index"),
        params:
            call="index.bm25:index_bm25_shard",
            splits=plan.searched_splits,
            part=plan.part,
            language=plan.caption_language,
            texts_language=plan.language,
            fields=plan.bm25_fields,
            prepare=plan.bm25_prepare,
            engine=plan.bm25_engine,

    use rule job as index_bm25_gather with:
        """merge the indexes of {wildcards.collection} for {wildcards.system}"""
        input:
            digests=".isotope/index/{collection}/{system}.digests.json",
            earlier=ancient(plan.earlier_indexes),
            pieces=plan.part_files("index", plan.index_pieces),
        output:
            folders=directory(plan.index_pattern),
        wildcard_constraints:
            system=plan.systems_of("bm25"),
        resources:
            mem_mb=plan.needs(MERGES, by_lucene=JAVA_MERGES),
        params:
            call="index.bm25:index_bm25_gather",
            splits=plan.searched_splits,
            language=plan.caption_language,
            texts_language=plan.language,
            engine=plan.bm25_engine,

    ruleorder: index_bm25_gather > index_bm25


use rule job as index_answers with:
    """index the names in {wildcards.collection} for {wildcards.system}"""
    input:
        texts="data/collect/{collection}/texts.parquet",
        after=plan.tokenizer_files,
    output:
        folders=directory(plan.index_pattern),
    wildcard_constraints:
        system=plan.systems_of("answers"),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(COUNTS),
    params:
        call="index.bm25:index_answers",
        tokenizer=plan.system_tokenizer,
        splits=plan.searched_splits,


use rule job as index_dense with:
    """index the vectors of {wildcards.collection} for {wildcards.system}"""
    input:
        **collected("texts", "images"),
        text_ids=plan.vectors("texts", "ids.parquet"),
        image_ids=plan.vectors("images", "ids.parquet"),
    output:
        folders=directory(plan.index_pattern),
    wildcard_constraints:
        system=plan.systems_of("dense", "late"),
    params:
        call="index.dense:index_dense",
        splits=plan.searched_splits,


use rule job as index_sparse with:
    """index the terms of {wildcards.collection} for {wildcards.system}"""
    input:
        **collected("texts", "images"),
        text_terms=plan.vectors("texts", "terms.parquet"),
        image_terms=plan.vectors("images", "terms.parquet"),
    output:
        folders=directory(plan.index_pattern),
    wildcard_constraints:
        system=plan.systems_of("sparse"),
    resources:
        mem_mb=plan.needs(BUFFERS),
    params:
        call="index.sparse:index_sparse",
        splits=plan.searched_splits,


use rule job as index_approximate with:
    """index the vectors of {wildcards.collection} for {wildcards.system}"""
    input:
        **collected("texts", "images"),
        text_vectors=plan.vectors("texts", "npy"),
        image_vectors=plan.vectors("images", "npy"),
        text_ids=plan.vectors("texts", "ids.parquet"),
        image_ids=plan.vectors("images", "ids.parquet"),
    output:
        folders=directory(plan.index_pattern),
    wildcard_constraints:
        system=plan.systems_of("approximate"),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(VECTORS),
    params:
        call="index.dense:index_approximate",
        spec=plan.system_params,
        splits=plan.searched_splits,
