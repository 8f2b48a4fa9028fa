# Only the projection uses the index and the queries: without shards one job makes all three.
if plan.projects_in_one_job:

    rule project_source:
        input:
            associations="data/parse/{source}/associations.parquet",
            sections="data/parse/{source}/sections.parquet",
            sql=plan.sql("project/*.sql"),
            code=plan.code("project.match:project_source"),
        output:
            members="data/project/{source}/members.parquet",
            projection="data/project/{source}/projection.parquet",
        log:
            "logs/project_source/{source}.log",
        benchmark:
            "logs/benchmarks/project_source/{source}.tsv"
        threads: plan.threads(8)
        resources:
            mem_mb=plan.needs(NEAREST, by_lucene=JAVA_DUCKDB),
        params:
            call="project.match:project_source",
            spec=plan.entry("project"),
            language=plan.language_of_source,
        message:
            "project the texts of {wildcards.source} onto its dump"
        script:
            "../scripts/call.py"

    ruleorder: project_labels > project_source

else:

    rule project_queries:
        input:
            associations="data/parse/{source}/associations.parquet",
            sql=plan.sql("project/members.sql", "project/queries.sql"),
            code=plan.code("project.match:prepare_queries"),
        output:
            members="data/project/{source}/members.parquet",
            queries=temp(".isotope/project/{source}/queries.parquet"),
        log:
            "logs/project_queries/{source}.log",
        benchmark:
            "logs/benchmarks/project_queries/{source}.tsv"
        resources:
            mem_mb=plan.needs(DUCKDB),
        params:
            call="project.match:prepare_queries",
            language=plan.language_of_source,
        message:
            "make queries of the texts of {wildcards.source}"
        script:
            "../scripts/call.py"

    # The index has the shards of the index phase, the projection those of this phase.
    rule project_index:
        input:
            sections="data/parse/{source}/sections.parquet",
            sql=plan.sql("project/documents.sql"),
            code=plan.code("project.match:index_sections"),
        output:
            index=plan.piece(
                "index",
                temp(directory("data/project/{source}/index")),
                directory(".isotope/project/{source}/{part}/index"),
            ),
        log:
            plan.part_log("index", "project_index/{source}"),
        benchmark:
            plan.part_benchmark("index", "project_index/{source}")
        threads: plan.threads(2 if plan.is_sharded("index") else 8)
        resources:
            mem_mb=plan.needs(SORTS, by_lucene=JAVA, shards="index"),
        params:
            call="project.match:index_sections",
            part=plan.part,
            language=plan.language_of_source,
            engine=plan.engine_of_source,
        message:
            "index the sections of {wildcards.source}"
        script:
            "../scripts/call.py"

    if plan.is_sharded("index"):

        rule project_index_gather:
            input:
                pieces=plan.part_files("index", ".isotope/project/{source}/{part}/index"),
                code=plan.code("project.match:gather_index"),
            output:
                index=temp(directory("data/project/{source}/index")),
            log:
                "logs/project_index_gather/{source}.log",
            benchmark:
                "logs/benchmarks/project_index_gather/{source}.tsv"
            resources:
                mem_mb=plan.needs(MERGES, by_lucene=JAVA_MERGES),
            params:
                call="project.match:gather_index",
                language=plan.language_of_source,
                engine=plan.engine_of_source,
            message:
                "merge the indexes of the sections of {wildcards.source}"
            script:
                "../scripts/call.py"

    rule project_texts:
        input:
            queries=".isotope/project/{source}/queries.parquet",
            sections="data/parse/{source}/sections.parquet",
            index="data/project/{source}/index",
            sql=plan.sql("project/exact.sql", "project/projection.sql"),
            code=plan.code("project.match:project"),
        output:
            projection=plan.piece(
                "project",
                "data/project/{source}/projection.parquet",
                ".isotope/project/{source}/{part}/projection.parquet",
            ),
        log:
            plan.part_log("project", "project_texts/{source}"),
        benchmark:
            plan.part_benchmark("project", "project_texts/{source}")
        threads: plan.threads(8)
        resources:
            mem_mb=plan.needs(NEAREST, by_lucene=JAVA_DUCKDB, shards="project"),
        params:
            call="project.match:project",
            spec=plan.entry("project"),
            part=plan.part,
            language=plan.language_of_source,
        message:
            "project the texts of {wildcards.source} onto its dump"
        script:
            "../scripts/call.py"

    if plan.is_sharded("project"):

        rule project_texts_gather:
            input:
                pieces=plan.part_files(
                    "project", ".isotope/project/{source}/{part}/projection.parquet"
                ),
                code=plan.code("project.match:gather_projection"),
            output:
                projection="data/project/{source}/projection.parquet",
            log:
                "logs/project_texts_gather/{source}.log",
            benchmark:
                "logs/benchmarks/project_texts_gather/{source}.tsv"
            resources:
                mem_mb=plan.needs(STREAMS),
            params:
                call="project.match:gather_projection",
            message:
                "gather the projection of {wildcards.source}"
            script:
                "../scripts/call.py"

    ruleorder: project_labels > project_texts


# Labels of a classification data set are the texts, and the names of articles the sections.
rule project_labels:
    input:
        manifest="data/acquire/{source}/manifest.json",
        sections=plan.knowledge_table("sections.parquet"),
        left_out=plan.knowledge_table("sections.rejected.parquet"),
        after=plan.label_vocabulary,
        sql=plan.sql("project/labels/*.sql"),
        code=plan.code("project.match:project_labels"),
    output:
        projection="data/project/{source}/projection.parquet",
    log:
        "logs/project_labels/{source}.log",
    benchmark:
        "logs/benchmarks/project_labels/{source}.tsv"
    wildcard_constraints:
        source=plan.any_of(plan.recognition_sources()),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(COUNTS),
    params:
        call="project.match:project_labels",
        spec=plan.recognition,
    message:
        "link the labels of {wildcards.source} to a snapshot"
    script:
        "../scripts/call.py"
