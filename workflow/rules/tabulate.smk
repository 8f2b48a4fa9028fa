rule tabulate_tables:
    input:
        unpack(tabulated),
        curves=curves,
        sql=sql("tabulate/*.sql"),
        code=code("tabulate_all"),
    output:
        tables=expand("results/tables/{{collection}}/{t}.{s}", t=TABLES, s=["csv", "md", "tex"]),
        metrics="results/tables/{collection}/metrics.json",
        corpus_size="results/figures/{collection}/corpus_size.svg",
        learned=expand("results/figures/{{collection}}/curve-{m}.svg", m=trained()),
    log:
        "logs/tabulate_tables/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_tables/{collection}.tsv"
    params:
        alpha=PARAMS["tabulate"]["alpha"],
        setting=SETTINGS[0],
        split=SPLITS[0],
        measure=PARAMS["score"]["measures"][0],
    message:
        "tabulate {wildcards.collection}"
    script:
        "../scripts/tabulate_tables.py"


rule tabulate_tokens:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        code=code("tokens"),
    output:
        tokens="results/tables/{collection}/tokens.parquet",
    log:
        "logs/tabulate_tokens/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_tokens/{collection}.tsv"
    threads: 8
    params:
        tokenizers=PARAMS["tabulate"]["tokenizers"],
        language=language,
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
        code=code("strata"),
    output:
        intervals="results/tables/{collection}/intervals.parquet",
    log:
        "logs/tabulate_intervals/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_intervals/{collection}.tsv"
    params:
        **PARAMS["tabulate"]["bootstrap"],
        language=language,
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
        code=code("subsets"),
    output:
        subsets="results/tables/{collection}/subsets.parquet",
    log:
        "logs/tabulate_subsets/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_subsets/{collection}.tsv"
    params:
        sizes=PARAMS["tabulate"]["sizes"],
        measures=PARAMS["score"]["measures"],
        depth=PARAMS["search"]["depth"],
    message:
        "hold the runs on {wildcards.collection} against smaller pools"
    script:
        "../scripts/tabulate_subsets.py"


rule tabulate_tops:
    input:
        runs=top_runs,
        code=code("tops"),
    output:
        tops="results/tables/{collection}/tops.parquet",
    log:
        "logs/tabulate_tops/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_tops/{collection}.tsv"
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
        code=code("statistics_all"),
    output:
        tables=expand("results/tables/{{collection}}/{t}.{s}", t=STATISTICS, s=["csv", "md", "tex"]),
        figure="results/figures/{collection}/subsets.svg",
    log:
        "logs/tabulate_statistics/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_statistics/{collection}.tsv"
    params:
        setting=SETTINGS[0],
        split=SPLITS[0],
        measure=PARAMS["score"]["measures"][0],
    message:
        "tabulate the statistics of {wildcards.collection}"
    script:
        "../scripts/tabulate_statistics.py"


rule tabulate_styles:
    input:
        vectors=stylist("npy"),
        ids=stylist("ids.parquet"),
        weights=stylist("weights"),
        code=code("styles"),
    output:
        styles="results/tables/{collection}/styles.parquet",
    log:
        "logs/tabulate_styles/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_styles/{collection}.tsv"
    params:
        model=lambda w: PARAMS["models"][PARAMS["tabulate"]["styles"]["model"]],
        classes=lambda w: PARAMS["tabulate"]["styles"]["classes"],
        prompts=lambda w: PARAMS["tabulate"]["styles"]["prompts"],
    message:
        "tell the styles of the images of {wildcards.collection}"
    script:
        "../scripts/tabulate_styles.py"


rule tabulate_objects:
    input:
        pixels=pixels,
        code=code("detect"),
    output:
        objects="results/tables/{collection}/objects.parquet",
    log:
        "logs/tabulate_objects/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_objects/{collection}.tsv"
    threads: 8
    params:
        spec=lambda w: PARAMS["tabulate"]["detector"],
    message:
        "look for objects in the images of {wildcards.collection}"
    script:
        "../scripts/tabulate_objects.py"


rule tabulate_facts:
    input:
        unpack(collected),
        witness=witness,
        sql=lambda w: sql(f"tabulate/{w.table}.sql"),
        code=code("statistics_all"),
    output:
        tables=multiext("results/tables/{collection}/{table}", ".csv", ".md", ".tex"),
        figure="results/figures/{collection}/{table}.svg",
    log:
        "logs/tabulate_facts/{collection}/{table}.log",
    benchmark:
        "logs/benchmarks/tabulate_facts/{collection}.{table}.tsv"
    wildcard_constraints:
        table="|".join(FACTS),
    params:
        facts=facts,
        tail=PARAMS["tabulate"]["tail"],
    message:
        "tabulate the {wildcards.table} of {wildcards.collection}"
    script:
        "../scripts/tabulate_facts.py"


rule tabulate_against:
    input:
        scores=both_scores,
        sql=sql("tabulate/against.sql"),
        code=code("figures_against"),
    output:
        tables=multiext("results/tables/{collection}/against", ".csv", ".md", ".tex"),
        figure="results/figures/{collection}/against.svg",
    log:
        "logs/tabulate_against/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_against/{collection}.tsv"
    params:
        here=lambda w: w.collection,
        there=lambda w: PARAMS["tabulate"]["against"][w.collection]["collection"],
        measure=lambda w: PARAMS["tabulate"]["against"][w.collection]["here"],
        other=lambda w: PARAMS["tabulate"]["against"][w.collection]["there"],
        setting=SETTINGS[0],
        split=SPLITS[0],
    message:
        "hold {wildcards.collection} against another collection"
    script:
        "../scripts/tabulate_against.py"


rule tabulate_report:
    input:
        unpack(tabulated),
        pixels=pixels,
        runs=runs,
        tables=rules.tabulate_tables.output,
        statistics=statistics,
        code=code("report"),
    output:
        report="results/report/{collection}/index.html",
    log:
        "logs/tabulate_report/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_report/{collection}.tsv"
    params:
        source=lambda w: source_of(w.collection),
        system=PARAMS["tabulate"]["system"],
        setting=SETTINGS[0],
        split=SPLITS[0],
    message:
        "write the report on {wildcards.collection}"
    script:
        "../scripts/tabulate_report.py"


rule tabulate_judged:
    input:
        graded="results/score/{collection}/scores.parquet",
        reuse="results/score/{collection}/reuse.parquet",
        tau="results/score/{collection}/tau.parquet",
        agreement="results/score/{collection}/agreement.parquet",
        sql=expand(ours("workflow/sql/tabulate/{t}.sql"), t=JUDGED),
        code=code("tabulate"),
    output:
        tables=expand("results/tables/{{collection}}/{t}.{s}", t=JUDGED, s=["csv", "md", "tex"]),
    log:
        "logs/tabulate_judged/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_judged/{collection}.tsv"
    params:
        names=JUDGED,
    message:
        "tabulate the judgements on {wildcards.collection}"
    script:
        "../scripts/tabulate_judged.py"


rule tabulate_catalog:
    input:
        expand("results/report/{collection}/index.html", collection=PARAMS["build"]),
        pools=judged(),
        judged=expand("results/tables/{c}/{t}.md", c=returned(), t=JUDGED),
        sql=sql("catalog/*.sql"),
        code=code("catalog"),
    output:
        catalog="results/catalog.duckdb",
    log:
        "logs/tabulate_catalog.log",
    benchmark:
        "logs/benchmarks/tabulate_catalog.tsv"
    message:
        "build the catalog"
    script:
        "../scripts/tabulate_catalog.py"
