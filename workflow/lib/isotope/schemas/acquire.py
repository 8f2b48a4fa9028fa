"""Tables that come with a source: the columns of WIT, and the objects in pictures."""

import pyarrow as pa

from isotope.core.schemas import schema

WIT_COLUMNS = [
    "language",
    "page_url",
    "image_url",
    "page_title",
    "section_title",
    "hierarchical_section_title",
    "caption_reference_description",
    "caption_attribution_description",
    "caption_alt_text_description",
    "mime_type",
    "original_height",
    "original_width",
    "is_main_image",
    "attribution_passes_lang_id",
    "page_changed_recently",
    "context_page_description",
    "context_section_description",
]
OBJECTS = schema(
    image_url=pa.string(),
    synset=pa.string(),
    colour=pa.string(),
    size=pa.string(),
    x_min=pa.int32(),
    y_min=pa.int32(),
    x_max=pa.int32(),
    y_max=pa.int32(),
)
