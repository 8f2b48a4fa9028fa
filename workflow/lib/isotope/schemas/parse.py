"""Tables that parse writes."""

import pyarrow as pa

from isotope.core.schemas import STRINGS, list_of, schema, structure
from isotope.schemas.acquire import WIT_COLUMNS

_WIT_KINDS: dict[str, pa.DataType] = {
    "original_height": pa.int32(),
    "original_width": pa.int32(),
    "is_main_image": pa.bool_(),
    "attribution_passes_lang_id": pa.bool_(),
    "page_changed_recently": pa.bool_(),
}
ASSOCIATIONS = schema(
    **{c: _WIT_KINDS.get(c, pa.string()) for c in WIT_COLUMNS},
    split=pa.string(),
    file=pa.string(),
    row=pa.int64(),
)
SECTIONS = schema(
    text_id=pa.string(),
    page_id=pa.int64(),
    revision_id=pa.int64(),
    page_url=pa.string(),
    page_title=pa.string(),
    section=pa.int32(),
    section_title=pa.string(),
    hierarchy=pa.string(),
    context_page_description=pa.string(),
    context_section_description=pa.string(),
    language=pa.string(),
    category=STRINGS,
    media=STRINGS,
)
REJECTED = schema(
    file=pa.string(), row=pa.int64(), reason=pa.string(), detail=pa.string(), raw=pa.string()
)
# Of a collection of kind pairs: the split of the pair that was set aside, as far as it is known.
PAIRS_REJECTED = REJECTED.append(pa.field("split", pa.string()))
# A row of a collection of kind pairs: a picture, a text, or both, which belong together. A picture
# whose id is not that of its address has one. Behind these stand two records, `image_own` and
# `text_own`: the data's ids and what travels along, or columns of a collection's own tables.
PAIRS = schema(
    file=pa.string(),
    row=pa.int64(),
    nth=pa.int32(),
    image_url=pa.string(),
    image_id=pa.string(),
    text_id=pa.string(),
    text=pa.string(),
    title=pa.string(),
    section=pa.string(),
    page_url=pa.string(),
    language=pa.string(),
    split=pa.string(),
    relevance=pa.int32(),
    caption=STRINGS,
    caption_language=STRINGS,
    credit=pa.string(),
    width=pa.int32(),
    height=pa.int32(),
    number=pa.int32(),
)
LINKS = schema(page_id=pa.int64(), target=pa.string())
INLINKS = schema(page_id=pa.int64(), inlinks=pa.int64())
INFOBOXES = schema(
    page_id=pa.int64(), page_title=pa.string(), file=pa.string(), image_url=pa.string()
)
PICTURES = schema(
    page_id=pa.int64(),
    place=pa.int32(),
    text_id=pa.string(),
    file=pa.string(),
    origin=pa.string(),
    caption=pa.string(),
    alt=pa.string(),
    width=pa.int32(),
    is_framed=pa.bool_(),
    is_in_table=pa.bool_(),
    box=pa.string(),
    wiki=pa.string(),
    words=pa.string(),
    unread=STRINGS,
)
# A page of the source's wiki as Wikidata has it: the item, its names in the wiki's language (label,
# aliases), the files of its pictures (P18), its category on Commons (P373, null where it has none)
# and the items that it is an instance of (P31).
ENTITIES = schema(
    item=pa.string(),
    page_title=pa.string(),
    names=STRINGS,
    pictures=STRINGS,
    category=pa.string(),
    classes=STRINGS,
)
# Every section's place, counted from 0, among the `sections` of its page, and what its own wikitext
# (or HTML) has: list items, table rows and references are counted, `links` are the titles of the
# articles it links to, each once. The lead has level 0 and no heading; the page's `languages`, such
# as `de:Titel`, are on its lead.
OUTLINE = schema(
    text_id=pa.string(),
    page_id=pa.int64(),
    place=pa.int32(),
    sections=pa.int32(),
    level=pa.int32(),
    heading=pa.string(),
    characters=pa.int32(),
    list_items=pa.int32(),
    table_rows=pa.int32(),
    references=pa.int32(),
    has_infobox=pa.bool_(),
    links=STRINGS,
    languages=STRINGS,
)
# A row a template of a wiki: `prints` is text, nothing, box or unknown; `shows` is the wikitext
# that a call leaves, in terms of its parameters. A picture's `file`, `caption`, `alt` and `size`
# are names of parameters, of which the first given one counts; a picture that is always the same
# has a `name`, and a `width` in px where that is fixed. `known_by` is body, module, redirect,
# templatedata or unknown, with what of it is not read.
TEMPLATES = schema(
    wiki=pa.string(),
    template=pa.string(),
    redirect_to=pa.string(),
    prints=pa.string(),
    shows=pa.string(),
    pictures=list_of(
        structure(
            file=STRINGS,
            name=pa.string(),
            caption=STRINGS,
            alt=STRINGS,
            size=STRINGS,
            width=pa.int32(),
            is_framed=pa.bool_(),
        )
    ),
    is_infobox=pa.bool_(),
    known_by=pa.string(),
)
# As TEMPLATES, with how often articles call each.
CALLED_TEMPLATES = TEMPLATES.append(pa.field("uses", pa.int64()))
