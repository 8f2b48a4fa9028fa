use rule sorting as release_collection with:
    """release {wildcards.collection}"""
    input:
        **collected(),
        pixels=lambda w: collections[w.collection].pixels,
        runs=lambda w: systems.runs(w.collection, systems.search.systems),
        scores="results/score/{collection}.parquet",
        significance="results/score/{collection}.significance.parquet",
        manifests=lambda w: collections[w.collection].manifests,
    output:
        release=directory("results/release/{collection}"),
    wildcard_constraints:
        collection=any_of(collections.built),
    params:
        call="release.collection:build",
        language=lambda w: collections[w.collection].entry.language,
        captions=lambda w: collections[w.collection].captions,
        facts=report.release,
        systems=lambda w: {s: systems.on(s, w.collection).filled() for s in systems.search.systems},


# A collection may have the name that the small form of another one would get.
ruleorder: release_collection > release_lite


use rule sorting as release_lite with:
    """small release {wildcards.collection}"""
    input:
        release="results/release/{collection}",
    output:
        lite=directory("results/release/{collection}-lite"),
    wildcard_constraints:
        collection=any_of(collections.built),
    params:
        call="release.lite:build",
