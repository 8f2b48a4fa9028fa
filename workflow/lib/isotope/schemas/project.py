"""Tables that project writes."""

import pyarrow as pa

from isotope.core.schemas import schema

MEMBERS = schema(source_text_id=pa.string(), file=pa.string(), row=pa.int64())
PROJECTION = schema(
    source_text_id=pa.string(), text_id=pa.string(), method=pa.string(), score=pa.float64()
)
