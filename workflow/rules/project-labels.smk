# The labels of a classification data set stand for texts, and the snapshot's names for its sections.
rule project_labels:
    input:
        manifest="data/acquire/{source}/manifest.json",
        sections=lambda w: f"data/parse/{plan.recognition_of(w.source)['knowledge']}/sections.parquet",
        left_out=lambda w: f"data/parse/{plan.recognition_of(w.source)['knowledge']}/sections.rejected.parquet",
        vocabulary=lambda w: plan.vocabulary(
            plan.recognition_of(w.source).get("tokenizer", "words")
        ),
        sql=plan.sql("project/labels/*.sql"),
        code=plan.code("project.labels"),
    output:
        projection="data/project/{source}/projection.parquet",
    log:
        "logs/project_labels/{source}.log",
    benchmark:
        "logs/benchmarks/project_labels/{source}.tsv"
    wildcard_constraints:
        source=plan.any_of(plan.recognition_sources()),
    threads: 8
    resources:
        mem_mb=plan.needs(JAVA),
    params:
        spec=lambda w: plan.recognition_of(w.source),
    message:
        "link the labels of {wildcards.source} to a snapshot"
    script:
        "../scripts/project_labels.py"


ruleorder: project_labels > project_texts
