"""Tables of judgements by people and by models."""

import pyarrow as pa

from isotope.core.schemas import STRINGS, schema

POOL = schema(
    split=pa.string(),
    task=pa.string(),
    query_id=pa.string(),
    doc_id=pa.string(),
    rank=pa.int32(),
    systems=STRINGS,
)
SHEET = schema(
    split=pa.string(),
    task=pa.string(),
    query_id=pa.string(),
    doc_id=pa.string(),
    grade=pa.int32(),
    assessor=pa.string(),
    query=pa.string(),
    document=pa.string(),
)
GRADED = schema(
    split=pa.string(),
    task=pa.string(),
    query_id=pa.string(),
    doc_id=pa.string(),
    relevance=pa.int32(),
    grades=pa.int32(),
    sparse=pa.int32(),
)
REUSABILITY = schema(
    task=pa.string(),
    measure=pa.string(),
    system=pa.string(),
    alone=pa.int64(),
    value=pa.float64(),
    without=pa.float64(),
    place=pa.int32(),
    place_without=pa.int32(),
)
TAU = schema(task=pa.string(), measure=pa.string(), systems=pa.int64(), tau=pa.float64())
AGREEMENT = schema(
    assessor=pa.string(),
    other=pa.string(),
    pairs=pa.int64(),
    same_share=pa.float64(),
    kappa=pa.float64(),
)
# By models, beside those of people.
MODEL_GRADES = schema(
    split=pa.string(),
    task=pa.string(),
    query_id=pa.string(),
    doc_id=pa.string(),
    judge=pa.string(),
    grade=pa.int32(),
    expected=pa.float64(),
    mass=pa.float64(),
    pictured=pa.bool_(),
    key=pa.string(),
)
MODEL_SCORES = schema(
    collection=pa.string(),
    judge=pa.string(),
    setting=pa.string(),
    split=pa.string(),
    task=pa.string(),
    system=pa.string(),
    query_id=pa.string(),
    measure=pa.string(),
    value=pa.float64(),
)
ESTIMATES = schema(
    judge=pa.string(),
    task=pa.string(),
    measure=pa.string(),
    system=pa.string(),
    judged_by=pa.string(),
    queries=pa.int64(),
    value=pa.float64(),
    low=pa.float64(),
    high=pa.float64(),
    weight=pa.float64(),
    reason=pa.string(),
)
MODEL_AGREEMENT = schema(
    judge=pa.string(),
    task=pa.string(),
    pairs=pa.int64(),
    same_share=pa.float64(),
    kappa=pa.float64(),
    weighted_kappa=pa.float64(),
    difference=pa.float64(),
    mass=pa.float64(),
)
MODEL_TAU = schema(
    judge=pa.string(),
    task=pa.string(),
    measure=pa.string(),
    queries=pa.int64(),
    systems=pa.int64(),
    own=pa.int64(),
    tau=pa.float64(),
    tau_without=pa.float64(),
    sampled_p=pa.float64(),
)
CIRCULARITY = schema(
    judge=pa.string(),
    task=pa.string(),
    measure=pa.string(),
    system=pa.string(),
    relation=pa.string(),
    queries=pa.int64(),
    raised=pa.float64(),
    raised_others=pa.float64(),
    excess=pa.float64(),
    low=pa.float64(),
    high=pa.float64(),
)
# Suggestions of a feed that assessors judge; `stratum` is the suggestion's place, from 1, among
# equally many strata of the feed by probability, surest first.
SUGGESTION_SHEET = schema(
    stratum=pa.int32(),
    text_id=pa.string(),
    image_id=pa.string(),
    page_title=pa.string(),
    section_title=pa.string(),
    section=pa.string(),
    image=pa.string(),
    caption=pa.string(),
    credit=pa.string(),
)
# Failures and first answers that people have sorted.
STUDIED = schema(
    task=pa.string(),
    system=pa.string(),
    query_id=pa.string(),
    assessor=pa.string(),
    rating=pa.int32(),
    classes=STRINGS,
)
