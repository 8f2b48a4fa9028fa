"""Where pictures are asked for: a crawl's bytes belong to the place that sent them."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

OWN_HOST = "own host"


def origin(spec: Mapping[str, Any]) -> str:
    """Return what answers for the URLs of crawl.<source>: a folder, a mirror, or their own host."""
    if spec.get("serve"):
        return str(PurePath(spec["serve"]))
    return spec.get("mirror") or OWN_HOST


def share_tags(one: str | None, other: str) -> bool:
    """Tell whether an ETag or date of one origin means the same bytes at another.

    It does at the same one. Folders that are served on loopback share their tags, which are digests
    of the content. A row of a ledger that tells no origin (None) is taken as of the own host.
    """
    one = one or OWN_HOST
    return one == other or (_is_folder(one) and _is_folder(other))


def _is_folder(place: str) -> bool:
    return place != OWN_HOST and "://" not in place
