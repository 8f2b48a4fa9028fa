"""How the work of a phase is cut into shards and gathered, and what its jobs may take."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

from snakemake.io import temp

from isotope.core import store as cut
from isotope.core.lucene import HEAP_MB
from isotope.core.sql import DUCKDB_MB, SORT_MB
from isotope.models.families.published import memory_mb
from isotope.models.reranker_sizes import weights
from isotope.plan.call import PREREQUISITES
from isotope.plan.paths import Wildcards, as_list, expanded
from isotope.plan.systems import Systems
from isotope.schemas import collect as collected

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

# The engine impacts: counting the words of documents, one block of documents at a time; sorting
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
Files = TypeVar("Files", str, list[str])


class Shards(Systems):
    """How the work of a phase is cut and gathered, and what memory its jobs may take."""

    PART = r"\d{5}-of-\d{5}"
    WIT: ClassVar = {
        "associations": "associations.parquet",
        "rejected": "associations.rejected.parquet",
    }
    DUMP: ClassVar = {
        "sections": "sections.parquet",
        "links": "links.parquet",
        "rejected": "sections.rejected.parquet",
        "infoboxes": "infoboxes.parquet",
        "pictures": "pictures.parquet",
        "outline": "outline.parquet",
        "counts": "sections.counts.json",
    }
    TEMPLATES: ClassVar = {"template_pages": "template_pages.parquet", "calls": "calls.parquet"}
    READ_BY, EXCHANGED = collected.READ_BY, collected.EXCHANGED
    TEXT_PIECES, IMAGE_PIECES = collected.TEXT_PIECES, collected.IMAGE_PIECES
    GATHERED = collected.GATHERED
    _PARSE_PIECE = ".isotope/parse/{{source}}/{{part}}/{}"
    _COLLECT_PIECE = ".isotope/collect/{{collection}}/{{part}}/{}.parquet"

    @cached_property
    def index_pieces(self) -> list[str]:
        """The indexes over one slice of a collection."""
        pattern = ".isotope/index/{collection}/{part}/{setting}/{system}"
        return expanded(pattern, setting=self.settings)

    def is_sharded(self, phase: str) -> bool:
        """Whether a phase has shards; one alone writes where nothing needs to be gathered."""
        return self.params["shards"][phase] > 1

    @property
    def projects_in_one_job(self) -> bool:
        """Whether one job indexes the sections of a source and projects its texts on them."""
        return not self.is_sharded("index") and not self.is_sharded("project")

    def parts(self, phase: str) -> list[str]:
        """The names of a phase's shards, each with its number and how many there are."""
        n = self.params["shards"][phase]
        return [f"{i:05d}-of-{n:05d}" for i in range(n)]

    def part(self, wildcards: Wildcards) -> list[int]:
        """Which shard, counted from 0, and of how many: numbers for the library."""
        return [int(number) for number in wildcards.get("part", "0-of-1").split("-of-")]

    def piece(self, phase: str, whole: Files, of_part: Files) -> Files:
        """The output of a shard: a piece to be gathered, or the whole."""
        return cast("Files", temp(of_part)) if self.is_sharded(phase) else whole

    def part_files(self, phase: str, pattern: str) -> list[str]:
        """What every shard of a phase wrote, by the pattern of one, whose other wildcards stay."""
        return expanded(pattern, part=self.parts(phase))

    def parse_tables(self, files: Mapping[str, str]) -> dict[str, str]:
        """The tables of a parsed source."""
        return {name: f"data/parse/{{source}}/{file}" for name, file in files.items()}

    def parse_pieces(self, files: Mapping[str, str]) -> dict[str, Any]:
        """What a shard of parse leaves to be gathered."""
        return {name: temp(self._PARSE_PIECE.format(file)) for name, file in files.items()}

    def parse_outputs(self, files: Mapping[str, str]) -> dict[str, Any]:
        """The tables of a parsed source, or a shard's pieces of them."""
        return self.parse_pieces(files) if self.is_sharded("parse") else self.parse_tables(files)

    def parse_piece_files(self, files: Mapping[str, str]) -> dict[str, list[str]]:
        """What all shards of parse leave."""
        return {k: self.part_files("parse", self._PARSE_PIECE.format(f)) for k, f in files.items()}

    def association_sources(self, *ways: str) -> str:
        """A wildcard constraint: the sources whose associations come from one of these."""
        parse = self.params["parse"]
        return self.any_of(
            s for s in self.params["acquire"] if parse.get(s, {}).get("associations", "wit") in ways
        )

    def wit_pieces(self, file: str) -> Callable[[Wildcards], list[str]]:
        """What every shard of WIT has, where a source uses WIT beside the snapshot."""
        pattern = self._PARSE_PIECE.format(file)

        def pieces(wildcards: Wildcards) -> list[str]:
            both = self.params["parse"][wildcards.source]["associations"] == "both"
            return expanded(pattern, part=self.parts("parse"), **wildcards) if both else []

        return pieces

    def score_slice(self, wildcards: Wildcards) -> Sequence[str]:
        """The runs that a shard of score is about: a slice of them in the order of the table."""
        every = self.runs_of(wildcards.collection, self.systems)
        number, count = self.part(wildcards)
        return cut.part_of(
            sorted(every, key=lambda p: Path(p).with_suffix("").parts), (number, count)
        )

    def sharded_collections(self, *, shards: bool) -> str:
        """A wildcard constraint: the collections that are cut, which are snapshots, or the rest."""
        return self.any_of(
            c
            for c in self.params["collect"]
            if (self.is_sharded("collect") and self.is_snapshot(c)) == shards
        )

    def collect_outputs(self) -> dict[str, str]:
        """The tables of a collection."""
        tables = ("texts", "images", "qrels", "filters", "rejected")
        return {t: f"{self.COLLECTION}/{t}.parquet" for t in tables}

    def half_inputs(self, half: str) -> Callable[[Wildcards], dict[str, str]]:
        """The tables of a source that the shards of one half of a collection read."""
        return lambda wildcards: {t: self.relations(wildcards)[t] for t in self.READ_BY[half]}

    def collect_pieces(self, tables: Iterable[str]) -> dict[str, Any]:
        """What a shard of a collection leaves."""
        return {t: temp(self._COLLECT_PIECE.format(t)) for t in tables}

    def collect_piece_files(self, tables: Iterable[str]) -> dict[str, list[str]]:
        """What all shards of a collection leave."""
        return {t: self.part_files("collect", self._COLLECT_PIECE.format(t)) for t in tables}

    # What jobs may take.

    # Inputs that no job holds in memory: code, queries, what only tells of a change, and what is
    # mapped or streamed by design.
    UNREAD_INPUTS = PREREQUISITES | {
        "configs",
        "manifest",
        "ledgers",
        "taken",
        "bulk",
        "pixels",
        "features",
        "witness",
        "vocabulary",
        "summariser",
        "detector",
    }

    def threads(self, most: int) -> Callable[[Wildcards], int]:
        """Return the function of `threads`: `most`, or 1 for a job of a small encyclopedia.

        Such a job is over before threads pay off, and others can run beside it.
        """

        def threads(wildcards: Wildcards) -> int:
            sources = [self.params["acquire"].get(s, {}) for s in self._sources(wildcards)]
            pages = [source.get("generate", {}).get("pages") for source in sources]
            small = bool(pages) and all(n is not None and n <= _SMALL_PAGES for n in pages)
            return 1 if small else most

        return threads

    def priority(self, wildcards: Wildcards) -> int:
        """The priority of a job: what is only compared with a collection comes after it."""
        first = {s for c in self.params["build"] for s in self.sources_of(c)}
        sources = self._sources(wildcards)
        return int(not sources or not first.isdisjoint(sources))

    def _sources(self, wildcards: Wildcards) -> list[str]:
        """The sources that a job reads, as far as its wildcards tell."""
        if source := wildcards.get("source"):
            return [source]
        collection = wildcards.get("collection")
        return self.sources_of(collection) if collection in self.params["collect"] else []

    @property
    def search_memory_mb(self) -> float:
        """What a search over vectors may hold besides its tables: a block, and its scores."""
        return 2 * self.params["search"]["memory_mb"]

    def model_mb(self, wildcards: Wildcards) -> float:
        """What a model takes beyond ENCODES, which holds for those of usual size.

        The size of a model is that of its files or, before these are fetched, the published one.
        """
        model = self.params["models"][self.base_model(wildcards.model)]
        return max(0.0, _TORCH_MB + _BATCH_MB + memory_mb(model) - ENCODES.mem_mb(0.0))

    def reranker_mb(self, wildcards: Wildcards) -> float:
        """What the weights of a system's reranker take, at single precision."""
        return weights(self.reranker(wildcards)["name"]) * _BYTES_A_WEIGHT / 1e6

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
        all but UNREAD_INPUTS count; of files that are not there yet it says the most. `shards` is
        the phase whose shards share what grows; `by_lucene` is the need where the engine of the
        source or of the system is Lucene; `extra_mb` may depend on the job's wildcards.
        """
        count = self.params["shards"][shards] if shards else 1

        def mem_mb(wildcards: Wildcards, input: Inputs) -> int:
            is_lucene = by_lucene and self._engine(wildcards) == "lucene"
            own = by_lucene if by_lucene and is_lucene else need
            besides = extra_mb(wildcards) if callable(extra_mb) else extra_mb
            if not own.per_mb:
                return own.mem_mb(0.0, extra_mb=besides)
            names = reads or [k for k, _ in input.items() if k not in self.UNREAD_INPUTS]
            files = {path for name in names for path in as_list(input[name])}
            try:
                size_mb = sum(Path(p).stat().st_size for p in sorted(files)) / 1e6
            except FileNotFoundError:
                # A dry run; Snakemake asks again when the files are there.
                if own.most_mb < float("inf"):
                    return int(own.most_mb + besides)
                raise
            return own.mem_mb(size_mb, shards=count, extra_mb=besides)

        return mem_mb

    def _engine(self, wildcards: Wildcards) -> str:
        has_source = wildcards.get("source") is not None
        return self.engine_of_source(wildcards) if has_source else self.bm25_engine(wildcards)
