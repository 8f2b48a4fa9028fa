"""The tables of a release, under the names of the published AToMiC files, misspelt ones too."""

import pyarrow as pa

from isotope.core.schemas import CAPTION_FIELDS

_STRINGS = pa.list_(pa.string())
_WORDS = ("text_id", "page_url", "page_title", "section_title")
_CONTEXTS = ("context_page_description", "context_section_description")
TEXTS = pa.schema(
    [
        *((name, pa.string()) for name in (*_WORDS, *_CONTEXTS)),
        *((name, _STRINGS) for name in ("media", "hierachy", "category")),
        ("source_id", pa.string()),
    ]
)
IMAGES = pa.schema(
    [
        ("image_url", pa.string()),
        ("image_id", pa.string()),
        *((name, _STRINGS) for name in ("language", *CAPTION_FIELDS)),
        ("image", pa.binary()),
    ]
)
QRELS = pa.schema([*((n, pa.string()) for n in ("text_id", "Q0", "image_id")), ("rel", pa.int32())])
ATTRIBUTIONS = pa.schema(
    [
        (name, pa.string())
        for name in ("image_id", "image_url", "attribution", "licence", "file_page")
    ]
)
