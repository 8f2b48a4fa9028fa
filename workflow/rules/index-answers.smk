rule index_answers:
    input:
        texts="data/collect/{collection}/texts.parquet",
        vocabulary=lambda w: vocabulary(system(w).get("tokenizer", "words")),
        code=code("search.answers"),
    output:
        folders=directory(INDEXES),
    log:
        "logs/index_answers/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/index_answers/{collection}.{system}.tsv"
    wildcard_constraints:
        system=systems_of("answers"),
    threads: 8
    resources:
        mem_mb=memory("index_answers"),
    params:
        tokenizer=lambda w: system(w).get("tokenizer", "words"),
        splits=[*SPLITS, *UNJUDGED],
    message:
        "index the names in {wildcards.collection} for {wildcards.system}"
    script:
        "../scripts/index_answers.py"
