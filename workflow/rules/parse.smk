rule parse_wit:
    input:
        manifest="data/acquire/{source}/manifest.json",
        code=plan.code("parse.wit:parse_source"),
    output:
        **plan.parse_outputs(plan.WIT),
    log:
        plan.part_log("parse", "parse_wit/{source}"),
    benchmark:
        plan.part_benchmark("parse", "parse_wit/{source}")
    wildcard_constraints:
        source=plan.association_sources("wit"),
    resources:
        mem_mb=plan.needs(BUFFERS),
    params:
        call="parse.wit:parse_source",
        part=plan.part,
    message:
        "parse the WIT rows of {wildcards.source}"
    script:
        "../scripts/call.py"


# A dump has its templates anywhere: what they show is read before its articles.
rule parse_templates:
    input:
        manifest="data/acquire/{source}/manifest.json",
        code=plan.code("parse.template_pages:read_source"),
    output:
        table="data/parse/{source}/templates.parquet",
    log:
        "logs/parse_templates/{source}.log",
    benchmark:
        "logs/benchmarks/parse_templates/{source}.tsv"
    threads: plan.threads(16)
    resources:
        mem_mb=plan.needs(PAGES),
    params:
        call="parse.template_pages:read_source",
    message:
        "read the templates of {wildcards.source}"
    script:
        "../scripts/call.py"


rule parse_dump:
    input:
        manifest="data/acquire/{source}/manifest.json",
        template_table="data/parse/{source}/templates.parquet",
        code=plan.code("parse.dump:parse_source"),
    output:
        **plan.parse_outputs(plan.DUMP),
    log:
        plan.part_log("parse", "parse_dump/{source}"),
    benchmark:
        plan.part_benchmark("parse", "parse_dump/{source}")
    threads: plan.threads(16)
    resources:
        mem_mb=plan.needs(PAGES),
    params:
        call="parse.dump:parse_source",
        part=plan.part,
        variant=plan.parse_variant,
    message:
        "parse the dump of {wildcards.source}"
    script:
        "../scripts/call.py"


rule parse_inlinks:
    input:
        sections="data/parse/{source}/sections.parquet",
        links="data/parse/{source}/links.parquet",
        rejected="data/parse/{source}/sections.rejected.parquet",
        sql=plan.sql("parse/inlinks.sql"),
        code=plan.code("parse.dump:count_inlinks"),
    output:
        inlinks="data/parse/{source}/inlinks.parquet",
    log:
        "logs/parse_inlinks/{source}.log",
    benchmark:
        "logs/benchmarks/parse_inlinks/{source}.tsv"
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        call="parse.dump:count_inlinks",
    message:
        "count the links to each article of {wildcards.source}"
    script:
        "../scripts/call.py"


# The pages of a source's wiki in a snapshot of Wikidata, where it has one.
rule parse_wikidata:
    input:
        manifest="data/acquire/{source}/manifest.json",
        sections="data/parse/{source}/sections.parquet",
        sql=plan.sql("parse/wikidata/*.sql"),
        code=plan.code("parse.wikidata:parse_source"),
    output:
        entities="data/parse/{source}/wikidata.parquet",
        rejected="data/parse/{source}/wikidata.rejected.parquet",
    log:
        "logs/parse_wikidata/{source}.log",
    benchmark:
        "logs/benchmarks/parse_wikidata/{source}.tsv"
    wildcard_constraints:
        source=plan.wikidata_sources(),
    threads: plan.threads(4)
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        call="parse.wikidata:parse_source",
    message:
        "find the pages of {wildcards.source} in Wikidata"
    script:
        "../scripts/call.py"


# Associations that the snapshot itself has, if the params say so: with those of WIT or alone.
use rule parse_wit as parse_wit_beside with:
    output:
        **plan.parse_pieces(plan.WIT),
    log:
        "logs/parse_wit_beside/{source}/{part}.log",
    benchmark:
        "logs/benchmarks/parse_wit_beside/{source}.{part}.tsv"
    wildcard_constraints:
        source=plan.association_sources("both"),


