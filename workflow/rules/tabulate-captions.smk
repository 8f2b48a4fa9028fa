from isotope.params import resolve


rule tabulate_captions:
    input:
        texts="data/collect/{collection}/texts.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        sql=plan.sql("tabulate/captions/tokens.sql"),
        code=plan.code("tabulate.cider"),
    output:
        captions="results/tables/{collection}/captions.parquet",
    log:
        "logs/tabulate_captions/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_captions/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    message:
        "compare the captions of {wildcards.collection}"
    script:
        "../scripts/tabulate_captions.py"


rule tabulate_languages:
    input:
        captions=lambda w: expand(
            "results/tables/{c}/captions.parquet", c=plan.group_members(w.group)
        ),
        sql=plan.sql("tabulate/tables/captions.sql"),
        code=plan.code("tabulate.table"),
    output:
        tables=multiext("results/tables/{group}/captions", ".csv", ".md", ".tex"),
    log:
        "logs/tabulate_languages/{group}.log",
    benchmark:
        "logs/benchmarks/tabulate_languages/{group}.tsv"
    wildcard_constraints:
        group=plan.any_of([*plan.params["build"], *plan.groups]),
    resources:
        mem_mb=plan.needs(DUCKDB),
    message:
        "tabulate the captions of {wildcards.group} by language"
    script:
        "../scripts/tabulate_languages.py"


rule tabulate_group:
    input:
        scores=lambda w: expand("results/score/{c}.parquet", c=plan.group_members(w.group)),
        sql=plan.sql("tabulate/tables/group.sql"),
        code=plan.code("tabulate.table"),
    output:
        tables=multiext("results/tables/{group}/group", ".csv", ".md", ".tex"),
    log:
        "logs/tabulate_group/{group}.log",
    benchmark:
        "logs/benchmarks/tabulate_group/{group}.tsv"
    wildcard_constraints:
        group=plan.any_of(plan.groups),
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        parts=lambda w: list(plan.groups[w.group]),
        members=lambda w: list(plan.groups[w.group].values()),
        measures=plan.params["score"]["measures"],
        systems=plan.systems,
        setting=plan.settings[0],
        split=plan.splits[0],
    message:
        "hold the collections of {wildcards.group} side by side"
    script:
        "../scripts/tabulate_group.py"


rule tabulate_captioners:
    input:
        unpack(plan.collection_tables),
        files=lambda w: plan.caption_files(w.collection),
        sql=plan.sql("tabulate/captions/tokens.sql"),
        code=plan.code("tabulate.captioners"),
    output:
        captioners="results/tables/{collection}/captioners.parquet",
    log:
        "logs/tabulate_captioners/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_captioners/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        captioners=lambda w: plan.caption_sources(w.collection),
        languages=lambda w: plan.languages_of(w.collection),
    message:
        "hold captions by models against those of {wildcards.collection}"
    script:
        "../scripts/tabulate_captioners.py"


rule tabulate_captioned:
    input:
        captioners=lambda w: plan.member_tables(w.group, "captioners"),
        sql=plan.sql("tabulate/tables/captioners.sql"),
        code=plan.code("tabulate.table"),
    output:
        tables=multiext("results/tables/{group}/captioners", ".csv", ".md", ".tex"),
    log:
        "logs/tabulate_captioned/{group}.log",
    benchmark:
        "logs/benchmarks/tabulate_captioned/{group}.tsv"
    wildcard_constraints:
        group=plan.any_of([*plan.params["build"], *plan.groups]),
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        parts=lambda w: list(plan.groups.get(w.group, {})),
        members=lambda w: plan.group_languages(w.group),
        systems=list(plan.caption_models),
    message:
        "tabulate the CIDEr of models on {wildcards.group}"
    script:
        "../scripts/tabulate_captioned.py"


rule tabulate_choices:
    input:
        captioners="results/tables/{collection}/captioners.parquet",
        images="data/collect/{collection}/images.parquet",
        files=lambda w: resolve.local_files(plan.side_by_side[plan.source_of(w.collection)]),
        code=plan.code("tabulate.side_by_side"),
    output:
        choices="results/tables/{collection}/side_by_side.parquet",
    log:
        "logs/tabulate_choices/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_choices/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        languages=lambda w: plan.languages_of(w.collection),
    message:
        "count choices between captions of {wildcards.collection}"
    script:
        "../scripts/tabulate_choices.py"


rule tabulate_side_by_side:
    input:
        choices=lambda w: plan.member_tables(w.group, "side_by_side"),
        captioners=lambda w: plan.member_tables(w.group, "captioners"),
        sql=plan.sql("tabulate/tables/side_by_side.sql", "tabulate/tables/correlation.sql"),
        code=plan.code("tabulate.side_by_side", "tabulate.table"),
    output:
        tables=multiext("results/tables/{group}/side_by_side", ".csv", ".md", ".tex"),
        correlation=multiext("results/tables/{group}/correlation", ".csv", ".md", ".tex"),
        correlations="results/tables/{group}/correlations.parquet",
    log:
        "logs/tabulate_side_by_side/{group}.log",
    benchmark:
        "logs/benchmarks/tabulate_side_by_side/{group}.tsv"
    wildcard_constraints:
        group=plan.any_of([*plan.params["build"], *plan.groups]),
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        systems=list(plan.caption_models),
    message:
        "correlate choices with CIDEr on {wildcards.group}"
    script:
        "../scripts/tabulate_side_by_side.py"
