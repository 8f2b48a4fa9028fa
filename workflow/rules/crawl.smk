from collections import UserDict


rule crawl_urls:
    input:
        listed=lambda w: [
            f"data/parse/{w.source}/{t}.parquet" for t in plan.params["crawl"][w.source]["of"]
        ],
        earlier=plan.earlier_crawl,
        sql=plan.sql("crawl/urls.sql"),
        code=plan.code("core.sql"),
    output:
        urls="data/crawl/{source}/urls.parquet",
    log:
        "logs/crawl_urls/{source}.log",
    benchmark:
        "logs/benchmarks/crawl_urls/{source}.tsv"
    wildcard_constraints:
        source=plan.crawl_sources(pictures=False),
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        shards=lambda w: plan.params["crawl"][w.source]["shards"],
    message:
        "list the images of {wildcards.source}"
    script:
        "../scripts/crawl_urls.py"


rule crawl_shard:
    input:
        manifest=ancient("data/acquire/{source}/manifest.json"),
        urls=ancient("data/crawl/{source}/urls.parquet"),
    output:
        pixels=protected("data/crawl/{source}/shard-{shard}.parquet"),
        ledger=protected("data/crawl/{source}/ledger-{shard}.parquet"),
    log:
        "logs/crawl_shard/{source}/{shard}.log",
    benchmark:
        "logs/benchmarks/crawl_shard/{source}.{shard}.tsv"
    wildcard_constraints:
        source=plan.crawl_sources(pictures=False),
    resources:
        mem_mb=plan.needs(BUFFERS),
    params:
        # Snakemake compares plain values only; another place to go on from is no reason to crawl anew.
        spec=lambda w: UserDict(plan.params["crawl"][w.source]),
        compared=lambda w: {k: v for k, v in plan.params["crawl"][w.source].items() if k != "after"},
        scratch=".isotope/crawl/{source}",
    message:
        "crawl {wildcards.source}, shard {wildcards.shard}"
    script:
        "../scripts/crawl_shard.py"


rule crawl_ledger:
    input:
        urls="data/crawl/{source}/urls.parquet",
        ledgers=plan.ledgers,
        sql=plan.sql("crawl/ledger.sql", "crawl/o*.sql", "crawl/uncrawled.sql"),
        code=plan.code("crawl.ledger"),
    output:
        ledger="data/crawl/{source}/ledger.parquet",
    log:
        "logs/crawl_ledger/{source}.log",
    benchmark:
        "logs/benchmarks/crawl_ledger/{source}.tsv"
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        spec=lambda w: {
            k: plan.params["crawl"][w.source].get(k) for k in ("serve", "mirror", "pictures")
        },
    message:
        "gather the ledger of {wildcards.source}"
    script:
        "../scripts/crawl_ledger.py"
