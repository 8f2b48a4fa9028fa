# Code is no input of what is fetched, here and by crawl: an edit must not cause all downloads again.
use rule streaming as acquire_source with:
    """acquire {wildcards.source}"""
    output:
        manifest="data/acquire/{source}/manifest.json",
    wildcard_constraints:
        source=any_of(s for s, e in plan.params.acquire.items() if e.files),
    params:
        downloads=True,
        call="acquire.fetch:acquire",
        spec=sources.upstream,
        scratch=".isotope/acquire/{source}",
