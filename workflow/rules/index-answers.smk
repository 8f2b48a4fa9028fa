rule index_answers:
    input:
        texts="data/collect/{collection}/texts.parquet",
        vocabulary=lambda w: plan.vocabulary(plan.system_params(w).get("tokenizer", "words")),
        code=plan.code("search.answers"),
    output:
        folders=directory(plan.index_pattern),
    log:
        "logs/index_answers/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/index_answers/{collection}.{system}.tsv"
    wildcard_constraints:
        system=plan.systems_of("answers"),
    threads: 8
    resources:
        mem_mb=plan.needs(JAVA),
    params:
        tokenizer=lambda w: plan.system_params(w).get("tokenizer", "words"),
        splits=[*plan.splits, *plan.unjudged],
    message:
        "index the names in {wildcards.collection} for {wildcards.system}"
    script:
        "../scripts/index_answers.py"
