# Only the projection uses the index and the queries: without shards one job makes all three.
if not (shards.are("index") or shards.are("project")):

    use rule job as project_source with:
        """project the texts of {wildcards.source} onto its dump"""
        input:
            associations="data/parse/{source}/associations.parquet",
            sections="data/parse/{source}/sections.parquet",
        output:
            members="data/project/{source}/members.parquet",
            projection="data/project/{source}/projection.parquet",
        threads: jobs.threads(8)
        resources:
            mem_mb=jobs.needs(needs.NEAREST, by_lucene=needs.JAVA_DUCKDB),
        params:
            call="project.match:project_source",
            spec=lambda w: plan.params.project[w.source].spec(),
            language=lambda w: sources.language(w.source),

    ruleorder: project_labels > project_source

else:

    use rule asking as project_queries with:
        """make queries of the texts of {wildcards.source}"""
        input:
            associations="data/parse/{source}/associations.parquet",
        output:
            members="data/project/{source}/members.parquet",
            queries=temp(".isotope/project/{source}/queries.parquet"),
        params:
            call="project.match:prepare_queries",
            language=lambda w: sources.language(w.source),

    # The index has the shards of the index phase, the projection those of this phase.
    use rule job as project_index with:
        """index the sections of {wildcards.source}"""
        input:
            sections="data/parse/{source}/sections.parquet",
        output:
            index=temp(directory(shards.outputs("index", "data/project/{source}/index"))),
        threads: jobs.threads(2 if shards.are("index") else 8)
        resources:
            mem_mb=jobs.needs(needs.SORTS, by_lucene=needs.JAVA, shards="index"),
        params:
            call="project.match:index_sections",
            language=lambda w: sources.language(w.source),
            engine=lambda w: plan.params.project[w.source].engine,

    if shards.are("index"):

        use rule job as project_index_gather with:
            """merge the indexes of the sections of {wildcards.source}"""
            input:
                pieces=shards.gathered("index", "data/project/{source}/index"),
            output:
                index=temp(directory("data/project/{source}/index")),
            resources:
                mem_mb=jobs.needs(needs.MERGES, by_lucene=needs.JAVA_MERGES),
            params:
                call="project.match:gather_index",
                language=lambda w: sources.language(w.source),
                engine=lambda w: plan.params.project[w.source].engine,

    use rule job as project_texts with:
        """project the texts of {wildcards.source} onto its dump"""
        input:
            queries=".isotope/project/{source}/queries.parquet",
            sections="data/parse/{source}/sections.parquet",
            index="data/project/{source}/index",
        output:
            projection=shards.outputs("project", "data/project/{source}/projection.parquet"),
        threads: jobs.threads(8)
        resources:
            mem_mb=jobs.needs(needs.NEAREST, by_lucene=needs.JAVA_DUCKDB, shards="project"),
        params:
            call="project.match:project",
            spec=lambda w: plan.params.project[w.source].spec(),
            language=lambda w: sources.language(w.source),

    if shards.are("project"):

        use rule streaming as project_texts_gather with:
            """gather the projection of {wildcards.source}"""
            input:
                pieces=shards.gathered("project", "data/project/{source}/projection.parquet"),
            output:
                projection="data/project/{source}/projection.parquet",
            params:
                call="project.match:gather_projection",

    ruleorder: project_labels > project_texts


# Labels of a classification data set are the texts, and the names of articles the sections.
use rule job as project_labels with:
    """link the labels of {wildcards.source} to a snapshot"""
    input:
        manifest="data/acquire/{source}/manifest.json",
        sections=lambda w: parsed(sources.recognition(w.source).knowledge, "sections"),
        left_out=lambda w: parsed(sources.recognition(w.source).knowledge, "sections.rejected"),
    output:
        projection="data/project/{source}/projection.parquet",
    wildcard_constraints:
        source=any_of(
            c.source for c in plan.params.collect.values() if getattr(c, "recognition", None)
        ),
    threads: jobs.threads(8)
    resources:
        mem_mb=jobs.needs(needs.COUNTS),
    params:
        call="project.match:project_labels",
