rule project_members:
    input:
        associations="data/parse/{source}/associations.parquet",
        sql=sql("project/members.sql"),
        code=code("sql"),
    output:
        members="data/project/{source}/members.parquet",
    log:
        "logs/project_members/{source}.log",
    benchmark:
        "logs/benchmarks/project_members/{source}.tsv"
    params:
        language=language_of_source,
    message:
        "name the WIT texts of {wildcards.source}"
    script:
        "../scripts/project_members.py"


rule project_index:
    input:
        sections="data/parse/{source}/sections.parquet",
        sql=sql("project/documents.sql"),
        code=code("project"),
    output:
        index=temp(directory("data/project/{source}/lucene")),
    log:
        "logs/project_index/{source}.log",
    benchmark:
        "logs/benchmarks/project_index/{source}.tsv"
    threads: 8
    resources:
        mem_mb=4096,
    params:
        language=language_of_source,
    message:
        "index the sections of {wildcards.source}"
    script:
        "../scripts/project_index.py"


rule project_queries:
    input:
        associations="data/parse/{source}/associations.parquet",
        members="data/project/{source}/members.parquet",
        sql=sql("project/queries.sql"),
        code=code("project"),
    output:
        queries=temp(".isotope/project/{source}/queries.parquet"),
    log:
        "logs/project_queries/{source}.log",
    benchmark:
        "logs/benchmarks/project_queries/{source}.tsv"
    params:
        language=language_of_source,
    message:
        "let the texts of {wildcards.source} ask for their sections"
    script:
        "../scripts/project_queries.py"


rule project_texts_shard:
    input:
        queries=".isotope/project/{source}/queries.parquet",
        sections="data/parse/{source}/sections.parquet",
        index="data/project/{source}/lucene",
        sql=sql("project/exact.sql", "project/projection.sql"),
        code=code("project"),
    output:
        projection=temp(".isotope/project/{source}/{part}/projection.parquet"),
    log:
        "logs/project_texts_shard/{source}/{part}.log",
    benchmark:
        "logs/benchmarks/project_texts_shard/{source}.{part}.tsv"
    threads: 8
    resources:
        mem_mb=4096,
    params:
        spec=entry("project"),
        part=part,
        language=language_of_source,
    message:
        "project the texts of {wildcards.source} onto its dump, shard {wildcards.part}"
    script:
        "../scripts/project_texts_shard.py"


rule project_texts:
    input:
        pieces=shards("project", ".isotope/project/{source}/{part}/projection.parquet"),
        code=code("gather"),
    output:
        projection="data/project/{source}/projection.parquet",
    log:
        "logs/project_texts/{source}.log",
    benchmark:
        "logs/benchmarks/project_texts/{source}.tsv"
    message:
        "gather the projection of {wildcards.source}"
    script:
        "../scripts/project_texts.py"
