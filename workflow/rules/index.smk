use rule job as index_bm25 with:
    """index the words of {wildcards.collection} for {wildcards.system}"""
    input:
        **collected("texts", "images"),
        earlier=ancient(systems.earlier_indexes),
    output:
        folders=directory(systems.index),
    wildcard_constraints:
        system=systems.of_kind("bm25"),
    threads: jobs.threads(8)
    resources:
        mem_mb=jobs.needs(needs.COUNTS, by_lucene=needs.JAVA, reads=["texts", "images"]),
    params:
        **systems.words(),
        call="index.bm25:index_bm25",
        splits=systems.pooled_splits,


# With more than one shard, three rules replace index_bm25.
if shards.are("index"):

    use rule index_bm25 as index_digests with:
        """digest the words of {wildcards.collection} for {wildcards.system}"""
        output:
            digests=temp(".isotope/index/{collection}/{system}.digests.json"),
        threads: 1
        resources:
            mem_mb=jobs.needs(needs.BUFFERS),
        params:
            call="index.bm25:index_digests",
            settings=systems.search.settings,

    use rule index_bm25 as index_bm25_shard with:
        """index the words of {wildcards.collection} for {wildcards.system}, shard {wildcards.part}"""
        input:
            **collected("texts", "images"),
            digests=".isotope/index/{collection}/{system}.digests.json",
        output:
            folders=temp(directory(pieces(systems.index))),
        threads: jobs.threads(2)
        resources:
            mem_mb=jobs.needs(
                needs.COUNTS, by_lucene=needs.JAVA, reads=["texts", "images"], shards="index"
            ),
        params:
            call="index.bm25:index_bm25_shard",

    use rule job as index_bm25_gather with:
        """merge the indexes of {wildcards.collection} for {wildcards.system}"""
        input:
            digests=".isotope/index/{collection}/{system}.digests.json",
            earlier=ancient(systems.earlier_indexes),
            pieces=shards.gathered("index", systems.index),
        output:
            folders=directory(only(systems.of_kind("bm25"), systems.index)),
        resources:
            mem_mb=jobs.needs(needs.MERGES, by_lucene=needs.JAVA_MERGES),
        params:
            **systems.words("language", "texts_language", "engine"),
            call="index.bm25:index_bm25_gather",
            splits=systems.pooled_splits,

    ruleorder: index_bm25_gather > index_bm25


use rule job as index_answers with:
    """index the names in {wildcards.collection} for {wildcards.system}"""
    input:
        **collected("texts"),
        after=systems.vocabulary,
    output:
        folders=directory(only(systems.of_kind("answers"), systems.index)),
    threads: jobs.threads(8)
    resources:
        mem_mb=jobs.needs(needs.COUNTS),
    params:
        **systems.params_by_key("tokenizer"),
        call="index.bm25:index_answers",
        splits=systems.pooled_splits,


use rule job as index_dense with:
    """index the vectors of {wildcards.collection} for {wildcards.system}"""
    input:
        **collected("texts", "images"),
        **systems.encoded({"{side}_ids": "ids.parquet"}),
    output:
        folders=directory(only(systems.of_kind("dense", "late"), systems.index)),
    params:
        call="index.dense:index_dense",
        splits=systems.pooled_splits,


use rule index_dense as index_sparse with:
    """index the terms of {wildcards.collection} for {wildcards.system}"""
    input:
        **collected("texts", "images"),
        **systems.encoded({"{side}_terms": "terms.parquet"}),
    output:
        folders=directory(only(systems.of_kind("sparse"), systems.index)),
    resources:
        mem_mb=jobs.needs(needs.BUFFERS),
    params:
        call="index.sparse:index_sparse",


use rule index_dense as index_approximate with:
    input:
        **collected("texts", "images"),
        **systems.encoded({"{side}_vectors": "npy", "{side}_ids": "ids.parquet"}),
    output:
        folders=directory(only(systems.of_kind("approximate"), systems.index)),
    threads: jobs.threads(8)
    resources:
        mem_mb=jobs.needs(needs.VECTORS),
    params:
        **systems.params_by_key("method", "lists", "width"),
        call="index.dense:index_approximate",
