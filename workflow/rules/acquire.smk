# Code is no input of what is fetched, here and by crawl: an edit must not cause all downloads again.
use rule job as acquire_source with:
    """acquire {wildcards.source}"""
    input:
        code=[],
    output:
        manifest="data/acquire/{source}/manifest.json",
    wildcard_constraints:
        source=any_of(s for s, e in plan.params.acquire.items() if e.files),
    resources:
        mem_mb=jobs.needs(STREAMS),
    params:
        call="acquire.fetch:acquire",
        spec=sources.upstream,
        scratch=".isotope/acquire/{source}",


use rule job as acquire_toy with:
    """acquire {wildcards.source}"""
    output:
        manifest="data/acquire/{source}/manifest.json",
    wildcard_constraints:
        source=any_of(s for s, e in plan.params.acquire.items() if e.generate),
    resources:
        mem_mb=jobs.needs(STREAMS),
    params:
        call="toy.source:acquire_toy",
        spec=sources.upstream,
        scratch=".isotope/acquire/{source}",
