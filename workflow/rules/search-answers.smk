from isotope.params import resolve


rule search_answers:
    input:
        unpack(plan.collection_tables),
        answers=lambda w: resolve.local_files(plan.system_params(w)["files"]),
        indexes=plan.index_pattern,
        vocabulary=lambda w: plan.vocabulary(plan.system_params(w).get("tokenizer", "words")),
        code=plan.code("search.answers"),
    output:
        runs=plan.run_grid,
        rejected="results/search/{collection}/answers/{system}.rejected.parquet",
        answered=plan.ANSWERED,
    log:
        "logs/search_answers/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/search_answers/{collection}.{system}.tsv"
    wildcard_constraints:
        system=plan.systems_of("answers"),
    threads: 8
    resources:
        mem_mb=plan.needs(JAVA_SEARCHES),
    params:
        spec=plan.system_params,
        depth=plan.params["search"]["depth"],
    message:
        "map the answers of {wildcards.system} to {wildcards.collection}"
    script:
        "../scripts/search_answers.py"
