# Tokens, means with intervals, subsets of the pool, first hits: the data of tables and figures.
rule tabulate_tokens:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        after=plan.vocabularies(),
        code=plan.code("tabulate.tokens:count_tokens"),
    output:
        out="results/tables/{collection}/tokens.parquet",
    log:
        "logs/tabulate_tokens/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_tokens/{collection}.tsv"
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(ENCODES),
    params:
        call="tabulate.tokens:count_tokens",
        tokenizers=plan.params["tabulate"]["tokenizers"],
        language=plan.caption_language,
    message:
        "count the tokens of {wildcards.collection}"
    script:
        "../scripts/call.py"


rule tabulate_intervals:
    input:
        unpack(plan.collection_tables),
        scores="results/score/{collection}.parquet",
        after=plan.fact_sources,
        sql=plan.sql("tabulate/strata/*.sql"),
        code=plan.code("tabulate.strata:write_intervals"),
    output:
        out="results/tables/{collection}/intervals.parquet",
    log:
        "logs/tabulate_intervals/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_intervals/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="tabulate.strata:write_intervals",
        collected=["texts", "images", "qrels"],
        facts=plan.facts,
        language=plan.caption_language,
        monthly_views=plan.params["tabulate"]["monthly_views"],
        resampling={**plan.resampling, "gains": plan.params["tabulate"]["gains"]},
    message:
        "bootstrap intervals of means on {wildcards.collection}"
    script:
        "../scripts/call.py"


rule tabulate_largest_pool:
    input:
        unpack(plan.collection_tables),
        runs=plan.top_runs,
        sql=plan.sql("tabulate/subsets/*.sql"),
        code=plan.code("tabulate.runs:read_largest_pool"),
    output:
        subsets="results/tables/{collection}/subsets.parquet",
        top_hits="results/tables/{collection}/tops.parquet",
    log:
        "logs/tabulate_largest_pool/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_largest_pool/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="tabulate.runs:read_largest_pool",
        collected=["texts", "images", "qrels"],
        independent=plan.independent_systems,
        sizes=plan.params["tabulate"]["sizes"],
        measures=plan.params["score"]["measures"],
        depth=plan.params["search"]["depth"],
        positives=lambda w: plan.kind_family(w.collection) == "oven",
        overlap=plan.params["tabulate"]["overlap"],
    message:
        "score the runs on {wildcards.collection} in smaller pools and list their first hits"
    script:
        "../scripts/call.py"


# The questions that a system has answered: an official scorer may leave out the others.
rule tabulate_answered:
    input:
        runs=plan.promotion_runs,
        answered=expand(plan.ANSWERED, system=plan.answer_systems, allow_missing=True),
        code=plan.code("tabulate.runs:write_answered"),
    output:
        out="results/tables/{collection}/answered.parquet",
    log:
        "logs/tabulate_answered/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_answered/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="tabulate.runs:write_answered",
    message:
        "list the answered questions of {wildcards.collection}"
    script:
        "../scripts/call.py"


# Styles and objects of images, by models.
rule tabulate_styles:
    input:
        vectors=plan.style_inputs("npy"),
        ids=plan.style_inputs("ids.parquet"),
        weights=plan.style_inputs("weights"),
        after=plan.style_configs,
        code=plan.style_code,
    output:
        out="results/tables/{collection}/styles.parquet",
    log:
        "logs/tabulate_styles/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_styles/{collection}.tsv"
    resources:
        mem_mb=plan.needs(ENCODES),
    params:
        call="tabulate.styles:styles_table",
        model=plan.style_model,
        # Functions: Snakemake would take the braces of a text for wildcards.
        classes=lambda w: plan.styles["classes"],
        prompts=lambda w: plan.styles["prompts"],
    message:
        "classify the styles of the images of {wildcards.collection}"
    script:
        "../scripts/call.py"


