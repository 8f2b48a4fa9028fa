rule search_approximate:
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        sides=lambda w: [plan.collection_tables(w)[side] for side in ("texts", "images")],
        indexes=plan.index_pattern,
        texts=plan.vectors("texts", "npy"),
        images=plan.vectors("images", "npy"),
        texts_ids=plan.vectors("texts", "ids.parquet"),
        images_ids=plan.vectors("images", "ids.parquet"),
        code=plan.code("search.approximate"),
    output:
        runs=plan.run_grid,
        recall="results/search/{collection}/recall/{system}.csv",
    log:
        "logs/search_approximate/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/search_approximate/{collection}.{system}.tsv"
    wildcard_constraints:
        system=plan.systems_of("approximate"),
    threads: 8
    resources:
        mem_mb=plan.needs(VECTORS, extra_mb=plan.search_memory_mb),
    params:
        spec=plan.system_params,
        depth=plan.params["search"]["depth"],
        memory_mb=plan.params["search"]["memory_mb"],
    message:
        "search {wildcards.collection} with {wildcards.system}"
    script:
        "../scripts/search_approximate.py"
