rule tabulate_styles:
    input:
        vectors=stylist("npy"),
        ids=stylist("ids.parquet"),
        weights=stylist("weights"),
        configs=lambda w: configs_of(PARAMS["tabulate"]["styles"]["model"]),
        code=code("tabulate.styles"),
    output:
        styles="results/tables/{collection}/styles.parquet",
    log:
        "logs/tabulate_styles/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_styles/{collection}.tsv"
    resources:
        mem_mb=memory("tabulate_styles"),
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
        detector=lambda w: on_disk(*filter(None, [PARAMS["tabulate"]["detector"].get("name")])),
        code=code("explain.objects"),
    output:
        objects="results/tables/{collection}/objects.parquet",
    log:
        "logs/tabulate_objects/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_objects/{collection}.tsv"
    threads: 8
    resources:
        mem_mb=memory("tabulate_objects"),
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
        code=code("tabulate.exhibits"),
    output:
        tables=multiext("results/tables/{collection}/{table}", ".csv", ".md", ".tex"),
        figure="results/figures/{collection}/{table}.svg",
    log:
        "logs/tabulate_facts/{collection}/{table}.log",
    benchmark:
        "logs/benchmarks/tabulate_facts/{collection}.{table}.tsv"
    wildcard_constraints:
        table="|".join(FACTS),
    resources:
        mem_mb=memory("tabulate_facts"),
    params:
        facts=facts,
        tail=lambda w: PARAMS["tabulate"]["tail"].get(w.table),
    message:
        "tabulate the {wildcards.table} of {wildcards.collection}"
    script:
        "../scripts/tabulate_facts.py"


rule tabulate_against:
    input:
        scores=both_scores,
        sql=sql("tabulate/against.sql"),
        code=code("tabulate.drawings"),
    output:
        tables=multiext("results/tables/{collection}/against", ".csv", ".md", ".tex"),
        figure="results/figures/{collection}/against.svg",
    log:
        "logs/tabulate_against/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_against/{collection}.tsv"
    resources:
        mem_mb=memory("tabulate_against"),
    params:
        here=lambda w: w.collection,
        there=lambda w: held(w)["collection"],
        measure=lambda w: held(w)["here"],
        other=lambda w: held(w)["there"],
        systems=SYSTEMS,
        setting=lambda w: held(w).get("setting", SETTINGS[0]),
        split=lambda w: held(w).get("splits", SPLITS[:1])[0],
        other_split=lambda w: held(w).get("splits", SPLITS[:1])[-1],
    message:
        "hold {wildcards.collection} against another collection"
    script:
        "../scripts/tabulate_against.py"
