"""AToMiC as its authors publish it: tables of texts and of images, and lists of judgements.

Columns: https://huggingface.co/datasets/TREC-AToMiC/AToMiC-Texts-v0.2.1, and the same of images and
of qrels. Topics are Anserini's, or those of TREC's track. With ten million texts and eleven million
images, queries make its pairs of the files.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from isotope.core import sql
from isotope.core.errors import BadParams
from isotope.core.schemas import CAPTION_FIELDS, STRINGS, structure
from isotope.parse.forms.base import Form, Rejection


class Atomic(Form):
    """The published collection, or a release of isotope, by parts of a source.

    Parts are `published_texts`, `published_images`, `judgements`, `text_topics`, `image_topics` and
    `asking`, as docs/release.md says.
    """

    name = "atomic"
    queries: ClassVar[Path | None] = sql.SQL / "parse/pairs/atomic"
    records: ClassVar[Sequence[pa.Field]] = (
        pa.field("image_own", structure(**dict.fromkeys(("language", *CAPTION_FIELDS), STRINGS))),
        pa.field(
            "text_own",
            structure(
                source_text_id=pa.string(),
                media=STRINGS,
                page_id=pa.int64(),
                hierarchy=pa.string(),
                context_page_description=pa.string(),
                category=STRINGS,
            ),
        ),
    )

    def read(
        self,
        paths: Sequence[Path],
        options: Mapping[str, Any],
        rejected: list[Rejection] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Refuse: queries make the pairs.

        Raises:
            BadParams: always.
        """
        del options, rejected
        remedy = "name them as parts of a source, as params/atomic.yaml does"
        raise BadParams("form atomic", f"the files {paths[0].name}, ... and no part", remedy)
