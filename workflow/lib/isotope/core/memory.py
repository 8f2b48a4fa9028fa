"""How much memory a job of each rule may take: the one place where it is declared.

`benchmarks/memory.py` holds the declarations against what two sizes of the embedded snapshot took;
no import here that a dry run feels.
"""

from collections.abc import Mapping
from typing import NamedTuple

# What DuckDB may hold before it spills, and the heap of Lucene's Java.
DUCKDB_MB, HEAP_MB = 4_000, 4_096
_PYTHON_MB, _TORCH_MB = 400, 1_600


class Need(NamedTuple):
    """Megabytes that every job takes, and more for each megabyte that it reads, up to a limit.

    `shared` says that the shards of the phase share the growing part. `reads` are the only inputs
    that count, where a rule streams or maps the others.
    """

    base_mb: float
    per_mb: float = 0.0
    most_mb: float = float("inf")
    shared: bool = False
    reads: tuple[str, ...] = ()


# Tables are compressed on disk and wide in memory; Polars joins hold both sides.
_STREAMS = Need(_PYTHON_MB + 600)
_HOLDS = Need(_PYTHON_MB + 600, 12)
_ASKS_DUCKDB = Need(_PYTHON_MB + 600, 12, _PYTHON_MB + 600 + DUCKDB_MB)
_JAVA = Need(_PYTHON_MB + HEAP_MB + 1_000, 2)
_ENCODES = Need(_TORCH_MB + 6_400)
_LEARNS = Need(_TORCH_MB + 6_400, 0.5)
_SHOWS = Need(_PYTHON_MB + 1_100, 2)

NEEDS: Mapping[str, Need] = {
    **dict.fromkeys(("acquire_source", "search_gather", "project_texts_gather"), _STREAMS),
    **dict.fromkeys(("parse_wit_gather", "parse_dump_gather"), _STREAMS),
    "index_digests": Need(_PYTHON_MB + 1_600),
    **dict.fromkeys(("project_index_gather", "index_bm25_gather"), Need(_JAVA.base_mb)),
    "parse_wit": Need(2_000),
    "parse_dump": Need(6_000),
    **dict.fromkeys(("crawl_shard", "crawl_pictures"), Need(2_000)),
    **dict.fromkeys(
        ("crawl_urls", "crawl_ledger", "parse_inlinks", "parse_associations"), _ASKS_DUCKDB
    ),
    **dict.fromkeys(("project_members", "project_queries"), _ASKS_DUCKDB),
    "project_labels": _JAVA,
    "project_index": _JAVA._replace(shared=True),
    "project_texts": Need(_JAVA.base_mb + DUCKDB_MB, 12, 16_000, shared=True),
    **dict.fromkeys(
        ("collect_tables", "collect_gather"), Need(_PYTHON_MB + 1_100, 12, 2 * DUCKDB_MB)
    ),
    **dict.fromkeys(
        ("collect_texts", "collect_images"),
        Need(_PYTHON_MB + 1_100, 12, 2 * DUCKDB_MB, shared=True),
    ),
    "crawl_listing": _HOLDS,
    **dict.fromkeys(("train_model", "train_multimodal", "train_heads", "encode_mix"), _LEARNS),
    **dict.fromkeys(("encode_shard", "encode_texts_shard", "encode_beside_shard"), _ENCODES),
    **dict.fromkeys(("encode_mix_shard", "encode_multimodal_shard", "encode_summaries"), _ENCODES),
    **dict.fromkeys(("train_dates", "encode_dates_shard", "index_dense"), _HOLDS),
    "index_answers": _JAVA,
    "index_bm25": _JAVA._replace(reads=("texts", "images")),
    "index_bm25_shard": _JAVA._replace(reads=("texts", "images"), shared=True),
    "index_approximate": Need(_PYTHON_MB + 1_100, 2.5),
    **dict.fromkeys(("search_bm25", "search_answers"), Need(_JAVA.base_mb, 4)),
    "search_dense": Need(_PYTHON_MB + 1_100, 12, reads=("texts_ids", "images_ids", "qrels")),
    "search_approximate": Need(_PYTHON_MB + 1_100, 2.5),
    "search_prompted": _LEARNS,
    "search_random": Need(_PYTHON_MB + 600, 12, shared=True),
    "search_fused": Need(_PYTHON_MB + 1_600),
    "search_tuned": Need(_PYTHON_MB + 600, 24),
    "search_trec": _HOLDS,
    "score_runs_shard": Need(_PYTHON_MB + 1_100, 4, 8_000),
    **dict.fromkeys(("score_runs", "score_pool", "score_judged"), _HOLDS),
    **dict.fromkeys(("tabulate_tokens", "tabulate_styles", "tabulate_objects"), _ENCODES),
    "tabulate_perturbed_bm25": _JAVA,
    "tabulate_perturbed_dense": _LEARNS,
    **dict.fromkeys(("tabulate_intervals", "tabulate_subsets", "tabulate_tops"), _HOLDS),
    **dict.fromkeys(("tabulate_explained", "tabulate_perturbations", "tabulate_captions"), _HOLDS),
    **dict.fromkeys(("tabulate_captioners", "tabulate_choices"), _HOLDS),
    **dict.fromkeys(("tabulate_mistakes", "tabulate_sorted", "tabulate_study"), _HOLDS),
    **dict.fromkeys(("tabulate_answered", "tabulate_popularity"), _HOLDS),
    **dict.fromkeys(("tabulate_failures", "tabulate_failures_page", "tabulate_cases"), _SHOWS),
    **dict.fromkeys(("tabulate_report", "tabulate_costs", "tabulate_overview"), _SHOWS),
    **dict.fromkeys(("tabulate_statistics", "tabulate_tables", "tabulate_facts"), _ASKS_DUCKDB),
    **dict.fromkeys(("tabulate_account", "tabulate_against", "tabulate_group"), _ASKS_DUCKDB),
    **dict.fromkeys(("tabulate_judged", "tabulate_kind", "tabulate_ranking"), _ASKS_DUCKDB),
    **dict.fromkeys(("tabulate_captioned", "tabulate_side_by_side"), _ASKS_DUCKDB),
    **dict.fromkeys(
        (
            *("tabulate_catalog", "tabulate_recall", "tabulate_table5", "tabulate_associations"),
            "tabulate_languages",
        ),
        _ASKS_DUCKDB,
    ),
    **dict.fromkeys(
        (
            *("tabulate_changes", "tabulate_since_page"),
            *("tabulate_temporal", "tabulate_newest"),
        ),
        _ASKS_DUCKDB,
    ),
    "release_collection": Need(_PYTHON_MB + 1_100, 2, 2 * DUCKDB_MB),
}


def mem_mb(rule: str, read_mb: float, *, shards: int = 1, held_mb: float = 0.0) -> int:
    """Return the megabytes to declare for a job that reads files of `read_mb`.

    `held_mb` is what params let it hold besides, such as `search.memory_mb`.

    Raises:
        KeyError: a rule that declares nothing.
    """
    need = NEEDS[rule]
    grown = need.per_mb * read_mb / (shards if need.shared else 1)
    return int(min(need.base_mb + grown, need.most_mb) + held_mb)
