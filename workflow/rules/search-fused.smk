rule search_fused:
    input:
        runs=plan.fused_runs,
        code=plan.code("search.systems"),
    output:
        runs=plan.run_grid,
    log:
        "logs/search_fused/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/search_fused/{collection}.{system}.tsv"
    wildcard_constraints:
        system=plan.fusions(tuned=False),
    resources:
        mem_mb=plan.needs(BUFFERS),
    params:
        spec=plan.system_params,
        depth=plan.params["search"]["depth"],
    message:
        "search {wildcards.collection} with {wildcards.system}"
    script:
        "../scripts/search_fused.py"


rule search_tuned:
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        runs=plan.fused_runs,
        code=plan.code("search.tune"),
    output:
        runs=plan.run_grid,
        trials="results/search/{collection}/tuning/{system}.csv",
    log:
        "logs/search_tuned/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/search_tuned/{collection}.{system}.tsv"
    wildcard_constraints:
        system=plan.fusions(tuned=True),
    resources:
        mem_mb=plan.needs(HOLDS_TWICE),
    params:
        spec=plan.system_params,
        depth=plan.params["search"]["depth"],
    message:
        "tune {wildcards.system} on {wildcards.collection} and search with it"
    script:
        "../scripts/search_tuned.py"
