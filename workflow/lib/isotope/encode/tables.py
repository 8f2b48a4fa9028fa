"""Tables beside vectors."""

import pyarrow as pa

from isotope.core.schemas import schema

CONTENTS = schema(id=pa.string(), model=pa.string(), content=pa.string())
