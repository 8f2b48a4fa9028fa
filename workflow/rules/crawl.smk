use rule asking as crawl_urls with:
    """list the images of {wildcards.source}"""
    input:
        listed=lambda w: parsed(w.source, *plan.params.crawl[w.source].of),
        after=sources.earlier_crawl,
    output:
        urls="data/crawl/{source}/urls.parquet",
    wildcard_constraints:
        source=sources.crawled("requests", "bulk"),
    params:
        call="crawl.ledger:list_urls",
        shards=lambda w: plan.params.crawl[w.source].shards,


use rule buffering as crawl_shard with:
    """crawl {wildcards.source}, shard {wildcards.shard}"""
    input:
        after=ancient("data/acquire/{source}/manifest.json"),
        urls=ancient("data/crawl/{source}/urls.parquet"),
    output:
        pixels=protected("data/crawl/{source}/shard-{shard}.parquet"),
        ledger=protected("data/crawl/{source}/ledger-{shard}.parquet"),
    wildcard_constraints:
        source=sources.crawled("requests"),
    params:
        downloads=True,
        call="crawl.shard:crawl_shard",
        spec=sources.crawl_spec,
        policy=sources.uncompared(*OF_POLICY),
        scratch=".isotope/crawl/{source}",


# Bulk sources come before the network, one after the other: code is no input here either.
use rule job as crawl_bulk with:
    """take pictures of {wildcards.source} from its bulk source {wildcards.bulk}"""
    input:
        urls=ancient("data/crawl/{source}/urls.parquet"),
        manifest=sources.bulk_listed,
        taken=sources.bulk_ledgers,
    output:
        pixels="data/crawl/{source}/bulk/{bulk}/shard-00000.parquet",
        ledger="data/crawl/{source}/bulk/{bulk}/ledger.parquet",
        files="data/crawl/{source}/bulk/{bulk}/files.parquet",
        damaged="data/crawl/{source}/bulk/{bulk}/damaged.parquet",
    wildcard_constraints:
        source=sources.crawled("bulk"),
        bulk=r"\d{2}",
    params:
        downloads=True,
        call="crawl.bulk:crawl_bulk",
        spec=sources.bulk_spec,
        decoding=sources.uncompared(*DECODING, "side_px"),
        scratch=".isotope/crawl/{source}/bulk-{bulk}",


# Not protected: a bulk source that is added is taken from, and what came is in the scratch.
use rule crawl_shard as crawl_rest with:
    """crawl what {wildcards.source} lacks, shard {wildcards.shard}"""
    input:
        after=ancient("data/acquire/{source}/manifest.json"),
        urls=ancient("data/crawl/{source}/urls.parquet"),
        bulk=sources.bulk_ledgers,
    output:
        pixels="data/crawl/{source}/shard-{shard}.parquet",
        ledger="data/crawl/{source}/ledger-{shard}.parquet",
    wildcard_constraints:
        source=sources.crawled("bulk"),


use rule asking as crawl_ledger with:
    """gather the ledger of {wildcards.source}"""
    input:
        urls="data/crawl/{source}/urls.parquet",
        ledgers=lambda w: sources.shards(w.source, "ledger"),
    output:
        ledger="data/crawl/{source}/ledger.parquet",
    params:
        call="crawl.ledger:gather_ledgers",
        spec=sources.crawl(*ORIGIN),
        decoding=sources.uncompared(*DECODING),


# Pictures of a data set go into the same shards as downloaded ones.
use rule job as crawl_listing with:
    """list the pictures of {wildcards.source}"""
    input:
        manifest="data/acquire/{source}/manifest.json",
    output:
        urls="data/crawl/{source}/urls.parquet",
    wildcard_constraints:
        source=sources.crawled("pictures"),
    params:
        call="crawl.pictures:list_pictures",
        spec=sources.pictures,
        shards=lambda w: plan.params.crawl[w.source].shards,


use rule buffering as crawl_pictures with:
    """copy the pictures of {wildcards.source}, shard {wildcards.shard}"""
    input:
        manifest="data/acquire/{source}/manifest.json",
        urls="data/crawl/{source}/urls.parquet",
    output:
        pixels="data/crawl/{source}/shard-{shard}.parquet",
        ledger="data/crawl/{source}/ledger-{shard}.parquet",
    wildcard_constraints:
        source=sources.crawled("pictures"),
    params:
        call="crawl.pictures:crawl_pictures",
        spec=sources.pictures,
        limits=sources.crawl(*DECODING, "side_px"),


# Pictures within the rows of a data set, such as the bytes of a column.
use rule crawl_listing as crawl_contents_listing with:
    """list the pictures within {wildcards.source}"""
    wildcard_constraints:
        source=sources.crawled("contents"),
    params:
        call="crawl.contents:list_contents",


use rule crawl_pictures as crawl_contents with:
    """copy the pictures within {wildcards.source}, shard {wildcards.shard}"""
    wildcard_constraints:
        source=sources.crawled("contents"),
    params:
        call="crawl.contents:crawl_contents",
