# The ranking table of a collection without objects; explaining failures makes that of the others.
ruleorder: tabulate_ranking > tabulate_explained


rule tabulate_ranking:
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        runs=plan.explained_runs,
        sql=plan.sql("tabulate/tables/ranking.sql", "tabulate/failures/answers.sql"),
        code=plan.code("explain.failures"),
    output:
        tables=multiext("results/tables/{collection}/ranking", ".csv", ".md", ".tex"),
    log:
        "logs/tabulate_ranking/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_ranking/{collection}.tsv"
    wildcard_constraints:
        collection=plan.any_of(plan.ranking_collections()),
    resources:
        mem_mb=plan.needs(DUCKDB),
    message:
        "tabulate the ranks of right answers on {wildcards.collection}"
    script:
        "../scripts/tabulate_ranking.py"
