if plan.is_sharded("score"):

    use rule job as score_runs_shard with:
        """score the runs on {wildcards.collection}, shard {wildcards.part}"""
        input:
            qrels="data/collect/{collection}/qrels.parquet",
            runs=plan.score_slice,
        output:
            scores=temp(".isotope/score/{collection}/{part}.parquet"),
        resources:
            mem_mb=plan.needs(DUCKDB_LARGE),
        params:
            call="score.score:score_collection",
            measures=plan.params["score"]["measures"],
            withheld=plan.unjudged,

    use rule job as score_gather with:
        """gather the scores on {wildcards.collection} and compare its systems"""
        input:
            pieces=plan.part_files("score", ".isotope/score/{collection}/{part}.parquet"),
        output:
            scores="results/score/{collection}.parquet",
            significance="results/score/{collection}.significance.parquet",
        params:
            call="score.score:gather_scores",

else:

    use rule job as score_runs with:
        """score the runs on {wildcards.collection} and compare its systems"""
        input:
            qrels="data/collect/{collection}/qrels.parquet",
            runs=plan.score_slice,
        output:
            scores="results/score/{collection}.parquet",
            significance="results/score/{collection}.significance.parquet",
        resources:
            mem_mb=plan.needs(DUCKDB_LARGE),
        params:
            call="score.score:score_runs",
            measures=plan.params["score"]["measures"],
            withheld=plan.unjudged,


use rule job as score_pool with:
    """pool the runs on {wildcards.collection}"""
    input:
        **collected("texts", "images"),
        runs=plan.pooled_runs,
    output:
        pool="results/score/{collection}/pool.parquet",
        sheets=[
            "results/score/{collection}/sheet.parquet",
            "results/score/{collection}/sheet.csv",
        ],
    params:
        call="judge.pool:write_pool",
        depth=plan.judging("depth"),


use rule job as score_judged with:
    """score the runs on {wildcards.collection} with graded judgements"""
    input:
        pool="results/score/{collection}/pool.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        sheets=plan.graded_sheets,
        runs=plan.pooled_runs,
    output:
        graded="results/score/{collection}/graded.parquet",
        scores="results/score/{collection}/scores.parquet",
        reuse="results/score/{collection}/reuse.parquet",
        tau="results/score/{collection}/tau.parquet",
        agreement="results/score/{collection}/agreement.parquet",
    params:
        call="judge.pool:score_judged",
        measures=plan.judging("measures"),
        scale=plan.judge_scale,


# Models grade the same pool; their grades meet those of people in the tables of estimates alone.
use rule job as score_model_grades with:
    """let {wildcards.judge} grade the pool of {wildcards.collection}"""
    input:
        **collected("texts", "images"),
        pool="results/score/{collection}/pool.parquet",
        after=plan.judge_files,
    output:
        grades="results/score/{collection}/models/{judge}.parquet",
    wildcard_constraints:
        judge=plan.any_judge(),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(ENCODES, extra_mb=plan.judge_memory_mb),
    params:
        call="judge.grading:grade_pool",
        # Functions: Snakemake would take the braces of a prompt for wildcards.
        spec=plan.judge_model,
        scale=plan.judge_scale,
        pixels=plan.pixels,


use rule job as score_by_models with:
    """estimate the means on {wildcards.collection} by people's and models' grades"""
    input:
        pool="results/score/{collection}/pool.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        sheets=plan.judgement_sheets,
        runs=plan.pooled_runs,
        grades=plan.model_grades,
    output:
        estimates="results/score/{collection}/estimates.parquet",
        agreement="results/score/{collection}/model_agreement.parquet",
        tau="results/score/{collection}/model_tau.parquet",
        circularity="results/score/{collection}/circularity.parquet",
        scores="results/score/{collection}/model_scores.parquet",
    params:
        call="judge.estimates:estimate_by_models",
        measures=plan.judging("measures"),
        judges=lambda w: plan.judges,
        origins=plan.system_origins(),
        level=plan.judge_level,