rule parse_associations:
    input:
        manifest="data/acquire/{source}/manifest.json",
        pictures="data/parse/{source}/pictures.parquet",
        sections="data/parse/{source}/sections.parquet",
        wit=plan.wit_pieces("associations.parquet"),
        wit_rejected=plan.wit_pieces("associations.rejected.parquet"),
        sql=plan.sql("parse/wikitext/*.sql"),
        code=plan.code("parse.dump:associate_source"),
    output:
        associations="data/parse/{source}/associations.parquet",
        rejected="data/parse/{source}/associations.rejected.parquet",
    log:
        "logs/parse_associations/{source}.log",
    benchmark:
        "logs/benchmarks/parse_associations/{source}.tsv"
    wildcard_constraints:
        source=plan.association_sources("dump", "both"),
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        call="parse.dump:associate_source",
        splits=plan.parse_splits,
    message:
        "find the pictures of the sections of {wildcards.source}"
    script:
        "../scripts/call.py"


rule parse_pairs:
    input:
        manifest="data/acquire/{source}/manifest.json",
        sql=plan.sql("parse/pairs/*.sql"),
        code=plan.code("parse.pairs:parse_pairs"),
    output:
        pairs="data/parse/{source}/pairs.parquet",
        rejected="data/parse/{source}/pairs.rejected.parquet",
    log:
        "logs/parse_pairs/{source}.log",
    benchmark:
        "logs/benchmarks/parse_pairs/{source}.tsv"
    wildcard_constraints:
        source=plan.pairs_sources(),
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        call="parse.pairs:parse_pairs",
        spec=plan.pairs_spec,
    message:
        "parse the pairs of {wildcards.source}"
    script:
        "../scripts/call.py"


# With more than one shard.
if plan.is_sharded("parse"):

    rule parse_wit_gather:
        input:
            **plan.parse_piece_files(plan.WIT),
            code=plan.code("parse.wit:gather_parts"),
        output:
            **plan.parse_tables(plan.WIT),
        log:
            "logs/parse_wit_gather/{source}.log",
        benchmark:
            "logs/benchmarks/parse_wit_gather/{source}.tsv"
        wildcard_constraints:
            source=plan.association_sources("wit"),
        resources:
            mem_mb=plan.needs(STREAMS),
        params:
            call="parse.wit:gather_parts",
            pieces=list(plan.WIT),
        message:
            "gather the WIT rows of {wildcards.source}"
        script:
            "../scripts/call.py"

    rule parse_dump_gather:
        input:
            **plan.parse_piece_files(plan.DUMP),
            code=plan.code("parse.dump:gather_dump"),
        output:
            **plan.parse_tables(plan.DUMP),
        log:
            "logs/parse_dump_gather/{source}.log",
        benchmark:
            "logs/benchmarks/parse_dump_gather/{source}.tsv"
        resources:
            mem_mb=plan.needs(STREAMS),
        params:
            call="parse.dump:gather_dump",
            pieces=list(plan.DUMP),
        message:
            "gather the sections of {wildcards.source}"
        script:
            "../scripts/call.py"

    rule parse_template_pages:
        input:
            manifest="data/acquire/{source}/manifest.json",
            code=plan.code("parse.template_pages:collect_source"),
        output:
            **plan.parse_pieces(plan.TEMPLATES),
        log:
            "logs/parse_template_pages/{source}/{part}.log",
        benchmark:
            "logs/benchmarks/parse_template_pages/{source}.{part}.tsv"
        threads: plan.threads(16)
        resources:
            mem_mb=plan.needs(PAGES),
        params:
            call="parse.template_pages:collect_source",
            part=plan.part,
        message:
            "collect the templates of {wildcards.source}"
        script:
            "../scripts/call.py"

    use rule parse_templates as parse_templates_gather with:
        input:
            **plan.parse_piece_files(plan.TEMPLATES),
            manifest="data/acquire/{source}/manifest.json",
            code=plan.code("parse.template_pages:gather_source"),
        log:
            "logs/parse_templates_gather/{source}.log",
        benchmark:
            "logs/benchmarks/parse_templates_gather/{source}.tsv"
        threads: 1
        params:
            call="parse.template_pages:gather_source",

    ruleorder: parse_templates_gather > parse_templates
