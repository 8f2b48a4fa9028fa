# Where the phase is cut into shards.
if is_cut("project"):

    rule project_texts_gather:
        input:
            pieces=shards("project", ".isotope/project/{source}/{part}/projection.parquet"),
            code=code("core.shards"),
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


# Its index is that of another phase, and so are its shards.
if is_cut("index"):

    rule project_index_gather:
        input:
            pieces=shards("index", ".isotope/project/{source}/{part}/lucene"),
            code=code("core.lucene"),
        output:
            index=temp(directory("data/project/{source}/lucene")),
        log:
            "logs/project_index_gather/{source}.log",
        benchmark:
            "logs/benchmarks/project_index_gather/{source}.tsv"
        resources:
            mem_mb=memory("project_index_gather"),
        message:
            "merge the indexes of the sections of {wildcards.source}"
        script:
            "../scripts/project_index_gather.py"
