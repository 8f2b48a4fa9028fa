rule parse_wit_shard:
    input:
        manifest="data/acquire/{source}/manifest.json",
        code=code("wit"),
    output:
        associations=temp(".isotope/parse/{source}/{part}/associations.parquet"),
        rejected=temp(".isotope/parse/{source}/{part}/associations.rejected.parquet"),
    log:
        "logs/parse_wit_shard/{source}/{part}.log",
    benchmark:
        "logs/benchmarks/parse_wit_shard/{source}.{part}.tsv"
    resources:
        mem_mb=2000,
    params:
        part=part,
    message:
        "parse the WIT rows of {wildcards.source}, shard {wildcards.part}"
    script:
        "../scripts/parse_wit_shard.py"


rule parse_wit:
    input:
        **{k: shards("parse", f".isotope/parse/{{source}}/{{part}}/{f}") for k, f in WIT.items()},
        code=code("gather"),
    output:
        **{k: f"data/parse/{{source}}/{f}" for k, f in WIT.items()},
    log:
        "logs/parse_wit/{source}.log",
    benchmark:
        "logs/benchmarks/parse_wit/{source}.tsv"
    wildcard_constraints:
        source=associated("wit"),
    message:
        "gather the WIT rows of {wildcards.source}"
    script:
        "../scripts/parse_wit.py"


rule parse_dump_shard:
    input:
        manifest="data/acquire/{source}/manifest.json",
        code=code("dump"),
    output:
        **{k: temp(f".isotope/parse/{{source}}/{{part}}/{f}") for k, f in DUMP.items()},
    log:
        "logs/parse_dump_shard/{source}/{part}.log",
    benchmark:
        "logs/benchmarks/parse_dump_shard/{source}.{part}.tsv"
    threads: 16
    resources:
        mem_mb=4000,
    params:
        part=part,
    message:
        "parse the dump of {wildcards.source}, shard {wildcards.part}"
    script:
        "../scripts/parse_dump_shard.py"


rule parse_dump:
    input:
        **{k: shards("parse", f".isotope/parse/{{source}}/{{part}}/{f}") for k, f in DUMP.items()},
        code=code("dump_gather"),
    output:
        **{k: f"data/parse/{{source}}/{f}" for k, f in DUMP.items()},
    log:
        "logs/parse_dump/{source}.log",
    benchmark:
        "logs/benchmarks/parse_dump/{source}.tsv"
    params:
        tables=list(DUMP),
    message:
        "gather the sections of {wildcards.source}"
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
