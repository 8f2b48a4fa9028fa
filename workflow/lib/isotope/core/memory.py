"""How much memory a job may take: classes of needs, which rules name (`plan.needs(DUCKDB)`).

`benchmarks/memory.py` compares what jobs took, at two sizes of the embedded snapshot, with what
they declare. Nothing is imported here that would slow a dry run.
"""

from typing import NamedTuple

from isotope.core.lucene import HEAP_MB
from isotope.core.sql import DUCKDB_MB

_PYTHON_MB, _TORCH_MB = 400, 1_600


class Need(NamedTuple):
    """Megabytes that every job takes, and more for each megabyte that it reads, up to a limit."""

    base_mb: float
    per_mb: float = 0.0
    most_mb: float = float("inf")

    def mem_mb(self, read_mb: float, *, shards: int = 1, extra_mb: float = 0.0) -> int:
        """Return the megabytes to declare for a job that reads files of `read_mb`.

        `shards` jobs share what grows with the files; `extra_mb` comes besides, such as
        `search.memory_mb`.
        """
        return int(min(self.base_mb + self.per_mb * read_mb / shards, self.most_mb) + extra_mb)


# Row by row, or row group by row group; with buffers for many files or connections; a dump's pages
# in all processes of the job.
STREAMS = Need(_PYTHON_MB + 600)
BUFFERS = Need(2_000)
PAGES = Need(6_000)

# Tables are compressed on disk and wide in memory; Polars joins hold both sides.
HOLDS = Need(_PYTHON_MB + 600, 12)
HOLDS_TWICE = Need(_PYTHON_MB + 600, 24)
VECTORS = Need(_PYTHON_MB + 1_100, 2.5)

# DuckDB spills beyond its limit.
DUCKDB = Need(_PYTHON_MB + 600, 12, _PYTHON_MB + 600 + DUCKDB_MB)
DUCKDB_LARGE = Need(_PYTHON_MB + 1_100, 12, 2 * DUCKDB_MB)

# Lucene in Java: reading documents, merging indexes, searching with queries, and beside DuckDB.
JAVA = Need(_PYTHON_MB + HEAP_MB + 1_000, 2)
JAVA_MERGES = Need(JAVA.base_mb)
JAVA_SEARCHES = Need(JAVA.base_mb, 4)
JAVA_DUCKDB = Need(JAVA.base_mb + DUCKDB_MB, 12, 16_000)

# Torch: a model that encodes, a model that learns; and what draws pictures.
ENCODES = Need(_TORCH_MB + 6_400)
LEARNS = Need(_TORCH_MB + 6_400, 0.5)
SHOWS = Need(_PYTHON_MB + 1_100, 2)
