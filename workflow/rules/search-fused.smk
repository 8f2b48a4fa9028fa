rule search_fused:
    input:
        runs=fused,
        code=code("search"),
    output:
        runs=temp(PIECES),
    log:
        "logs/search_fused/{collection}/{system}/{part}.log",
    benchmark:
        "logs/benchmarks/search_fused/{collection}.{system}.{part}.tsv"
    wildcard_constraints:
        system=fusions(tuned=False),
    resources:
        mem_mb=4000,
    params:
        spec=system,
        depth=PARAMS["search"]["depth"],
    message:
        "search {wildcards.collection} with {wildcards.system}, shard {wildcards.part}"
    script:
        "../scripts/search_fused.py"


rule search_tuned:
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        runs=fused,
        code=code("search_tuned"),
    output:
        runs=GRID,
        trials="results/search/{collection}/tuning/{system}.csv",
    log:
        "logs/search_tuned/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/search_tuned/{collection}.{system}.tsv"
    wildcard_constraints:
        system=fusions(tuned=True),
    resources:
        mem_mb=4000,
    params:
        spec=system,
        depth=PARAMS["search"]["depth"],
    message:
        "tune {wildcards.system} on {wildcards.collection} and search with it"
    script:
        "../scripts/search_tuned.py"
