# Every picture of a collection: what it is, who shows it, under which licence.
rule suggest_pictures:
    input:
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        placed=plan.suggest_tables("pictures"),
        pixels=plan.pixels,
        sql=plan.sql("suggest/**/*.sql", "release/attributions*.sql"),
        code=plan.code("suggest.pictures:describe_pictures"),
    output:
        out="results/suggest/{collection}/pictures.parquet",
    log:
        "logs/suggest_pictures/{collection}.log",
    benchmark:
        "logs/benchmarks/suggest_pictures/{collection}.tsv"
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="suggest.pictures:describe_pictures",
        spec=plan.suggest_spec,
    message:
        "describe the pictures of {wildcards.collection}"
    script:
        "../scripts/call.py"


rule suggest_sections:
    input:
        texts="data/collect/{collection}/texts.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        outlines=plan.suggest_tables("outline"),
        placed=plan.suggest_tables("pictures"),
        projections=plan.suggest_projections,
        after=plan.topic_files,
        sql=plan.sql("suggest/**/*.sql", "parse/wikitext/10_uses.sql"),
        code=plan.code("suggest.sections:describe_sections"),
    output:
        out="results/suggest/{collection}/sections.parquet",
        model="results/suggest/{collection}/ought.json",
    log:
        "logs/suggest_sections/{collection}.log",
    benchmark:
        "logs/benchmarks/suggest_sections/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="suggest.sections:describe_sections",
        topics=plan.suggest_topics,
        spec=plan.suggest_spec,
    message:
        "find the sections of {wildcards.collection} that ought to have a picture"
    script:
        "../scripts/call.py"


rule suggest_candidates:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
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
        code=plan.code("suggest.candidates:find_candidates"),
    output:
        out="results/suggest/{collection}/candidates.parquet",
    log:
        "logs/suggest_candidates/{collection}.log",
    benchmark:
        "logs/benchmarks/suggest_candidates/{collection}.tsv"
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
    message:
        "find pictures for sections of {wildcards.collection}"
    script:
        "../scripts/call.py"


rule suggest_feed:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        sections="results/suggest/{collection}/sections.parquet",
        candidates="results/suggest/{collection}/candidates.parquet",
        pictures="results/suggest/{collection}/pictures.parquet",
        placed=plan.suggest_tables("pictures"),
        image_vectors=plan.suggest_vectors("images", "npy"),
        image_ids=plan.suggest_vectors("images", "ids.parquet"),
        judgements=plan.verdict_sheets,
        sql=plan.sql("suggest/**/*.sql"),
        code=plan.code("suggest.feed:write_feed"),
    output:
        **plan.FEED,
    log:
        "logs/suggest_feed/{collection}.log",
    benchmark:
        "logs/benchmarks/suggest_feed/{collection}.tsv"
    resources:
        mem_mb=plan.needs(
            HOLDS, reads=["texts", "images", "qrels", "sections", "pictures", "placed"]
        ),
    params:
        call="suggest.feed:write_feed",
        spec=plan.suggest_spec,
    message:
        "suggest pictures for {wildcards.collection}"
    script:
        "../scripts/call.py"


rule suggest_sheet:
    input:
        feed="results/suggest/{collection}/feed.parquet",
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        code=plan.code("suggest.verdicts:write_sheet"),
    output:
        out="results/suggest/{collection}/sheet.parquet",
    log:
        "logs/suggest_sheet/{collection}.log",
    benchmark:
        "logs/benchmarks/suggest_sheet/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="suggest.verdicts:write_sheet",
        spec=plan.suggest_spec,
    message:
        "draw suggestions for {wildcards.collection} for people to judge"
    script:
        "../scripts/call.py"


# What editors did with the suggestions until later snapshots, and how the feed has changed.
rule suggest_taken_up:
    input:
        scored="results/suggest/{collection}/scored.parquet",
        feed="results/suggest/{collection}/feed.parquet",
        sections="results/suggest/{collection}/sections.parquet",
        images="data/collect/{collection}/images.parquet",
        outlines=plan.suggest_tables("outline"),
        after=plan.later_files,
        sql=plan.sql("suggest/**/*.sql"),
        code=plan.code("suggest.later:follow"),
    output:
        out="results/suggest/{collection}/taken_up.parquet",
    log:
        "logs/suggest_taken_up/{collection}.log",
    benchmark:
        "logs/benchmarks/suggest_taken_up/{collection}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="suggest.later:follow",
        later=plan.later_snapshots,
        spec=plan.suggest_spec,
    message:
        "see which suggestions for {wildcards.collection} editors have taken up"
    script:
        "../scripts/call.py"


rule suggest_delta:
    input:
        before_feed="results/suggest/{earlier}/feed.parquet",
        before_sections="results/suggest/{earlier}/sections.parquet",
        feed="results/suggest/{collection}/feed.parquet",
        sections="results/suggest/{collection}/sections.parquet",
        placed=plan.suggest_tables("pictures"),
        sql=plan.sql("suggest/**/*.sql"),
        code=plan.code("suggest.later:write_delta"),
    output:
        out="results/suggest/{collection}/since/{earlier}/delta.parquet",
    log:
        "logs/suggest_delta/{collection}.{earlier}.log",
    benchmark:
        "logs/benchmarks/suggest_delta/{collection}.{earlier}.tsv"
    wildcard_constraints:
        earlier=plan.any_of(plan.collections()),
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="suggest.later:write_delta",
        spec=plan.suggest_spec,
    message:
        "compare the feeds of {wildcards.collection} and {wildcards.earlier}"
    script:
        "../scripts/call.py"


# What people's verdicts on suggestions say of pictures, for whoever trains or measures on them.
rule suggest_judgements:
    input:
        paths=plan.verdict_sheets,
        code=plan.code("suggest.verdicts:write_judgements"),
    output:
        out="results/suggest/{collection}/judgements.parquet",
    log:
        "logs/suggest_judgements/{collection}.log",
    benchmark:
        "logs/benchmarks/suggest_judgements/{collection}.tsv"
    resources:
        mem_mb=plan.needs(STREAMS),
    params:
        call="suggest.verdicts:write_judgements",
    message:
        "gather the verdicts on suggestions for {wildcards.collection}"
    script:
        "../scripts/call.py"
