"""Tables of a release beside those of core.schemas (PUBLISHED_TEXTS, PUBLISHED_IMAGES)."""

import pyarrow as pa

from isotope.core.schemas import schema

PUBLISHED_QRELS = pa.schema(
    [*((n, pa.string()) for n in ("text_id", "Q0", "image_id")), ("rel", pa.int32())]
)
PUBLISHED_ATTRIBUTIONS = pa.schema(
    [
        (name, pa.string())
        for name in ("image_id", "image_url", "attribution", "licence", "file_page")
    ]
)
# Of texts whose collection states a licence for each.
TEXT_LICENCES = schema(text_id=pa.string(), licence=pa.string())
# The documents that a query of a small release is asked on: judged ones have a grade, hard
# negatives none; `rank` is the best one that any system gave a document, 0 where none found it.
LITE_POOLS = schema(query_id=pa.string(), doc_id=pa.string(), grade=pa.int32(), rank=pa.int32())
