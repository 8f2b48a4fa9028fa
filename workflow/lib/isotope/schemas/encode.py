"""Tables beside vectors."""

import pyarrow as pa

from isotope.core.schemas import STRINGS, list_of, schema

CONTENTS = schema(id=pa.string(), model=pa.string(), content=pa.string())

# Terms of a vocabulary and their impacts, 100 times the weight, of an item as a document, and as a
# query where its model reads that otherwise.
SPARSE = schema(
    id=pa.string(),
    terms=STRINGS,
    impacts=list_of(pa.int32()),
    query_terms=STRINGS,
    query_impacts=list_of(pa.int32()),
)
