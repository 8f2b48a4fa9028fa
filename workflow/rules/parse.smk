rule parse_wit:
    input:
        manifest="data/acquire/{source}/manifest.json",
        code=plan.code("parse.wit"),
    output:
        **{k: plan.parse_output(f) for k, f in plan.WIT.items()},
    log:
        f"logs/parse_wit/{{source}}{plan.part_suffix('parse', '/')}.log",
    benchmark:
        f"logs/benchmarks/parse_wit/{{source}}{plan.part_suffix('parse', '.')}.tsv"
    wildcard_constraints:
        source=plan.association_sources("wit"),
    resources:
        mem_mb=plan.needs(BUFFERS),
    params:
        part=plan.part,
    message:
        "parse the WIT rows of {wildcards.source}"
    script:
        "../scripts/parse_wit.py"


rule parse_dump:
    input:
        manifest="data/acquire/{source}/manifest.json",
        code=plan.code("parse.dump"),
    output:
        **{k: plan.parse_output(f) for k, f in plan.DUMP.items()},
    log:
        f"logs/parse_dump/{{source}}{plan.part_suffix('parse', '/')}.log",
    benchmark:
        f"logs/benchmarks/parse_dump/{{source}}{plan.part_suffix('parse', '.')}.tsv"
    threads: 16
    resources:
        mem_mb=plan.needs(PAGES),
    params:
        part=plan.part,
    message:
        "parse the dump of {wildcards.source}"
    script:
        "../scripts/parse_dump.py"


rule parse_inlinks:
    input:
        sections="data/parse/{source}/sections.parquet",
        links="data/parse/{source}/links.parquet",
        rejected="data/parse/{source}/sections.rejected.parquet",
        sql=plan.sql("parse/inlinks.sql"),
        code=plan.code("core.sql"),
    output:
        inlinks="data/parse/{source}/inlinks.parquet",
    log:
        "logs/parse_inlinks/{source}.log",
    benchmark:
        "logs/benchmarks/parse_inlinks/{source}.tsv"
    resources:
        mem_mb=plan.needs(DUCKDB),
    message:
        "count the links to each article of {wildcards.source}"
    script:
        "../scripts/parse_inlinks.py"
