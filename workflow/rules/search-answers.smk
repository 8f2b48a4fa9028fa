rule search_answers:
    input:
        unpack(collected),
        answers=lambda w: isotope_params.local_files(system(w)["files"]),
        indexes=INDEXES,
        vocabulary=lambda w: vocabulary(system(w).get("tokenizer", "words")),
        code=code("search.answers"),
    output:
        runs=GRID,
        rejected="results/search/{collection}/answers/{system}.rejected.parquet",
        answered=ANSWERED,
    log:
        "logs/search_answers/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/search_answers/{collection}.{system}.tsv"
    wildcard_constraints:
        system=systems_of("answers"),
    threads: 8
    resources:
        mem_mb=memory("search_answers"),
    params:
        spec=system,
        depth=PARAMS["search"]["depth"],
    message:
        "map the answers of {wildcards.system} to {wildcards.collection}"
    script:
        "../scripts/search_answers.py"
