# Tokens, means with intervals, subsets of the pool, first hits: the data of tables and figures.
use rule encoding as tabulate_tokens with:
    """count the tokens of {wildcards.collection}"""
    input:
        **collected("texts", "images"),
        after=paths.local_files(*plan.params.tabulate.tokenizers.values(), folders=False),
    output:
        out="results/tables/{collection}/tokens.parquet",
    threads: jobs.threads(8)
    params:
        call="tabulate.tokens:count_tokens",
        tokenizers=plan.params.tabulate.tokenizers,
        language=lambda w: collections[w.collection].captions,


use rule job as tabulate_intervals with:
    """bootstrap intervals of means on {wildcards.collection}"""
    input:
        **tabulated("texts", "images", "qrels", "scores"),
        after=lambda w: facts.files(w.collection, *facts.of_collection(w.collection)),
    output:
        out="results/tables/{collection}/intervals.parquet",
    params:
        call="tabulate.strata:intervals_table",
        facts=lambda w: facts.of_collection(w.collection),
        language=lambda w: collections[w.collection].captions,
        how={"gains": plan.params.tabulate.gains},


use rule job as tabulate_largest_pool with:
    """score the runs on {wildcards.collection} in smaller pools and list their first hits"""
    input:
        **collected(),
        runs=lambda w: systems.first_runs(w.collection, systems.search.systems),
    output:
        **tabulated("subsets", "tops"),
    params:
        call="tabulate.runs:read_largest_pool",
        independent=systems.who("is_pointwise"),
        sizes=plan.params.tabulate.sizes,
        measures=plan.params.score.measures,
        depth=plan.params.search.depth,
        positives=lambda w: collections[w.collection].entry.has_entities,
        overlap=OVERLAP,


# The questions that a system has answered: an official scorer may leave out the others.
use rule job as tabulate_answered with:
    """list the answered questions of {wildcards.collection}"""
    input:
        runs=lambda w: systems.runs(w.collection, systems.search.systems, task="m2t"),
        answered=expand(ANSWERED, system=systems.who("reads_answers"), allow_missing=True),
    output:
        out="results/tables/{collection}/answered.parquet",
    params:
        call="tabulate.runs:write_answered",


# Styles and objects of images, by models.
use rule encoding as tabulate_styles with:
    """classify the styles of the images of {wildcards.collection}"""
    input:
        vectors=lambda w: facts.styler.base.vectors(w.collection, "images", "npy"),
        ids=lambda w: facts.styler.base.vectors(w.collection, "images", "ids.parquet"),
        weights=lambda w: facts.styler.weights(w.collection),
        after=lambda w: facts.styler.configs,
    output:
        out="results/tables/{collection}/styles.parquet",
    params:
        call="tabulate.styles:styles_table",
        roots=lambda w: facts.styler.kind.roots(),
        model=lambda w: facts.styler.spec,
        # Functions: Snakemake would take the braces of a text for wildcards.
        classes=lambda w: plan.params.tabulate.styles.classes,
        prompts=lambda w: plan.params.tabulate.styles.prompts,


use rule encoding as tabulate_objects with:
    """detect objects in the images of {wildcards.collection}"""
    input:
        pixels=lambda w: collections[w.collection].pixels,
        after=lambda w: paths.local_files(plan.params.tabulate.detector.name),
    output:
        out="results/tables/{collection}/objects.parquet",
    threads: jobs.threads(8)
    params:
        call="tabulate.objects:find_objects",
        detector=lambda w: plan.params.tabulate.detector.values(),
        roots=lambda w: [facts.detector],


# Captions by people and by models, and people's choices between models' captions.
use rule job as tabulate_captions with:
    """compare the captions of {wildcards.collection}"""
    input:
        **collected("texts", "qrels"),
    output:
        out="results/tables/{collection}/captions.parquet",
    params:
        call="tabulate.captions:captions_table",


use rule job as tabulate_captioners with:
    """score captions by models against those of {wildcards.collection}"""
    input:
        **collected(),
        after=lambda w: unique(*facts.captions(w.collection).values()),
    output:
        out="results/tables/{collection}/captioners.parquet",
    params:
        call="tabulate.captions:captioners_table",
        captioners=lambda w: facts.captions(w.collection),
        languages=lambda w: collections.languages(w.collection),


use rule job as tabulate_choices with:
    """count choices between captions of {wildcards.collection}"""
    input:
        **tabulated("images", "captioners"),
        files=lambda w: resolve.local_files(
            plan.params.tabulate.side_by_side[collections[w.collection].source]
        ),
    output:
        out="results/tables/{collection}/side_by_side.parquet",
    params:
        call="tabulate.side_by_side:choices_table",
        languages=lambda w: collections.languages(w.collection),


use rule asking as tabulate_correlations with:
    """correlate choices with CIDEr on {wildcards.group}"""
    input:
        choices=lambda w: facts.captioned(w.group)["side_by_side"],
        captioners=lambda w: facts.captioned(w.group)["captioners"],
    output:
        out="results/tables/{group}/correlations.parquet",
    wildcard_constraints:
        group=any_of([*collections.built, *collections.groups]),
    params:
        call="tabulate.side_by_side:correlations",


