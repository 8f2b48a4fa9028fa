rule search_fused:
    input:
        runs=fused,
        code=code("search.systems"),
    output:
        runs=GRID,
    log:
        "logs/search_fused/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/search_fused/{collection}.{system}.tsv"
    wildcard_constraints:
        system=fusions(tuned=False),
    resources:
        mem_mb=memory("search_fused"),
    params:
        spec=system,
        depth=PARAMS["search"]["depth"],
    message:
        "search {wildcards.collection} with {wildcards.system}"
    script:
        "../scripts/search_fused.py"


rule search_tuned:
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        runs=fused,
        code=code("search.tune"),
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
        mem_mb=memory("search_tuned"),
    params:
        spec=system,
        depth=PARAMS["search"]["depth"],
    message:
        "tune {wildcards.system} on {wildcards.collection} and search with it"
    script:
        "../scripts/search_tuned.py"
