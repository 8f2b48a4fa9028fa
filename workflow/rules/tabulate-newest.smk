# What two revisions are compared by: the newest collection, whatever it is called.
rule tabulate_newest:
    input:
        texts=f"data/collect/{NEWEST}/texts.parquet",
        images=f"data/collect/{NEWEST}/images.parquet",
        qrels=f"data/collect/{NEWEST}/qrels.parquet",
        scores=f"results/score/{NEWEST}.parquet",
        headline=f"results/tables/{NEWEST}/headline.csv",
        survival=survival(),
        sql=sql("tabulate/metrics.sql"),
        code=code("tabulate.since"),
    output:
        metrics="results/tables/newest/metrics.json",
        headline="results/tables/newest/headline.csv",
    log:
        "logs/tabulate_newest.log",
    benchmark:
        "logs/benchmarks/tabulate_newest.tsv"
    resources:
        mem_mb=memory("tabulate_newest"),
    message:
        f"tell what revisions are compared by: {NEWEST}"
    script:
        "../scripts/tabulate_newest.py"
