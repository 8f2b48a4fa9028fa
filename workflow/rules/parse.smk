use rule buffering as parse_wit with:
    """parse the WIT rows of {wildcards.source}"""
    input:
        manifest="data/acquire/{source}/manifest.json",
    output:
        **shards.outputs("parse", WIT),
    wildcard_constraints:
        source=sources.associated("wit"),
    params:
        call="parse.wit:parse_source",


# A dump has its templates anywhere: what they show is read before its articles.
use rule job as parse_templates with:
    """read the templates of {wildcards.source}"""
    input:
        manifest="data/acquire/{source}/manifest.json",
    output:
        table="data/parse/{source}/templates.parquet",
    threads: jobs.threads(16)
    resources:
        mem_mb=jobs.needs(needs.PAGES),
    params:
        call="parse.template_pages:read_source",


use rule job as parse_dump with:
    """parse the dump of {wildcards.source}"""
    input:
        manifest="data/acquire/{source}/manifest.json",
        template_table="data/parse/{source}/templates.parquet",
    output:
        **shards.outputs("parse", DUMP),
    threads: jobs.threads(16)
    resources:
        mem_mb=jobs.needs(needs.PAGES),
    params:
        call="parse.dump:parse_source",
        variant=lambda w: getattr(plan.params.parse.get(w.source), "variant", None),


use rule asking as parse_inlinks with:
    """count the links to each article of {wildcards.source}"""
    input:
        sections="data/parse/{source}/sections.parquet",
        links="data/parse/{source}/links.parquet",
        rejected="data/parse/{source}/sections.rejected.parquet",
    output:
        inlinks="data/parse/{source}/inlinks.parquet",
    params:
        call="parse.dump:count_inlinks",


# The pages of a source's wiki in a snapshot of Wikidata, where it has one.
use rule asking as parse_wikidata with:
    """find the pages of {wildcards.source} in Wikidata"""
    input:
        manifest="data/acquire/{source}/manifest.json",
        sections="data/parse/{source}/sections.parquet",
    output:
        entities="data/parse/{source}/wikidata.parquet",
        rejected="data/parse/{source}/wikidata.rejected.parquet",
    wildcard_constraints:
        source=any_of(filter(sources.has_wikidata, plan.params.acquire)),
    threads: jobs.threads(4)
    params:
        call="parse.wikidata:parse_source",


# Associations that the snapshot itself has, if the params say so: with those of WIT or alone.
use rule parse_wit as parse_wit_beside with:
    output:
        **pieces(WIT),
    wildcard_constraints:
        source=sources.associated("both"),


use rule asking as parse_associations with:
    """find the pictures of the sections of {wildcards.source}"""
    input:
        manifest="data/acquire/{source}/manifest.json",
        pictures="data/parse/{source}/pictures.parquet",
        sections="data/parse/{source}/sections.parquet",
        wit=lambda w: wit_beside(w, "associations"),
        wit_rejected=lambda w: wit_beside(w, "rejected"),
    output:
        associations="data/parse/{source}/associations.parquet",
        rejected="data/parse/{source}/associations.rejected.parquet",
    wildcard_constraints:
        source=sources.associated("dump", "both"),
    params:
        call="parse.dump:associate_source",
        splits=lambda w: plan.params.parse[w.source].splits.values(),


use rule asking as parse_pairs with:
    """parse the pairs of {wildcards.source}"""
    input:
        manifest="data/acquire/{source}/manifest.json",
    output:
        pairs="data/parse/{source}/pairs.parquet",
        rejected="data/parse/{source}/pairs.rejected.parquet",
    wildcard_constraints:
        source=sources.with_rows(),
    params:
        call="parse.pairs:parse_pairs",
        spec=sources.rows,
        parts=sources.parts,


# With more than one shard.
if shards.are("parse"):

    use rule streaming as parse_wit_gather with:
        """gather the WIT rows of {wildcards.source}"""
        input:
            **shards.gathered("parse", WIT),
        output:
            **WIT,
        wildcard_constraints:
            source=sources.associated("wit"),
        params:
            call="parse.wit:gather_parts",
            pieces=list(WIT),

    use rule streaming as parse_dump_gather with:
        """gather the sections of {wildcards.source}"""
        input:
            **shards.gathered("parse", DUMP),
        output:
            **DUMP,
        params:
            call="parse.dump:gather_dump",
            pieces=list(DUMP),

    use rule job as parse_template_pages with:
        """collect the templates of {wildcards.source}"""
        input:
            manifest="data/acquire/{source}/manifest.json",
        output:
            **pieces(TEMPLATES),
        threads: jobs.threads(16)
        resources:
            mem_mb=jobs.needs(needs.PAGES),
        params:
            call="parse.template_pages:collect_source",

    use rule parse_templates as parse_templates_gather with:
        input:
            **shards.gathered("parse", TEMPLATES),
            manifest="data/acquire/{source}/manifest.json",
        threads: 1
        params:
            call="parse.template_pages:gather_source",

    ruleorder: parse_templates_gather > parse_templates
