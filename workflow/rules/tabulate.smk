rule tabulate_tables:
    input:
        unpack(tabulated),
        curves=curves,
        sql=sql("tabulate/*.sql"),
        code=code("tabulate_all"),
    output:
        tables=expand("results/tables/{{collection}}/{t}.{s}", t=TABLES, s=["csv", "md", "tex"]),
        metrics="results/tables/{collection}/metrics.json",
        figures=directory("results/figures/{collection}"),
    log:
        "logs/tabulate_tables/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_tables/{collection}.tsv"
    params:
        alpha=PARAMS["tabulate"]["alpha"],
        setting=SETTINGS[0],
        split=SPLITS[0],
        measure=PARAMS["score"]["measures"][0],
    message:
        "tabulate {wildcards.collection}"
    script:
        "../scripts/tabulate_tables.py"


rule tabulate_report:
    input:
        unpack(tabulated),
        pixels=pixels,
        runs=runs,
        tables=rules.tabulate_tables.output,
        code=code("report"),
    output:
        report="results/report/{collection}/index.html",
    log:
        "logs/tabulate_report/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_report/{collection}.tsv"
    params:
        source=lambda w: source_of(w.collection),
        system=PARAMS["tabulate"]["system"],
        setting=SETTINGS[0],
        split=SPLITS[0],
    message:
        "write the report on {wildcards.collection}"
    script:
        "../scripts/tabulate_report.py"


rule tabulate_catalog:
    input:
        expand("results/report/{collection}/index.html", collection=PARAMS["build"]),
        sql=sql("catalog/*.sql"),
        code=code("catalog"),
    output:
        catalog="results/catalog.duckdb",
    log:
        "logs/tabulate_catalog.log",
    benchmark:
        "logs/benchmarks/tabulate_catalog.tsv"
    message:
        "build the catalog"
    script:
        "../scripts/tabulate_catalog.py"
