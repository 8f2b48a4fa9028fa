use rule streaming as toy_acquire with:
    """acquire {wildcards.source}"""
    output:
        manifest="data/acquire/{source}/manifest.json",
    wildcard_constraints:
        source=any_of(s for s, e in plan.params.acquire.items() if e.generate),
    params:
        call="isotope_toy.source:acquire_toy",
        spec=sources.upstream,
        scratch=".isotope/acquire/{source}",
