use rule job as parse_wit with:
    """parse the WIT rows of {wildcards.source}"""
    input:
        manifest="data/acquire/{source}/manifest.json",
    output:
        **plan.parse_outputs(plan.WIT),
    wildcard_constraints:
        source=plan.association_sources("wit"),
    resources:
        mem_mb=plan.needs(BUFFERS),
    params:
        call="parse.wit:parse_source",
        part=plan.part,


# A dump has its templates anywhere: what they show is read before its articles.
use rule job as parse_templates with:
    """read the templates of {wildcards.source}"""
    input:
        manifest="data/acquire/{source}/manifest.json",
    output:
        table="data/parse/{source}/templates.parquet",
    threads: plan.threads(16)
    resources:
        mem_mb=plan.needs(PAGES),
    params:
        call="parse.template_pages:read_source",


use rule job as parse_dump with:
    """parse the dump of {wildcards.source}"""
    input:
        manifest="data/acquire/{source}/manifest.json",
        template_table="data/parse/{source}/templates.parquet",
    output:
        **plan.parse_outputs(plan.DUMP),
    threads: plan.threads(16)
    resources:
        mem_mb=plan.needs(PAGES),
    params:
        call="parse.dump:parse_source",
        part=plan.part,
        variant=plan.parse_variant,


use rule job as parse_inlinks with:
    """count the links to each article of {wildcards.source}"""
    input:
        sections="data/parse/{source}/sections.parquet",
        links="data/parse/{source}/links.parquet",
        rejected="data/parse/{source}/sections.rejected.parquet",
        sql=plan.sql("parse/inlinks.sql"),
    output:
        inlinks="data/parse/{source}/inlinks.parquet",
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        call="parse.dump:count_inlinks",


# The pages of a source's wiki in a snapshot of Wikidata, where it has one.
use rule job as parse_wikidata with:
    """find the pages of {wildcards.source} in Wikidata"""
    input:
        manifest="data/acquire/{source}/manifest.json",
        sections="data/parse/{source}/sections.parquet",
        sql=plan.sql("parse/wikidata/*.sql"),
    output:
        entities="data/parse/{source}/wikidata.parquet",
        rejected="data/parse/{source}/wikidata.rejected.parquet",
    wildcard_constraints:
        source=plan.wikidata_sources(),
    threads: plan.threads(4)
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        call="parse.wikidata:parse_source",


# Associations that the snapshot itself has, if the params say so: with those of WIT or alone.
use rule parse_wit as parse_wit_beside with:
    output:
        **plan.parse_pieces(plan.WIT),
    wildcard_constraints:
        source=plan.association_sources("both"),


use rule job as parse_associations with:
    """find the pictures of the sections of {wildcards.source}"""
    input:
        manifest="data/acquire/{source}/manifest.json",
        pictures="data/parse/{source}/pictures.parquet",
        sections="data/parse/{source}/sections.parquet",
        wit=plan.wit_pieces("associations.parquet"),
        wit_rejected=plan.wit_pieces("associations.rejected.parquet"),
        sql=plan.sql("parse/wikitext/*.sql"),
    output:
        associations="data/parse/{source}/associations.parquet",
        rejected="data/parse/{source}/associations.rejected.parquet",
    wildcard_constraints:
        source=plan.association_sources("dump", "both"),
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        call="parse.dump:associate_source",
        splits=plan.parse_splits,


use rule job as parse_pairs with:
    """parse the pairs of {wildcards.source}"""
    input:
        manifest="data/acquire/{source}/manifest.json",
        sql=plan.sql("parse/pairs/*.sql"),
    output:
        pairs="data/parse/{source}/pairs.parquet",
        rejected="data/parse/{source}/pairs.rejected.parquet",
    wildcard_constraints:
        source=plan.pairs_sources(),
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        call="parse.pairs:parse_pairs",
        spec=plan.pairs_spec,


# With more than one shard.
if plan.is_sharded("parse"):

    use rule job as parse_wit_gather with:
        """gather the WIT rows of {wildcards.source}"""
        input:
            **plan.parse_piece_files(plan.WIT),
        output:
            **plan.parse_tables(plan.WIT),
        wildcard_constraints:
            source=plan.association_sources("wit"),
        resources:
            mem_mb=plan.needs(STREAMS),
        params:
            call="parse.wit:gather_parts",
            pieces=list(plan.WIT),

    use rule job as parse_dump_gather with:
        """gather the sections of {wildcards.source}"""
        input:
            **plan.parse_piece_files(plan.DUMP),
        output:
            **plan.parse_tables(plan.DUMP),
        resources:
            mem_mb=plan.needs(STREAMS),
        params:
            call="parse.dump:gather_dump",
            pieces=list(plan.DUMP),

    use rule job as parse_template_pages with:
        """collect the templates of {wildcards.source}"""
        input:
            manifest="data/acquire/{source}/manifest.json",
        output:
            **plan.parse_pieces(plan.TEMPLATES),
        threads: plan.threads(16)
        resources:
            mem_mb=plan.needs(PAGES),
        params:
            call="parse.template_pages:collect_source",
            part=plan.part,

    use rule parse_templates as parse_templates_gather with:
        input:
            **plan.parse_piece_files(plan.TEMPLATES),
            manifest="data/acquire/{source}/manifest.json",
        threads: 1
        params:
            call="parse.template_pages:gather_source",

    ruleorder: parse_templates_gather > parse_templates
