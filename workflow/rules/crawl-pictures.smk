# Pictures that came with a data set enter the same shards as downloaded ones.
rule crawl_listing:
    input:
        manifest="data/acquire/{source}/manifest.json",
        sql=plan.sql("crawl/urls.sql"),
        code=plan.code("crawl.pictures"),
    output:
        urls="data/crawl/{source}/urls.parquet",
    log:
        "logs/crawl_listing/{source}.log",
    benchmark:
        "logs/benchmarks/crawl_listing/{source}.tsv"
    wildcard_constraints:
        source=plan.crawl_sources(pictures=True),
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        spec=lambda w: plan.params["crawl"][w.source]["pictures"],
        shards=lambda w: plan.params["crawl"][w.source]["shards"],
    message:
        "list the pictures of {wildcards.source}"
    script:
        "../scripts/crawl_listing.py"


rule crawl_pictures:
    input:
        manifest="data/acquire/{source}/manifest.json",
        urls="data/crawl/{source}/urls.parquet",
        code=plan.code("crawl.pictures"),
    output:
        pixels="data/crawl/{source}/shard-{shard}.parquet",
        ledger="data/crawl/{source}/ledger-{shard}.parquet",
    log:
        "logs/crawl_pictures/{source}/{shard}.log",
    benchmark:
        "logs/benchmarks/crawl_pictures/{source}.{shard}.tsv"
    wildcard_constraints:
        source=plan.crawl_sources(pictures=True),
    resources:
        mem_mb=plan.needs(BUFFERS),
    params:
        spec=lambda w: plan.params["crawl"][w.source]["pictures"],
    message:
        "take over the pictures of {wildcards.source}, shard {wildcards.shard}"
    script:
        "../scripts/crawl_pictures.py"
