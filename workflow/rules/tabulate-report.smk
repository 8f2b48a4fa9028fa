rule tabulate_report:
    input:
        unpack(plan.tabulate_inputs),
        pixels=plan.pixels,
        runs=plan.runs,
        manifest=plan.manifests,
        tables=rules.tabulate_tables.output,
        shown=plan.report_tables,
        templates=plan.templates(),
        code=plan.code("report.collection"),
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
        mem_mb=plan.needs(SHOWS),
    params:
        cell=plan.report_cell,
        told=lambda w: {
            **plan.report_params(),
            "built": plan.build_facts(w),
            "failures": w.collection in plan.explained_collections(),
        },
    message:
        "write the report on {wildcards.collection}"
    script:
        "../scripts/tabulate_report.py"


rule tabulate_cases:
    input:
        unpack(plan.collection_tables),
        pixels=plan.pixels,
        runs=plan.case_runs,
        overlap="results/tables/{collection}/overlap.csv",
        templates=plan.templates(),
        code=plan.code("report.cases"),
    output:
        page="results/report/{collection}/cases.html",
        cases=directory("results/report/{collection}/cases"),
    log:
        "logs/tabulate_cases/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_cases/{collection}.tsv"
    resources:
        mem_mb=plan.needs(SHOWS),
    params:
        cell=plan.report_cell,
        asked=plan.case_params,
    message:
        "write the case studies on {wildcards.collection}"
    script:
        "../scripts/tabulate_cases.py"


rule tabulate_costs:
    input:
        pages=rules.tabulate_report.output,
        cases=rules.tabulate_cases.output.page,
        ledger=plan.crawl_ledger,
        templates=plan.templates(),
        code=plan.code("report.costs"),
    output:
        page="results/report/{collection}/costs.html",
    log:
        "logs/tabulate_costs/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_costs/{collection}.tsv"
    resources:
        mem_mb=plan.needs(SHOWS),
    params:
        cell=plan.report_cell,
    message:
        "write what {wildcards.collection} has cost"
    script:
        "../scripts/tabulate_costs.py"


rule tabulate_overview:
    input:
        pages=expand(
            "results/report/{c}/{page}.html",
            c=plan.params["build"],
            page=["index", "cases", "costs"],
        ),
        changes=plan.since_pages(),
        groups=plan.group_tables(),
        templates=plan.templates(),
        code=plan.code("report.overview"),
    output:
        page="results/report/index.html",
    log:
        "logs/tabulate_overview.log",
    benchmark:
        "logs/benchmarks/tabulate_overview.tsv"
    resources:
        mem_mb=plan.needs(SHOWS),
    params:
        setting=plan.settings[0],
        split=plan.splits[0],
    message:
        "write the front page of the report"
    script:
        "../scripts/tabulate_overview.py"
