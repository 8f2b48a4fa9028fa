"""Tables behind the printed tables."""

import pyarrow as pa

from isotope.core.schemas import schema

TOKENS = schema(
    side=pa.string(),
    item_id=pa.string(),
    field=pa.string(),
    tokenizer=pa.string(),
    tokens=pa.int32(),
)
ANSWERED_BY = schema(
    setting=pa.string(), split=pa.string(), system=pa.string(), query_id=pa.string()
)
TOPS = schema(
    task=pa.string(),
    system=pa.string(),
    query_id=pa.string(),
    doc_id=pa.string(),
)
STYLES = schema(image_id=pa.string(), style=pa.string(), score=pa.float64())
INTERVALS = schema(
    setting=pa.string(),
    split=pa.string(),
    task=pa.string(),
    measure=pa.string(),
    system=pa.string(),
    kind=pa.string(),
    stratum=pa.string(),
    queries=pa.int64(),
    value=pa.float64(),
    low=pa.float64(),
    high=pa.float64(),
)
SUBSETS = schema(
    setting=pa.string(),
    split=pa.string(),
    task=pa.string(),
    system=pa.string(),
    measure=pa.string(),
    documents=pa.int64(),
    queries=pa.int64(),
    value=pa.float64(),
    exact=pa.float64(),
)
CAPTIONS = schema(
    text_id=pa.string(),
    image_id=pa.string(),
    language=pa.string(),
    characters=pa.int32(),
    words=pa.int32(),
    tokens=pa.int32(),
    cider=pa.float64(),
)
CAPTIONERS = schema(
    captioner=pa.string(),
    language=pa.string(),
    image_id=pa.string(),
    characters=pa.int32(),
    tokens=pa.int32(),
    cider=pa.float64(),
)
# `preference` of people is 1 for the first captioner, -1 for the second one, 0 for neither.
SIDE_BY_SIDE = schema(
    language=pa.string(),
    first=pa.string(),
    second=pa.string(),
    image_id=pa.string(),
    people=pa.int32(),
    preference=pa.int32(),
    cider_first=pa.float64(),
    cider_second=pa.float64(),
)
CORRELATIONS = schema(
    over=pa.string(),
    of=pa.string(),
    points=pa.int64(),
    pearson=pa.float64(),
    spearman=pa.float64(),
    kendall=pa.float64(),
)
CHANGES = schema(
    kind=pa.string(),
    before_id=pa.string(),
    after_id=pa.string(),
    page_class=pa.string(),
    change=pa.string(),
    detail=pa.string(),
)
TEMPORAL = schema(
    setting=pa.string(),
    split=pa.string(),
    task=pa.string(),
    measure=pa.string(),
    system=pa.string(),
    stratum=pa.string(),
    queries=pa.int64(),
    home=pa.float64(),
    earlier=pa.float64(),
    later=pa.float64(),
    relative_drop=pa.float64(),
    low=pa.float64(),
    high=pa.float64(),
)
IDENTITIES = schema(before_id=pa.string(), after_id=pa.string(), method=pa.string())
