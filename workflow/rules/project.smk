# Only the projection uses the index and the queries: without shards one job makes all three.
if plan.projects_in_one_job:

    use rule job as project_source with:
        """project the texts of {wildcards.source} onto its dump"""
        input:
            associations="data/parse/{source}/associations.parquet",
            sections="data/parse/{source}/sections.parquet",
            sql=plan.sql("project/*.sql"),
        output:
            members="data/project/{source}/members.parquet",
            projection="data/project/{source}/projection.parquet",
        threads: plan.threads(8)
        resources:
            mem_mb=plan.needs(NEAREST, by_lucene=JAVA_DUCKDB),
        params:
            call="project.match:project_source",
            spec=plan.entry("project"),
            language=plan.language_of_source,

    ruleorder: project_labels > project_source

else:

    use rule job as project_queries with:
        """make queries of the texts of {wildcards.source}"""
        input:
            associations="data/parse/{source}/associations.parquet",
            sql=plan.sql("project/members.sql", "project/queries.sql"),
        output:
            members="data/project/{source}/members.parquet",
            queries=temp(".isotope/project/{source}/queries.parquet"),
        resources:
            mem_mb=plan.needs(DUCKDB),
        params:
            call="project.match:prepare_queries",
            language=plan.language_of_source,

    # The index has the shards of the index phase, the projection those of this phase.
    use rule job as project_index with:
        """index the sections of {wildcards.source}"""
        input:
            sections="data/parse/{source}/sections.parquet",
            sql=plan.sql("project/documents.sql"),
        output:
            index=plan.piece(
                "index",
                temp(directory("data/project/{source}/index")),
                directory(".isotope/project/{source}/{part}/index"),
            ),
        threads: plan.threads(2 if plan.is_sharded("index") else 8)
        resources:
            mem_mb=plan.needs(SORTS, by_lucene=JAVA, shards="index"),
        params:
            call="project.match:index_sections",
            part=plan.part,
            language=plan.language_of_source,
            engine=plan.engine_of_source,

    if plan.is_sharded("index"):

        use rule job as project_index_gather with:
            """merge the indexes of the sections of {wildcards.source}"""
            input:
                pieces=plan.part_files("index", ".isotope/project/{source}/{part}/index"),
            output:
                index=temp(directory("data/project/{source}/index")),
            resources:
                mem_mb=plan.needs(MERGES, by_lucene=JAVA_MERGES),
            params:
                call="project.match:gather_index",
                language=plan.language_of_source,
                engine=plan.engine_of_source,

    use rule job as project_texts with:
        """project the texts of {wildcards.source} onto its dump"""
        input:
            queries=".isotope/project/{source}/queries.parquet",
            sections="data/parse/{source}/sections.parquet",
            index="data/project/{source}/index",
            sql=plan.sql("project/exact.sql", "project/projection.sql"),
        output:
            projection=plan.piece(
                "project",
                "data/project/{source}/projection.parquet",
                ".isotope/project/{source}/{part}/projection.parquet",
            ),
        threads: plan.threads(8)
        resources:
            mem_mb=plan.needs(NEAREST, by_lucene=JAVA_DUCKDB, shards="project"),
        params:
            call="project.match:project",
            spec=plan.entry("project"),
            part=plan.part,
            language=plan.language_of_source,

    if plan.is_sharded("project"):

        use rule job as project_texts_gather with:
            """gather the projection of {wildcards.source}"""
            input:
                pieces=plan.part_files(
                    "project", ".isotope/project/{source}/{part}/projection.parquet"
                ),
            output:
                projection="data/project/{source}/projection.parquet",
            resources:
                mem_mb=plan.needs(STREAMS),
            params:
                call="project.match:gather_projection",

    ruleorder: project_labels > project_texts


# Labels of a classification data set are the texts, and the names of articles the sections.
use rule job as project_labels with:
    """link the labels of {wildcards.source} to a snapshot"""
    input:
        manifest="data/acquire/{source}/manifest.json",
        sections=plan.knowledge_table("sections.parquet"),
        left_out=plan.knowledge_table("sections.rejected.parquet"),
        after=plan.label_vocabulary,
        sql=plan.sql("project/labels/*.sql"),
    output:
        projection="data/project/{source}/projection.parquet",
    wildcard_constraints:
        source=plan.any_of(plan.recognition_sources()),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(COUNTS),
    params:
        call="project.match:project_labels",
        spec=plan.recognition,
