# Which questions a system has answered: an official scorer may leave out the others.
rule tabulate_answered:
    input:
        runs=lambda w: plan.runs_of(
            w.collection, plan.systems, task=[t for t in plan.tasks if t == "m2t"]
        ),
        answered=expand(plan.ANSWERED, system=plan.answer_systems, allow_missing=True),
        code=plan.code("tabulate.answered"),
    output:
        answered="results/tables/{collection}/answered.parquet",
    log:
        "logs/tabulate_answered/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_answered/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        systems=plan.answer_systems,
    message:
        "list the answered questions of {wildcards.collection}"
    script:
        "../scripts/tabulate_answered.py"


# A kind of data set may bring statistics of its own: the queries of workflow/sql/tabulate/<kind>/.
rule tabulate_kind:
    input:
        unpack(plan.kind_inputs),
        sql=lambda w: plan.sql(f"tabulate/tables/{plan.kind_family(w.collection)}/{w.table}.sql"),
        code=plan.code("tabulate.table"),
    output:
        tables=multiext("results/tables/{collection}/{table}", ".csv", ".md", ".tex"),
    log:
        "logs/tabulate_kind/{collection}/{table}.log",
    benchmark:
        "logs/benchmarks/tabulate_kind/{collection}.{table}.tsv"
    wildcard_constraints:
        table=plan.any_of(plan.kind_tables("*")),
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        relations=lambda w: sorted(plan.kind_inputs(w)),
        systems=plan.systems,
    message:
        "tabulate the {wildcards.table} of {wildcards.collection}"
    script:
        "../scripts/tabulate_kind.py"


# OVEN's Fig. 6: how well systems know popular and rare entities.
rule tabulate_popularity:
    input:
        intervals="results/tables/{collection}/intervals.parquet",
        sql=plan.sql("tabulate/tables/popularity.sql"),
        code=plan.code("tabulate.drawings"),
    output:
        figure="results/figures/{collection}/popularity.svg",
    log:
        "logs/tabulate_popularity/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_popularity/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        setting=plan.settings[0],
        split=plan.splits[0],
        measure=plan.params["score"]["measures"][0],
        systems=plan.systems,
    message:
        "draw popular and rare entities of {wildcards.collection}"
    script:
        "../scripts/tabulate_popularity.py"
