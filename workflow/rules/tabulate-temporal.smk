# What systems built on an earlier snapshot lose on a later one.
rule tabulate_temporal:
    input:
        before_qrels="data/collect/{earlier}/qrels.parquet",
        after_qrels="data/collect/{collection}/qrels.parquet",
        changes="results/tables/{collection}/since/{earlier}/changes.parquet",
        identities="results/tables/{collection}/since/{earlier}/identities.parquet",
        before_scores="results/score/{earlier}.parquet",
        after_scores="results/score/{collection}.parquet",
        runs=plan.stale_runs,
        sql=plan.sql("tabulate/tables/temporal.sql", "tabulate/since/queries.sql"),
        code=plan.code("tabulate.temporal"),
    output:
        drops="results/tables/{collection}/since/{earlier}/temporal.parquet",
        tables=multiext(
            "results/tables/{collection}/since/{earlier}/temporal", ".csv", ".md", ".tex"
        ),
        figure="results/figures/{collection}/since/{earlier}/temporal.svg",
    log:
        "logs/tabulate_temporal/{collection}.{earlier}.log",
    benchmark:
        "logs/benchmarks/tabulate_temporal/{collection}.{earlier}.tsv"
    wildcard_constraints:
        earlier=plan.any_of(plan.params["build"]),
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        **plan.params["tabulate"]["bootstrap"],
        measures=plan.params["score"]["measures"],
        systems=plan.systems,
        setting=plan.settings[0],
        split=plan.splits[0],
    message:
        "ask what systems of {wildcards.earlier} lose on {wildcards.collection}"
    script:
        "../scripts/tabulate_temporal.py"
