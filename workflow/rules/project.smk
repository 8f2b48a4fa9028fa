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
    message:
        "index the sections of {wildcards.source}"
    script:
        "../scripts/project_index.py"


rule project_texts:
    input:
        associations="data/parse/{source}/associations.parquet",
        sections="data/parse/{source}/sections.parquet",
        members="data/project/{source}/members.parquet",
        index="data/project/{source}/lucene",
        sql=sql("project/queries.sql", "project/exact.sql", "project/projection.sql"),
        code=code("project"),
    output:
        projection="data/project/{source}/projection.parquet",
    log:
        "logs/project_texts/{source}.log",
    benchmark:
        "logs/benchmarks/project_texts/{source}.tsv"
    threads: 8
    resources:
        mem_mb=4096,
    params:
        spec=entry("project"),
    message:
        "project the texts of {wildcards.source} onto its dump"
    script:
        "../scripts/project_texts.py"
