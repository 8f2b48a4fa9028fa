rule tabulate_tables:
    input:
        unpack(tabulated),
        curves=curves,
        sql=sql("tabulate/*.sql"),
        code=code("tabulate.exhibits"),
    output:
        tables=expand("results/tables/{{collection}}/{t}.{s}", t=TABLES, s=["csv", "md", "tex"]),
        metrics="results/tables/{collection}/metrics.json",
        corpus_size="results/figures/{collection}/corpus_size.svg",
        learned=expand("results/figures/{{collection}}/curve-{m}.svg", m=trained() + whole()),
    log:
        "logs/tabulate_tables/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_tables/{collection}.tsv"
    resources:
        mem_mb=memory("tabulate_tables"),
    params:
        alpha=PARAMS["tabulate"]["alpha"],
        systems=SYSTEMS,
        setting=SETTINGS[0],
        split=SPLITS[0],
        measure=PARAMS["score"]["measures"][0],
    message:
        "tabulate {wildcards.collection}"
    script:
        "../scripts/tabulate_tables.py"


rule tabulate_account:
    input:
        table=lambda w: accounts(w.collection)[w.account],
        sql=lambda w: sql(f"tabulate/{w.account}.sql"),
        code=code("tabulate.table"),
    output:
        tables=multiext("results/tables/{collection}/{account}", ".csv", ".md", ".tex"),
    log:
        "logs/tabulate_account/{collection}/{account}.log",
    benchmark:
        "logs/benchmarks/tabulate_account/{collection}.{account}.tsv"
    wildcard_constraints:
        account="|".join(ACCOUNTS),
    resources:
        mem_mb=memory("tabulate_account"),
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
        sql=expand(ours("workflow/sql/tabulate/{t}.sql"), t=JUDGED),
        code=code("tabulate.table"),
    output:
        tables=expand("results/tables/{{collection}}/{t}.{s}", t=JUDGED, s=["csv", "md", "tex"]),
    log:
        "logs/tabulate_judged/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_judged/{collection}.tsv"
    resources:
        mem_mb=memory("tabulate_judged"),
    params:
        names=JUDGED,
        systems=SYSTEMS,
    message:
        "tabulate the judgements on {wildcards.collection}"
    script:
        "../scripts/tabulate_judged.py"


rule tabulate_catalog:
    input:
        expand("results/report/{collection}/index.html", collection=PARAMS["build"]),
        site="results/report/index.html",
        pools=judged(),
        failures=failures(),
        mistakes=mistakes(),
        newest="results/tables/newest/metrics.json",
        judged=expand("results/tables/{c}/{t}.md", c=returned(), t=JUDGED),
        groups=grouped(),
        sql=sql("catalog/*.sql"),
        code=code("tabulate.catalog"),
    output:
        catalog="results/catalog.duckdb",
    log:
        "logs/tabulate_catalog.log",
    benchmark:
        "logs/benchmarks/tabulate_catalog.tsv"
    resources:
        mem_mb=memory("tabulate_catalog"),
    message:
        "build the catalog"
    script:
        "../scripts/tabulate_catalog.py"
