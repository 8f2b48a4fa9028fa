"""A Lucene index is built in parts, of documents that follow each other, and merged into one."""

from collections.abc import Sequence
from pathlib import Path

from isotope.core import lucene, store
from isotope.core.errors import EmptyTable
from isotope.core.progress import log

_MERGER = "MergeIndexes"


def merge_indexes(parts: Sequence[Path], index: Path, *, memory_mb: int = 4096) -> None:
    """Make `index` of the documents of all parts, in their order; the parts stay.

    It answers as an index that `lucene.build_index` made of all of them at once. A part that is no
    index, as `lucene.build_index` makes none of no documents, counts for nothing.

    Raises:
        EmptyTable: no part has a document.
        ToolFailed: a part can't be read, or the merge failed.
    """
    told = [part for part in parts if any(part.glob("segments_*"))]
    if not told:
        raise EmptyTable(index, "no documents to index", "look at the tables it is made of")
    with store.folder_aside(index) as made:
        lucene.run_tool(_MERGER, made, *told, memory_mb=memory_mb)
    log.info("%s merged from %d parts", index, len(told))
