# Wrong answers go out for people to sort, and what comes back is counted.
rule tabulate_mistakes:
    input:
        unpack(collected),
        runs=lambda w: first_runs(w.collection, SYSTEMS, task="m2t"),
        sql=sql("tabulate/mistakes.sql"),
        code=code("mistakes"),
    output:
        given="results/tables/{collection}/mistakes.parquet",
        sheet="results/tables/{collection}/mistakes.csv",
    log:
        "logs/tabulate_mistakes/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_mistakes/{collection}.tsv"
    resources:
        mem_mb=memory("tabulate_mistakes"),
    params:
        spec=lambda w: PARAMS["tabulate"]["mistakes"],
    message:
        "draw wrong answers on {wildcards.collection} for people to sort"
    script:
        "../scripts/tabulate_mistakes.py"


rule tabulate_sorted:
    input:
        given="results/tables/{collection}/mistakes.parquet",
        sheets=lambda w: study.found_sheets(w.collection, "mistakes"),
        sql=sql("tabulate/study_classes.sql"),
        code=code("mistakes"),
    output:
        tables=multiext("results/tables/{collection}/mistakes_sorted", ".csv", ".md", ".tex"),
    log:
        "logs/tabulate_sorted/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_sorted/{collection}.tsv"
    resources:
        mem_mb=memory("tabulate_sorted"),
    params:
        classes=lambda w: PARAMS["tabulate"]["mistakes"]["classes"],
        systems=SYSTEMS,
    message:
        "count the sorted mistakes on {wildcards.collection}"
    script:
        "../scripts/tabulate_sorted.py"
