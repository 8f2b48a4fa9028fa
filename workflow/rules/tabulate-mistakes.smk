from isotope.judge import study


# First answers go out for people to sort, right ones included; what comes back is counted.
rule tabulate_mistakes:
    input:
        unpack(plan.collection_tables),
        runs=lambda w: plan.mistake_runs(w.collection),
        sql=plan.sql("tabulate/study/mistakes.sql"),
        code=plan.code("judge.mistakes"),
    output:
        sample="results/tables/{collection}/mistakes.parquet",
        sheet="results/tables/{collection}/mistakes.csv",
    log:
        "logs/tabulate_mistakes/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_mistakes/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        spec=lambda w: plan.params["tabulate"]["mistakes"],
    message:
        "draw answers on {wildcards.collection} for people to sort"
    script:
        "../scripts/tabulate_mistakes.py"


rule tabulate_sorted:
    input:
        sample="results/tables/{collection}/mistakes.parquet",
        sheets=lambda w: study.sheet_paths(w.collection, "mistakes"),
        sql=plan.sql("tabulate/tables/mistakes_sorted.sql"),
        code=plan.code("judge.mistakes"),
    output:
        tables=multiext("results/tables/{collection}/mistakes_sorted", ".csv", ".md", ".tex"),
    log:
        "logs/tabulate_sorted/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_sorted/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        classes=lambda w: plan.params["tabulate"]["mistakes"]["classes"],
        systems=plan.systems,
    message:
        "count the sorted answers on {wildcards.collection}"
    script:
        "../scripts/tabulate_sorted.py"
