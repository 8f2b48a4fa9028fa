# Where the phase is cut into shards.
if plan.is_sharded("search"):

    rule search_gather:
        input:
            pieces=plan.part_files("search", plan.run_pieces),
            code=plan.code("search.systems"),
        output:
            runs=plan.run_grid,
        log:
            "logs/search_gather/{collection}/{system}.log",
        benchmark:
            "logs/benchmarks/search_gather/{collection}.{system}.tsv"
        wildcard_constraints:
            system=plan.systems_of("random", "bm25", "dense"),
        resources:
            mem_mb=plan.needs(STREAMS),
        message:
            "gather the runs of {wildcards.system} on {wildcards.collection}"
        script:
            "../scripts/search_gather.py"