rule tabulate_objects:
    input:
        pixels=plan.pixels,
        after=plan.detector_files,
        code=plan.code("explain.objects:find_objects"),
    output:
        out="results/tables/{collection}/objects.parquet",
    log:
        "logs/tabulate_objects/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_objects/{collection}.tsv"
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(ENCODES),
    params:
        call="explain.objects:find_objects",
        detector=plan.detector,
    message:
        "detect objects in the images of {wildcards.collection}"
    script:
        "../scripts/call.py"


# Captions by people and by models, and people's choices between models' captions.
rule tabulate_captions:
    input:
        texts="data/collect/{collection}/texts.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        sql=plan.sql("tabulate/captions/tokens.sql"),
        code=plan.code("tabulate.captions:captions_table"),
    output:
        out="results/tables/{collection}/captions.parquet",
    log:
        "logs/tabulate_captions/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_captions/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="tabulate.captions:captions_table",
    message:
        "compare the captions of {wildcards.collection}"
    script:
        "../scripts/call.py"


rule tabulate_captioners:
    input:
        unpack(plan.collection_tables),
        after=lambda w: plan.caption_files(w.collection),
        sql=plan.sql("tabulate/captions/tokens.sql"),
        code=plan.code("tabulate.captions:captioners_table"),
    output:
        out="results/tables/{collection}/captioners.parquet",
    log:
        "logs/tabulate_captioners/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_captioners/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="tabulate.captions:captioners_table",
        collected=["texts", "images", "qrels"],
        captioners=lambda w: plan.caption_sources(w.collection),
        languages=lambda w: plan.languages_of(w.collection),
    message:
        "score captions by models against those of {wildcards.collection}"
    script:
        "../scripts/call.py"


rule tabulate_choices:
    input:
        captioners="results/tables/{collection}/captioners.parquet",
        images="data/collect/{collection}/images.parquet",
        files=lambda w: plan.choice_files(w.collection),
        code=plan.code("tabulate.side_by_side:choices_table"),
    output:
        out="results/tables/{collection}/side_by_side.parquet",
    log:
        "logs/tabulate_choices/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_choices/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="tabulate.side_by_side:choices_table",
        languages=lambda w: plan.languages_of(w.collection),
    message:
        "count choices between captions of {wildcards.collection}"
    script:
        "../scripts/call.py"


rule tabulate_correlations:
    input:
        choices=lambda w: plan.member_tables(w.group, "side_by_side"),
        captioners=lambda w: plan.member_tables(w.group, "captioners"),
        code=plan.code("tabulate.side_by_side:correlations"),
    output:
        out="results/tables/{group}/correlations.parquet",
    log:
        "logs/tabulate_correlations/{group}.log",
    benchmark:
        "logs/benchmarks/tabulate_correlations/{group}.tsv"
    wildcard_constraints:
        group=plan.any_of([*plan.params["build"], *plan.groups]),
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        call="tabulate.side_by_side:correlations",
    message:
        "correlate choices with CIDEr on {wildcards.group}"
    script:
        "../scripts/call.py"


# Failures are explained by the objects of the pictures; perturbed queries are searched again.
rule tabulate_failures:
    input:
        unpack(plan.collection_tables),
        runs=plan.explained_runs,
        after=plan.concept_inputs,
        sql=plan.sql("tabulate/failures/answers.sql", "tabulate/study/sheet.sql"),
        code=plan.code("explain.failures:explain_collection"),
    output:
        failures="results/tables/{collection}/failures.parquet",
        ranks="results/tables/{collection}/ranks.parquet",
        concepts="results/tables/{collection}/concepts.parquet",
        rejected="results/tables/{collection}/rejected_objects.parquet",
        sample="results/tables/{collection}/study.parquet",
        sheet="results/tables/{collection}/study.csv",
        perturbations="results/tables/{collection}/perturbations.parquet",
    log:
        "logs/tabulate_failures/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_failures/{collection}.tsv"
    wildcard_constraints:
        collection=plan.any_of(plan.params["tabulate"]["explain"]),
    resources:
        mem_mb=plan.needs(SHOWS),
    params:
        call="explain.failures:explain_collection",
        collected=["texts", "images", "qrels"],
        split=plan.splits[0],
        settings=plan.explain_params(
            "wordnet", "threshold", "seed", "study", "colour_distance", "match"
        ),
        objects=plan.object_file,
    message:
        "explain the failures on {wildcards.collection}"
    script:
        "../scripts/call.py"


