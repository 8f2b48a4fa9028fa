if plan.is_sharded("score"):

    rule score_runs_shard:
        input:
            qrels="data/collect/{collection}/qrels.parquet",
            runs=plan.score_slice,
            code=plan.code("score.score:score_collection"),
        output:
            scores=temp(".isotope/score/{collection}/{part}.parquet"),
        log:
            "logs/score_runs_shard/{collection}/{part}.log",
        benchmark:
            "logs/benchmarks/score_runs_shard/{collection}.{part}.tsv"
        resources:
            mem_mb=plan.needs(DUCKDB_LARGE),
        params:
            call="score.score:score_collection",
            measures=plan.params["score"]["measures"],
            withheld=plan.unjudged,
        message:
            "score the runs on {wildcards.collection}, shard {wildcards.part}"
        script:
            "../scripts/call.py"

    rule score_gather:
        input:
            pieces=plan.part_files("score", ".isotope/score/{collection}/{part}.parquet"),
            code=plan.code("score.score:gather_scores"),
        output:
            scores="results/score/{collection}.parquet",
            significance="results/score/{collection}.significance.parquet",
        log:
            "logs/score_gather/{collection}.log",
        benchmark:
            "logs/benchmarks/score_gather/{collection}.tsv"
        resources:
            mem_mb=plan.needs(HOLDS),
        params:
            call="score.score:gather_scores",
        message:
            "gather the scores on {wildcards.collection} and compare its systems"
        script:
            "../scripts/call.py"

else:

    rule score_runs:
        input:
            qrels="data/collect/{collection}/qrels.parquet",
            runs=plan.score_slice,
            code=plan.code("score.score:score_runs"),
        output:
            scores="results/score/{collection}.parquet",
            significance="results/score/{collection}.significance.parquet",
        log:
            "logs/score_runs/{collection}.log",
        benchmark:
            "logs/benchmarks/score_runs/{collection}.tsv"
        resources:
            mem_mb=plan.needs(DUCKDB_LARGE),
        params:
            call="score.score:score_runs",
            measures=plan.params["score"]["measures"],
            withheld=plan.unjudged,
        message:
            "score the runs on {wildcards.collection} and compare its systems"
        script:
            "../scripts/call.py"


rule score_pool:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        runs=plan.pooled_runs,
        code=plan.code("judge.pool:write_pool"),
    output:
        pool="results/score/{collection}/pool.parquet",
        sheets=[
            "results/score/{collection}/sheet.parquet",
            "results/score/{collection}/sheet.csv",
        ],
    log:
        "logs/score_pool/{collection}.log",
    benchmark:
        "logs/benchmarks/score_pool/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="judge.pool:write_pool",
        depth=plan.judging("depth"),
    message:
        "pool the runs on {wildcards.collection}"
    script:
        "../scripts/call.py"


rule score_judged:
    input:
        pool="results/score/{collection}/pool.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        sheets=plan.graded_sheets,
        runs=plan.pooled_runs,
        code=plan.code("judge.pool:score_judged"),
    output:
        graded="results/score/{collection}/graded.parquet",
        scores="results/score/{collection}/scores.parquet",
        reuse="results/score/{collection}/reuse.parquet",
        tau="results/score/{collection}/tau.parquet",
        agreement="results/score/{collection}/agreement.parquet",
    log:
        "logs/score_judged/{collection}.log",
    benchmark:
        "logs/benchmarks/score_judged/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="judge.pool:score_judged",
        measures=plan.judging("measures"),
        scale=plan.judge_scale,
    message:
        "score the runs on {wildcards.collection} with graded judgements"
    script:
        "../scripts/call.py"


# Models grade the same pool; their grades meet those of people in the tables of estimates alone.
rule score_model_grades:
    input:
        pool="results/score/{collection}/pool.parquet",
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        after=plan.judge_files,
        code=plan.code("judge.grading:grade_pool"),
    output:
        grades="results/score/{collection}/models/{judge}.parquet",
    log:
        "logs/score_model_grades/{collection}/{judge}.log",
    benchmark:
        "logs/benchmarks/score_model_grades/{collection}.{judge}.tsv"
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
    message:
        "let {wildcards.judge} grade the pool of {wildcards.collection}"
    script:
        "../scripts/call.py"


rule score_by_models:
    input:
        pool="results/score/{collection}/pool.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        sheets=plan.judgement_sheets,
        runs=plan.pooled_runs,
        grades=plan.model_grades,
        code=plan.code("judge.estimates:estimate_by_models"),
    output:
        estimates="results/score/{collection}/estimates.parquet",
        agreement="results/score/{collection}/model_agreement.parquet",
        tau="results/score/{collection}/model_tau.parquet",
        circularity="results/score/{collection}/circularity.parquet",
        scores="results/score/{collection}/model_scores.parquet",
    log:
        "logs/score_by_models/{collection}.log",
    benchmark:
        "logs/benchmarks/score_by_models/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="judge.estimates:estimate_by_models",
        measures=plan.judging("measures"),
        judges=lambda w: plan.judges,
        origins=plan.system_origins(),
        level=plan.judge_level,
    message:
        "estimate the means on {wildcards.collection} by people's and models' grades"
    script:
        "../scripts/call.py"
