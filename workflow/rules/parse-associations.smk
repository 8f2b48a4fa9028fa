use rule parse_wit as parse_wit_beside with:
    output:
        **{k: temp(f".isotope/parse/{{source}}/{{part}}/{f}") for k, f in plan.WIT.items()},
    log:
        "logs/parse_wit_beside/{source}/{part}.log",
    benchmark:
        "logs/benchmarks/parse_wit_beside/{source}.{part}.tsv"
    wildcard_constraints:
        source=plan.association_sources("both"),


# Where a source asks for them: the pictures of its own sections, beside those of WIT or without.
rule parse_associations:
    input:
        manifest="data/acquire/{source}/manifest.json",
        pictures="data/parse/{source}/pictures.parquet",
        sections="data/parse/{source}/sections.parquet",
        wit=plan.wit_pieces("associations.parquet"),
        wit_rejected=plan.wit_pieces("associations.rejected.parquet"),
        sql=plan.sql("parse/wikitext/*.sql"),
        code=plan.code("parse.associations"),
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
        splits=lambda w: plan.params["parse"][w.source]["splits"],
    message:
        "find the pictures of the sections of {wildcards.source}"
    script:
        "../scripts/parse_associations.py"
