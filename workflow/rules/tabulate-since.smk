# What has changed since an earlier snapshot.
rule tabulate_changes:
    input:
        before=lambda w: plan.comparison_tables(w.earlier),
        after=lambda w: plan.comparison_tables(w.collection),
        sql=plan.sql("tabulate/since/changes/*.sql", "tabulate/tables/snapshot_*.sql"),
        code=plan.code("tabulate.since"),
    output:
        changes="results/tables/{collection}/since/{earlier}/changes.parquet",
        identities="results/tables/{collection}/since/{earlier}/identities.parquet",
        tables=expand(
            "results/tables/{{collection}}/since/{{earlier}}/{t}.{s}",
            t=["snapshot_diff", "snapshot_survival"],
            s=["csv", "md", "tex"],
        ),
    log:
        "logs/tabulate_changes/{collection}.{earlier}.log",
    benchmark:
        "logs/benchmarks/tabulate_changes/{collection}.{earlier}.tsv"
    wildcard_constraints:
        earlier=plan.any_of(plan.collections()),
    resources:
        mem_mb=plan.needs(DUCKDB),
    message:
        "compare {wildcards.collection} with {wildcards.earlier}"
    script:
        "../scripts/tabulate_changes.py"


rule tabulate_since_page:
    input:
        changes=rules.tabulate_changes.output.changes,
        tables=rules.tabulate_changes.output.tables,
        before=lambda w: plan.comparison_tables(w.earlier),
        after=lambda w: plan.comparison_tables(w.collection),
        before_pixels=lambda w: plan.pictures_of(w.earlier),
        after_pixels=lambda w: plan.pictures_of(w.collection),
        sql=plan.sql("tabulate/since/*.sql", "tabulate/report/pixels.sql"),
        templates=plan.templates(),
        code=plan.code("report.since"),
    output:
        page="results/report/{collection}/since/{earlier}.html",
    log:
        "logs/tabulate_since_page/{collection}.{earlier}.log",
    benchmark:
        "logs/benchmarks/tabulate_since_page/{collection}.{earlier}.tsv"
    wildcard_constraints:
        earlier=plan.any_of(plan.collections()),
    resources:
        mem_mb=plan.needs(DUCKDB),
    message:
        "show what has changed in {wildcards.collection} since {wildcards.earlier}"
    script:
        "../scripts/tabulate_since_page.py"
