rule tabulate_recall:
    input:
        measured=lambda w: expand(
            "results/search/{c}/recall/{s}.csv", c=w.collection, s=plan.approximate_systems
        ),
        sql=plan.sql("tabulate/tables/recall.sql"),
        code=plan.code("tabulate.answered"),
    output:
        tables=multiext("results/tables/{collection}/recall", ".csv", ".md", ".tex"),
    log:
        "logs/tabulate_recall/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_recall/{collection}.tsv"
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        systems=plan.systems,
    message:
        "tabulate what approximate search finds on {wildcards.collection}"
    script:
        "../scripts/tabulate_recall.py"
