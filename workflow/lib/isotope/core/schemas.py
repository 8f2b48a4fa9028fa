"""Schemas: how tables are described, and what several phases share."""

import re

import pyarrow as pa


def list_of(kind: pa.DataType) -> pa.ListType:
    """Return the type of a column of lists whose items are never NULL; a list itself may be.

    `store.writer` holds tables to it.
    """
    return pa.list_(pa.field("item", kind, nullable=False))


STRINGS = list_of(pa.string())


def schema(**columns: pa.DataType) -> pa.Schema:
    """Return the schema of columns in this order."""
    return pa.schema([pa.field(name, kind) for name, kind in columns.items()])


def structure(**fields: pa.DataType) -> pa.StructType:
    """Return the type of a column of records."""
    return pa.struct([pa.field(name, kind) for name, kind in fields.items()])


RUN = schema(query_id=pa.string(), doc_id=pa.string(), rank=pa.int32(), score=pa.float64())
# What stands for several languages (ISO 639-2).
SEVERAL = "mul"
# What stands for a language that nobody has told (ISO 639-2).
UNKNOWN = "und"
FIVE_FIELDS = (
    "page_title",
    "section_title",
    "hierarchy",
    "context_section_description",
    "context_page_description",
)
# Between the headings of a hierarchy in tables; published and released ones are lists.
STEP = " / "
CAPTION_FIELDS = (
    "caption_reference_description",
    "caption_alt_text_description",
    "caption_attribution_description",
)
# A place in a template of a prompt, and the one that the text itself takes.
PLACEHOLDER = re.compile(r"\{(\w+)\}")
TEXT = "text"
# The published Parquet files of AToMiC: a release is written so, and a data set may be.
_WORDS = ("text_id", "page_url", "page_title", "section_title")
_CONTEXTS = ("context_page_description", "context_section_description")
PUBLISHED_TEXTS = pa.schema(
    [
        *((name, pa.string()) for name in (*_WORDS, *_CONTEXTS)),
        *((name, STRINGS) for name in ("media", "hierachy", "category")),
        ("source_id", pa.string()),
    ]
)
PUBLISHED_IMAGES = pa.schema(
    [
        ("image_url", pa.string()),
        ("image_id", pa.string()),
        *((name, STRINGS) for name in ("language", *CAPTION_FIELDS)),
        ("image", pa.binary()),
    ]
)
