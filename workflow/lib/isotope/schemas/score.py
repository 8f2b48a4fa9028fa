"""Tables that score writes."""

import pyarrow as pa

from isotope.core.schemas import schema

SCORES = schema(
    collection=pa.string(),
    setting=pa.string(),
    split=pa.string(),
    task=pa.string(),
    system=pa.string(),
    query_id=pa.string(),
    measure=pa.string(),
    value=pa.float64(),
)
SIGNIFICANCE = schema(
    collection=pa.string(),
    setting=pa.string(),
    split=pa.string(),
    task=pa.string(),
    measure=pa.string(),
    system=pa.string(),
    other=pa.string(),
    difference=pa.float64(),
    t=pa.float64(),
    p=pa.float64(),
    p_bonferroni=pa.float64(),
)
