# Code is no input of this phase and of crawl: an edit must not cause all downloads again.
use rule job as acquire_source with:
    """acquire {wildcards.source}"""
    input:
        code=[],
    output:
        manifest="data/acquire/{source}/manifest.json",
    resources:
        mem_mb=jobs.needs(STREAMS),
    params:
        call="acquire.fetch:acquire",
        spec=sources.upstream,
        scratch=".isotope/acquire/{source}",
