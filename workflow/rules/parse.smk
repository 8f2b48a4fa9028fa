rule parse_wit:
    input:
        manifest="data/acquire/{source}/manifest.json",
        code=code("wit"),
    output:
        associations="data/parse/{source}/associations.parquet",
        rejected="data/parse/{source}/associations.rejected.parquet",
    log:
        "logs/parse_wit/{source}.log",
    benchmark:
        "logs/benchmarks/parse_wit/{source}.tsv"
    resources:
        mem_mb=2000,
    message:
        "parse the WIT rows of {wildcards.source}"
    script:
        "../scripts/parse_wit.py"


rule parse_dump:
    input:
        manifest="data/acquire/{source}/manifest.json",
        code=code("dump"),
    output:
        sections="data/parse/{source}/sections.parquet",
        links="data/parse/{source}/links.parquet",
        rejected="data/parse/{source}/sections.rejected.parquet",
        infoboxes="data/parse/{source}/infoboxes.parquet",
        counts="data/parse/{source}/sections.counts.json",
    log:
        "logs/parse_dump/{source}.log",
    benchmark:
        "logs/benchmarks/parse_dump/{source}.tsv"
    threads: 16
    resources:
        mem_mb=4000,
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
        code=code("sql"),
    output:
        inlinks="data/parse/{source}/inlinks.parquet",
    log:
        "logs/parse_inlinks/{source}.log",
    benchmark:
        "logs/benchmarks/parse_inlinks/{source}.tsv"
    resources:
        mem_mb=4000,
    message:
        "count the links to each article of {wildcards.source}"
    script:
        "../scripts/parse_inlinks.py"
