"""The tables that searching writes beside its runs (`core.schemas.RUN`)."""

import pyarrow as pa

from isotope.core.schemas import schema

ANSWERED = schema(query_id=pa.string())
