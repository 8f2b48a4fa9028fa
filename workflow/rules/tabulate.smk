# Tokens, means with intervals, subsets of the pool, first hits: the data of tables and figures.
use rule job as tabulate_tokens with:
    """count the tokens of {wildcards.collection}"""
    input:
        **collected("texts", "images"),
        after=plan.vocabularies(),
    output:
        out="results/tables/{collection}/tokens.parquet",
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(ENCODES),
    params:
        call="tabulate.tokens:count_tokens",
        tokenizers=plan.params["tabulate"]["tokenizers"],
        language=plan.caption_language,


use rule job as tabulate_intervals with:
    """bootstrap intervals of means on {wildcards.collection}"""
    input:
        **collected(),
        scores="results/score/{collection}.parquet",
        after=plan.fact_sources,
        sql=plan.sql("tabulate/strata/*.sql"),
    output:
        out="results/tables/{collection}/intervals.parquet",
    params:
        call="tabulate.strata:write_intervals",
        collected=["texts", "images", "qrels"],
        facts=plan.facts,
        language=plan.caption_language,
        monthly_views=plan.params["tabulate"]["monthly_views"],
        resampling={**plan.resampling, "gains": plan.params["tabulate"]["gains"]},


use rule job as tabulate_largest_pool with:
    """score the runs on {wildcards.collection} in smaller pools and list their first hits"""
    input:
        **collected(),
        runs=plan.top_runs,
        sql=plan.sql("tabulate/subsets/*.sql"),
    output:
        subsets="results/tables/{collection}/subsets.parquet",
        top_hits="results/tables/{collection}/tops.parquet",
    params:
        call="tabulate.runs:read_largest_pool",
        collected=["texts", "images", "qrels"],
        independent=plan.independent_systems,
        sizes=plan.params["tabulate"]["sizes"],
        measures=plan.params["score"]["measures"],
        depth=plan.params["search"]["depth"],
        positives=lambda w: plan.kind_family(w.collection) == "oven",
        overlap=plan.params["tabulate"]["overlap"],


# The questions that a system has answered: an official scorer may leave out the others.
use rule job as tabulate_answered with:
    """list the answered questions of {wildcards.collection}"""
    input:
        runs=plan.promotion_runs,
        answered=expand(plan.ANSWERED, system=plan.answer_systems, allow_missing=True),
    output:
        out="results/tables/{collection}/answered.parquet",
    params:
        call="tabulate.runs:write_answered",


# Styles and objects of images, by models.
use rule job as tabulate_styles with:
    """classify the styles of the images of {wildcards.collection}"""
    input:
        vectors=plan.style_inputs("npy"),
        ids=plan.style_inputs("ids.parquet"),
        weights=plan.style_inputs("weights"),
        after=plan.style_configs,
        kind=plan.style_code,
    output:
        out="results/tables/{collection}/styles.parquet",
    resources:
        mem_mb=plan.needs(ENCODES),
    params:
        call="tabulate.styles:styles_table",
        model=plan.style_model,
        # Functions: Snakemake would take the braces of a text for wildcards.
        classes=lambda w: plan.styles["classes"],
        prompts=lambda w: plan.styles["prompts"],


use rule job as tabulate_objects with:
    """detect objects in the images of {wildcards.collection}"""
    input:
        pixels=plan.pixels,
        after=plan.detector_files,
    output:
        out="results/tables/{collection}/objects.parquet",
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(ENCODES),
    params:
        call="explain.objects:find_objects",
        detector=plan.detector,


# Captions by people and by models, and people's choices between models' captions.
use rule job as tabulate_captions with:
    """compare the captions of {wildcards.collection}"""
    input:
        **collected("texts", "qrels"),
        sql=plan.sql("tabulate/captions/tokens.sql"),
    output:
        out="results/tables/{collection}/captions.parquet",
    params:
        call="tabulate.captions:captions_table",


use rule job as tabulate_captioners with:
    """score captions by models against those of {wildcards.collection}"""
    input:
        **collected(),
        after=lambda w: plan.caption_files(w.collection),
        sql=plan.sql("tabulate/captions/tokens.sql"),
    output:
        out="results/tables/{collection}/captioners.parquet",
    params:
        call="tabulate.captions:captioners_table",
        collected=["texts", "images", "qrels"],
        captioners=lambda w: plan.caption_sources(w.collection),
        languages=lambda w: plan.languages_of(w.collection),


