from isotope_papers.plan import SUBMISSION


# What a benchmark whose answers are withheld wants to be sent.
use rule job as papers_submission with:
    """write what {wildcards.system} answers to split {wildcards.split} of {wildcards.collection}"""
    input:
        **collected("texts", "images"),
        run="results/search/{collection}/unjudged/{setting}/{split}/m2t/{system}.parquet",
    output:
        out=SUBMISSION,
    params:
        call="isotope_papers.oven:write_submission",
