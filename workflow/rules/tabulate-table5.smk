rule tabulate_table5:
    input:
        scores="results/score/{collection}.parquet",
        significance="results/score/{collection}.significance.parquet",
        trials=plan.tuning_grids,
        sql=plan.sql("tabulate/tables/table5.sql"),
        code=plan.code("tabulate.table5"),
    output:
        tables=multiext("results/tables/{collection}/table5", ".csv", ".md", ".tex"),
    log:
        "logs/tabulate_table5/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_table5/{collection}.tsv"
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        systems={s: plan.params["systems"][s] for s in plan.systems},
        models=plan.params["models"],
        comparisons=plan.params["tabulate"]["comparisons"],
        alpha=plan.params["tabulate"]["alpha"],
    message:
        "tabulate the trained and fused systems on {wildcards.collection}"
    script:
        "../scripts/tabulate_table5.py"
