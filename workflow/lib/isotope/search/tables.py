"""Tables that search writes, beside runs (core.schemas.RUN)."""

import pyarrow as pa

from isotope.core.schemas import schema

ANSWERED = schema(query_id=pa.string())
