# A rule makes all runs (of each setting, split and task) of one system.
# A kind of system that reads only the collection's tables names its function in its class.
use rule job as search_tables with:
    """search {wildcards.collection} with {wildcards.system}"""
    input:
        **collected(),
    output:
        runs=shards.outputs("search", systems.grid),
    wildcard_constraints:
        system=systems.that(lambda kind: kind.call),
    resources:
        mem_mb=jobs.needs(needs.HOLDS, shards="search"),
    params:
        call=lambda w: systems[w.system].call,
        spec=systems.spec,
        depth=plan.params.search.depth,


use rule search_tables as search_bm25 with:
    input:
        **collected(),
        indexes=systems.indexes,
    wildcard_constraints:
        system=systems.of_kind("bm25"),
    threads: jobs.threads(8)
    resources:
        mem_mb=jobs.needs(needs.SEARCHES, by_lucene=needs.JAVA_SEARCHES, reads=["texts", "images"]),
    params:
        **systems.words("language", "texts_language"),
        call="search.bm25:search_bm25",


use rule job as search_dense with:
    """search {wildcards.collection} with {wildcards.system}"""
    input:
        **systems.searched({"{side}s": "npy", "{side}s_ids": "ids.parquet"}),
    output:
        runs=shards.outputs("search", systems.grid),
    wildcard_constraints:
        system=systems.of_kind("dense"),
    threads: jobs.threads(8)
    resources:
        mem_mb=jobs.needs(
            needs.HOLDS, reads=["texts_ids", "images_ids", "qrels"], extra_mb=jobs.search_mb
        ),
    params:
        call="search.systems:search_dense",
        encoded=["texts", "images", "texts_ids", "images_ids"],
        depth=plan.params.search.depth,
        memory_mb=plan.params.search.memory_mb,
        device=plan.params.search.device,


TOKENS = {"{side}s_tokens": "tokens.npy", "{side}s_items": "tokens.parquet"}


use rule search_dense as search_late with:
    input:
        **systems.searched({"{side}s": "npy", "{side}s_ids": "ids.parquet", **TOKENS}),
    wildcard_constraints:
        system=systems.of_kind("late"),
    resources:
        mem_mb=jobs.needs(
            needs.HOLDS,
            reads=["texts_ids", "images_ids", "texts_items", "images_items", "qrels"],
            extra_mb=jobs.search_mb,
        ),
    params:
        call="search.late:search_late",
        vectors=["texts_tokens", "images_tokens", "texts_items", "images_items"],
        spec=systems.spec,


use rule job as search_sparse with:
    """search {wildcards.collection} with {wildcards.system}"""
    input:
        **systems.searched({"{side}s": "terms.parquet"}),
    output:
        runs=shards.outputs("search", only(systems.of_kind("sparse"), systems.grid)),
    threads: jobs.threads(8)
    resources:
        mem_mb=jobs.needs(needs.SEARCHES, reads=["texts", "images"]),
    params:
        call="search.sparse:search_sparse",
        encoded=["texts", "images"],
        depth=plan.params.search.depth,


use rule job as search_trec with:
    """read the run of {wildcards.system} on {wildcards.collection}"""
    input:
        **collected("qrels"),
        submission=systems.external_run,
        documents=systems.candidates,
    output:
        run=RUN,
    wildcard_constraints:
        system=systems.of_kind("trec"),
    params:
        call="search.systems:take_run",
        depth=plan.params.search.depth,


use rule search_dense as search_approximate with:
    output:
        runs=systems.grid,
        recall="results/search/{collection}/recall/{system}.csv",
    wildcard_constraints:
        system=systems.of_kind("approximate"),
    resources:
        mem_mb=jobs.needs(needs.VECTORS, extra_mb=jobs.search_mb),
    params:
        call="search.approximate:search_approximate",
        spec=systems.spec,


