from isotope.tabulate.exhibits import STATISTICS


rule tabulate_tokens:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        vocabulary=[
            p for t in plan.params["tabulate"]["tokenizers"].values() for p in plan.vocabulary(t)
        ],
        code=plan.code("tabulate.tokens"),
    output:
        tokens="results/tables/{collection}/tokens.parquet",
    log:
        "logs/tabulate_tokens/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_tokens/{collection}.tsv"
    threads: 8
    resources:
        mem_mb=plan.needs(ENCODES),
    params:
        tokenizers=plan.params["tabulate"]["tokenizers"],
        language=plan.caption_language,
    message:
        "count the tokens of {wildcards.collection}"
    script:
        "../scripts/tabulate_tokens.py"


rule tabulate_intervals:
    input:
        unpack(plan.collection_tables),
        scores="results/score/{collection}.parquet",
        witness=plan.fact_witnesses,
        sql=plan.sql("tabulate/strata/*.sql"),
        code=plan.code("tabulate.strata"),
    output:
        intervals="results/tables/{collection}/intervals.parquet",
    log:
        "logs/tabulate_intervals/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_intervals/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        **plan.params["tabulate"]["bootstrap"],
        gains=plan.params["tabulate"]["gains"],
        views=plan.params["tabulate"]["monthly_views"],
        language=plan.caption_language,
        facts=plan.facts,
    message:
        "draw the queries of {wildcards.collection} anew"
    script:
        "../scripts/tabulate_intervals.py"


rule tabulate_subsets:
    input:
        unpack(plan.collection_tables),
        runs=plan.independent_runs,
        sql=plan.sql("tabulate/subsets/*.sql"),
        code=plan.code("tabulate.subsets"),
    output:
        subsets="results/tables/{collection}/subsets.parquet",
    log:
        "logs/tabulate_subsets/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_subsets/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        sizes=plan.params["tabulate"]["sizes"],
        measures=plan.params["score"]["measures"],
        depth=plan.params["search"]["depth"],
        positives=lambda w: plan.kind_family(w.collection) == "oven",
    message:
        "hold the runs on {wildcards.collection} against smaller pools"
    script:
        "../scripts/tabulate_subsets.py"


rule tabulate_tops:
    input:
        runs=plan.top_runs,
        code=plan.code("tabulate.answered"),
    output:
        tops="results/tables/{collection}/tops.parquet",
    log:
        "logs/tabulate_tops/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_tops/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        depth=plan.params["tabulate"]["overlap"],
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
        sql=plan.sql(*(f"tabulate/tables/{t}*.sql" for t in STATISTICS)),
        code=plan.code("tabulate.exhibits"),
    output:
        tables=expand("results/tables/{{collection}}/{t}.{s}", t=STATISTICS, s=["csv", "md", "tex"]),
        figure="results/figures/{collection}/subsets.svg",
    log:
        "logs/tabulate_statistics/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_statistics/{collection}.tsv"
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        setting=plan.settings[0],
        split=plan.splits[0],
        measure=plan.params["score"]["measures"][0],
        systems=plan.systems,
    message:
        "tabulate the statistics of {wildcards.collection}"
    script:
        "../scripts/tabulate_statistics.py"
