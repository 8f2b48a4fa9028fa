# What systems built on an earlier snapshot lose on a later one.
rule tabulate_temporal:
    input:
        before_qrels="data/collect/{earlier}/qrels.parquet",
        after_qrels="data/collect/{collection}/qrels.parquet",
        changes="results/tables/{collection}/since/{earlier}/changes.parquet",
        identities="results/tables/{collection}/since/{earlier}/identities.parquet",
        before_scores="results/score/{earlier}.parquet",
        after_scores="results/score/{collection}.parquet",
        runs=aged,
        sql=sql("tabulate/temporal*.sql"),
        code=code("tabulate.temporal"),
    output:
        drops="results/tables/{collection}/since/{earlier}/temporal.parquet",
        tables=multiext(
            "results/tables/{collection}/since/{earlier}/temporal", ".csv", ".md", ".tex"
        ),
        figure="results/figures/{collection}/since/{earlier}/temporal.svg",
    log:
        "logs/tabulate_temporal/{collection}.{earlier}.log",
    benchmark:
        "logs/benchmarks/tabulate_temporal/{collection}.{earlier}.tsv"
    wildcard_constraints:
        earlier=any_of(PARAMS["build"]),
    resources:
        mem_mb=memory("tabulate_temporal"),
    params:
        **PARAMS["tabulate"]["bootstrap"],
        measures=PARAMS["score"]["measures"],
        systems=SYSTEMS,
        setting=SETTINGS[0],
        split=SPLITS[0],
    message:
        "ask what systems of {wildcards.earlier} lose on {wildcards.collection}"
    script:
        "../scripts/tabulate_temporal.py"
