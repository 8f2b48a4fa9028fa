# What two revisions are compared by: the newest collection, whatever it is called.
rule tabulate_newest:
    input:
        texts=f"data/collect/{plan.newest}/texts.parquet",
        images=f"data/collect/{plan.newest}/images.parquet",
        qrels=f"data/collect/{plan.newest}/qrels.parquet",
        scores=f"results/score/{plan.newest}.parquet",
        headline=f"results/tables/{plan.newest}/headline.csv",
        survival=plan.survival(),
        sql=plan.sql("tabulate/tables/metrics.sql"),
        code=plan.code("tabulate.since"),
    output:
        metrics="results/tables/newest/metrics.json",
        headline="results/tables/newest/headline.csv",
    log:
        "logs/tabulate_newest.log",
    benchmark:
        "logs/benchmarks/tabulate_newest.tsv"
    resources:
        mem_mb=plan.needs(DUCKDB),
    message:
        f"tell what revisions are compared by: {plan.newest}"
    script:
        "../scripts/tabulate_newest.py"
