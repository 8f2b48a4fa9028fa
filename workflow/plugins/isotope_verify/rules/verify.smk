from isotope_verify.plan import CONFIRMED, VERIFIED

verification = plan.extensions["verify"]


# The numbers of a report by other people's tools. A difference stands on the pages, which come
# after it, and then fails the run.
use rule job as verify_collection with:
    """verify {wildcards.collection} by other people's tools"""
    input:
        after=lambda w: verification.compared(graph, w.collection),
    output:
        record=VERIFIED,
    wildcard_constraints:
        collection=any_of(collections.built),
    resources:
        mem_mb=jobs.needs(needs.VERIFIES, reads=["after"]),
    params:
        call="isotope_verify.verify:verify_collection",
        collection_name="{collection}",
        params=verification.spec,
        checks=verification.asked.checks,
        sample=verification.asked.sample,


use rule streaming as verify_confirmed with:
    """demand that no number of {wildcards.collection} differs"""
    input:
        record=VERIFIED,
        after=expand("results/report/{{collection}}/{page}.html", page=FIRST_PAGES),
    output:
        confirmation=CONFIRMED,
    params:
        call="isotope_verify.verify:demand_confirmed",
