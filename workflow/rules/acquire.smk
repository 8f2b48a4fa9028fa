# Code is no input of this phase and of crawl: an edit must not cause all downloads again.
rule acquire_source:
    output:
        manifest="data/acquire/{source}/manifest.json",
    log:
        "logs/acquire_source/{source}.log",
    benchmark:
        "logs/benchmarks/acquire_source/{source}.tsv"
    resources:
        mem_mb=plan.needs(STREAMS),
    params:
        call="acquire.fetch:acquire",
        spec=plan.upstream,
        scratch=".isotope/acquire/{source}",
    message:
        "acquire {wildcards.source}"
    script:
        "../scripts/call.py"