use rule job as tabulate_choices with:
    """count choices between captions of {wildcards.collection}"""
    input:
        captioners="results/tables/{collection}/captioners.parquet",
        images="data/collect/{collection}/images.parquet",
        files=lambda w: plan.choice_files(w.collection),
    output:
        out="results/tables/{collection}/side_by_side.parquet",
    params:
        call="tabulate.side_by_side:choices_table",
        languages=lambda w: plan.languages_of(w.collection),


use rule job as tabulate_correlations with:
    """correlate choices with CIDEr on {wildcards.group}"""
    input:
        choices=lambda w: plan.member_tables(w.group, "side_by_side"),
        captioners=lambda w: plan.member_tables(w.group, "captioners"),
    output:
        out="results/tables/{group}/correlations.parquet",
    wildcard_constraints:
        group=plan.any_of([*plan.params["build"], *plan.groups]),
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        call="tabulate.side_by_side:correlations",


# Failures are explained by the objects of the pictures; perturbed queries are searched again.
use rule job as tabulate_failures with:
    """explain the failures on {wildcards.collection}"""
    input:
        **collected(),
        runs=plan.explained_runs,
        after=plan.concept_inputs,
        sql=plan.sql("tabulate/failures/answers.sql", "tabulate/study/sheet.sql"),
    output:
        failures="results/tables/{collection}/failures.parquet",
        ranks="results/tables/{collection}/ranks.parquet",
        concepts="results/tables/{collection}/concepts.parquet",
        rejected="results/tables/{collection}/rejected_objects.parquet",
        sample="results/tables/{collection}/study.parquet",
        sheet="results/tables/{collection}/study.csv",
        perturbations="results/tables/{collection}/perturbations.parquet",
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


# The ranks of right answers for collections without explained failures.
use rule job as tabulate_ranks with:
    """rank the right answers on {wildcards.collection}"""
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        runs=plan.explained_runs,
        sql=plan.sql("tabulate/failures/answers.sql"),
    output:
        out="results/tables/{collection}/ranks.parquet",
    wildcard_constraints:
        collection=plan.any_of(plan.ranking_collections()),
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        call="explain.failures:rank_answers",


use rule job as tabulate_perturbed_dense with:
    """rank the perturbed queries of {wildcards.collection} by {wildcards.system}"""
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
        kind=plan.model_code,
    output:
        out="results/tables/{collection}/perturbed/{system}.parquet",
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


use rule job as tabulate_perturbed_bm25 with:
    """rank the perturbed queries of {wildcards.collection} by {wildcards.system}"""
    input:
        perturbed="results/tables/{collection}/perturbations.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        run=plan.perturbed_run,
        index=f"data/index/{{collection}}/{plan.settings[0]}/{{system}}",
        sql=plan.sql("index/texts.sql"),
    output:
        out="results/tables/{collection}/perturbed/{system}.parquet",
    wildcard_constraints:
        system=plan.systems_of("bm25"),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(SEARCHES, by_lucene=JAVA, reads=["perturbed"]),
    params:
        call="explain.ranks:rank_perturbed_bm25",
        spec=plan.word_params,
        language=plan.caption_language,


# Assessors' judgements of failures and of first answers, from completed sheets.
use rule job as tabulate_study with:
    """read the judgements of failures on {wildcards.collection}"""
    input:
        sample="results/tables/{collection}/study.parquet",
        sheets=plan.study_sheets,
    output:
        out="results/tables/{collection}/studied.parquet",
    params:
        call="judge.study:write_study",
        classes=lambda w: plan.study_params(w)["classes"],
        alternative=lambda w: plan.study_params(w).get("alternative", ""),


use rule job as tabulate_mistakes with:
    """draw answers on {wildcards.collection} for people to sort"""
    input:
        **collected(),
        runs=lambda w: plan.mistake_runs(w.collection),
        sql=plan.sql("tabulate/study/mistakes.sql"),
    output:
        sample="results/tables/{collection}/mistakes.parquet",
        sheet="results/tables/{collection}/mistakes.csv",
    params:
        call="judge.study:write_mistakes",
        collected=["texts", "images", "qrels"],
        spec=plan.mistakes,
        withheld=plan.unjudged,


