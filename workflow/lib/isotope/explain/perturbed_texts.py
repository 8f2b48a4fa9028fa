"""A collection's queries with other words: as many tables of texts as there are perturbations."""

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

import polars as pl
import pyarrow as pa

from isotope import tables
from isotope.core import store
from isotope.core.progress import Progress, log
from isotope.explain import wordnet_files
from isotope.explain.perturb import KINDS, Settings, mentioned, perturb
from isotope.explain.wordnet import WordNet

# ASSUME the sentence that a query consists of is its section's description, as captions are: the
# paper's queries are captions (section 3.1) and have no other fields.
FIELD = "context_section_description"
_CAPTIONS = "caption_reference_description"
_TEXTS_PER_READ = 8_192


def perturb_texts(  # noqa: PLR0913
    texts: Path,
    images: Path,
    qrels: Path,
    *,
    split: str,
    wordnet: str | None,
    settings: Settings,
    out: Path,
) -> None:
    """Write tables.PERTURBED: every judged text of the split, once for each kind that changes it.

    `text_id` is `<kind>/<query_id>`, so that the table stands in for texts wherever they are
    encoded or searched with; it is sorted by it. The colours of the dataset, which colour-in may
    bring in, are those of these texts and of their pictures' captions.

    Raises:
        MissingFile: no dictionary.
    """
    known = WordNet(wordnet_files.find(wordnet))
    judged = pl.read_parquet(qrels).filter(pl.col("split") == split)
    asked = pl.read_parquet(texts, columns=tables.TEXTS.names).join(
        judged, on="text_id", how="semi"
    )
    asked = asked.filter(pl.col(FIELD).fill_null("") != "").sort("text_id")
    colours = mentioned(chain(asked[FIELD], _captions(images, judged)), known)
    log.info("colours that queries and captions mention: %s", ", ".join(sorted(colours)))
    settings = settings._replace(mentioned=colours)
    with store.writer(out, tables.PERTURBED) as file:
        for kind in sorted(KINDS):
            for some in asked.iter_slices(_TEXTS_PER_READ):
                rows = list(_rows(kind, some, known, settings))
                file.write_table(pa.Table.from_pylist(rows, schema=tables.PERTURBED))
                log.info("%s: %d of %d queries", kind, len(rows), some.height)


def _captions(images: Path, judged: pl.DataFrame) -> pl.Series:
    known = pl.scan_parquet(images).select("image_id", _CAPTIONS)
    own = known.join(judged.lazy(), on="image_id", how="semi").select(pl.col(_CAPTIONS).explode())
    return own.drop_nulls().collect(engine="streaming").to_series()


def _rows(
    kind: str, texts: pl.DataFrame, wordnet: WordNet, settings: Settings
) -> Iterator[Mapping[str, object]]:
    progress = Progress(f"sentences, {kind}", texts.height)
    for text in texts.iter_rows(named=True):
        found = perturb(kind, text["text_id"], text[FIELD], wordnet, settings)
        progress.add()
        if found is not None:
            yield {
                **text,
                "text_id": f"{kind}/{text['text_id']}",
                FIELD: found.sentence,
                "perturbation": kind,
                "query_id": text["text_id"],
                "intact": text[FIELD],
                "perturbed": found.sentence,
                "changes": [f"{before} > {after}" for before, after in found.changes],
            }
    progress.finish()
