rule tabulate_tokens:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        vocabulary=[p for t in PARAMS["tabulate"]["tokenizers"].values() for p in vocabulary(t)],
        code=code("tabulate.tokens"),
    output:
        tokens="results/tables/{collection}/tokens.parquet",
    log:
        "logs/tabulate_tokens/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_tokens/{collection}.tsv"
    threads: 8
    resources:
        mem_mb=memory("tabulate_tokens"),
    params:
        tokenizers=PARAMS["tabulate"]["tokenizers"],
        language=spoken,
    message:
        "count the tokens of {wildcards.collection}"
    script:
        "../scripts/tabulate_tokens.py"


rule tabulate_intervals:
    input:
        unpack(collected),
        scores="results/score/{collection}.parquet",
        witness=witness,
        sql=sql("tabulate/strata_*.sql"),
        code=code("tabulate.strata"),
    output:
        intervals="results/tables/{collection}/intervals.parquet",
    log:
        "logs/tabulate_intervals/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_intervals/{collection}.tsv"
    resources:
        mem_mb=memory("tabulate_intervals"),
    params:
        **PARAMS["tabulate"]["bootstrap"],
        gains=PARAMS["tabulate"]["gains"],
        views=PARAMS["tabulate"]["monthly_views"],
        language=spoken,
        facts=facts,
    message:
        "draw the queries of {wildcards.collection} anew"
    script:
        "../scripts/tabulate_intervals.py"


rule tabulate_subsets:
    input:
        unpack(collected),
        runs=whole_runs,
        sql=sql("tabulate/subset_*.sql"),
        code=code("tabulate.subsets"),
    output:
        subsets="results/tables/{collection}/subsets.parquet",
    log:
        "logs/tabulate_subsets/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_subsets/{collection}.tsv"
    resources:
        mem_mb=memory("tabulate_subsets"),
    params:
        sizes=PARAMS["tabulate"]["sizes"],
        measures=PARAMS["score"]["measures"],
        depth=PARAMS["search"]["depth"],
        positives=lambda w: kind_of(w.collection) == "oven",
    message:
        "hold the runs on {wildcards.collection} against smaller pools"
    script:
        "../scripts/tabulate_subsets.py"


rule tabulate_tops:
    input:
        runs=top_runs,
        code=code("tabulate.answered"),
    output:
        tops="results/tables/{collection}/tops.parquet",
    log:
        "logs/tabulate_tops/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_tops/{collection}.tsv"
    resources:
        mem_mb=memory("tabulate_tops"),
    params:
        depth=PARAMS["tabulate"]["overlap"],
    message:
        "take the first hits of the runs on {wildcards.collection}"
    script:
        "../scripts/tabulate_tops.py"


rule tabulate_statistics:
    input:
        tokens=rules.tabulate_tokens.output.tokens,
        intervals=rules.tabulate_intervals.output.intervals,
        subsets=rules.tabulate_subsets.output.subsets,
        tops="results/tables/{collection}/tops.parquet",
        sql=sql(*(f"tabulate/{t}*.sql" for t in STATISTICS)),
        code=code("tabulate.exhibits"),
    output:
        tables=expand("results/tables/{{collection}}/{t}.{s}", t=STATISTICS, s=["csv", "md", "tex"]),
        figure="results/figures/{collection}/subsets.svg",
    log:
        "logs/tabulate_statistics/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_statistics/{collection}.tsv"
    resources:
        mem_mb=memory("tabulate_statistics"),
    params:
        setting=SETTINGS[0],
        split=SPLITS[0],
        measure=PARAMS["score"]["measures"][0],
        systems=SYSTEMS,
    message:
        "tabulate the statistics of {wildcards.collection}"
    script:
        "../scripts/tabulate_statistics.py"
