from isotope.tabulate.exhibits import ACCOUNTS


rule tabulate_tables:
    input:
        unpack(plan.tabulate_inputs),
        curves=plan.curves,
        sql=plan.sql("tabulate/tables/*.sql"),
        code=plan.code("tabulate.exhibits"),
    output:
        tables=expand(
            "results/tables/{{collection}}/{t}.{s}", t=plan.TABLE_NAMES, s=["csv", "md", "tex"]
        ),
        metrics="results/tables/{collection}/metrics.json",
        corpus_size="results/figures/{collection}/corpus_size.svg",
        learned=expand(
            "results/figures/{{collection}}/curve-{m}.svg",
            m=plan.trained_models() + plan.fine_tuned_models(),
        ),
    log:
        "logs/tabulate_tables/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_tables/{collection}.tsv"
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        alpha=plan.params["tabulate"]["alpha"],
        systems=plan.systems,
        setting=plan.settings[0],
        split=plan.splits[0],
        measure=plan.params["score"]["measures"][0],
    message:
        "tabulate {wildcards.collection}"
    script:
        "../scripts/tabulate_tables.py"


rule tabulate_account:
    input:
        table=lambda w: plan.accounts(w.collection)[w.account],
        sql=lambda w: plan.sql(f"tabulate/tables/{w.account}.sql"),
        code=plan.code("tabulate.table"),
    output:
        tables=multiext("results/tables/{collection}/{account}", ".csv", ".md", ".tex"),
    log:
        "logs/tabulate_account/{collection}/{account}.log",
    benchmark:
        "logs/benchmarks/tabulate_account/{collection}.{account}.tsv"
    wildcard_constraints:
        account="|".join(ACCOUNTS),
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        relation=lambda w: ACCOUNTS[w.account],
    message:
        "tabulate the {wildcards.account} of {wildcards.collection}"
    script:
        "../scripts/tabulate_account.py"


rule tabulate_judged:
    input:
        graded="results/score/{collection}/scores.parquet",
        reuse="results/score/{collection}/reuse.parquet",
        tau="results/score/{collection}/tau.parquet",
        agreement="results/score/{collection}/agreement.parquet",
        sql=expand(plan.project_file("workflow/sql/tabulate/tables/{t}.sql"), t=plan.GRADED_TABLES),
        code=plan.code("tabulate.table"),
    output:
        tables=expand(
            "results/tables/{{collection}}/{t}.{s}", t=plan.GRADED_TABLES, s=["csv", "md", "tex"]
        ),
    log:
        "logs/tabulate_judged/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_judged/{collection}.tsv"
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        names=plan.GRADED_TABLES,
        systems=plan.systems,
    message:
        "tabulate the judgements on {wildcards.collection}"
    script:
        "../scripts/tabulate_judged.py"


rule tabulate_catalog:
    input:
        expand("results/report/{collection}/index.html", collection=plan.params["build"]),
        site="results/report/index.html",
        pools=plan.judgement_tables(),
        failures=plan.failure_tables(),
        mistakes=plan.mistake_tables(),
        newest="results/tables/newest/metrics.json",
        judged=expand(
            "results/tables/{c}/{t}.md", c=plan.graded_collections(), t=plan.GRADED_TABLES
        ),
        groups=plan.group_tables(),
        sql=plan.sql("catalog/*.sql"),
        code=plan.code("tabulate.catalog"),
    output:
        catalog="results/catalog.duckdb",
    log:
        "logs/tabulate_catalog.log",
    benchmark:
        "logs/benchmarks/tabulate_catalog.tsv"
    resources:
        mem_mb=plan.needs(DUCKDB),
    message:
        "build the catalog"
    script:
        "../scripts/tabulate_catalog.py"