# The ranks of right answers for collections without explained failures.
rule tabulate_ranks:
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        runs=plan.explained_runs,
        sql=plan.sql("tabulate/failures/answers.sql"),
        code=plan.code("explain.failures:rank_answers"),
    output:
        out="results/tables/{collection}/ranks.parquet",
    log:
        "logs/tabulate_ranks/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_ranks/{collection}.tsv"
    wildcard_constraints:
        collection=plan.any_of(plan.ranking_collections()),
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        call="explain.failures:rank_answers",
    message:
        "rank the right answers on {wildcards.collection}"
    script:
        "../scripts/call.py"


rule tabulate_perturbed_dense:
    input:
        perturbed="results/tables/{collection}/perturbations.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        run=plan.perturbed_run,
        index=f"data/index/{{collection}}/{plan.settings[0]}/{{system}}",
        weights=plan.query_weights,
        texts=plan.vectors("texts", "npy"),
        images=plan.vectors("images", "npy"),
        texts_ids=plan.vectors("texts", "ids.parquet"),
        images_ids=plan.vectors("images", "ids.parquet"),
        after=plan.query_configs,
        code=plan.encoder_code("explain.ranks:rank_perturbed_dense"),
    output:
        out="results/tables/{collection}/perturbed/{system}.parquet",
    log:
        "logs/tabulate_perturbed_dense/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/tabulate_perturbed_dense/{collection}/{system}.tsv"
    wildcard_constraints:
        system=plan.systems_of("dense"),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(LEARNS),
    params:
        call="explain.ranks:rank_perturbed_dense",
        encoded=["texts", "images", "texts_ids", "images_ids"],
        model=plan.query_model,
        fields=plan.query_fields,
        batch=plan.params["encode"]["batch"],
    message:
        "rank the perturbed queries of {wildcards.collection} by {wildcards.system}"
    script:
        "../scripts/call.py"


rule tabulate_perturbed_bm25:
    input:
        perturbed="results/tables/{collection}/perturbations.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        run=plan.perturbed_run,
        index=f"data/index/{{collection}}/{plan.settings[0]}/{{system}}",
        sql=plan.sql("index/texts.sql"),
        code=plan.code("explain.ranks:rank_perturbed_bm25"),
    output:
        out="results/tables/{collection}/perturbed/{system}.parquet",
    log:
        "logs/tabulate_perturbed_bm25/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/tabulate_perturbed_bm25/{collection}/{system}.tsv"
    wildcard_constraints:
        system=plan.systems_of("bm25"),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(SEARCHES, by_lucene=JAVA, reads=["perturbed"]),
    params:
        call="explain.ranks:rank_perturbed_bm25",
        spec=plan.word_params,
        language=plan.caption_language,
    message:
        "rank the perturbed queries of {wildcards.collection} by {wildcards.system}"
    script:
        "../scripts/call.py"


# Assessors' judgements of failures and of first answers, from completed sheets.
rule tabulate_study:
    input:
        sample="results/tables/{collection}/study.parquet",
        sheets=plan.study_sheets,
        code=plan.code("judge.study:write_study"),
    output:
        out="results/tables/{collection}/studied.parquet",
    log:
        "logs/tabulate_study/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_study/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="judge.study:write_study",
        classes=lambda w: plan.study_params(w)["classes"],
        alternative=lambda w: plan.study_params(w).get("alternative", ""),
    message:
        "read the judgements of failures on {wildcards.collection}"
    script:
        "../scripts/call.py"