# All tables and figures that exhibits.yaml describes: a rule for each collection and each group,
# since their exhibits differ.
for rule_name, subject in exhibits.rules.items():

    rule:
        name:
            rule_name
        input:
            curves=[*exhibits.curves(subject).values()],
            after=lambda wildcards, subject=subject: exhibits.reads(subject),
        output:
            exhibits.files(subject),
        log:
            f"logs/tabulate_tables/{subject}.log",
        benchmark:
            f"logs/benchmarks/tabulate_tables/{subject}.tsv"
        resources:
            mem_mb=jobs.needs(needs.DUCKDB, reads=["after"]),
        params:
            call="tabulate.exhibits:tabulate_exhibits",
            roots=exhibits.roots(subject),
            exhibits=exhibits.recipes(subject),
            scores=None if exhibits.is_group(subject) else f"results/score/{subject}.parquet",
            tables_folder=f"results/tables/{subject}",
            figures_folder=f"results/figures/{subject}",
        message:
            f"tabulate {subject}"
        script:
            ADAPTER


# Changes since an earlier snapshot, and the losses of systems that were built on it.
use rule asking as tabulate_changes with:
    """compare {wildcards.collection} with {wildcards.earlier}"""
    input:
        before=lambda w: [*collections[w.earlier].tables.values()],
        later=lambda w: [*collections[w.collection].tables.values()],
    output:
        expand(f"{DIFF}/{{t}}.{{s}}", t=CHANGES, s=FORMS, allow_missing=True),
        changes=f"{DIFF}/changes.parquet",
        identities=f"{DIFF}/identities.parquet",
    params:
        call="tabulate.snapshot_diff:compare_snapshots",
        stems=[f"{DIFF}/{table}" for table in CHANGES],


use rule asking as tabulate_temporal with:
    """compare systems of {wildcards.earlier} with those of {wildcards.collection}"""
    input:
        before_qrels="data/collect/{earlier}/qrels.parquet",
        after_qrels="data/collect/{collection}/qrels.parquet",
        changes=f"{DIFF}/changes.parquet",
        identities=f"{DIFF}/identities.parquet",
        before_scores="results/score/{earlier}.parquet",
        after_scores="results/score/{collection}.parquet",
        runs=diff.runs,
    output:
        expand(f"{DIFF}/temporal.{{s}}", s=FORMS, allow_missing=True),
        drops=f"{DIFF}/temporal.parquet",
        figure="results/figures/{collection}/since/{earlier}/temporal.svg",
    params:
        call="tabulate.snapshot_diff:tabulate_temporal",
        shown=diff.shown,


# The report: pages of a comparison, of a collection, and of the whole site.
use rule asking as tabulate_diff_page with:
    """show the changes in {wildcards.collection} since {wildcards.earlier}"""
    input:
        changes=f"{DIFF}/changes.parquet",
        before=lambda w: [*collections[w.earlier].tables.values()],
        later=lambda w: [*collections[w.collection].tables.values()],
        before_pixels=lambda w: collections[w.earlier].pictures,
        later_pixels=lambda w: collections[w.collection].pictures,
        after=[f"{DIFF}/{table}.arrow" for table in CHANGES],
    output:
        page="results/report/{collection}/since/{earlier}.html",
    params:
        call="report.diff_page:write_changes_page",
        collection_name="{collection}",


use rule job as tabulate_report with:
    """write the report on {wildcards.collection}"""
    input:
        **tabulated("scores", "significance"),
        exhibits=report.tables,
        overlap="results/tables/{collection}/overlap.arrow",
        after=report.sources,
    output:
        expand("results/report/{{collection}}/{page}.html", page=report.pages),
        cases_folder=directory("results/report/{collection}/cases"),
    resources:
        mem_mb=jobs.needs(needs.SHOWS_WORDS),
    params:
        call="report.collection:write_report",
        scope=report.scope,
        facts=report.facts,
        case_studies=report.cases,
        queries=report.queries,
        folder="results/report/{collection}",


use rule showing as tabulate_front_pages with:
    """write the first pages of the report on {wildcards.collection}"""
    input:
        exhibits=report.tables,
        after=lambda w: report.sources(w) + report.noted(w),
    output:
        expand("results/report/{{collection}}/{page}.html", page=FIRST_PAGES),
    params:
        call="report.collection:write_front_pages",
        roots=report.note_roots,
        notes=report.notes,
        scope=report.scope,
        facts=report.facts,
        folder="results/report/{collection}",


# What a collection has cost, and its record, which lists it on the front page and in the catalog.
use rule job as tabulate_record with:
    """account for {wildcards.collection} and enter it in the registry"""
    input:
        ledgers=report.ledger,
        after=lambda w: ends.of_collection(w.collection),
    output:
        costs=COSTS,
        record=RECORD,
    wildcard_constraints:
        collection=any_of(collections.built),
    resources:
        mem_mb=jobs.needs(needs.HOLDS, reads=["ledgers"]),
    params:
        call="report.collection:write_record",
        scope=report.scope,
        entry=report.record,


# The metrics of the newest collection, which are compared between revisions.
use rule job as tabulate_newest with:
    """write the metrics of the newest collection"""
    input:
        **collected(collection=collections.built[-1]),
        scores=f"results/score/{collections.built[-1]}.parquet",
        headline=f"results/tables/{collections.built[-1]}/headline.csv",
        survival=diff.survival(),
    output:
        f"{NEWEST}/metrics.json",
        f"{NEWEST}/headline.csv",
    resources:
        mem_mb=jobs.needs(needs.DUCKDB, reads=["scores"]),
    params:
        call="tabulate.snapshot_diff:write_newest",
        folder=lambda _: NEWEST,


# The front page and the catalog, of all collections that have a record.
use rule streaming as tabulate_overview with:
    """write the front page and the catalog"""
    input:
        records=lambda w: report.records,
    output:
        page=FRONT_PAGE,
        catalog=CATALOG,
    params:
        roots=plugins.views(),
        call="report.collection:write_overview",
