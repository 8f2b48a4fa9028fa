"""Tables that search writes, beside runs (core.schemas.RUN)."""

import pyarrow as pa

from isotope.core.schemas import schema

ANSWERED = schema(query_id=pa.string())
# The cache of scores of pairs: two halves of a pair's digest, and what the model says of it.
SCORED_PAIR = schema(head=pa.uint64(), tail=pa.uint64(), score=pa.float32())
