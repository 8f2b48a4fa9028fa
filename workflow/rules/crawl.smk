rule crawl_urls:
    input:
        listed=plan.listing_tables,
        after=plan.earlier_crawl,
        sql=plan.sql("crawl/urls.sql"),
        code=plan.code("crawl.ledger:list_urls"),
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
        call="crawl.ledger:list_urls",
        shards=plan.crawl_shards,
    message:
        "list the images of {wildcards.source}"
    script:
        "../scripts/call.py"


rule crawl_shard:
    input:
        after=ancient("data/acquire/{source}/manifest.json"),
        urls=ancient("data/crawl/{source}/urls.parquet"),
    output:
        pixels=protected("data/crawl/{source}/shard-{shard}.parquet"),
        ledger=protected("data/crawl/{source}/ledger-{shard}.parquet"),
    log:
        "logs/crawl_shard/{source}/{shard}.log",
    benchmark:
        "logs/benchmarks/crawl_shard/{source}.{shard}.tsv"
    wildcard_constraints:
        source=plan.crawl_sources(pictures=False, bulk=False),
    resources:
        mem_mb=plan.needs(BUFFERS),
    params:
        call="crawl.shard:crawl_shard",
        spec=plan.crawl_spec,
        policy=plan.crawl_policy,
        scratch=".isotope/crawl/{source}",
    message:
        "crawl {wildcards.source}, shard {wildcards.shard}"
    script:
        "../scripts/call.py"


# Bulk sources come before the network, one after the other: code is no input here either.
rule crawl_bulk:
    input:
        urls=ancient("data/crawl/{source}/urls.parquet"),
        manifest=plan.bulk_listed,
        taken=plan.bulk_taken,
    output:
        pixels="data/crawl/{source}/bulk/{bulk}/shard-00000.parquet",
        ledger="data/crawl/{source}/bulk/{bulk}/ledger.parquet",
        files="data/crawl/{source}/bulk/{bulk}/files.parquet",
        damaged="data/crawl/{source}/bulk/{bulk}/damaged.parquet",
    log:
        "logs/crawl_bulk/{source}/{bulk}.log",
    benchmark:
        "logs/benchmarks/crawl_bulk/{source}.{bulk}.tsv"
    wildcard_constraints:
        source=plan.crawl_sources(pictures=False, bulk=True),
        bulk=r"\d{2}",
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="crawl.bulk:crawl_bulk",
        spec=plan.bulk_spec,
        decoding=plan.bulk_decoding,
        scratch=".isotope/crawl/{source}/bulk-{bulk}",
    message:
        "take pictures of {wildcards.source} from its bulk source {wildcards.bulk}"
    script:
        "../scripts/call.py"


# Not protected: a bulk source that is added is taken from, and what came is in the scratch.
rule crawl_rest:
    input:
        after=ancient("data/acquire/{source}/manifest.json"),
        urls=ancient("data/crawl/{source}/urls.parquet"),
        bulk=plan.bulk_ledgers,
    output:
        pixels="data/crawl/{source}/shard-{shard}.parquet",
        ledger="data/crawl/{source}/ledger-{shard}.parquet",
    log:
        "logs/crawl_rest/{source}/{shard}.log",
    benchmark:
        "logs/benchmarks/crawl_rest/{source}.{shard}.tsv"
    wildcard_constraints:
        source=plan.crawl_sources(pictures=False, bulk=True),
    resources:
        mem_mb=plan.needs(BUFFERS),
    params:
        call="crawl.shard:crawl_shard",
        spec=plan.crawl_spec,
        policy=plan.crawl_policy,
        scratch=".isotope/crawl/{source}",
    message:
        "crawl what {wildcards.source} lacks, shard {wildcards.shard}"
    script:
        "../scripts/call.py"


rule crawl_ledger:
    input:
        urls="data/crawl/{source}/urls.parquet",
        ledgers=plan.ledgers,
        sql=plan.sql("crawl/ledger.sql", "crawl/o*.sql", "crawl/uncrawled.sql"),
        code=plan.code("crawl.ledger:gather_ledgers"),
    output:
        ledger="data/crawl/{source}/ledger.parquet",
    log:
        "logs/crawl_ledger/{source}.log",
    benchmark:
        "logs/benchmarks/crawl_ledger/{source}.tsv"
    resources:
        mem_mb=plan.needs(DUCKDB),
    params:
        call="crawl.ledger:gather_ledgers",
        spec=plan.crawl_origin,
        decoding=plan.crawl_decoding,
    message:
        "gather the ledger of {wildcards.source}"
    script:
        "../scripts/call.py"


# Pictures of a data set go into the same shards as downloaded ones.
rule crawl_listing:
    input:
        manifest="data/acquire/{source}/manifest.json",
        sql=plan.sql("crawl/urls.sql"),
        code=plan.code("crawl.pictures:list_pictures"),
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
        call="crawl.pictures:list_pictures",
        spec=plan.crawl_pictures,
        shards=plan.crawl_shards,
    message:
        "list the pictures of {wildcards.source}"
    script:
        "../scripts/call.py"


rule crawl_pictures:
    input:
        manifest="data/acquire/{source}/manifest.json",
        urls="data/crawl/{source}/urls.parquet",
        code=plan.code("crawl.pictures:crawl_pictures"),
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
        call="crawl.pictures:crawl_pictures",
        spec=plan.pictures_within,
    message:
        "copy the pictures of {wildcards.source}, shard {wildcards.shard}"
    script:
        "../scripts/call.py"


# Pictures within the rows of a data set, such as the bytes of a column.
rule crawl_contents_listing:
    input:
        manifest="data/acquire/{source}/manifest.json",
        sql=plan.sql("crawl/urls.sql"),
        code=plan.code("crawl.contents:list_contents"),
    output:
        urls="data/crawl/{source}/urls.parquet",
    log:
        "logs/crawl_contents_listing/{source}.log",
    benchmark:
        "logs/benchmarks/crawl_contents_listing/{source}.tsv"
    wildcard_constraints:
        source=plan.crawl_sources(pictures=True, contents=True),
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="crawl.contents:list_contents",
        spec=plan.contents_spec,
        shards=plan.crawl_shards,
    message:
        "list the pictures within {wildcards.source}"
    script:
        "../scripts/call.py"


rule crawl_contents:
    input:
        manifest="data/acquire/{source}/manifest.json",
        urls="data/crawl/{source}/urls.parquet",
        code=plan.code("crawl.contents:crawl_contents"),
    output:
        pixels="data/crawl/{source}/shard-{shard}.parquet",
        ledger="data/crawl/{source}/ledger-{shard}.parquet",
    log:
        "logs/crawl_contents/{source}/{shard}.log",
    benchmark:
        "logs/benchmarks/crawl_contents/{source}.{shard}.tsv"
    wildcard_constraints:
        source=plan.crawl_sources(pictures=True, contents=True),
    resources:
        mem_mb=plan.needs(BUFFERS),
    params:
        call="crawl.contents:crawl_contents",
        spec=plan.contents_within,
    message:
        "copy the pictures within {wildcards.source}, shard {wildcards.shard}"
    script:
        "../scripts/call.py"
