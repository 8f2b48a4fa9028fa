use rule sorting as score_runs with:
    """score the runs on {wildcards.collection} and compare its systems"""
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        runs=lambda w: shards.slice(w, systems.runs(w.collection, systems.search.systems)),
    output:
        scores="results/score/{collection}.parquet",
        significance="results/score/{collection}.significance.parquet",
    params:
        call="score.score:score_runs",
        measures=plan.params.score.measures,
        withheld=systems.unjudged,


if shards.are("score"):

    use rule score_runs as score_runs_shard with:
        """score the runs on {wildcards.collection}, shard {wildcards.part}"""
        output:
            scores=temp(".isotope/score/{collection}/{part}.parquet"),
        params:
            call="score.score:score_collection",

    use rule job as score_gather with:
        """gather the scores on {wildcards.collection} and compare its systems"""
        input:
            pieces=expand(
                ".isotope/score/{{collection}}/{part}.parquet", part=shards.parts("score")
            ),
        output:
            scores="results/score/{collection}.parquet",
            significance="results/score/{collection}.significance.parquet",
        params:
            call="score.score:gather_scores",

    ruleorder: score_gather > score_runs