use rule job as tabulate_sorted with:
    """count the sorted answers on {wildcards.collection}"""
    input:
        sample="results/tables/{collection}/mistakes.parquet",
        sheets=lambda w: plan.mistake_sheets(w.collection),
        sql=plan.sql("tabulate/tables/mistakes_sorted.sql"),
    output:
        multiext("results/tables/{collection}/mistakes_sorted", ".arrow", ".csv", ".md", ".tex"),
    params:
        call="judge.study:tabulate_mistakes",
        stem="results/tables/{collection}/mistakes_sorted",
        # A function: Snakemake would take the braces of a text for wildcards.
        classes=lambda w: plan.mistakes["classes"],
        systems=plan.systems,


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
use rule job as tabulate_changes with:
    """compare {wildcards.collection} with {wildcards.earlier}"""
    input:
        before=lambda w: plan.comparison_tables(w.earlier),
        later=lambda w: plan.comparison_tables(w.collection),
        sql=plan.sql("tabulate/since/changes/*.sql", "tabulate/tables/snapshot_*.sql"),
    output:
        expand(
            "results/tables/{{collection}}/since/{{earlier}}/{t}.{s}",
            t=plan.CHANGE_TABLES,
            s=["arrow", "csv", "md", "tex"],
        ),
        changes="results/tables/{collection}/since/{earlier}/changes.parquet",
        identities="results/tables/{collection}/since/{earlier}/identities.parquet",
    wildcard_constraints:
        earlier=plan.any_of(plan.collections()),
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        call="tabulate.since:compare_snapshots",
        stems=[f"results/tables/{{collection}}/since/{{earlier}}/{t}" for t in plan.CHANGE_TABLES],


use rule job as tabulate_temporal with:
    """compare systems of {wildcards.earlier} with those of {wildcards.collection}"""
    input:
        before_qrels="data/collect/{earlier}/qrels.parquet",
        after_qrels="data/collect/{collection}/qrels.parquet",
        changes="results/tables/{collection}/since/{earlier}/changes.parquet",
        identities="results/tables/{collection}/since/{earlier}/identities.parquet",
        before_scores="results/score/{earlier}.parquet",
        after_scores="results/score/{collection}.parquet",
        runs=plan.stale_runs,
        sql=plan.sql("tabulate/tables/temporal.sql", "tabulate/since/queries.sql"),
    output:
        multiext(
            "results/tables/{collection}/since/{earlier}/temporal", ".arrow", ".csv", ".md", ".tex"
        ),
        drops="results/tables/{collection}/since/{earlier}/temporal.parquet",
        figure="results/figures/{collection}/since/{earlier}/temporal.svg",
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


# The report: pages of a comparison, of failures, of a collection, and of the whole site.
use rule job as tabulate_since_page with:
    """show the changes in {wildcards.collection} since {wildcards.earlier}"""
    input:
        changes="results/tables/{collection}/since/{earlier}/changes.parquet",
        before=lambda w: plan.comparison_tables(w.earlier),
        later=lambda w: plan.comparison_tables(w.collection),
        before_pixels=lambda w: plan.pictures_of(w.earlier),
        later_pixels=lambda w: plan.pictures_of(w.collection),
        after=expand(
            "results/tables/{{collection}}/since/{{earlier}}/{t}.arrow", t=plan.CHANGE_TABLES
        ),
        sql=plan.sql("tabulate/since/*.sql", "tabulate/report/pixels.sql"),
        templates=plan.templates(),
    output:
        page="results/report/{collection}/since/{earlier}.html",
    wildcard_constraints:
        earlier=plan.any_of(plan.collections()),
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        call="report.since:write_changes_page",
        collection_name="{collection}",


use rule job as tabulate_failures_page with:
    """show the failures on {wildcards.collection}"""
    input:
        **collected("texts", "images"),
        failures="results/tables/{collection}/failures.parquet",
        concepts="results/tables/{collection}/concepts.parquet",
        tables=lambda w: plan.explained_tables(w.collection),
        pixels=plan.pixels,
        sql=plan.sql("tabulate/failures/*.sql", "tabulate/report/*.sql"),
        templates=plan.templates(),
    output:
        page="results/report/{collection}/failures.html",
    resources:
        mem_mb=plan.needs(SHOWS),
    params:
        call="explain.page:write_failures_page",
        scope=plan.report_scope,
        shown=lambda w: plan.params["tabulate"]["explain"][w.collection]["shown"],


