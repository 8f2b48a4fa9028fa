rule project_members:
    input:
        associations="data/parse/{source}/associations.parquet",
        sql=sql("project/members.sql"),
        code=code("core.sql"),
    output:
        members="data/project/{source}/members.parquet",
    log:
        "logs/project_members/{source}.log",
    benchmark:
        "logs/benchmarks/project_members/{source}.tsv"
    resources:
        mem_mb=memory("project_members"),
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
        code=code("project.match"),
    output:
        index=piece(
            "index",
            temp(directory("data/project/{source}/lucene")),
            directory(".isotope/project/{source}/{part}/lucene"),
        ),
    log:
        f"logs/project_index/{{source}}{by_part('index', '/')}.log",
    benchmark:
        f"logs/benchmarks/project_index/{{source}}{by_part('index', '.')}.tsv"
    threads: 2 if is_cut("index") else 8
    resources:
        mem_mb=memory("project_index"),
    params:
        part=part,
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
        code=code("project.match"),
    output:
        queries=temp(".isotope/project/{source}/queries.parquet"),
    log:
        "logs/project_queries/{source}.log",
    benchmark:
        "logs/benchmarks/project_queries/{source}.tsv"
    resources:
        mem_mb=memory("project_queries"),
    params:
        language=language_of_source,
    message:
        "let the texts of {wildcards.source} ask for their sections"
    script:
        "../scripts/project_queries.py"


rule project_texts:
    input:
        queries=".isotope/project/{source}/queries.parquet",
        sections="data/parse/{source}/sections.parquet",
        index="data/project/{source}/lucene",
        sql=sql("project/exact.sql", "project/projection.sql"),
        code=code("project.match"),
    output:
        projection=piece(
            "project",
            "data/project/{source}/projection.parquet",
            ".isotope/project/{source}/{part}/projection.parquet",
        ),
    log:
        f"logs/project_texts/{{source}}{by_part('project', '/')}.log",
    benchmark:
        f"logs/benchmarks/project_texts/{{source}}{by_part('project', '.')}.tsv"
    threads: 8
    resources:
        mem_mb=memory("project_texts"),
    params:
        spec=entry("project"),
        part=part,
        language=language_of_source,
    message:
        "project the texts of {wildcards.source} onto its dump"
    script:
        "../scripts/project_texts.py"
