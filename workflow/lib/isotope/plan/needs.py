"""What jobs may take: memory by the sizes of what they read, threads, and who comes first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from isotope.core.lucene import HEAP_MB
from isotope.core.sql import DUCKDB_MB, SORT_MB
from isotope.models.reranker_sizes import weights
from isotope.params.root import Params
from isotope.plan.call import PREREQUISITES
from isotope.plan.collections import Collections
from isotope.plan.models import Model
from isotope.plan.paths import Wildcards, as_list

_PYTHON_MB, _TORCH_MB = 400, 1_600
_BYTES_A_WEIGHT = 4
_SMALL_PAGES = 10_000


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

# The native engine: counting the words of documents, one block of documents at a time; sorting
# sections before that; merging indexes, whose terms alone are held; looking words up in what is
# mapped. Measured on benchmarks/corpus.py's sections: benchmarks/results/rehearsal.md.
COUNTS = Need(_PYTHON_MB + HEAP_MB // 8 + 600, 6, _PYTHON_MB + HEAP_MB // 8 + 600 + DUCKDB_MB)
# DuckDB takes more than its limit while it sorts: 1.72 GB in all were measured.
SORTS = Need(COUNTS.base_mb, COUNTS.per_mb, _PYTHON_MB + SORT_MB + 500)
MERGES = Need(4_000)
NEAREST = Need(COUNTS.base_mb, 12, COUNTS.most_mb)
# Measured by VmHWM of index_bm25 and search_bm25 over both sides, 85 MB of tables of
# benchmarks/corpus.py's text: 1.0 GB, and 0.8 GB for 2,500 queries of each side with 1,000 hits.
# ASSUME the words of the queries of a job take no more than the tables' files; no measurement says.
SEARCHES = Need(_PYTHON_MB + HEAP_MB // 8 + 1_100, 1)

# Torch: a model that encodes, a model that learns; and what draws pictures.
ENCODES = Need(_TORCH_MB + 6_400)
# ASSUME a batch takes no more than this beside the weights of a large model; no measurement says.
_BATCH_MB = 3_000
# ASSUME a vision-language model of 3 billion weights in single precision, 12 GB, and a batch of
# pictures in it; no measurement says.
ENCODES_LATE = Need(_TORCH_MB + 20_000)
LEARNS = Need(_TORCH_MB + 6_400, 0.5)
SHOWS = Need(_PYTHON_MB + 1_100, 2)
# A model that scores pairs of texts and pictures, beside its weights.
# ASSUME what it computes for a batch takes no more than 4 GiB; no measurement says.
RERANKS = Need(_TORCH_MB + 4_096, 6)
# Beside a Java that analyses words.
SHOWS_WORDS = Need(SHOWS.base_mb + HEAP_MB // 8 + 300, SHOWS.per_mb)
# Anserini indexes the words of a collection, which are held, beside what ranx has compiled.
# ASSUME 500 MB for that; no measurement says.
VERIFIES = Need(JAVA.base_mb + 500, 12)


Inputs = Mapping[str, str | Sequence[str]]
# Inputs that no job holds in memory: code, queries, what only tells of a change, and what is mapped
# or streamed by design.
UNREAD = PREREQUISITES | {
    *("configs", "manifest", "ledgers", "taken", "bulk", "pixels", "features"),
    *("vocabulary", "summariser", "detector"),
}


@dataclass(frozen=True)
class Jobs:
    """What the jobs of rules may take."""

    params: Params
    collections: Collections

    def threads(self, most: int) -> Callable[[Wildcards], int]:
        """Return the function of `threads`: `most`, or 1 for a job of a small encyclopedia.

        Such a job is over before threads pay off, and others can run beside it.
        """

        def threads(wildcards: Wildcards) -> int:
            sources = [self.params.acquire.get(s) for s in self._sources(wildcards)]
            generated = [source.generate if source else None for source in sources]
            small = bool(generated) and all(
                recipe and recipe.pages <= _SMALL_PAGES for recipe in generated
            )
            return 1 if small else most

        return threads

    def priority(self, wildcards: Wildcards) -> int:
        """The priority of a job: what is only compared with a collection comes after it."""
        first = {s for name in self.collections.built for s in self.collections[name].sources}
        sources = self._sources(wildcards)
        return int(not sources or not first.isdisjoint(sources))

    def _sources(self, wildcards: Wildcards) -> list[str]:
        """The sources that a job reads, as far as its wildcards tell."""
        if source := wildcards.get("source"):
            return [source]
        name = wildcards.get("collection")
        return self.collections[name].sources if name in self.params.collect else []

    @property
    def search_mb(self) -> float:
        """What a search over vectors may hold besides its tables: a block, and its scores."""
        return 2 * self.params.search.memory_mb

    def needs(
        self,
        need: Need,
        *,
        reads: Sequence[str] = (),
        shards: str = "",
        extra_mb: float | Callable[[Wildcards], float] = 0.0,
        by_lucene: Need | None = None,
    ) -> Callable[[Wildcards, Inputs], int]:
        """Return the function of `mem_mb`: what a job may take, from the sizes of its inputs.

        `reads` names the inputs that count, where the rule streams or maps the others; without it
        all but UNREAD count; of files that are not there yet it says the most. `shards` is the
        phase whose shards share what grows; `by_lucene` is the need where the engine of the source
        or of the system is Lucene; `extra_mb` may depend on the job's wildcards.
        """
        count: int = getattr(self.params.shards, shards) if shards else 1

        def mem_mb(wildcards: Wildcards, input: Inputs) -> int:
            is_lucene = by_lucene and self._engine(wildcards) == "lucene"
            memory = by_lucene if by_lucene and is_lucene else need
            besides = extra_mb(wildcards) if callable(extra_mb) else extra_mb
            if not memory.per_mb:
                return memory.mem_mb(0.0, extra_mb=besides)
            names = reads or [k for k, _ in input.items() if k not in UNREAD]
            files = {path for name in names for path in as_list(input[name])}
            try:
                size_mb = sum(Path(p).stat().st_size for p in sorted(files)) / 1e6
            except FileNotFoundError:
                # A dry run; Snakemake asks again when the files are there.
                if memory.most_mb < float("inf"):
                    return int(memory.most_mb + besides)
                raise
            return memory.mem_mb(size_mb, shards=count, extra_mb=besides)

        return mem_mb

    def _engine(self, wildcards: Wildcards) -> str:
        if source := wildcards.get("source"):
            return self.params.project[source].engine
        return getattr(self.params.systems[wildcards.system], "engine", "")


def model_mb(model: Model) -> float:
    """Return what a model takes beyond ENCODES, which holds for those of usual size.

    The size of a model is that of its files or, before these are fetched, the published one.
    """
    return max(0.0, _TORCH_MB + _BATCH_MB + model.memory_mb - ENCODES.mem_mb(0.0))


def reranker_mb(model: Model) -> float:
    """Return what the weights of a reranker take, at single precision."""
    return weights(getattr(model.entry, "name", "")) * _BYTES_A_WEIGHT / 1e6
