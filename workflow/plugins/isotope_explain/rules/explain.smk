explained = plan.extensions["explain"]


# Failures are explained by the objects of the pictures; perturbed queries are searched again.
use rule showing as explain_failures with:
    """explain the failures on {wildcards.collection}"""
    input:
        **collected(),
        runs=lambda w: systems.runs(w.collection, systems.search.systems, **systems.cell),
        after=lambda w: explained.rests_on(w.collection),
    output:
        **tabulated("failures", "ranks", "concepts", "rejected_objects", "study", "perturbations"),
        sheet="results/tables/{collection}/study.csv",
    wildcard_constraints:
        collection=any_of(explained.asked.failures),
    params:
        call="isotope_explain.failures:explain_collection",
        split=systems.search.splits[0],
        how=lambda w: explained.how(w.collection),
        objects=lambda w: facts.only(w.collection, "objects"),


# The ranks of right answers for collections without explained failures.
use rule asking as explain_ranks with:
    """rank the right answers on {wildcards.collection}"""
    input:
        **collected("qrels"),
        runs=lambda w: systems.runs(w.collection, systems.search.systems, **systems.cell),
    output:
        out="results/tables/{collection}/ranks.parquet",
    wildcard_constraints:
        collection=any_of(explained.ranked),
    params:
        call="isotope_explain.failures:rank_answers",


use rule job as explain_perturbed_dense with:
    """rank the perturbed queries of {wildcards.collection} by {wildcards.system}"""
    input:
        **tabulated("qrels", "perturbations"),
        run=expand(RUN, **systems.cell, task="t2m", allow_missing=True),
        index=f"data/index/{{collection}}/{systems.search.settings[0]}/{{system}}",
        weights=lambda w: systems.model(w.system).weights(w.collection),
        texts=systems.vectors("texts", "npy"),
        images=systems.vectors("images", "npy"),
        texts_ids=systems.vectors("texts", "ids.parquet"),
        images_ids=systems.vectors("images", "ids.parquet"),
        after=lambda w: systems.model(w.system).configs,
    output:
        out="results/tables/{collection}/perturbed/{system}.parquet",
    wildcard_constraints:
        system=systems.of_kind("dense"),
    threads: jobs.threads(8)
    resources:
        mem_mb=jobs.needs(needs.LEARNS),
    params:
        call="isotope_explain.ranks:rank_perturbed_dense",
        roots=lambda w: systems.model(w.system).kind.roots(),
        encoded=["texts", "images", "texts_ids", "images_ids"],
        model=lambda w: systems.model(w.system).spec,
        batch=plan.params.encode.batch,


use rule job as explain_perturbed_bm25 with:
    """rank the perturbed queries of {wildcards.collection} by {wildcards.system}"""
    input:
        **tabulated("qrels", "perturbations"),
        run=expand(RUN, **systems.cell, task="t2m", allow_missing=True),
        index=f"data/index/{{collection}}/{systems.search.settings[0]}/{{system}}",
    output:
        out="results/tables/{collection}/perturbed/{system}.parquet",
    wildcard_constraints:
        system=systems.of_kind("bm25"),
    threads: jobs.threads(8)
    resources:
        mem_mb=jobs.needs(needs.SEARCHES, by_lucene=needs.JAVA, reads=["perturbations"]),
    params:
        call="isotope_explain.ranks:rank_perturbed_bm25",
        spec=lambda w: systems.on(w.system, w.collection).values(),
        language=lambda w: collections[w.collection].captions,


# First answers of systems, for people to sort.
use rule job as explain_mistakes with:
    """draw answers on {wildcards.collection} for people to sort"""
    input:
        **collected(),
        runs=explained.mistake_runs,
    output:
        sample="results/tables/{collection}/mistakes.parquet",
        sheet="results/tables/{collection}/mistakes.csv",
    params:
        call="isotope_explain.sheets:write_mistakes",
        collected=["texts", "images", "qrels"],
        seed=lambda w: explained.asked.mistakes.seed,
        examples=lambda w: explained.asked.mistakes.examples,
        subset=lambda w: explained.asked.mistakes.subset,
        withheld=systems.unjudged,


use rule showing as explain_page with:
    """show the failures on {wildcards.collection}"""
    input:
        **tabulated("texts", "images", "failures", "concepts"),
        tables=lambda w: exhibits.tables(w.collection, "arrow", "Failures"),
        pixels=lambda w: collections[w.collection].pixels,
    output:
        page="results/report/{collection}/failures.html",
    params:
        call="isotope_explain.failures_page:write_failures_page",
        scope=report.scope,
        shown=lambda w: explained.asked.failures[w.collection].shown,
