rule search_gather:
    input:
        pieces=shards("search", PIECES),
        code=code("search_gather"),
    output:
        runs=GRID,
    log:
        "logs/search_gather/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/search_gather/{collection}.{system}.tsv"
    wildcard_constraints:
        system="|".join([systems_of("random", "bm25", "dense"), fusions(tuned=False)]),
    message:
        "gather the runs of {wildcards.system} on {wildcards.collection}"
    script:
        "../scripts/search_gather.py"
