from isotope_judge.ledger import sheet_paths
from isotope_suggest.params import Publishing
from isotope_suggest.plan import FEED, FOLDER as SUGGESTED

suggestions = plan.extensions["suggest"]


# Every picture of a collection: what it is, who shows it, under which licence.
use rule job as suggest_pictures with:
    """describe the pictures of {wildcards.collection}"""
    input:
        **collected("images", "qrels"),
        placed=lambda w: collections[w.collection].parsed("pictures"),
        pixels=lambda w: collections[w.collection].pixels,
    output:
        out="results/suggest/{collection}/pictures.parquet",
    threads: jobs.threads(8)
    params:
        call="isotope_suggest.pictures:describe_pictures",
        maximum_usage=suggestions.asked.maximum_usage,


use rule job as suggest_sections with:
    """find the sections of {wildcards.collection} that ought to have a picture"""
    input:
        **collected("texts", "qrels"),
        outlines=lambda w: collections[w.collection].parsed("outline"),
        placed=lambda w: collections[w.collection].parsed("pictures"),
        projections=lambda w: [
            f"data/project/{s}/projection.parquet" for s in collections[w.collection].sources
        ],
        after=lambda w: facts.files(w.collection, "topics"),
    output:
        out="results/suggest/{collection}/sections.parquet",
        model="results/suggest/{collection}/ought.json",
    params:
        call="isotope_suggest.sections:describe_sections",
        topics=lambda w: facts.only(w.collection, "topics"),
        origins=suggestions.origins,
        maximum_usage=suggestions.asked.maximum_usage,


use rule job as suggest_candidates with:
    """find pictures for sections of {wildcards.collection}"""
    input:
        **collected(),
        sections="results/suggest/{collection}/sections.parquet",
        outlines=lambda w: collections[w.collection].parsed("outline"),
        placed=lambda w: collections[w.collection].parsed("pictures"),
        associations=lambda w: collections[w.collection].parsed("associations"),
        redirects=lambda w: collections[w.collection].parsed("sections.rejected"),
        entities=lambda w: sources.entities(collections[w.collection].sources),
        manifests=lambda w: collections[w.collection].manifests,
        index=lambda w: suggestions.index(w.collection),
        text_vectors=suggestions.vectors("texts", "npy"),
        text_ids=suggestions.vectors("texts", "ids.parquet"),
        image_vectors=suggestions.vectors("images", "npy"),
        image_ids=suggestions.vectors("images", "ids.parquet"),
    output:
        out="results/suggest/{collection}/candidates.parquet",
    threads: jobs.threads(8)
    resources:
        mem_mb=jobs.needs(
            needs.SEARCHES,
            reads=["texts", "images", "outlines", "placed", "associations"],
            extra_mb=jobs.search_mb,
        ),
    params:
        call="isotope_suggest.candidates:find_candidates",
        origins=suggestions.origins,
        minimum_need=suggestions.asked.minimum_need,
        words=suggestions.words,


use rule job as suggest_feed with:
    """suggest pictures for {wildcards.collection}"""
    input:
        **collected(),
        sections="results/suggest/{collection}/sections.parquet",
        candidates="results/suggest/{collection}/candidates.parquet",
        pictures="results/suggest/{collection}/pictures.parquet",
        placed=lambda w: collections[w.collection].parsed("pictures"),
        image_vectors=suggestions.vectors("images", "npy"),
        image_ids=suggestions.vectors("images", "ids.parquet"),
        judgements=lambda w: sheet_paths(w.collection, "suggestions"),
    output:
        **FEED,
    resources:
        mem_mb=jobs.needs(
            needs.HOLDS, reads=["texts", "images", "qrels", "sections", "pictures", "placed"]
        ),
    params:
        call="isotope_suggest.feed:write_feed",
        origins=suggestions.origins,
        wikis=suggestions.wikis,
        snapshot=suggestions.snapshot,
        spec=suggestions.part(Publishing),


use rule job as suggest_sheet with:
    """draw suggestions for {wildcards.collection} for people to judge"""
    input:
        **collected("texts", "images"),
        feed="results/suggest/{collection}/feed.parquet",
    output:
        out="results/suggest/{collection}/sheet.parquet",
    params:
        call="isotope_suggest.verdicts:write_sheet",
        seed=suggestions.asked.seed,


# What editors did with the suggestions until later snapshots, and how the feed has changed.
use rule job as suggest_taken_up with:
    """see which suggestions for {wildcards.collection} editors have taken up"""
    input:
        scored="results/suggest/{collection}/scored.parquet",
        feed="results/suggest/{collection}/feed.parquet",
        sections="results/suggest/{collection}/sections.parquet",
        images="data/collect/{collection}/images.parquet",
        outlines=lambda w: collections[w.collection].parsed("outline"),
        after=suggestions.later_files,
    output:
        out="results/suggest/{collection}/taken_up.parquet",
    params:
        call="isotope_suggest.later:follow",
        later=suggestions.later,
        origins=suggestions.origins,
        snapshot=suggestions.snapshot,
        maximum_usage=suggestions.asked.maximum_usage,
        most=suggestions.asked.most,


use rule job as suggest_delta with:
    """compare the feeds of {wildcards.collection} and {wildcards.earlier}"""
    input:
        before_feed="results/suggest/{earlier}/feed.parquet",
        before_sections="results/suggest/{earlier}/sections.parquet",
        feed="results/suggest/{collection}/feed.parquet",
        sections="results/suggest/{collection}/sections.parquet",
        placed=lambda w: collections[w.collection].parsed("pictures"),
    output:
        out="results/suggest/{collection}/since/{earlier}/delta.parquet",
    params:
        call="isotope_suggest.later:write_delta",
        origins=suggestions.origins,
        maximum_usage=suggestions.asked.maximum_usage,


# What people's verdicts on suggestions say of pictures, for whoever trains or measures on them.
use rule streaming as suggest_judgements with:
    """gather the verdicts on suggestions for {wildcards.collection}"""
    input:
        paths=lambda w: sheet_paths(w.collection, "suggestions"),
    output:
        out="results/suggest/{collection}/judgements.parquet",
    params:
        call="isotope_suggest.verdicts:write_judgements",


# Suggestions: how many are right, how sure, what editors made of them.
use rule showing as suggest_page with:
    """show the suggestions for {wildcards.collection}"""
    input:
        **collected(),
        **{
            name: f"{SUGGESTED}/{name}.parquet"
            for name in ("sections", "scored", "rejected", "feed", "pictures", "sheet")
        },
        **{name: f"{SUGGESTED}/{name}.json" for name in ("calibration", "ought")},
        taken_up=lambda w: suggestions.taken_up(w.collection),
        image_vectors=suggestions.vectors("images", "npy"),
        image_ids=suggestions.vectors("images", "ids.parquet"),
        pixels=lambda w: collections[w.collection].pixels,
        judgements=lambda w: sheet_paths(w.collection, "suggestions"),
    output:
        page="results/report/{collection}/suggest.html",
        tables_folder=directory("results/tables/{collection}/suggest"),
        figures_folder=directory("results/figures/{collection}/suggest"),
    params:
        call="isotope_suggest.measure.suggestions_page:write_page",
        seed=suggestions.asked.seed,
        most=suggestions.asked.most,
        scope=report.scope,
