"""Tables of explained failures."""

import pyarrow as pa

from isotope.core.schemas import STRINGS, list_of, schema, structure
from isotope.schemas.collect import TEXTS

CONCEPTS = schema(
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
RANKS = schema(
    setting=pa.string(),
    split=pa.string(),
    task=pa.string(),
    system=pa.string(),
    perturbation=pa.string(),
    query_id=pa.string(),
    rank=pa.int32(),
    rank_before=pa.int32(),
)
FAILURES = schema(
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
    pairs=list_of(structure(truth=pa.string(), found=pa.string(), similarity=pa.float64())),
    counts=list_of(structure(concept=pa.string(), truth=pa.int32(), found=pa.int32())),
    sizes=list_of(
        structure(
            concept=pa.string(),
            truth_px=pa.float64(),
            found_px=pa.float64(),
            difference=pa.float64(),
            differs=pa.bool_(),
        )
    ),
)
PERTURBED = schema(
    **{field.name: field.type for field in TEXTS},
    perturbation=pa.string(),
    query_id=pa.string(),
    intact=pa.string(),
    perturbed=pa.string(),
    changes=STRINGS,
)
STUDY = schema(
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