rule tabulate_mistakes:
    input:
        unpack(plan.collection_tables),
        runs=lambda w: plan.mistake_runs(w.collection),
        sql=plan.sql("tabulate/study/mistakes.sql"),
        code=plan.code("judge.study:write_mistakes"),
    output:
        sample="results/tables/{collection}/mistakes.parquet",
        sheet="results/tables/{collection}/mistakes.csv",
    log:
        "logs/tabulate_mistakes/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_mistakes/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="judge.study:write_mistakes",
        collected=["texts", "images", "qrels"],
        spec=plan.mistakes,
        withheld=plan.unjudged,
    message:
        "draw answers on {wildcards.collection} for people to sort"
    script:
        "../scripts/call.py"


rule tabulate_sorted:
    input:
        sample="results/tables/{collection}/mistakes.parquet",
        sheets=lambda w: plan.mistake_sheets(w.collection),
        sql=plan.sql("tabulate/tables/mistakes_sorted.sql"),
        code=plan.code("judge.study:tabulate_mistakes"),
    output:
        multiext("results/tables/{collection}/mistakes_sorted", ".csv", ".md", ".tex"),
    log:
        "logs/tabulate_sorted/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_sorted/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="judge.study:tabulate_mistakes",
        stem="results/tables/{collection}/mistakes_sorted",
        # A function: Snakemake would take the braces of a text for wildcards.
        classes=lambda w: plan.mistakes["classes"],
        systems=plan.systems,
    message:
        "count the sorted answers on {wildcards.collection}"
    script:
        "../scripts/call.py"


# All tables and figures that exhibits.yaml describes: a rule for each collection and each group,
# since their exhibits differ.
for rule_name, subject in plan.tabulated().items():

    rule:
        name:
            rule_name
        input:
            curves=plan.exhibit_curves(subject),
            after=plan.exhibit_sources(subject),
            sql=plan.exhibit_queries(subject),
            code=plan.code("tabulate.exhibits:tabulate_exhibits"),
        output:
            plan.exhibit_files(subject),
        log:
            f"logs/tabulate_tables/{subject}.log",
        benchmark:
            f"logs/benchmarks/tabulate_tables/{subject}.tsv"
        resources:
            mem_mb=plan.needs(DUCKDB, reads=["after"]),
        params:
            call="tabulate.exhibits:tabulate_exhibits",
            exhibits=plan.exhibit_recipes(subject),
            scores=plan.exhibit_scores(subject),
            tables_folder=plan.exhibit_folder("tables", subject),
            figures_folder=plan.exhibit_folder("figures", subject),
        message:
            f"tabulate {subject}"
        script:
            "../scripts/call.py"


# Changes since an earlier snapshot, and the losses of systems that were built on it.
rule tabulate_changes:
    input:
        before=lambda w: plan.comparison_tables(w.earlier),
        later=lambda w: plan.comparison_tables(w.collection),
        sql=plan.sql("tabulate/since/changes/*.sql", "tabulate/tables/snapshot_*.sql"),
        code=plan.code("tabulate.since:compare_snapshots"),
    output:
        expand(
            "results/tables/{{collection}}/since/{{earlier}}/{t}.{s}",
            t=plan.CHANGE_TABLES,
            s=["csv", "md", "tex"],
        ),
        changes="results/tables/{collection}/since/{earlier}/changes.parquet",
        identities="results/tables/{collection}/since/{earlier}/identities.parquet",
    log:
        "logs/tabulate_changes/{collection}.{earlier}.log",
    benchmark:
        "logs/benchmarks/tabulate_changes/{collection}.{earlier}.tsv"
    wildcard_constraints:
        earlier=plan.any_of(plan.collections()),
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        call="tabulate.since:compare_snapshots",
        stems=[f"results/tables/{{collection}}/since/{{earlier}}/{t}" for t in plan.CHANGE_TABLES],
    message:
        "compare {wildcards.collection} with {wildcards.earlier}"
    script:
        "../scripts/call.py"


