# Which questions a system has answered: an official scorer may leave out the others.
rule tabulate_answered:
    input:
        runs=lambda w: runs_of(w.collection, SYSTEMS, task=[t for t in TASKS if t == "m2t"]),
        answered=expand(ANSWERED, system=SAYING, allow_missing=True),
        code=code("tabulate.answered"),
    output:
        answered="results/tables/{collection}/answered.parquet",
    log:
        "logs/tabulate_answered/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_answered/{collection}.tsv"
    resources:
        mem_mb=memory("tabulate_answered"),
    params:
        systems=SAYING,
    message:
        "list the answered questions of {wildcards.collection}"
    script:
        "../scripts/tabulate_answered.py"


# A kind of data set may bring statistics of its own: the queries of workflow/sql/tabulate/<kind>/.
rule tabulate_kind:
    input:
        unpack(reads),
        sql=lambda w: sql(f"tabulate/{kind_of(w.collection)}/{w.table}.sql"),
        code=code("tabulate.table"),
    output:
        tables=multiext("results/tables/{collection}/{table}", ".csv", ".md", ".tex"),
    log:
        "logs/tabulate_kind/{collection}/{table}.log",
    benchmark:
        "logs/benchmarks/tabulate_kind/{collection}.{table}.tsv"
    wildcard_constraints:
        table=any_of(kind_tables("*")),
    resources:
        mem_mb=memory("tabulate_kind"),
    params:
        relations=lambda w: sorted(reads(w)),
        systems=SYSTEMS,
    message:
        "tabulate the {wildcards.table} of {wildcards.collection}"
    script:
        "../scripts/tabulate_kind.py"


# OVEN's Fig. 6: how well systems know popular and rare entities.
rule tabulate_popularity:
    input:
        intervals="results/tables/{collection}/intervals.parquet",
        sql=sql("tabulate/popularity.sql"),
        code=code("tabulate.drawings"),
    output:
        figure="results/figures/{collection}/popularity.svg",
    log:
        "logs/tabulate_popularity/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_popularity/{collection}.tsv"
    resources:
        mem_mb=memory("tabulate_popularity"),
    params:
        setting=SETTINGS[0],
        split=SPLITS[0],
        measure=PARAMS["score"]["measures"][0],
        systems=SYSTEMS,
    message:
        "draw popular and rare entities of {wildcards.collection}"
    script:
        "../scripts/tabulate_popularity.py"
