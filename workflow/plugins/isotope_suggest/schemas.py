"""Tables that suggest writes, in `results/suggest/<collection>/`."""

import pyarrow as pa

from isotope.core.schemas import STRINGS, schema

# Every section of the collection. `role` is judged (the collection's qrels have a picture of it),
# illustrated (its page shows a picture in it, none of them judged) or open (no picture);
# `probability` is that of a section which ought to have one.
SECTION_ROLES = schema(
    text_id=pa.string(),
    page_id=pa.int64(),
    language=pa.string(),
    split=pa.string(),
    role=pa.string(),
    page_class=pa.string(),
    heading=pa.string(),
    place=pa.int32(),
    sections=pa.int32(),
    level=pa.int32(),
    characters=pa.int32(),
    list_items=pa.int32(),
    table_rows=pa.int32(),
    references=pa.int32(),
    links=pa.int32(),
    probability=pa.float64(),
)
# A picture for a section, with what each source of candidates says of it, null where that source
# does not name it. `alignment` and `links` are shares in (0, 1]; `alignment_on` are sections of
# other languages, `language: page title # heading`, and `links_on` titles of linked pages.
# `wikidata` is a share in (0, 1] too, `wikidata_on` are items and the titles of their pages,
# `Q42: Title`; `is_named` tells whether file or captions have a name that Wikidata has for the
# section's page, null where it knows no such page.
CANDIDATES = schema(
    text_id=pa.string(),
    image_id=pa.string(),
    bm25=pa.float32(),
    bm25_rank=pa.int32(),
    dense=pa.float32(),
    dense_rank=pa.int32(),
    alignment=pa.float32(),
    alignment_on=STRINGS,
    links=pa.float32(),
    links_on=STRINGS,
    wikidata=pa.float32(),
    wikidata_on=STRINGS,
    is_named=pa.bool_(),
)
# Every picture of the collection. `kind` is photograph, drawing, icon, flag, map, logo or
# placeholder, `illustrates` the probability that it is no icon, flag, logo or placeholder, `pages`
# the number of pages that show it, `colours` that of distinct colours in 4 bits a channel, `hash`
# a perceptual one of 64 bits; `is_free` is null where nobody says.
PICTURE_KINDS = schema(
    image_id=pa.string(),
    file=pa.string(),
    kind=pa.string(),
    illustrates=pa.float64(),
    pages=pa.int32(),
    width=pa.int32(),
    height=pa.int32(),
    colours=pa.int32(),
    hash=pa.uint64(),
    author=pa.string(),
    licence=pa.string(),
    is_free=pa.bool_(),
    file_page=pa.string(),
)
FILTERED = schema(text_id=pa.string(), image_id=pa.string(), reason=pa.string(), detail=pa.string())
# What each system suggests for a section, after the filters, best first: suggest, wikimedia, bm25
# or dense. `probability` is null for bm25 and dense; `low` and `high` are the ends of its interval
# of 95 %, null where nobody has measured it; `kind` is as in FEED.
SCORED = schema(
    text_id=pa.string(),
    image_id=pa.string(),
    system=pa.string(),
    rank=pa.int32(),
    score=pa.float64(),
    probability=pa.float64(),
    low=pa.float64(),
    high=pa.float64(),
    kind=pa.string(),
)
# `kind` is the source that names the picture: text (BM25 or dense), alignment, links,
# wikidata or several.
# `low` and `high` are the ends of the probability's interval of 95 %; `caution` says where too
# little was judged to be sure of it, and is empty elsewhere.
FEED = schema(
    wiki=pa.string(),
    page_id=pa.int64(),
    page_title=pa.string(),
    section_index=pa.int32(),
    section_title=pa.string(),
    image=pa.string(),
    image_url=pa.string(),
    probability=pa.float64(),
    low=pa.float64(),
    high=pa.float64(),
    caution=pa.string(),
    kind=pa.string(),
    found_on=STRINGS,
    reasons=STRINGS,
    credit=pa.string(),
    snapshot=pa.string(),
    rank=pa.int32(),
    text_id=pa.string(),
    image_id=pa.string(),
)
# A change is new, withdrawn or taken up: the row of the later feed, or of the earlier one where the
# later one has none.
DELTA = pa.schema([pa.field("change", pa.string()), *FEED])
# What editors did with a suggestion of a frozen feed until a later snapshot: taken up, other
# picture, without picture or section gone.
TAKEN_UP = schema(
    text_id=pa.string(),
    image_id=pa.string(),
    system=pa.string(),
    rank=pa.int32(),
    probability=pa.float64(),
    kind=pa.string(),
    snapshot=pa.string(),
    later=pa.string(),
    days=pa.int32(),
    outcome=pa.string(),
)
# What people's verdicts say of the relevance of a picture for a section: 2 good, 1 okay, 0 not.
JUDGEMENTS = schema(
    text_id=pa.string(), image_id=pa.string(), relevance=pa.int32(), assessors=pa.int32()
)