rule tabulate_temporal:
    input:
        before_qrels="data/collect/{earlier}/qrels.parquet",
        after_qrels="data/collect/{collection}/qrels.parquet",
        changes="results/tables/{collection}/since/{earlier}/changes.parquet",
        identities="results/tables/{collection}/since/{earlier}/identities.parquet",
        before_scores="results/score/{earlier}.parquet",
        after_scores="results/score/{collection}.parquet",
        runs=plan.stale_runs,
        sql=plan.sql("tabulate/tables/temporal.sql", "tabulate/since/queries.sql"),
        code=plan.code("tabulate.since:write_temporal"),
    output:
        multiext("results/tables/{collection}/since/{earlier}/temporal", ".csv", ".md", ".tex"),
        drops="results/tables/{collection}/since/{earlier}/temporal.parquet",
        figure="results/figures/{collection}/since/{earlier}/temporal.svg",
    log:
        "logs/tabulate_temporal/{collection}.{earlier}.log",
    benchmark:
        "logs/benchmarks/tabulate_temporal/{collection}.{earlier}.tsv"
    wildcard_constraints:
        earlier=plan.any_of(plan.params["build"]),
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        call="tabulate.since:write_temporal",
        reads=[
            "before_qrels",
            "after_qrels",
            "changes",
            "identities",
            "before_scores",
            "after_scores",
        ],
        query_params=plan.temporal_params(),
        resampling=plan.resampling,
    message:
        "compare systems of {wildcards.earlier} with those of {wildcards.collection}"
    script:
        "../scripts/call.py"


# The report: pages of a comparison, of failures, of a collection, and of the whole site.
rule tabulate_since_page:
    input:
        changes="results/tables/{collection}/since/{earlier}/changes.parquet",
        before=lambda w: plan.comparison_tables(w.earlier),
        later=lambda w: plan.comparison_tables(w.collection),
        before_pixels=lambda w: plan.pictures_of(w.earlier),
        later_pixels=lambda w: plan.pictures_of(w.collection),
        after=expand(
            "results/tables/{{collection}}/since/{{earlier}}/{t}.csv", t=plan.CHANGE_TABLES
        ),
        sql=plan.sql("tabulate/since/*.sql", "tabulate/report/pixels.sql"),
        templates=plan.templates(),
        code=plan.code("report.since:write_changes_page"),
    output:
        page="results/report/{collection}/since/{earlier}.html",
    log:
        "logs/tabulate_since_page/{collection}.{earlier}.log",
    benchmark:
        "logs/benchmarks/tabulate_since_page/{collection}.{earlier}.tsv"
    wildcard_constraints:
        earlier=plan.any_of(plan.collections()),
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        call="report.since:write_changes_page",
        collection_name="{collection}",
    message:
        "show the changes in {wildcards.collection} since {wildcards.earlier}"
    script:
        "../scripts/call.py"


rule tabulate_failures_page:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        failures="results/tables/{collection}/failures.parquet",
        concepts="results/tables/{collection}/concepts.parquet",
        tables=lambda w: plan.explained_tables(w.collection),
        pixels=plan.pixels,
        sql=plan.sql("tabulate/failures/*.sql", "tabulate/report/*.sql"),
        templates=plan.templates(),
        code=plan.code("explain.page:write_failures_page"),
    output:
        page="results/report/{collection}/failures.html",
    log:
        "logs/tabulate_failures_page/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_failures_page/{collection}.tsv"
    resources:
        mem_mb=plan.needs(SHOWS),
    params:
        call="explain.page:write_failures_page",
        scope=plan.report_scope,
        shown=lambda w: plan.params["tabulate"]["explain"][w.collection]["shown"],
    message:
        "show the failures on {wildcards.collection}"
    script:
        "../scripts/call.py"


