# Where the phase is cut into shards.
if is_cut("project"):

    rule project_texts_gather:
        input:
            pieces=shards("project", ".isotope/project/{source}/{part}/projection.parquet"),
            code=code("gather"),
        output:
            projection="data/project/{source}/projection.parquet",
        log:
            "logs/project_texts_gather/{source}.log",
        benchmark:
            "logs/benchmarks/project_texts_gather/{source}.tsv"
        resources:
            mem_mb=memory("project_texts_gather"),
        message:
            "gather the projection of {wildcards.source}"
        script:
            "../scripts/project_texts_gather.py"
