rule tabulate_failures:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        runs=explained_runs,
        witness=objects_and_dictionary,
        sql=sql("tabulate/explain_answers.sql", "tabulate/study.sql"),
        code=code("explain.failures", "judge.study"),
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
        mem_mb=memory("tabulate_failures"),
    params:
        outputs=["failures", "ranks", "known", "rejected"],
        spec=explains("wordnet", "threshold", "seed", "study"),
        objects=told_objects,
    message:
        "explain the failures on {wildcards.collection}"
    script:
        "../scripts/tabulate_failures.py"


rule tabulate_perturbations:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        witness=dictionary,
        code=code("explain.ranks"),
    output:
        perturbed="results/tables/{collection}/perturbations.parquet",
    log:
        "logs/tabulate_perturbations/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_perturbations/{collection}.tsv"
    resources:
        mem_mb=memory("tabulate_perturbations"),
    params:
        split=SPLITS[0],
        spec=explains("wordnet", "seed", "colour_distance"),
    message:
        "exchange words in the queries of {wildcards.collection}"
    script:
        "../scripts/tabulate_perturbations.py"


rule tabulate_perturbed_dense:
    input:
        perturbed="results/tables/{collection}/perturbations.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        asked=asked_run,
        index=f"data/index/{{collection}}/{SETTINGS[0]}/{{system}}",
        weights=lambda w: learned(w.collection, tower(w)),
        configs=lambda w: configs_of(tower(w)),
        texts=vectors("texts", "npy"),
        images=vectors("images", "npy"),
        texts_ids=vectors("texts", "ids.parquet"),
        images_ids=vectors("images", "ids.parquet"),
        code=code("explain.ranks"),
    output:
        ranks="results/tables/{collection}/perturbed/{system}.parquet",
    log:
        "logs/tabulate_perturbed_dense/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/tabulate_perturbed_dense/{collection}.{system}.tsv"
    wildcard_constraints:
        system=systems_of("dense"),
    threads: 8
    resources:
        mem_mb=memory("tabulate_perturbed_dense"),
    params:
        encoded=["texts", "images", "texts_ids", "images_ids"],
        model=lambda w: PARAMS["models"][base(tower(w))],
        fields=lambda w: PARAMS["models"][tower(w)].get("fields", FIVE_FIELDS),
        batch=PARAMS["encode"]["batch"],
    message:
        "ask {wildcards.system} the perturbed queries of {wildcards.collection}"
    script:
        "../scripts/tabulate_perturbed_dense.py"


rule tabulate_perturbed_bm25:
    input:
        perturbed="results/tables/{collection}/perturbations.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        asked=asked_run,
        index=f"data/index/{{collection}}/{SETTINGS[0]}/{{system}}",
        sql=sql("index/texts.sql"),
        code=code("explain.ranks"),
    output:
        ranks="results/tables/{collection}/perturbed/{system}.parquet",
    log:
        "logs/tabulate_perturbed_bm25/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/tabulate_perturbed_bm25/{collection}.{system}.tsv"
    wildcard_constraints:
        system=systems_of("bm25"),
    threads: 8
    resources:
        mem_mb=memory("tabulate_perturbed_bm25"),
    params:
        spec=system,
        language=spoken,
    message:
        "ask {wildcards.system} the perturbed queries of {wildcards.collection}"
    script:
        "../scripts/tabulate_perturbed_bm25.py"


rule tabulate_explained:
    input:
        failures="results/tables/{collection}/failures.parquet",
        ranks="results/tables/{collection}/ranks.parquet",
        rejected="results/tables/{collection}/rejected_objects.parquet",
        perturbed=perturbed_ranks,
        sql=expand(ours("workflow/sql/tabulate/{t}.sql"), t=EXPLAINED),
        code=code("explain.failures"),
    output:
        tables=expand("results/tables/{{collection}}/{t}.{s}", t=EXPLAINED, s=["csv", "md", "tex"]),
    log:
        "logs/tabulate_explained/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_explained/{collection}.tsv"
    resources:
        mem_mb=memory("tabulate_explained"),
    params:
        names=EXPLAINED,
        systems=SYSTEMS,
    message:
        "tabulate the failures on {wildcards.collection}"
    script:
        "../scripts/tabulate_explained.py"


rule tabulate_study:
    input:
        study="results/tables/{collection}/study.parquet",
        sheets=study_sheets,
        sql=expand(ours("workflow/sql/tabulate/{t}.sql"), t=STUDIED),
        code=code("judge.study", "explain.failures"),
    output:
        studied="results/tables/{collection}/studied.parquet",
        tables=expand("results/tables/{{collection}}/{t}.{s}", t=STUDIED, s=["csv", "md", "tex"]),
    log:
        "logs/tabulate_study/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_study/{collection}.tsv"
    resources:
        mem_mb=memory("tabulate_study"),
    params:
        names=STUDIED,
        systems=SYSTEMS,
        spec=explains("study"),
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
        pixels=pixels,
        sql=sql("tabulate/failures_*.sql", "tabulate/report_*.sql"),
        code=code("explain.page"),
    output:
        page="results/report/{collection}/failures.html",
    log:
        "logs/tabulate_failures_page/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_failures_page/{collection}.tsv"
    resources:
        mem_mb=memory("tabulate_failures_page"),
    params:
        spec=explains("shown"),
        names=EXPLAINED,
    message:
        "show the failures on {wildcards.collection}"
    script:
        "../scripts/tabulate_failures_page.py"
