use rule job as index_bm25 with:
    """index the words of {wildcards.collection} for {wildcards.system}"""
    input:
        **collected("texts", "images"),
        earlier=ancient(
            lambda w: systems.indexes(plan.params.encode.after.get(w.collection), w.system)
        ),
        sql=paths.sql("index/*.sql"),
    output:
        folders=directory(systems.index),
    wildcard_constraints:
        system=systems.of("bm25"),
    threads: jobs.threads(8)
    resources:
        mem_mb=jobs.needs(COUNTS, by_lucene=JAVA, reads=["texts", "images"]),
    params:
        call="index.bm25:index_bm25",
        splits=systems.pooled_splits,
        language=lambda w: collections[w.collection].captions,
        texts_language=lambda w: collections[w.collection].entry.language,
        fields=lambda w: systems[w.system].fields,
        prepare=lambda w: systems.on(w.system, w.collection)["prepare"],
        engine=lambda w: systems[w.system].engine,


# With more than one shard, three rules replace index_bm25.
if shards.are("index"):

    use rule index_bm25 as index_digests with:
        """digest the words of {wildcards.collection} for {wildcards.system}"""
        output:
            digests=temp(".isotope/index/{collection}/{system}.digests.json"),
        threads: 1
        resources:
            mem_mb=jobs.needs(BUFFERS),
        params:
            call="index.bm25:index_digests",
            settings=systems.search.settings,

    use rule index_bm25 as index_bm25_shard with:
        """index the words of {wildcards.collection} for {wildcards.system}, shard {wildcards.part}"""
        input:
            **collected("texts", "images"),
            digests=".isotope/index/{collection}/{system}.digests.json",
            sql=paths.sql("index/*.sql"),
        output:
            folders=temp(directory(pieces(systems.index))),
        threads: jobs.threads(2)
        resources:
            mem_mb=jobs.needs(COUNTS, by_lucene=JAVA, reads=["texts", "images"], shards="index"),
        params:
            call="index.bm25:index_bm25_shard",
            part=shards.part,

    use rule job as index_bm25_gather with:
        """merge the indexes of {wildcards.collection} for {wildcards.system}"""
        input:
            digests=".isotope/index/{collection}/{system}.digests.json",
            earlier=ancient(
                lambda w: systems.indexes(plan.params.encode.after.get(w.collection), w.system)
            ),
            pieces=shards.gathered("index", systems.index),
        output:
            folders=directory(systems.index),
        wildcard_constraints:
            system=systems.of("bm25"),
        resources:
            mem_mb=jobs.needs(MERGES, by_lucene=JAVA_MERGES),
        params:
            call="index.bm25:index_bm25_gather",
            splits=systems.pooled_splits,
            language=lambda w: collections[w.collection].captions,
            texts_language=lambda w: collections[w.collection].entry.language,
            engine=lambda w: systems[w.system].engine,

    ruleorder: index_bm25_gather > index_bm25


use rule job as index_answers with:
    """index the names in {wildcards.collection} for {wildcards.system}"""
    input:
        texts="data/collect/{collection}/texts.parquet",
        after=systems.vocabulary,
    output:
        folders=directory(systems.index),
    wildcard_constraints:
        system=systems.of("answers"),
    threads: jobs.threads(8)
    resources:
        mem_mb=jobs.needs(COUNTS),
    params:
        call="index.bm25:index_answers",
        tokenizer=lambda w: systems[w.system].tokenizer,
        splits=systems.pooled_splits,


use rule job as index_dense with:
    """index the vectors of {wildcards.collection} for {wildcards.system}"""
    input:
        **collected("texts", "images"),
        text_ids=systems.vectors("texts", "ids.parquet"),
        image_ids=systems.vectors("images", "ids.parquet"),
    output:
        folders=directory(systems.index),
    wildcard_constraints:
        system=systems.of("dense", "late"),
    params:
        call="index.dense:index_dense",
        splits=systems.pooled_splits,


use rule job as index_sparse with:
    """index the terms of {wildcards.collection} for {wildcards.system}"""
    input:
        **collected("texts", "images"),
        text_terms=systems.vectors("texts", "terms.parquet"),
        image_terms=systems.vectors("images", "terms.parquet"),
    output:
        folders=directory(systems.index),
    wildcard_constraints:
        system=systems.of("sparse"),
    resources:
        mem_mb=jobs.needs(BUFFERS),
    params:
        call="index.sparse:index_sparse",
        splits=systems.pooled_splits,


use rule job as index_approximate with:
    """index the vectors of {wildcards.collection} for {wildcards.system}"""
    input:
        **collected("texts", "images"),
        text_vectors=systems.vectors("texts", "npy"),
        image_vectors=systems.vectors("images", "npy"),
        text_ids=systems.vectors("texts", "ids.parquet"),
        image_ids=systems.vectors("images", "ids.parquet"),
    output:
        folders=directory(systems.index),
    wildcard_constraints:
        system=systems.of("approximate"),
    threads: jobs.threads(8)
    resources:
        mem_mb=jobs.needs(VECTORS),
    params:
        call="index.dense:index_approximate",
        spec=lambda w: systems.on(w.system, w.collection),
        splits=systems.pooled_splits,