rule tabulate_report:
    input:
        exhibits=plan.report_tables,
        overlap="results/tables/{collection}/overlap.csv",
        scores="results/score/{collection}.parquet",
        significance="results/score/{collection}.significance.parquet",
        after=plan.report_sources,
        sql=plan.sql("tabulate/report/*.sql", "tabulate/cases/*.sql", "index/*.sql"),
        templates=plan.templates(),
        code=plan.code("report.collection:write_report"),
    output:
        expand("results/report/{{collection}}/{page}.html", page=plan.report_pages),
        cases_folder=directory("results/report/{collection}/cases"),
    log:
        "logs/tabulate_report/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_report/{collection}.tsv"
    resources:
        mem_mb=plan.needs(SHOWS_WORDS),
    params:
        call="report.collection:write_report",
        collection_name="{collection}",
        scope=plan.report_scope,
        facts=plan.report_facts,
        case_studies=plan.case_params,
        queries=plan.query_params,
        scored=["scores", "significance"],
        folder="results/report/{collection}",
    message:
        "write the report on {wildcards.collection}"
    script:
        "../scripts/call.py"


# The numbers of a report by other people's tools. A difference stands on the pages, which come
# after it, and then fails the run.
rule tabulate_verification:
    input:
        after=lambda w: ends.verified(w.collection),
        sql=plan.sql("index/*.sql"),
        code=plan.code("verify.verify:verify_collection"),
    output:
        record=plan.VERIFIED,
    log:
        "logs/tabulate_verification/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_verification/{collection}.tsv"
    wildcard_constraints:
        collection=plan.any_of(plan.params["build"]),
    resources:
        mem_mb=plan.needs(VERIFIES, reads=["after"]),
    params:
        call="verify.verify:verify_collection",
        collection_name="{collection}",
        spec=plan.verified_spec,
        checks=plan.verified["checks"],
        sample=plan.verified["sample"],
    message:
        "verify {wildcards.collection} by other people's tools"
    script:
        "../scripts/call.py"


rule tabulate_front_pages:
    input:
        exhibits=plan.report_tables,
        record=plan.verification,
        after=plan.report_sources,
        sql=plan.sql("tabulate/report/*.sql"),
        templates=plan.templates(),
        code=plan.code("report.collection:write_front_pages"),
    output:
        expand("results/report/{{collection}}/{page}.html", page=plan.FIRST_PAGES),
    log:
        "logs/tabulate_front_pages/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_front_pages/{collection}.tsv"
    resources:
        mem_mb=plan.needs(SHOWS),
    params:
        call="report.collection:write_front_pages",
        collection_name="{collection}",
        scope=plan.report_scope,
        facts=plan.report_facts,
        folder="results/report/{collection}",
    message:
        "write the first pages of the report on {wildcards.collection}"
    script:
        "../scripts/call.py"


rule tabulate_confirmed:
    input:
        record=plan.VERIFIED,
        after=expand("results/report/{{collection}}/{page}.html", page=plan.FIRST_PAGES),
        code=plan.code("verify.verify:demand_confirmed"),
    output:
        told=plan.CONFIRMED,
    log:
        "logs/tabulate_confirmed/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_confirmed/{collection}.tsv"
    resources:
        mem_mb=plan.needs(STREAMS),
    params:
        call="verify.verify:demand_confirmed",
    message:
        "demand that no number of {wildcards.collection} differs"
    script:
        "../scripts/call.py"


