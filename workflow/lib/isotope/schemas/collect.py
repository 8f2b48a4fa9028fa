"""Tables of a collection."""

import pyarrow as pa

from isotope.core.schemas import STRINGS, list_of, schema, structure
from isotope.core.store import look_up

TEXTS = look_up(
    schema(
        text_id=pa.string(),
        page_id=pa.int64(),
        revision_id=pa.int64(),
        page_url=pa.string(),
        page_title=pa.string(),
        section_title=pa.string(),
        hierarchy=pa.string(),
        context_page_description=pa.string(),
        context_section_description=pa.string(),
        language=pa.string(),
        category=STRINGS,
        split=pa.string(),
        source_text_id=pa.string(),
    )
)
IMAGES = look_up(
    schema(
        image_id=pa.string(),
        image_url=pa.string(),
        language=STRINGS,
        caption_reference_description=STRINGS,
        caption_alt_text_description=STRINGS,
        caption_attribution_description=STRINGS,
        mime_type=pa.string(),
        width=pa.int32(),
        height=pa.int32(),
        sha256=pa.string(),
        split=pa.string(),
    )
)
# Typed columns that some kinds of collections add to their texts or images.
OPTIONAL = schema(
    media=STRINGS,
    objects=list_of(
        structure(
            synset=pa.string(),
            x_min=pa.int32(),
            y_min=pa.int32(),
            x_max=pa.int32(),
            y_max=pa.int32(),
        )
    ),
    date=pa.date32(),
    locale=pa.string(),
    translation=pa.string(),
    synsets=STRINGS,
    source_image_id=pa.string(),
    picture_id=pa.string(),
    question=pa.string(),
    subset=pa.string(),
    seen=pa.string(),
    source_split=pa.string(),
)
QRELS = look_up(
    schema(text_id=pa.string(), image_id=pa.string(), relevance=pa.int32(), split=pa.string()),
    "image_id",
)
FILTERS = schema(
    step=pa.string(), split=pa.string(), before=pa.int64(), dropped=pa.int64(), after=pa.int64()
)

# A collection in shards: what the jobs of its texts and of its images read, what they leave, and
# what of it is exchanged between them, or gathered.
READ_BY = {
    "texts": ["associations", "sections", "members", "projection", "ledger"],
    "images": ["associations", "urls", "ledger"],
}
EXCHANGED = ["pairs"]
TEXT_PIECES = ["pages", "counted", *EXCHANGED]
IMAGE_PIECES = ["qrels", "images"]
GATHERED = ["pages", "counted", *IMAGE_PIECES]
