from isotope.tabulate.exhibits import FACTS


rule tabulate_styles:
    input:
        vectors=plan.style_inputs("npy"),
        ids=plan.style_inputs("ids.parquet"),
        weights=plan.style_inputs("weights"),
        configs=lambda w: plan.configs_of(plan.params["tabulate"]["styles"]["model"]),
        code=lambda w: plan.code(
            "tabulate.styles", plan.code_of(plan.params["tabulate"]["styles"]["model"])
        ),
    output:
        styles="results/tables/{collection}/styles.parquet",
    log:
        "logs/tabulate_styles/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_styles/{collection}.tsv"
    resources:
        mem_mb=plan.needs(ENCODES),
    params:
        model=lambda w: plan.params["models"][plan.params["tabulate"]["styles"]["model"]],
        classes=lambda w: plan.params["tabulate"]["styles"]["classes"],
        prompts=lambda w: plan.params["tabulate"]["styles"]["prompts"],
    message:
        "tell the styles of the images of {wildcards.collection}"
    script:
        "../scripts/tabulate_styles.py"


rule tabulate_objects:
    input:
        pixels=plan.pixels,
        detector=lambda w: plan.local_files(
            *filter(None, [plan.params["tabulate"]["detector"].get("name")])
        ),
        code=plan.code("explain.objects"),
    output:
        objects="results/tables/{collection}/objects.parquet",
    log:
        "logs/tabulate_objects/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_objects/{collection}.tsv"
    threads: 8
    resources:
        mem_mb=plan.needs(ENCODES),
    params:
        spec=lambda w: plan.params["tabulate"]["detector"],
    message:
        "look for objects in the images of {wildcards.collection}"
    script:
        "../scripts/tabulate_objects.py"


rule tabulate_facts:
    input:
        unpack(plan.collection_tables),
        witness=plan.fact_witnesses,
        sql=lambda w: plan.sql(f"tabulate/{w.table}.sql"),
        code=plan.code("tabulate.exhibits"),
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
        mem_mb=plan.needs(DUCKDB),
    params:
        facts=plan.facts,
        tail=lambda w: plan.params["tabulate"]["tail"].get(w.table),
    message:
        "tabulate the {wildcards.table} of {wildcards.collection}"
    script:
        "../scripts/tabulate_facts.py"


rule tabulate_against:
    input:
        scores=plan.cross_scores,
        sql=plan.sql("tabulate/against.sql"),
        code=plan.code("tabulate.drawings"),
    output:
        tables=multiext("results/tables/{collection}/against", ".csv", ".md", ".tex"),
        figure="results/figures/{collection}/against.svg",
    log:
        "logs/tabulate_against/{collection}.log",
    benchmark:
        "logs/benchmarks/tabulate_against/{collection}.tsv"
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        here=lambda w: w.collection,
        there=lambda w: plan.cross_params(w)["collection"],
        measure=lambda w: plan.cross_params(w)["here"],
        other=lambda w: plan.cross_params(w)["there"],
        systems=plan.systems,
        setting=lambda w: plan.cross_params(w).get("setting", plan.settings[0]),
        split=lambda w: plan.cross_params(w).get("splits", plan.splits[:1])[0],
        other_split=lambda w: plan.cross_params(w).get("splits", plan.splits[:1])[-1],
    message:
        "hold {wildcards.collection} against another collection"
    script:
        "../scripts/tabulate_against.py"
