from isotope_judge.ledger import sheet_paths

judges = plan.extensions["judge"]


use rule job as judge_pool with:
    """pool the runs on {wildcards.collection}"""
    input:
        **collected("texts", "images"),
        runs=lambda w: judges.pooled_runs(w.collection),
    output:
        pool="results/score/{collection}/pool.parquet",
        sheets=[
            "results/score/{collection}/sheet.parquet",
            "results/score/{collection}/sheet.csv",
        ],
    params:
        call="isotope_judge.pool:write_pool",
        depth=lambda w: judges.entry.depth,


use rule job as judge_graded with:
    """score the runs on {wildcards.collection} with graded judgements"""
    input:
        pool="results/score/{collection}/pool.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        sheets=lambda w: sheet_paths(w.collection) + sheet_paths(w.collection, "suggestions"),
        runs=lambda w: judges.pooled_runs(w.collection),
    output:
        graded="results/score/{collection}/graded.parquet",
        scores="results/score/{collection}/scores.parquet",
        reuse="results/score/{collection}/reuse.parquet",
        tau="results/score/{collection}/tau.parquet",
        agreement="results/score/{collection}/agreement.parquet",
    params:
        call="isotope_judge.pool:score_judged",
        measures=lambda w: judges.entry.measures,
        scale=lambda w: judges.entry.scale,


# Models grade the same pool; their grades meet those of people in the tables of estimates alone.
use rule job as judge_model_grades with:
    """let {wildcards.judge} grade the pool of {wildcards.collection}"""
    input:
        **collected("texts", "images"),
        pool="results/score/{collection}/pool.parquet",
        after=lambda w: collections[w.collection].ledgers
        + paths.local_files(judges.models[w.judge].name),
    output:
        grades="results/score/{collection}/models/{judge}.parquet",
    wildcard_constraints:
        judge=any_of(judges.models),
    threads: jobs.threads(8)
    resources:
        mem_mb=jobs.needs(needs.ENCODES, extra_mb=judges.memory_mb),
    params:
        call="isotope_judge.grading:grade_pool",
        # Functions: Snakemake would take the braces of a prompt for wildcards.
        spec=lambda w: judges.models[w.judge].spec(),
        scale=lambda w: judges.entry.scale,
        pixels=lambda w: collections[w.collection].pixels,


use rule job as judge_by_models with:
    """estimate the means on {wildcards.collection} by people's and models' grades"""
    input:
        pool="results/score/{collection}/pool.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        sheets=lambda w: sheet_paths(w.collection),
        runs=lambda w: judges.pooled_runs(w.collection),
        grades=lambda w: expand(
            "results/score/{c}/models/{j}.parquet", c=w.collection, j=judges.models
        ),
    output:
        estimates="results/score/{collection}/estimates.parquet",
        agreement="results/score/{collection}/model_agreement.parquet",
        tau="results/score/{collection}/model_tau.parquet",
        circularity="results/score/{collection}/circularity.parquet",
        scores="results/score/{collection}/model_scores.parquet",
    params:
        call="isotope_judge.estimates:estimate_by_models",
        measures=lambda w: judges.entry.measures,
        judges=lambda w: judges.model_origins,
        origins=lambda w: judges.origins,


# Assessors' judgements of failures and of first answers, from completed sheets.
use rule job as judge_studied with:
    """read the judgements of failures on {wildcards.collection}"""
    input:
        sample="results/tables/{collection}/study.parquet",
        sheets=lambda w: sheet_paths(w.collection, "failures"),
    output:
        out="results/tables/{collection}/studied.parquet",
    params:
        call="isotope_judge.study:write_study",
        classes=lambda w: judges.sheet(w.collection, "failures").classes,
        alternative=lambda w: judges.sheet(w.collection, "failures").alternative,


use rule job as judge_sorted with:
    """count the sorted answers on {wildcards.collection}"""
    input:
        sample="results/tables/{collection}/mistakes.parquet",
        sheets=lambda w: sheet_paths(w.collection, "mistakes"),
    output:
        expand("results/tables/{{collection}}/mistakes_sorted.{s}", s=FORMS),
    params:
        call="isotope_judge.study:tabulate_mistakes",
        stem="results/tables/{collection}/mistakes_sorted",
        # A function: Snakemake would take the braces of a text for wildcards.
        classes=lambda w: judges.sheet(w.collection, "mistakes").classes,
        systems=systems.search.systems,