use rule job as tabulate_report with:
    """write the report on {wildcards.collection}"""
    input:
        exhibits=plan.report_tables,
        overlap="results/tables/{collection}/overlap.arrow",
        scores="results/score/{collection}.parquet",
        significance="results/score/{collection}.significance.parquet",
        after=plan.report_sources,
        sql=plan.sql("tabulate/report/*.sql", "tabulate/cases/*.sql", "index/*.sql"),
        templates=plan.templates(),
    output:
        expand("results/report/{{collection}}/{page}.html", page=plan.report_pages),
        cases_folder=directory("results/report/{collection}/cases"),
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


# The numbers of a report by other people's tools. A difference stands on the pages, which come
# after it, and then fails the run.
use rule job as tabulate_verification with:
    """verify {wildcards.collection} by other people's tools"""
    input:
        after=lambda w: ends.verified(w.collection),
        sql=plan.sql("index/*.sql"),
    output:
        record=plan.VERIFIED,
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


use rule job as tabulate_front_pages with:
    """write the first pages of the report on {wildcards.collection}"""
    input:
        exhibits=plan.report_tables,
        record=plan.verification,
        after=plan.report_sources,
        sql=plan.sql("tabulate/report/*.sql"),
        templates=plan.templates(),
    output:
        expand("results/report/{{collection}}/{page}.html", page=plan.FIRST_PAGES),
    resources:
        mem_mb=plan.needs(SHOWS),
    params:
        call="report.collection:write_front_pages",
        collection_name="{collection}",
        scope=plan.report_scope,
        facts=plan.report_facts,
        folder="results/report/{collection}",


use rule job as tabulate_confirmed with:
    """demand that no number of {wildcards.collection} differs"""
    input:
        record=plan.VERIFIED,
        after=expand("results/report/{{collection}}/{page}.html", page=plan.FIRST_PAGES),
    output:
        told=plan.CONFIRMED,
    resources:
        mem_mb=plan.needs(STREAMS),
    params:
        call="verify.verify:demand_confirmed",


# Suggestions: how many are right, how sure, what editors made of them.
use rule job as tabulate_suggest with:
    """show the suggestions for {wildcards.collection}"""
    input:
        **collected(),
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
    output:
        page="results/report/{collection}/suggest.html",
        tables_folder=directory("results/tables/{collection}/suggest"),
        figures_folder=directory("results/figures/{collection}/suggest"),
    resources:
        mem_mb=plan.needs(SHOWS),
    params:
        call="suggest.measure.page:write_page",
        spec=plan.suggest_page_spec,


# What a collection has cost, and its record, which lists it on the front page and in the catalog.
use rule job as tabulate_record with:
    """account for {wildcards.collection} and enter it in the registry"""
    input:
        ledgers=plan.crawl_ledger,
        after=lambda w: ends.of_collection(w.collection),
        templates=plan.templates(),
    output:
        costs=plan.COSTS,
        record=plan.RECORD,
    wildcard_constraints:
        collection=plan.any_of(plan.params["build"]),
    resources:
        mem_mb=plan.needs(HOLDS, reads=["ledgers"]),
    params:
        call="report.collection:write_record",
        collection_name="{collection}",
        scope=plan.report_scope,
        said=plan.record_of,


# The metrics of the newest collection, which are compared between revisions.
use rule job as tabulate_newest with:
    """write the metrics of the newest collection"""
    input:
        texts=f"data/collect/{plan.newest}/texts.parquet",
        images=f"data/collect/{plan.newest}/images.parquet",
        qrels=f"data/collect/{plan.newest}/qrels.parquet",
        scores=f"results/score/{plan.newest}.parquet",
        headline=f"results/tables/{plan.newest}/headline.csv",
        survival=plan.survival(),
        sql=plan.sql("tabulate/tables/metrics.sql"),
    output:
        f"{plan.NEWEST}/metrics.json",
        f"{plan.NEWEST}/headline.csv",
    resources:
        mem_mb=plan.needs(DUCKDB, reads=["scores"]),
    params:
        call="tabulate.since:write_newest",
        collected=["texts", "images", "qrels"],
        folder=lambda _: plan.NEWEST,


# The front page and the catalog, of all collections that have a record.
use rule job as tabulate_overview with:
    """write the front page and the catalog"""
    input:
        records=plan.records,
        sql=plan.sql("catalog/*.sql"),
        templates=plan.templates(),
    output:
        page=plan.FRONT_PAGE,
        catalog=plan.CATALOG,
    resources:
        mem_mb=plan.needs(STREAMS),
    params:
        call="report.collection:write_overview",
