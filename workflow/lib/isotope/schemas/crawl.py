"""Tables that crawl writes."""

import pyarrow as pa

from isotope.core.schemas import schema

URLS = schema(image_id=pa.string(), image_url=pa.string(), shard=pa.int32())
PIXELS = schema(
    image_id=pa.string(),
    image_url=pa.string(),
    width=pa.int32(),
    height=pa.int32(),
    webp=pa.binary(),
)
LEDGER = schema(
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
    fetched_from=pa.string(),
    stored_width=pa.int32(),
    stored_height=pa.int32(),
    bulk=pa.string(),
    licence=pa.string(),
)
# What a bulk source's files brought, file by file, and what in them can't be used.
BULK_FILES = schema(
    file=pa.string(),
    bytes=pa.int64(),
    rows=pa.int64(),
    wanted=pa.int64(),
    taken=pa.int64(),
    repeated=pa.int64(),
    smaller=pa.int64(),
    damaged=pa.int64(),
)
BULK_DAMAGED = schema(
    file=pa.string(),
    row=pa.int64(),
    image_url=pa.string(),
    status=pa.string(),
    reason=pa.string(),
)
