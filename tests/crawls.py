"""Params of a crawl as its jobs get them, of what a test says of it."""

from collections.abc import Mapping
from typing import Any

from isotope.params.crawl import Crawl


def crawl_of(*parts: Mapping[str, Any], **more: Any) -> Crawl:
    """Return an entry of `crawl`, of one shard, with the keys of all parts that have a value.

    Values may be such as no params have: 0 MiB for a picture makes any picture too large.
    """
    given = {key: value for part in (*parts, more) for key, value in part.items()}
    known = {key: value for key, value in given.items() if value is not None}
    assert known.keys() <= Crawl.model_fields.keys()
    return Crawl(shards=1).model_copy(update=known)
