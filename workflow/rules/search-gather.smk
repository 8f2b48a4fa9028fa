# Where the phase is cut into shards.
if is_cut("search"):

    rule search_gather:
        input:
            pieces=shards("search", PIECES),
            code=code("search.systems"),
        output:
            runs=GRID,
        log:
            "logs/search_gather/{collection}/{system}.log",
        benchmark:
            "logs/benchmarks/search_gather/{collection}.{system}.tsv"
        wildcard_constraints:
            system=systems_of("random", "bm25", "dense"),
        resources:
            mem_mb=memory("search_gather"),
        message:
            "gather the runs of {wildcards.system} on {wildcards.collection}"
        script:
            "../scripts/search_gather.py"
