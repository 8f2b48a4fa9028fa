rule parse_wit:
    input:
        manifest="data/acquire/{source}/manifest.json",
        code=code("parse.wit"),
    output:
        **{k: parsed(f) for k, f in WIT.items()},
    log:
        f"logs/parse_wit/{{source}}{by_part('parse', '/')}.log",
    benchmark:
        f"logs/benchmarks/parse_wit/{{source}}{by_part('parse', '.')}.tsv"
    wildcard_constraints:
        source=associated("wit"),
    resources:
        mem_mb=memory("parse_wit"),
    params:
        part=part,
    message:
        "parse the WIT rows of {wildcards.source}"
    script:
        "../scripts/parse_wit.py"


rule parse_dump:
    input:
        manifest="data/acquire/{source}/manifest.json",
        code=code("parse.dump"),
    output:
        **{k: parsed(f) for k, f in DUMP.items()},
    log:
        f"logs/parse_dump/{{source}}{by_part('parse', '/')}.log",
    benchmark:
        f"logs/benchmarks/parse_dump/{{source}}{by_part('parse', '.')}.tsv"
    threads: 16
    resources:
        mem_mb=memory("parse_dump"),
    params:
        part=part,
    message:
        "parse the dump of {wildcards.source}"
    script:
        "../scripts/parse_dump.py"


rule parse_inlinks:
    input:
        sections="data/parse/{source}/sections.parquet",
        links="data/parse/{source}/links.parquet",
        rejected="data/parse/{source}/sections.rejected.parquet",
        sql=sql("parse/inlinks.sql"),
        code=code("core.sql"),
    output:
        inlinks="data/parse/{source}/inlinks.parquet",
    log:
        "logs/parse_inlinks/{source}.log",
    benchmark:
        "logs/benchmarks/parse_inlinks/{source}.tsv"
    resources:
        mem_mb=memory("parse_inlinks"),
    message:
        "count the links to each article of {wildcards.source}"
    script:
        "../scripts/parse_inlinks.py"
