rule project_members:
    input:
        associations="data/parse/{source}/associations.parquet",
        sql=plan.sql("project/members.sql"),
        code=plan.code("core.sql"),
    output:
        members="data/project/{source}/members.parquet",
    log:
        "logs/project_members/{source}.log",
    benchmark:
        "logs/benchmarks/project_members/{source}.tsv"
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        language=plan.language_of_source,
    message:
        "name the WIT texts of {wildcards.source}"
    script:
        "../scripts/project_members.py"


rule project_index:
    input:
        sections="data/parse/{source}/sections.parquet",
        sql=plan.sql("project/documents.sql"),
        code=plan.code("project.match"),
    output:
        index=plan.piece(
            "index",
            temp(directory("data/project/{source}/lucene")),
            directory(".isotope/project/{source}/{part}/lucene"),
        ),
    log:
        f"logs/project_index/{{source}}{plan.part_suffix('index', '/')}.log",
    benchmark:
        f"logs/benchmarks/project_index/{{source}}{plan.part_suffix('index', '.')}.tsv"
    threads: 2 if plan.is_sharded("index") else 8
    resources:
        mem_mb=plan.needs(JAVA, shards="index"),
    params:
        part=plan.part,
        language=plan.language_of_source,
    message:
        "index the sections of {wildcards.source}"
    script:
        "../scripts/project_index.py"


rule project_queries:
    input:
        associations="data/parse/{source}/associations.parquet",
        members="data/project/{source}/members.parquet",
        sql=plan.sql("project/queries.sql"),
        code=plan.code("project.match"),
    output:
        queries=temp(".isotope/project/{source}/queries.parquet"),
    log:
        "logs/project_queries/{source}.log",
    benchmark:
        "logs/benchmarks/project_queries/{source}.tsv"
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        language=plan.language_of_source,
    message:
        "let the texts of {wildcards.source} ask for their sections"
    script:
        "../scripts/project_queries.py"


rule project_texts:
    input:
        queries=".isotope/project/{source}/queries.parquet",
        sections="data/parse/{source}/sections.parquet",
        index="data/project/{source}/lucene",
        sql=plan.sql("project/exact.sql", "project/projection.sql"),
        code=plan.code("project.match"),
    output:
        projection=plan.piece(
            "project",
            "data/project/{source}/projection.parquet",
            ".isotope/project/{source}/{part}/projection.parquet",
        ),
    log:
        f"logs/project_texts/{{source}}{plan.part_suffix('project', '/')}.log",
    benchmark:
        f"logs/benchmarks/project_texts/{{source}}{plan.part_suffix('project', '.')}.tsv"
    threads: 8
    resources:
        mem_mb=plan.needs(JAVA_DUCKDB, shards="project"),
    params:
        spec=plan.entry("project"),
        part=plan.part,
        language=plan.language_of_source,
    message:
        "project the texts of {wildcards.source} onto its dump"
    script:
        "../scripts/project_texts.py"