# Suggestions: how many are right, how sure, what editors made of them.
rule tabulate_suggest:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        sections="results/suggest/{collection}/sections.parquet",
        scored="results/suggest/{collection}/scored.parquet",
        rejected="results/suggest/{collection}/rejected.parquet",
        feed="results/suggest/{collection}/feed.parquet",
        calibration="results/suggest/{collection}/calibration.json",
        ought="results/suggest/{collection}/ought.json",
        pictures="results/suggest/{collection}/pictures.parquet",
        sheet="results/suggest/{collection}/sheet.parquet",
        taken_up=plan.taken_up_of,
        image_vectors=plan.suggest_vectors("images", "npy"),
        image_ids=plan.suggest_vectors("images", "ids.parquet"),
        pixels=plan.pixels,
        judgements=plan.verdict_sheets,
        sql=plan.sql("suggest/**/*.sql"),
        templates=plan.templates(),
        code=plan.code("suggest.measure.page:write_page"),
    output:
        page="results/report/{collection}/suggest.html",
        tables_folder=directory("results/tables/{collection}/suggest"),
        figures_folder=directory("results/figures/{collection}/suggest"),
    log:
        "logs/tabulate_suggest/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_suggest/{collection}.tsv"
    resources:
        mem_mb=plan.needs(SHOWS),
    params:
        call="suggest.measure.page:write_page",
        spec=plan.suggest_page_spec,
    message:
        "show the suggestions for {wildcards.collection}"
    script:
        "../scripts/call.py"


# What a collection has cost, and its record, which lists it on the front page and in the catalog.
rule tabulate_record:
    input:
        ledgers=plan.crawl_ledger,
        after=lambda w: ends.of_collection(w.collection),
        templates=plan.templates(),
        code=plan.code("report.collection:write_record"),
    output:
        costs=plan.COSTS,
        record=plan.RECORD,
    log:
        "logs/tabulate_record/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_record/{collection}.tsv"
    wildcard_constraints:
        collection=plan.any_of(plan.params["build"]),
    resources:
        mem_mb=plan.needs(HOLDS, reads=["ledgers"]),
    params:
        call="report.collection:write_record",
        collection_name="{collection}",
        scope=plan.report_scope,
        said=plan.record_of,
    message:
        "account for {wildcards.collection} and enter it in the registry"
    script:
        "../scripts/call.py"


# The metrics of the newest collection, which are compared between revisions.
rule tabulate_newest:
    input:
        texts=f"data/collect/{plan.newest}/texts.parquet",
        images=f"data/collect/{plan.newest}/images.parquet",
        qrels=f"data/collect/{plan.newest}/qrels.parquet",
        scores=f"results/score/{plan.newest}.parquet",
        headline=f"results/tables/{plan.newest}/headline.csv",
        survival=plan.survival(),
        sql=plan.sql("tabulate/tables/metrics.sql"),
        code=plan.code("tabulate.since:write_newest"),
    output:
        f"{plan.NEWEST}/metrics.json",
        f"{plan.NEWEST}/headline.csv",
    log:
        "logs/tabulate_newest.log",
    benchmark:
        "logs/benchmarks/tabulate_newest.tsv"
    resources:
        mem_mb=plan.needs(DUCKDB, reads=["scores"]),
    params:
        call="tabulate.since:write_newest",
        collected=["texts", "images", "qrels"],
        folder=lambda _: plan.NEWEST,
    message:
        "write the metrics of the newest collection"
    script:
        "../scripts/call.py"


# The front page and the catalog, of all collections that have a record.
rule tabulate_overview:
    input:
        records=plan.records,
        sql=plan.sql("catalog/*.sql"),
        templates=plan.templates(),
        code=plan.code("report.collection:write_overview"),
    output:
        page=plan.FRONT_PAGE,
        catalog=plan.CATALOG,
    log:
        "logs/tabulate_overview.log",
    benchmark:
        "logs/benchmarks/tabulate_overview.tsv"
    resources:
        mem_mb=plan.needs(STREAMS),
    params:
        call="report.collection:write_overview",
    message:
        "write the front page and the catalog"
    script:
        "../scripts/call.py"
