rule tabulate_captions:
    input:
        texts="data/collect/{collection}/texts.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        sql=sql("tabulate/caption_tokens.sql"),
        code=code("captions"),
    output:
        captions="results/tables/{collection}/captions.parquet",
    log:
        "logs/tabulate_captions/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_captions/{collection}.tsv"
    resources:
        mem_mb=memory("tabulate_captions"),
    message:
        "compare the captions of {wildcards.collection}"
    script:
        "../scripts/tabulate_captions.py"


rule tabulate_languages:
    input:
        captions=lambda w: expand("results/tables/{c}/captions.parquet", c=members(w.group)),
        sql=sql("tabulate/captions.sql"),
        code=code("tabulate"),
    output:
        tables=multiext("results/tables/{group}/captions", ".csv", ".md", ".tex"),
    log:
        "logs/tabulate_languages/{group}.log",
    benchmark:
        "logs/benchmarks/tabulate_languages/{group}.tsv"
    wildcard_constraints:
        group=any_of([*PARAMS["build"], *GROUPS]),
    resources:
        mem_mb=memory("tabulate_languages"),
    message:
        "tabulate the captions of {wildcards.group} by language"
    script:
        "../scripts/tabulate_languages.py"


rule tabulate_group:
    input:
        scores=lambda w: expand("results/score/{c}.parquet", c=members(w.group)),
        sql=sql("tabulate/group.sql"),
        code=code("tabulate"),
    output:
        tables=multiext("results/tables/{group}/group", ".csv", ".md", ".tex"),
    log:
        "logs/tabulate_group/{group}.log",
    benchmark:
        "logs/benchmarks/tabulate_group/{group}.tsv"
    wildcard_constraints:
        group=any_of(GROUPS),
    resources:
        mem_mb=memory("tabulate_group"),
    params:
        parts=lambda w: list(GROUPS[w.group]),
        members=lambda w: list(GROUPS[w.group].values()),
        measures=PARAMS["score"]["measures"],
        systems=SYSTEMS,
        setting=SETTINGS[0],
        split=SPLITS[0],
    message:
        "hold the collections of {wildcards.group} side by side"
    script:
        "../scripts/tabulate_group.py"
