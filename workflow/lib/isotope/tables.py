"""The interchange tables (design, section 3): one Arrow schema each."""

import pyarrow as pa

_STRINGS = pa.list_(pa.string())


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema([pa.field(name, kind) for name, kind in columns.items()])


def _structure(**fields: pa.DataType) -> pa.StructType:
    return pa.struct([pa.field(name, kind) for name, kind in fields.items()])


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
_WIT_KINDS: dict[str, pa.DataType] = {
    "original_height": pa.int32(),
    "original_width": pa.int32(),
    "is_main_image": pa.bool_(),
    "attribution_passes_lang_id": pa.bool_(),
    "page_changed_recently": pa.bool_(),
}
ASSOCIATIONS = _schema(
    **{c: _WIT_KINDS.get(c, pa.string()) for c in WIT_COLUMNS},
    split=pa.string(),
    file=pa.string(),
    row=pa.int64(),
)
SECTIONS = _schema(
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
    category=_STRINGS,
)
REJECTED = _schema(
    file=pa.string(), row=pa.int64(), reason=pa.string(), detail=pa.string(), raw=pa.string()
)
LINKS = _schema(page_id=pa.int64(), target=pa.string())
INLINKS = _schema(page_id=pa.int64(), inlinks=pa.int64())
INFOBOXES = _schema(
    page_id=pa.int64(), page_title=pa.string(), file=pa.string(), image_url=pa.string()
)
PICTURES = _schema(
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
    wiki=pa.string(),
    words=pa.string(),
    unread=_STRINGS,
)
FILES = _schema(file=pa.string(), project=pa.string(), attribution=pa.string())
URLS = _schema(image_id=pa.string(), image_url=pa.string(), shard=pa.int32())
PIXELS = _schema(
    image_id=pa.string(),
    image_url=pa.string(),
    width=pa.int32(),
    height=pa.int32(),
    webp=pa.binary(),
)
LEDGER = _schema(
    image_url=pa.string(),
    status=pa.string(),
    http_status=pa.int32(),
    attempts=pa.int32(),
    bytes=pa.int64(),
    sha256=pa.string(),
    width=pa.int32(),
    height=pa.int32(),
    fetched_at=pa.timestamp("s", tz="UTC"),
    error=pa.string(),
    upstream_sha256=pa.string(),
    upstream_bytes=pa.int64(),
    content_type=pa.string(),
    format=pa.string(),
    trait=pa.string(),
    commons_sha1=pa.string(),
    etag=pa.string(),
    last_modified=pa.string(),
    origin=pa.string(),
)
MEMBERS = _schema(source_text_id=pa.string(), file=pa.string(), row=pa.int64())
PROJECTION = _schema(
    source_text_id=pa.string(), text_id=pa.string(), method=pa.string(), score=pa.float64()
)
TEXTS = _schema(
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
    category=_STRINGS,
    split=pa.string(),
    source_text_id=pa.string(),
)
IMAGES = _schema(
    image_id=pa.string(),
    image_url=pa.string(),
    language=_STRINGS,
    caption_reference_description=_STRINGS,
    caption_alt_text_description=_STRINGS,
    caption_attribution_description=_STRINGS,
    mime_type=pa.string(),
    width=pa.int32(),
    height=pa.int32(),
    sha256=pa.string(),
    split=pa.string(),
)
ATTRIBUTIONS = _schema(
    ImageID=pa.string(), License=pa.string(), Author=pa.string(), Title=pa.string()
)
# Typed columns that a collection of another kind may add to its texts or images.
OPTIONAL = _schema(
    objects=pa.list_(
        _structure(
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
    synsets=_STRINGS,
    source_image_id=pa.string(),
    picture_id=pa.string(),
    question=pa.string(),
    subset=pa.string(),
    seen=pa.string(),
    source_split=pa.string(),
)
QRELS = _schema(text_id=pa.string(), image_id=pa.string(), relevance=pa.int32(), split=pa.string())
FILTERS = _schema(
    step=pa.string(), split=pa.string(), before=pa.int64(), dropped=pa.int64(), after=pa.int64()
)
RUN = _schema(query_id=pa.string(), doc_id=pa.string(), rank=pa.int32(), score=pa.float64())
SCORES = _schema(
    collection=pa.string(),
    setting=pa.string(),
    split=pa.string(),
    task=pa.string(),
    system=pa.string(),
    query_id=pa.string(),
    measure=pa.string(),
    value=pa.float64(),
)
SIGNIFICANCE = _schema(
    collection=pa.string(),
    setting=pa.string(),
    split=pa.string(),
    task=pa.string(),
    measure=pa.string(),
    system=pa.string(),
    other=pa.string(),
    difference=pa.float64(),
    t=pa.float64(),
    p=pa.float64(),
    p_bonferroni=pa.float64(),
)
OBJECTS = _schema(
    image_url=pa.string(),
    synset=pa.string(),
    colour=pa.string(),
    size=pa.string(),
    x_min=pa.int32(),
    y_min=pa.int32(),
    x_max=pa.int32(),
    y_max=pa.int32(),
)
TOKENS = _schema(
    side=pa.string(),
    item_id=pa.string(),
    field=pa.string(),
    tokenizer=pa.string(),
    tokens=pa.int32(),
)
ANSWERED = _schema(query_id=pa.string())
ANSWERED_BY = _schema(
    setting=pa.string(), split=pa.string(), system=pa.string(), query_id=pa.string()
)
TOPS = _schema(
    task=pa.string(),
    system=pa.string(),
    query_id=pa.string(),
    doc_id=pa.string(),
)
STYLES = _schema(image_id=pa.string(), style=pa.string(), score=pa.float64())
INTERVALS = _schema(
    setting=pa.string(),
    split=pa.string(),
    task=pa.string(),
    measure=pa.string(),
    system=pa.string(),
    kind=pa.string(),
    stratum=pa.string(),
    queries=pa.int64(),
    value=pa.float64(),
    low=pa.float64(),
    high=pa.float64(),
)
SUBSETS = _schema(
    setting=pa.string(),
    split=pa.string(),
    task=pa.string(),
    system=pa.string(),
    measure=pa.string(),
    documents=pa.int64(),
    queries=pa.int64(),
    value=pa.float64(),
    exact=pa.float64(),
)
CAPTIONS = _schema(
    text_id=pa.string(),
    image_id=pa.string(),
    language=pa.string(),
    characters=pa.int32(),
    words=pa.int32(),
    tokens=pa.int32(),
    cider=pa.float64(),
)
CAPTIONERS = _schema(
    captioner=pa.string(),
    language=pa.string(),
    image_id=pa.string(),
    characters=pa.int32(),
    tokens=pa.int32(),
    cider=pa.float64(),
)
# `preference` of people is 1 for the first captioner, -1 for the second one, 0 for neither.
SIDE_BY_SIDE = _schema(
    language=pa.string(),
    first=pa.string(),
    second=pa.string(),
    image_id=pa.string(),
    people=pa.int32(),
    preference=pa.int32(),
    cider_first=pa.float64(),
    cider_second=pa.float64(),
)
CORRELATIONS = _schema(
    over=pa.string(),
    of=pa.string(),
    points=pa.int64(),
    pearson=pa.float64(),
    spearman=pa.float64(),
    kendall=pa.float64(),
)
POOL = _schema(
    split=pa.string(),
    task=pa.string(),
    query_id=pa.string(),
    doc_id=pa.string(),
    rank=pa.int32(),
    systems=_STRINGS,
)
SHEET = _schema(
    split=pa.string(),
    task=pa.string(),
    query_id=pa.string(),
    doc_id=pa.string(),
    grade=pa.int32(),
    assessor=pa.string(),
    query=pa.string(),
    document=pa.string(),
)
GRADED = _schema(
    split=pa.string(),
    task=pa.string(),
    query_id=pa.string(),
    doc_id=pa.string(),
    relevance=pa.int32(),
    grades=pa.int32(),
    sparse=pa.int32(),
)
REUSE = _schema(
    task=pa.string(),
    measure=pa.string(),
    system=pa.string(),
    alone=pa.int64(),
    value=pa.float64(),
    without=pa.float64(),
    place=pa.int32(),
    place_without=pa.int32(),
)
TAU = _schema(task=pa.string(), measure=pa.string(), systems=pa.int64(), tau=pa.float64())
AGREEMENT = _schema(
    assessor=pa.string(),
    other=pa.string(),
    pairs=pa.int64(),
    same_share=pa.float64(),
    kappa=pa.float64(),
)
CHANGES = _schema(
    kind=pa.string(),
    before_id=pa.string(),
    after_id=pa.string(),
    page_class=pa.string(),
    change=pa.string(),
    detail=pa.string(),
)
TEMPORAL = _schema(
    setting=pa.string(),
    split=pa.string(),
    task=pa.string(),
    measure=pa.string(),
    system=pa.string(),
    stratum=pa.string(),
    queries=pa.int64(),
    home=pa.float64(),
    earlier=pa.float64(),
    later=pa.float64(),
    relative_drop=pa.float64(),
    low=pa.float64(),
    high=pa.float64(),
)
IDENTITIES = _schema(before_id=pa.string(), after_id=pa.string(), method=pa.string())
CONTENTS = _schema(id=pa.string(), model=pa.string(), content=pa.string())
CONCEPTS = _schema(
    image_id=pa.string(),
    concept=pa.string(),
    synset=pa.string(),
    offset=pa.int64(),
    area=pa.float64(),
    x_min=pa.int32(),
    y_min=pa.int32(),
    x_max=pa.int32(),
    y_max=pa.int32(),
)
# RANKS.perturbation of a query as it is.
INTACT = "none"
RANKS = _schema(
    setting=pa.string(),
    split=pa.string(),
    task=pa.string(),
    system=pa.string(),
    perturbation=pa.string(),
    query_id=pa.string(),
    rank=pa.int32(),
    rank_before=pa.int32(),
)
FAILURES = _schema(
    setting=pa.string(),
    split=pa.string(),
    task=pa.string(),
    system=pa.string(),
    query_id=pa.string(),
    rank=pa.int32(),
    doc_id=pa.string(),
    truth_id=pa.string(),
    found_id=pa.string(),
    ca=pa.float64(),
    ncs=pa.float64(),
    ce=pa.int32(),
    sd=pa.float64(),
    sd_continuous=pa.float64(),
    hit=pa.int32(),
    miss=pa.int32(),
    extra=pa.int32(),
    pairs=pa.list_(_structure(truth=pa.string(), found=pa.string(), similarity=pa.float64())),
    counts=pa.list_(_structure(concept=pa.string(), truth=pa.int32(), found=pa.int32())),
    sizes=pa.list_(
        _structure(
            concept=pa.string(),
            truth_px=pa.float64(),
            found_px=pa.float64(),
            difference=pa.float64(),
            differs=pa.bool_(),
        )
    ),
)
PERTURBED = _schema(
    **{field.name: field.type for field in TEXTS},
    perturbation=pa.string(),
    query_id=pa.string(),
    intact=pa.string(),
    perturbed=pa.string(),
    changes=_STRINGS,
)
STUDY = _schema(
    lot=pa.string(),
    task=pa.string(),
    system=pa.string(),
    query_id=pa.string(),
    truth_id=pa.string(),
    found_id=pa.string(),
    query=pa.string(),
    truth_url=pa.string(),
    found_url=pa.string(),
    classes=pa.string(),
    rating=pa.int32(),
    assessor=pa.string(),
)
STUDIED = _schema(
    task=pa.string(),
    system=pa.string(),
    query_id=pa.string(),
    assessor=pa.string(),
    rating=pa.int32(),
    classes=_STRINGS,
)
# What stands for several languages (ISO 639-2).
SEVERAL = "mul"
FIVE_FIELDS = (
    "page_title",
    "section_title",
    "hierarchy",
    "context_section_description",
    "context_page_description",
)
# Between the steps of a hierarchy, here and in WIT. What reads it sees a space there, as do encoder
# and BM25 of AToMiC's authors (TREC-AToMiC/AToMiC, examples/), whose hierarchies are lists.
STEP = " / "
CAPTION_FIELDS = (
    "caption_reference_description",
    "caption_alt_text_description",
    "caption_attribution_description",
)
