# Where the phase is cut into shards.
if plan.is_sharded("project"):

    rule project_texts_gather:
        input:
            pieces=plan.part_files("project", ".isotope/project/{source}/{part}/projection.parquet"),
            code=plan.code("core.shards"),
        output:
            projection="data/project/{source}/projection.parquet",
        log:
            "logs/project_texts_gather/{source}.log",
        benchmark:
            "logs/benchmarks/project_texts_gather/{source}.tsv"
        resources:
            mem_mb=plan.needs(STREAMS),
        message:
            "gather the projection of {wildcards.source}"
        script:
            "../scripts/project_texts_gather.py"


# Its index is that of another phase, and so are its shards.
if plan.is_sharded("index"):

    rule project_index_gather:
        input:
            pieces=plan.part_files("index", ".isotope/project/{source}/{part}/lucene"),
            code=plan.code("core.lucene"),
        output:
            index=temp(directory("data/project/{source}/lucene")),
        log:
            "logs/project_index_gather/{source}.log",
        benchmark:
            "logs/benchmarks/project_index_gather/{source}.tsv"
        resources:
            mem_mb=plan.needs(JAVA_MERGES),
        message:
            "merge the indexes of the sections of {wildcards.source}"
        script:
            "../scripts/project_index_gather.py"
