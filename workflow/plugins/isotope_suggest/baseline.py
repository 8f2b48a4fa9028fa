"""The baseline `wikimedia`: suggestions by alignment and links alone, with constant confidence.

So do Wikimedia's section-level image suggestions (Phabricator T299784): no pixels, no prose, and a
confidence for each source.
"""

import polars as pl

# What counts as the same section: more likely than not.
LEAST_SHARE = 0.5
# ASSUME 0.9 where languages agree and 0.8 for anything else: the issue has the two constants of
# Wikimedia's sources, and no page says which share of its suggestions is right.
AGREED, SINGLE = 0.9, 0.8
LANGUAGE = ": "


def wikimedia(candidates: pl.DataFrame) -> pl.DataFrame:
    """Return text_id, image_id, score and probability of what the baseline suggests, best first.

    `candidates` are rows of schemas.CANDIDATES. The greater `score` is the better: the number of
    languages that show the picture in the same section, then the share of the links; of equal ones
    the smaller image_id is first. Rows are sorted by text_id and then so.
    """
    is_aligned = pl.col("alignment") > LEAST_SHARE
    languages = pl.col("alignment_on").list.eval(pl.element().str.split(LANGUAGE).list.first())
    named = candidates.with_columns(
        languages=pl.when(is_aligned).then(languages.list.n_unique()).otherwise(0).fill_null(0),
        share=pl.col("links").cast(pl.Float64).fill_null(0.0),
    )
    suggested = named.filter((pl.col("languages") > 0) | pl.col("links").is_not_null())
    # Half a share is less than one language.
    scored = suggested.select(
        "text_id",
        "image_id",
        score=pl.col("languages") + pl.col("share") / 2,
        probability=pl.when(pl.col("languages") > 1).then(AGREED).otherwise(SINGLE),
    )
    return scored.sort("text_id", "score", "image_id", descending=[False, True, False])
