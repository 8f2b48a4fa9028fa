# Where the phase is cut into shards.
if plan.is_sharded("index"):

    rule index_digests:
        input:
            texts="data/collect/{collection}/texts.parquet",
            images="data/collect/{collection}/images.parquet",
            earlier=ancient(plan.earlier_indexes),
            sql=plan.sql("index/*.sql"),
            code=plan.code("index.bm25"),
        output:
            digests=temp(".isotope/index/{collection}/{system}.digests.json"),
        log:
            "logs/index_digests/{collection}/{system}.log",
        benchmark:
            "logs/benchmarks/index_digests/{collection}.{system}.tsv"
        wildcard_constraints:
            system=plan.systems_of("bm25"),
        resources:
            mem_mb=plan.needs(BUFFERS),
        params:
            spec=plan.system_params,
            settings=plan.settings,
            splits=[*plan.splits, *plan.unjudged],
            language=plan.caption_language,
            texts_in=plan.language,
        message:
            "digest the words of {wildcards.collection} for {wildcards.system}"
        script:
            "../scripts/index_digests.py"

    rule index_bm25_shard:
        input:
            texts="data/collect/{collection}/texts.parquet",
            images="data/collect/{collection}/images.parquet",
            digests=".isotope/index/{collection}/{system}.digests.json",
            sql=plan.sql("index/*.sql"),
            code=plan.code("index.bm25"),
        output:
            folders=temp(directory(plan.index_pieces)),
        log:
            "logs/index_bm25_shard/{collection}/{system}/{part}.log",
        benchmark:
            "logs/benchmarks/index_bm25_shard/{collection}.{system}.{part}.tsv"
        wildcard_constraints:
            system=plan.systems_of("bm25"),
        threads: 2
        resources:
            mem_mb=plan.needs(JAVA, reads=["texts", "images"], shards="index"),
        params:
            spec=plan.system_params,
            splits=[*plan.splits, *plan.unjudged],
            part=plan.part,
            language=plan.caption_language,
            texts_in=plan.language,
        message:
            "index the words of {wildcards.collection} for {wildcards.system}, shard {wildcards.part}"
        script:
            "../scripts/index_bm25_shard.py"

    rule index_bm25_gather:
        input:
            digests=".isotope/index/{collection}/{system}.digests.json",
            earlier=ancient(plan.earlier_indexes),
            pieces=plan.part_files("index", plan.index_pieces),
            code=plan.code("index.bm25"),
        output:
            folders=directory(plan.index_pattern),
        log:
            "logs/index_bm25_gather/{collection}/{system}.log",
        benchmark:
            "logs/benchmarks/index_bm25_gather/{collection}.{system}.tsv"
        wildcard_constraints:
            system=plan.systems_of("bm25"),
        resources:
            mem_mb=plan.needs(JAVA_MERGES),
        params:
            splits=[*plan.splits, *plan.unjudged],
        message:
            "merge the indexes of {wildcards.collection} for {wildcards.system}"
        script:
            "../scripts/index_bm25_gather.py"

    ruleorder: index_bm25_gather > index_bm25
