use rule parse_wit as parse_wit_beside with:
    output:
        **{k: temp(f".isotope/parse/{{source}}/{{part}}/{f}") for k, f in WIT.items()},
    log:
        "logs/parse_wit_beside/{source}/{part}.log",
    benchmark:
        "logs/benchmarks/parse_wit_beside/{source}.{part}.tsv"
    wildcard_constraints:
        source=associated("both"),


# Where a source asks for them: the pictures of its own sections, beside those of WIT or without.
rule parse_associations:
    input:
        manifest="data/acquire/{source}/manifest.json",
        pictures="data/parse/{source}/pictures.parquet",
        sections="data/parse/{source}/sections.parquet",
        wit=known("associations.parquet"),
        wit_rejected=known("associations.rejected.parquet"),
        sql=sql("parse/wikitext/*.sql"),
        code=code("parse.associations"),
    output:
        associations="data/parse/{source}/associations.parquet",
        rejected="data/parse/{source}/associations.rejected.parquet",
    log:
        "logs/parse_associations/{source}.log",
    benchmark:
        "logs/benchmarks/parse_associations/{source}.tsv"
    wildcard_constraints:
        source=associated("dump", "both"),
    resources:
        mem_mb=memory("parse_associations"),
    params:
        splits=lambda w: PARAMS["parse"][w.source]["splits"],
    message:
        "find the pictures of the sections of {wildcards.source}"
    script:
        "../scripts/parse_associations.py"
