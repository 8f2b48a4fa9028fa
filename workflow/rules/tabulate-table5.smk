rule tabulate_table5:
    input:
        scores="results/score/{collection}.parquet",
        significance="results/score/{collection}.significance.parquet",
        trials=trials,
        sql=sql("tabulate/table5.sql"),
        code=code("tabulate.table5"),
    output:
        tables=multiext("results/tables/{collection}/table5", ".csv", ".md", ".tex"),
    log:
        "logs/tabulate_table5/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_table5/{collection}.tsv"
    resources:
        mem_mb=memory("tabulate_table5"),
    params:
        systems={s: PARAMS["systems"][s] for s in SYSTEMS},
        models=PARAMS["models"],
        comparisons=PARAMS["tabulate"]["comparisons"],
        alpha=PARAMS["tabulate"]["alpha"],
    message:
        "tabulate the trained and fused systems on {wildcards.collection}"
    script:
        "../scripts/tabulate_table5.py"
