# Where the phase is cut into shards.
if is_cut("index"):

    rule index_digests:
        input:
            texts="data/collect/{collection}/texts.parquet",
            images="data/collect/{collection}/images.parquet",
            earlier=ancient(indexed_before),
            sql=sql("index/*.sql"),
            code=code("index.shards"),
        output:
            digests=temp(".isotope/index/{collection}/{system}.digests.json"),
        log:
            "logs/index_digests/{collection}/{system}.log",
        benchmark:
            "logs/benchmarks/index_digests/{collection}.{system}.tsv"
        wildcard_constraints:
            system=systems_of("bm25"),
        resources:
            mem_mb=memory("index_digests"),
        params:
            spec=system,
            settings=SETTINGS,
            splits=[*SPLITS, *UNJUDGED],
            language=spoken,
            texts_in=language,
        message:
            "digest the words of {wildcards.collection} for {wildcards.system}"
        script:
            "../scripts/index_digests.py"

    rule index_bm25_shard:
        input:
            texts="data/collect/{collection}/texts.parquet",
            images="data/collect/{collection}/images.parquet",
            digests=".isotope/index/{collection}/{system}.digests.json",
            sql=sql("index/*.sql"),
            code=code("index.shards"),
        output:
            folders=temp(directory(INDEX_PIECES)),
        log:
            "logs/index_bm25_shard/{collection}/{system}/{part}.log",
        benchmark:
            "logs/benchmarks/index_bm25_shard/{collection}.{system}.{part}.tsv"
        wildcard_constraints:
            system=systems_of("bm25"),
        threads: 2
        resources:
            mem_mb=memory("index_bm25_shard"),
        params:
            spec=system,
            splits=[*SPLITS, *UNJUDGED],
            part=part,
            language=spoken,
            texts_in=language,
        message:
            "index the words of {wildcards.collection} for {wildcards.system}, shard {wildcards.part}"
        script:
            "../scripts/index_bm25_shard.py"

    rule index_bm25_gather:
        input:
            digests=".isotope/index/{collection}/{system}.digests.json",
            earlier=ancient(indexed_before),
            pieces=shards("index", INDEX_PIECES),
            code=code("index.shards"),
        output:
            folders=directory(INDEXES),
        log:
            "logs/index_bm25_gather/{collection}/{system}.log",
        benchmark:
            "logs/benchmarks/index_bm25_gather/{collection}.{system}.tsv"
        wildcard_constraints:
            system=systems_of("bm25"),
        resources:
            mem_mb=memory("index_bm25_gather"),
        params:
            splits=[*SPLITS, *UNJUDGED],
        message:
            "merge the indexes of {wildcards.collection} for {wildcards.system}"
        script:
            "../scripts/index_bm25_gather.py"

    ruleorder: index_bm25_gather > index_bm25
