rule index_bm25:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        earlier=ancient(plan.earlier_indexes),
        sql=plan.sql("index/*.sql"),
        code=plan.code("index.bm25:index_bm25"),
    output:
        folders=directory(plan.index_pattern),
    log:
        "logs/index_bm25/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/index_bm25/{collection}.{system}.tsv"
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
    message:
        "index the words of {wildcards.collection} for {wildcards.system}"
    script:
        "../scripts/call.py"


# With more than one shard, three rules replace index_bm25.
if plan.is_sharded("index"):

    rule index_digests:
        input:
            texts="data/collect/{collection}/texts.parquet",
            images="data/collect/{collection}/images.parquet",
            earlier=ancient(plan.earlier_indexes),
            sql=plan.sql("index/*.sql"),
            code=plan.code("index.bm25:index_digests"),
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
            call="index.bm25:index_digests",
            settings=plan.settings,
            splits=plan.searched_splits,
            language=plan.caption_language,
            texts_language=plan.language,
            fields=plan.bm25_fields,
            prepare=plan.bm25_prepare,
            engine=plan.bm25_engine,
        message:
            "digest the words of {wildcards.collection} for {wildcards.system}"
        script:
            "../scripts/call.py"

    rule index_bm25_shard:
        input:
            texts="data/collect/{collection}/texts.parquet",
            images="data/collect/{collection}/images.parquet",
            digests=".isotope/index/{collection}/{system}.digests.json",
            sql=plan.sql("index/*.sql"),
            code=plan.code("index.bm25:index_bm25_shard"),
        output:
            folders=temp(directory(plan.index_pieces)),
        log:
            "logs/index_bm25_shard/{collection}/{system}/{part}.log",
        benchmark:
            "logs/benchmarks/index_bm25_shard/{collection}.{system}.{part}.tsv"
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
        message:
            "index the words of {wildcards.collection} for {wildcards.system}, shard {wildcards.part}"
        script:
            "../scripts/call.py"

    rule index_bm25_gather:
        input:
            digests=".isotope/index/{collection}/{system}.digests.json",
            earlier=ancient(plan.earlier_indexes),
            pieces=plan.part_files("index", plan.index_pieces),
            code=plan.code("index.bm25:index_bm25_gather"),
        output:
            folders=directory(plan.index_pattern),
        log:
            "logs/index_bm25_gather/{collection}/{system}.log",
        benchmark:
            "logs/benchmarks/index_bm25_gather/{collection}.{system}.tsv"
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
        message:
            "merge the indexes of {wildcards.collection} for {wildcards.system}"
        script:
            "../scripts/call.py"

    ruleorder: index_bm25_gather > index_bm25


rule index_answers:
    input:
        texts="data/collect/{collection}/texts.parquet",
        after=plan.tokenizer_files,
        code=plan.code("index.bm25:index_answers"),
    output:
        folders=directory(plan.index_pattern),
    log:
        "logs/index_answers/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/index_answers/{collection}.{system}.tsv"
    wildcard_constraints:
        system=plan.systems_of("answers"),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(COUNTS),
    params:
        call="index.bm25:index_answers",
        tokenizer=plan.system_tokenizer,
        splits=plan.searched_splits,
    message:
        "index the names in {wildcards.collection} for {wildcards.system}"
    script:
        "../scripts/call.py"


rule index_dense:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        text_ids=plan.vectors("texts", "ids.parquet"),
        image_ids=plan.vectors("images", "ids.parquet"),
        code=plan.code("index.dense:index_dense"),
    output:
        folders=directory(plan.index_pattern),
    log:
        "logs/index_dense/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/index_dense/{collection}.{system}.tsv"
    wildcard_constraints:
        system=plan.systems_of("dense", "late"),
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="index.dense:index_dense",
        splits=plan.searched_splits,
    message:
        "index the vectors of {wildcards.collection} for {wildcards.system}"
    script:
        "../scripts/call.py"


rule index_sparse:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        text_terms=plan.vectors("texts", "terms.parquet"),
        image_terms=plan.vectors("images", "terms.parquet"),
        code=plan.code("index.sparse:index_sparse"),
    output:
        folders=directory(plan.index_pattern),
    log:
        "logs/index_sparse/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/index_sparse/{collection}.{system}.tsv"
    wildcard_constraints:
        system=plan.systems_of("sparse"),
    resources:
        mem_mb=plan.needs(BUFFERS),
    params:
        call="index.sparse:index_sparse",
        splits=plan.searched_splits,
    message:
        "index the terms of {wildcards.collection} for {wildcards.system}"
    script:
        "../scripts/call.py"


rule index_approximate:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        text_vectors=plan.vectors("texts", "npy"),
        image_vectors=plan.vectors("images", "npy"),
        text_ids=plan.vectors("texts", "ids.parquet"),
        image_ids=plan.vectors("images", "ids.parquet"),
        code=plan.code("index.dense:index_approximate"),
    output:
        folders=directory(plan.index_pattern),
    log:
        "logs/index_approximate/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/index_approximate/{collection}.{system}.tsv"
    wildcard_constraints:
        system=plan.systems_of("approximate"),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(VECTORS),
    params:
        call="index.dense:index_approximate",
        spec=plan.system_params,
        splits=plan.searched_splits,
    message:
        "index the vectors of {wildcards.collection} for {wildcards.system}"
    script:
        "../scripts/call.py"
