rule search_random:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        code=code("search.systems"),
    output:
        runs=piece("search", GRID, PIECES),
    log:
        f"logs/search_random/{{collection}}/{{system}}{by_part('search', '/')}.log",
    benchmark:
        f"logs/benchmarks/search_random/{{collection}}.{{system}}{by_part('search', '.')}.tsv"
    wildcard_constraints:
        system=systems_of("random"),
    resources:
        mem_mb=memory("search_random"),
    params:
        spec=system,
        depth=PARAMS["search"]["depth"],
    message:
        "search {wildcards.collection} with {wildcards.system}"
    script:
        "../scripts/search_random.py"


rule search_bm25:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        indexes=INDEXES,
        sql=sql("index/*.sql"),
        code=code("search.systems"),
    output:
        runs=piece("search", GRID, PIECES),
    log:
        f"logs/search_bm25/{{collection}}/{{system}}{by_part('search', '/')}.log",
    benchmark:
        f"logs/benchmarks/search_bm25/{{collection}}.{{system}}{by_part('search', '.')}.tsv"
    wildcard_constraints:
        system=systems_of("bm25"),
    threads: 8
    resources:
        mem_mb=memory("search_bm25"),
    params:
        spec=system,
        language=spoken,
        texts_in=language,
        depth=PARAMS["search"]["depth"],
    message:
        "search {wildcards.collection} with {wildcards.system}"
    script:
        "../scripts/search_bm25.py"


rule search_dense:
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        sides=lambda w: [collected(w)[side] for side in ("texts", "images")],
        indexes=INDEXES,
        texts=vectors("texts", "npy"),
        images=vectors("images", "npy"),
        texts_ids=vectors("texts", "ids.parquet"),
        images_ids=vectors("images", "ids.parquet"),
        code=code("search.systems"),
    output:
        runs=piece("search", GRID, PIECES),
    log:
        f"logs/search_dense/{{collection}}/{{system}}{by_part('search', '/')}.log",
    benchmark:
        f"logs/benchmarks/search_dense/{{collection}}.{{system}}{by_part('search', '.')}.tsv"
    wildcard_constraints:
        system=systems_of("dense"),
    threads: 8
    resources:
        mem_mb=memory("search_dense"),
    params:
        encoded=["texts", "images", "texts_ids", "images_ids"],
        depth=PARAMS["search"]["depth"],
        memory_mb=PARAMS["search"]["memory_mb"],
        device=PARAMS["search"]["device"],
    message:
        "search {wildcards.collection} with {wildcards.system}"
    script:
        "../scripts/search_dense.py"


rule search_trec:
    input:
        run=foreign_run,
        documents=ranked_side,
        qrels="data/collect/{collection}/qrels.parquet",
        code=code("search.foreign"),
    output:
        run="results/search/{collection}/{setting}/{split}/{task}/{system}.parquet",
    log:
        "logs/search_trec/{collection}/{setting}.{split}.{task}.{system}.log",
    benchmark:
        "logs/benchmarks/search_trec/{collection}.{setting}.{split}.{task}.{system}.tsv"
    wildcard_constraints:
        system=systems_of("trec"),
    resources:
        mem_mb=memory("search_trec"),
    params:
        depth=PARAMS["search"]["depth"],
    message:
        "take in the run by {wildcards.system} on {wildcards.collection}"
    script:
        "../scripts/search_trec.py"
