rule score_runs:
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        runs=runs,
        code=code("score", "significance"),
    output:
        scores="results/score/{collection}.parquet",
        significance="results/score/{collection}.significance.parquet",
    log:
        "logs/score_runs/{collection}.log",
    benchmark:
        "logs/benchmarks/score_runs/{collection}.tsv"
    resources:
        mem_mb=4000,
    params:
        measures=PARAMS["score"]["measures"],
    message:
        "score the runs on {wildcards.collection}"
    script:
        "../scripts/score_runs.py"
