"""Tables of judgements by people."""

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