use rule search_tables as search_prompted with:
    input:
        **collected(),
        vectors=systems.vectors("images"),
        ids=systems.vectors("images", "ids.parquet"),
        weights=lambda w: systems.model(w.system).weights(w.collection),
        after=lambda w: systems.model(w.system).configs,
    output:
        runs=systems.grid,
    wildcard_constraints:
        system=systems.of_kind("prompt"),
    threads: jobs.threads(8)
    resources:
        mem_mb=jobs.needs(needs.LEARNS),
    params:
        call="search.prompted:search_prompted",
        model=lambda w: systems.model(w.system).spec,
        batch=plan.params.encode.batch,


use rule job as search_reranked with:
    """rerank the runs of {wildcards.system} on {wildcards.collection}"""
    input:
        **collected(),
        parts=systems.parts,
        pixels=systems.reranked_pixels,
        after=lambda w: systems.model(w.system).configs,
    output:
        runs=shards.outputs("search", only(systems.of_kind("rerank"), systems.grid)),
    threads: jobs.threads(8)
    resources:
        mem_mb=jobs.needs(
            needs.RERANKS,
            reads=["texts", "parts"],
            extra_mb=lambda w: needs.reranker_mb(systems.model(w.system)),
        ),
    params:
        **systems.words("language"),
        call="search.rerank:search_reranked",
        spec=systems.spec,
        model=lambda w: systems.model(w.system).spec,
        costs=systems.rerank_costs,


use rule search_tables as search_answers with:
    """map the answers of {wildcards.system} to {wildcards.collection}"""
    input:
        **collected(),
        answers=systems.answers,
        indexes=systems.indexes,
        after=systems.vocabulary,
    output:
        runs=systems.grid,
        rejected="results/search/{collection}/answers/{system}.rejected.parquet",
        answered=ANSWERED,
    wildcard_constraints:
        system=systems.of_kind("answers"),
    threads: jobs.threads(8)
    resources:
        mem_mb=jobs.needs(needs.SEARCHES),
    params:
        call="search.answers:search_answers",


# With more than one shard.
if shards.are("search"):

    use rule streaming as search_gather with:
        """gather the runs of {wildcards.system} on {wildcards.collection}"""
        input:
            pieces=shards.gathered("search", systems.grid),
        output:
            runs=only(systems.that(lambda kind: kind.is_sliced), systems.grid),
        params:
            call="search.systems:gather_runs",


use rule search_tables as search_fused with:
    input:
        parts=systems.parts,
    output:
        runs=systems.grid,
    wildcard_constraints:
        system=systems.that(lambda s: s.fuses and not s.tune),
    resources:
        mem_mb=jobs.needs(needs.BUFFERS),
    params:
        call="search.systems:search_fused",


use rule search_tables as search_tuned with:
    """tune {wildcards.system} on {wildcards.collection} and search with it"""
    input:
        **collected("qrels"),
        parts=systems.parts,
    output:
        runs=systems.grid,
        trials="results/search/{collection}/tuning/{system}.csv",
    wildcard_constraints:
        system=systems.that(lambda s: s.fuses and s.tune),
    resources:
        mem_mb=jobs.needs(needs.HOLDS_TWICE),
    params:
        call="search.tune:search_tuned",


# Systems built on an earlier collection answer the queries of a later one.
use rule search_bm25 as search_earlier_bm25 with:
    """search {wildcards.earlier} for {wildcards.collection} with {wildcards.system}"""
    output:
        runs=systems.earlier_runs(),


use rule search_dense as search_earlier_dense with:
    """search {wildcards.earlier} for {wildcards.collection} with {wildcards.system}, {wildcards.task}"""
    output:
        runs=systems.earlier_runs("setting", "split"),


use rule search_fused as search_earlier_fused with:
    """fuse the runs on {wildcards.earlier} for {wildcards.collection} by {wildcards.system}"""
    output:
        runs=systems.earlier_runs(),
