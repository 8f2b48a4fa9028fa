rule search_approximate:
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        sides=lambda w: [collected(w)[side] for side in ("texts", "images")],
        indexes=INDEXES,
        texts=vectors("texts", "npy"),
        images=vectors("images", "npy"),
        texts_ids=vectors("texts", "ids.parquet"),
        images_ids=vectors("images", "ids.parquet"),
        code=code("search.approximate"),
    output:
        runs=GRID,
        recall="results/search/{collection}/recall/{system}.csv",
    log:
        "logs/search_approximate/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/search_approximate/{collection}.{system}.tsv"
    wildcard_constraints:
        system=systems_of("approximate"),
    threads: 8
    resources:
        mem_mb=memory("search_approximate"),
    params:
        spec=system,
        depth=PARAMS["search"]["depth"],
        memory_mb=PARAMS["search"]["memory_mb"],
    message:
        "search {wildcards.collection} with {wildcards.system}"
    script:
        "../scripts/search_approximate.py"
