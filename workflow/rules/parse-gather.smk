# Where the phase is cut into shards.
if plan.is_sharded("parse"):

    rule parse_wit_gather:
        input:
            **{
                k: plan.part_files("parse", f".isotope/parse/{{source}}/{{part}}/{f}")
                for k, f in plan.WIT.items()
            },
            code=plan.code("core.shards"),
        output:
            associations="data/parse/{source}/associations.parquet",
            rejected="data/parse/{source}/associations.rejected.parquet",
        log:
            "logs/parse_wit_gather/{source}.log",
        benchmark:
            "logs/benchmarks/parse_wit_gather/{source}.tsv"
        wildcard_constraints:
            source=plan.association_sources("wit"),
        resources:
            mem_mb=plan.needs(STREAMS),
        message:
            "gather the WIT rows of {wildcards.source}"
        script:
            "../scripts/parse_wit_gather.py"

    rule parse_dump_gather:
        input:
            **{
                k: plan.part_files("parse", f".isotope/parse/{{source}}/{{part}}/{f}")
                for k, f in plan.DUMP.items()
            },
            code=plan.code("parse.dump"),
        output:
            sections="data/parse/{source}/sections.parquet",
            links="data/parse/{source}/links.parquet",
            rejected="data/parse/{source}/sections.rejected.parquet",
            infoboxes="data/parse/{source}/infoboxes.parquet",
            pictures="data/parse/{source}/pictures.parquet",
            counts="data/parse/{source}/sections.counts.json",
        log:
            "logs/parse_dump_gather/{source}.log",
        benchmark:
            "logs/benchmarks/parse_dump_gather/{source}.tsv"
        resources:
            mem_mb=plan.needs(STREAMS),
        params:
            tables=list(plan.DUMP),
        message:
            "gather the sections of {wildcards.source}"
        script:
            "../scripts/parse_dump_gather.py"
