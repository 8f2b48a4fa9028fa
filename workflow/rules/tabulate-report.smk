rule tabulate_report:
    input:
        unpack(tabulated),
        pixels=pixels,
        runs=runs,
        manifest=cited,
        tables=rules.tabulate_tables.output,
        shown=shown,
        templates=templates(),
        code=code("report.collection"),
    output:
        report=multiext(
            "results/report/{collection}/",
            "index.html",
            "collection.html",
            "systems.html",
            "cite.html",
        ),
    log:
        "logs/tabulate_report/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_report/{collection}.tsv"
    resources:
        mem_mb=memory("tabulate_report"),
    params:
        cell=cell,
        told=lambda w: {**told(), "built": built(w), "failures": w.collection in explained()},
    message:
        "write the report on {wildcards.collection}"
    script:
        "../scripts/tabulate_report.py"


rule tabulate_cases:
    input:
        unpack(collected),
        pixels=pixels,
        runs=case_runs,
        overlap="results/tables/{collection}/overlap.csv",
        templates=templates(),
        code=code("report.cases"),
    output:
        page="results/report/{collection}/cases.html",
        cases=directory("results/report/{collection}/cases"),
    log:
        "logs/tabulate_cases/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_cases/{collection}.tsv"
    resources:
        mem_mb=memory("tabulate_cases"),
    params:
        cell=cell,
        asked=case_params,
    message:
        "write the case studies on {wildcards.collection}"
    script:
        "../scripts/tabulate_cases.py"


rule tabulate_costs:
    input:
        pages=rules.tabulate_report.output,
        cases=rules.tabulate_cases.output.page,
        ledger=crawl_ledger,
        templates=templates(),
        code=code("report.costs"),
    output:
        page="results/report/{collection}/costs.html",
    log:
        "logs/tabulate_costs/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_costs/{collection}.tsv"
    resources:
        mem_mb=memory("tabulate_costs"),
    params:
        cell=cell,
    message:
        "write what {wildcards.collection} has cost"
    script:
        "../scripts/tabulate_costs.py"


rule tabulate_overview:
    input:
        pages=expand(
            "results/report/{c}/{page}.html", c=PARAMS["build"], page=["index", "cases", "costs"]
        ),
        changes=changes(),
        groups=grouped(),
        templates=templates(),
        code=code("report.overview"),
    output:
        page="results/report/index.html",
    log:
        "logs/tabulate_overview.log",
    benchmark:
        "logs/benchmarks/tabulate_overview.tsv"
    resources:
        mem_mb=memory("tabulate_overview"),
    params:
        setting=SETTINGS[0],
        split=SPLITS[0],
    message:
        "write the front page of the report"
    script:
        "../scripts/tabulate_overview.py"
