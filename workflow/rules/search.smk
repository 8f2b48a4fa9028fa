rule search_random:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        code=plan.code("search.systems"),
    output:
        runs=plan.piece("search", plan.run_grid, plan.run_pieces),
    log:
        f"logs/search_random/{{collection}}/{{system}}{plan.part_suffix('search', '/')}.log",
    benchmark:
        f"logs/benchmarks/search_random/{{collection}}.{{system}}{plan.part_suffix('search', '.')}.tsv"
    wildcard_constraints:
        system=plan.systems_of("random"),
    resources:
        mem_mb=plan.needs(HOLDS, shards="search"),
    params:
        spec=plan.system_params,
        depth=plan.params["search"]["depth"],
    message:
        "search {wildcards.collection} with {wildcards.system}"
    script:
        "../scripts/search_random.py"


rule search_bm25:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        indexes=plan.index_pattern,
        sql=plan.sql("index/*.sql"),
        code=plan.code("search.systems"),
    output:
        runs=plan.piece("search", plan.run_grid, plan.run_pieces),
    log:
        f"logs/search_bm25/{{collection}}/{{system}}{plan.part_suffix('search', '/')}.log",
    benchmark:
        f"logs/benchmarks/search_bm25/{{collection}}.{{system}}{plan.part_suffix('search', '.')}.tsv"
    wildcard_constraints:
        system=plan.systems_of("bm25"),
    threads: 8
    resources:
        mem_mb=plan.needs(JAVA_SEARCHES),
    params:
        spec=plan.system_params,
        language=plan.caption_language,
        texts_in=plan.language,
        depth=plan.params["search"]["depth"],
    message:
        "search {wildcards.collection} with {wildcards.system}"
    script:
        "../scripts/search_bm25.py"


rule search_dense:
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        sides=lambda w: [plan.collection_tables(w)[side] for side in ("texts", "images")],
        indexes=plan.index_pattern,
        texts=plan.vectors("texts", "npy"),
        images=plan.vectors("images", "npy"),
        texts_ids=plan.vectors("texts", "ids.parquet"),
        images_ids=plan.vectors("images", "ids.parquet"),
        code=plan.code("search.systems"),
    output:
        runs=plan.piece("search", plan.run_grid, plan.run_pieces),
    log:
        f"logs/search_dense/{{collection}}/{{system}}{plan.part_suffix('search', '/')}.log",
    benchmark:
        f"logs/benchmarks/search_dense/{{collection}}.{{system}}{plan.part_suffix('search', '.')}.tsv"
    wildcard_constraints:
        system=plan.systems_of("dense"),
    threads: 8
    resources:
        mem_mb=plan.needs(
            HOLDS, reads=["texts_ids", "images_ids", "qrels"], extra_mb=plan.search_memory_mb
        ),
    params:
        encoded=["texts", "images", "texts_ids", "images_ids"],
        depth=plan.params["search"]["depth"],
        memory_mb=plan.params["search"]["memory_mb"],
        device=plan.params["search"]["device"],
    message:
        "search {wildcards.collection} with {wildcards.system}"
    script:
        "../scripts/search_dense.py"


rule search_trec:
    input:
        run=plan.foreign_run,
        documents=plan.candidates,
        qrels="data/collect/{collection}/qrels.parquet",
        code=plan.code("search.foreign"),
    output:
        run="results/search/{collection}/{setting}/{split}/{task}/{system}.parquet",
    log:
        "logs/search_trec/{collection}/{setting}.{split}.{task}.{system}.log",
    benchmark:
        "logs/benchmarks/search_trec/{collection}.{setting}.{split}.{task}.{system}.tsv"
    wildcard_constraints:
        system=plan.systems_of("trec"),
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        depth=plan.params["search"]["depth"],
    message:
        "take in the run by {wildcards.system} on {wildcards.collection}"
    script:
        "../scripts/search_trec.py"
