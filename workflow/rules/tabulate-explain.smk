from isotope.core.schemas import FIVE_FIELDS


rule tabulate_failures:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        runs=plan.explained_runs,
        witness=plan.concept_inputs,
        sql=plan.sql("tabulate/failures/answers.sql", "tabulate/study/sheet.sql"),
        code=plan.code("explain.failures", "judge.study"),
    output:
        failures="results/tables/{collection}/failures.parquet",
        ranks="results/tables/{collection}/ranks.parquet",
        known="results/tables/{collection}/concepts.parquet",
        rejected="results/tables/{collection}/rejected_objects.parquet",
        study="results/tables/{collection}/study.parquet",
        sheet="results/tables/{collection}/study.csv",
    log:
        "logs/tabulate_failures/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_failures/{collection}.tsv"
    resources:
        mem_mb=plan.needs(SHOWS),
    params:
        outputs=["failures", "ranks", "known", "rejected"],
        spec=plan.explain_params("wordnet", "threshold", "seed", "study"),
        objects=plan.object_file,
    message:
        "explain the failures on {wildcards.collection}"
    script:
        "../scripts/tabulate_failures.py"


rule tabulate_perturbations:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        witness=plan.dictionary,
        code=plan.code("explain.ranks"),
    output:
        perturbed="results/tables/{collection}/perturbations.parquet",
    log:
        "logs/tabulate_perturbations/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_perturbations/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        split=plan.splits[0],
        spec=plan.explain_params("wordnet", "seed", "colour_distance"),
    message:
        "exchange words in the queries of {wildcards.collection}"
    script:
        "../scripts/tabulate_perturbations.py"


rule tabulate_perturbed_dense:
    input:
        perturbed="results/tables/{collection}/perturbations.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        asked=plan.perturbed_run,
        index=f"data/index/{{collection}}/{plan.settings[0]}/{{system}}",
        weights=lambda w: plan.learned_weights(w.collection, plan.query_encoder(w)),
        configs=lambda w: plan.configs_of(plan.query_encoder(w)),
        texts=plan.vectors("texts", "npy"),
        images=plan.vectors("images", "npy"),
        texts_ids=plan.vectors("texts", "ids.parquet"),
        images_ids=plan.vectors("images", "ids.parquet"),
        code=plan.code("explain.ranks"),
    output:
        ranks="results/tables/{collection}/perturbed/{system}.parquet",
    log:
        "logs/tabulate_perturbed_dense/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/tabulate_perturbed_dense/{collection}.{system}.tsv"
    wildcard_constraints:
        system=plan.systems_of("dense"),
    threads: 8
    resources:
        mem_mb=plan.needs(LEARNS),
    params:
        encoded=["texts", "images", "texts_ids", "images_ids"],
        model=lambda w: plan.params["models"][plan.base_model(plan.query_encoder(w))],
        fields=lambda w: plan.params["models"][plan.query_encoder(w)].get("fields", FIVE_FIELDS),
        batch=plan.params["encode"]["batch"],
    message:
        "ask {wildcards.system} the perturbed queries of {wildcards.collection}"
    script:
        "../scripts/tabulate_perturbed_dense.py"


rule tabulate_perturbed_bm25:
    input:
        perturbed="results/tables/{collection}/perturbations.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        asked=plan.perturbed_run,
        index=f"data/index/{{collection}}/{plan.settings[0]}/{{system}}",
        sql=plan.sql("index/texts.sql"),
        code=plan.code("explain.ranks"),
    output:
        ranks="results/tables/{collection}/perturbed/{system}.parquet",
    log:
        "logs/tabulate_perturbed_bm25/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/tabulate_perturbed_bm25/{collection}.{system}.tsv"
    wildcard_constraints:
        system=plan.systems_of("bm25"),
    threads: 8
    resources:
        mem_mb=plan.needs(JAVA),
    params:
        spec=plan.system_params,
        language=plan.caption_language,
    message:
        "ask {wildcards.system} the perturbed queries of {wildcards.collection}"
    script:
        "../scripts/tabulate_perturbed_bm25.py"


rule tabulate_explained:
    input:
        failures="results/tables/{collection}/failures.parquet",
        ranks="results/tables/{collection}/ranks.parquet",
        rejected="results/tables/{collection}/rejected_objects.parquet",
        perturbed=plan.perturbed_ranks,
        sql=expand(plan.project_file("workflow/sql/tabulate/tables/{t}.sql"), t=plan.explained_tables),
        code=plan.code("explain.failures"),
    output:
        tables=expand(
            "results/tables/{{collection}}/{t}.{s}",
            t=plan.explained_tables,
            s=["csv", "md", "tex"],
        ),
    log:
        "logs/tabulate_explained/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_explained/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        names=plan.explained_tables,
        systems=plan.systems,
    message:
        "tabulate the failures on {wildcards.collection}"
    script:
        "../scripts/tabulate_explained.py"


rule tabulate_study:
    input:
        study="results/tables/{collection}/study.parquet",
        sheets=plan.study_sheets,
        sql=expand(plan.project_file("workflow/sql/tabulate/tables/{t}.sql"), t=plan.STUDY_TABLES),
        code=plan.code("judge.study", "explain.failures"),
    output:
        studied="results/tables/{collection}/studied.parquet",
        tables=expand(
            "results/tables/{{collection}}/{t}.{s}", t=plan.STUDY_TABLES, s=["csv", "md", "tex"]
        ),
    log:
        "logs/tabulate_study/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_study/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        names=plan.STUDY_TABLES,
        systems=plan.systems,
        spec=plan.explain_params("study"),
    message:
        "tabulate what people say of the failures on {wildcards.collection}"
    script:
        "../scripts/tabulate_study.py"


rule tabulate_failures_page:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        failures="results/tables/{collection}/failures.parquet",
        known="results/tables/{collection}/concepts.parquet",
        tables=rules.tabulate_explained.output.tables,
        pixels=plan.pixels,
        sql=plan.sql("tabulate/failures/*.sql", "tabulate/report/*.sql"),
        code=plan.code("explain.page"),
    output:
        page="results/report/{collection}/failures.html",
    log:
        "logs/tabulate_failures_page/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_failures_page/{collection}.tsv"
    resources:
        mem_mb=plan.needs(SHOWS),
    params:
        spec=plan.explain_params("shown"),
        names=plan.explained_tables,
    message:
        "show the failures on {wildcards.collection}"
    script:
        "../scripts/tabulate_failures_page.py"
