# How well WIT and the snapshot agree, where both tell the associations.
rule tabulate_associations:
    input:
        lambda w: f"data/parse/{plan.source_of(w.collection)}/associations.parquet",
        lambda w: f"data/parse/{plan.source_of(w.collection)}/associations.rejected.parquet",
        lambda w: f"data/parse/{plan.source_of(w.collection)}/sections.parquet",
        sql=plan.sql("tabulate/tables/associations*.sql"),
        code=plan.code("tabulate.answered"),
    output:
        agreed=multiext("results/tables/{collection}/associations", ".csv", ".md", ".tex"),
        missed=multiext("results/tables/{collection}/associations_missed", ".csv", ".md", ".tex"),
    log:
        "logs/tabulate_associations/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_associations/{collection}.tsv"
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        language=plan.language,
    message:
        "compare WIT and the snapshot of {wildcards.collection}"
    script:
        "../scripts/tabulate_associations.py"
