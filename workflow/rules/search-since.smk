# Systems built on an earlier collection answer the queries of a later one with what they know.
use rule search_bm25 as search_since_bm25 with:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        indexes=plan.earlier_index,
        sql=plan.sql("index/*.sql"),
        code=plan.code("search.systems"),
    output:
        runs=expand(
            plan.STALE,
            setting=plan.settings,
            split=plan.splits,
            task=plan.tasks,
            allow_missing=True,
        ),
    log:
        "logs/search_since_bm25/{collection}/{earlier}/{system}.log",
    benchmark:
        "logs/benchmarks/search_since_bm25/{collection}.{earlier}.{system}.tsv"
    message:
        "search {wildcards.earlier} for {wildcards.collection} with {wildcards.system}"


use rule search_dense as search_since_dense with:
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        indexes=plan.earlier_index,
        texts=plan.stale_sides("texts", "npy"),
        images=plan.stale_sides("images", "npy"),
        texts_ids=plan.stale_sides("texts", "ids.parquet"),
        images_ids=plan.stale_sides("images", "ids.parquet"),
        code=plan.code("search.systems"),
    output:
        runs=expand(plan.STALE, setting=plan.settings, split=plan.splits, allow_missing=True),
    log:
        "logs/search_since_dense/{collection}/{earlier}/{task}.{system}.log",
    benchmark:
        "logs/benchmarks/search_since_dense/{collection}.{earlier}.{task}.{system}.tsv"
    message:
        "search {wildcards.earlier} for {wildcards.collection} with {wildcards.system}, {wildcards.task}"


use rule search_fused as search_since_fused with:
    input:
        runs=plan.stale_parts,
        code=plan.code("search.systems"),
    output:
        runs=expand(
            plan.STALE,
            setting=plan.settings,
            split=plan.splits,
            task=plan.tasks,
            allow_missing=True,
        ),
    log:
        "logs/search_since_fused/{collection}/{earlier}/{system}.log",
    benchmark:
        "logs/benchmarks/search_since_fused/{collection}.{earlier}.{system}.tsv"
    message:
        "fuse what was found in {wildcards.earlier} for {wildcards.collection}, by {wildcards.system}"
