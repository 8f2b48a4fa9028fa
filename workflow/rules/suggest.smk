# Every picture of a collection: what it is, who shows it, under which licence.
use rule job as suggest_pictures with:
    """describe the pictures of {wildcards.collection}"""
    input:
        **collected("images", "qrels"),
        placed=plan.suggest_tables("pictures"),
        pixels=plan.pixels,
        sql=plan.sql("suggest/**/*.sql", "release/attributions*.sql"),
    output:
        out="results/suggest/{collection}/pictures.parquet",
    threads: plan.threads(8)
    params:
        call="suggest.pictures:describe_pictures",
        spec=plan.suggest_spec,


use rule job as suggest_sections with:
    """find the sections of {wildcards.collection} that ought to have a picture"""
    input:
        **collected("texts", "qrels"),
        outlines=plan.suggest_tables("outline"),
        placed=plan.suggest_tables("pictures"),
        projections=plan.suggest_projections,
        after=plan.topic_files,
        sql=plan.sql("suggest/**/*.sql", "parse/wikitext/10_uses.sql"),
    output:
        out="results/suggest/{collection}/sections.parquet",
        model="results/suggest/{collection}/ought.json",
    params:
        call="suggest.sections:describe_sections",
        topics=plan.suggest_topics,
        spec=plan.suggest_spec,


use rule job as suggest_candidates with:
    """find pictures for sections of {wildcards.collection}"""
    input:
        **collected(),
        sections="results/suggest/{collection}/sections.parquet",
        outlines=plan.suggest_tables("outline"),
        placed=plan.suggest_tables("pictures"),
        associations=plan.suggest_tables("associations"),
        redirects=plan.suggest_tables("sections.rejected"),
        entities=plan.suggest_entities,
        manifests=plan.manifests,
        index=plan.suggest_index,
        text_vectors=plan.suggest_vectors("texts", "npy"),
        text_ids=plan.suggest_vectors("texts", "ids.parquet"),
        image_vectors=plan.suggest_vectors("images", "npy"),
        image_ids=plan.suggest_vectors("images", "ids.parquet"),
        sql=plan.sql("suggest/**/*.sql", "index/*.sql"),
    output:
        out="results/suggest/{collection}/candidates.parquet",
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(
            SEARCHES,
            reads=["texts", "images", "outlines", "placed", "associations"],
            extra_mb=plan.search_memory_mb,
        ),
    params:
        call="suggest.candidates:find_candidates",
        spec=plan.suggest_spec,


use rule job as suggest_feed with:
    """suggest pictures for {wildcards.collection}"""
    input:
        **collected(),
        sections="results/suggest/{collection}/sections.parquet",
        candidates="results/suggest/{collection}/candidates.parquet",
        pictures="results/suggest/{collection}/pictures.parquet",
        placed=plan.suggest_tables("pictures"),
        image_vectors=plan.suggest_vectors("images", "npy"),
        image_ids=plan.suggest_vectors("images", "ids.parquet"),
        judgements=plan.verdict_sheets,
        sql=plan.sql("suggest/**/*.sql"),
    output:
        **plan.FEED,
    resources:
        mem_mb=plan.needs(
            HOLDS, reads=["texts", "images", "qrels", "sections", "pictures", "placed"]
        ),
    params:
        call="suggest.feed:write_feed",
        spec=plan.suggest_spec,


use rule job as suggest_sheet with:
    """draw suggestions for {wildcards.collection} for people to judge"""
    input:
        **collected("texts", "images"),
        feed="results/suggest/{collection}/feed.parquet",
    output:
        out="results/suggest/{collection}/sheet.parquet",
    params:
        call="suggest.verdicts:write_sheet",
        spec=plan.suggest_spec,


# What editors did with the suggestions until later snapshots, and how the feed has changed.
use rule job as suggest_taken_up with:
    """see which suggestions for {wildcards.collection} editors have taken up"""
    input:
        scored="results/suggest/{collection}/scored.parquet",
        feed="results/suggest/{collection}/feed.parquet",
        sections="results/suggest/{collection}/sections.parquet",
        images="data/collect/{collection}/images.parquet",
        outlines=plan.suggest_tables("outline"),
        after=plan.later_files,
        sql=plan.sql("suggest/**/*.sql"),
    output:
        out="results/suggest/{collection}/taken_up.parquet",
    params:
        call="suggest.later:follow",
        later=plan.later_snapshots,
        spec=plan.suggest_spec,


use rule job as suggest_delta with:
    """compare the feeds of {wildcards.collection} and {wildcards.earlier}"""
    input:
        before_feed="results/suggest/{earlier}/feed.parquet",
        before_sections="results/suggest/{earlier}/sections.parquet",
        feed="results/suggest/{collection}/feed.parquet",
        sections="results/suggest/{collection}/sections.parquet",
        placed=plan.suggest_tables("pictures"),
        sql=plan.sql("suggest/**/*.sql"),
    output:
        out="results/suggest/{collection}/since/{earlier}/delta.parquet",
    wildcard_constraints:
        earlier=plan.any_of(plan.collections()),
    params:
        call="suggest.later:write_delta",
        spec=plan.suggest_spec,


# What people's verdicts on suggestions say of pictures, for whoever trains or measures on them.
use rule job as suggest_judgements with:
    """gather the verdicts on suggestions for {wildcards.collection}"""
    input:
        paths=plan.verdict_sheets,
    output:
        out="results/suggest/{collection}/judgements.parquet",
    resources:
        mem_mb=plan.needs(STREAMS),
    params:
        call="suggest.verdicts:write_judgements",
