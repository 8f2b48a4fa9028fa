"""Params of a crawl as its jobs get them, of what a test says of it, and its constants."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any

import pytest

from isotope.crawl import fetch, hosts, outages
from isotope.intake import limits
from isotope.params.crawl import Crawl

# What a test may change and params may not, by the keys that say so to `crawl_of` and `constants`.
CONSTANTS: Mapping[str, tuple[ModuleType, str]] = {
    "burst": (hosts, "BURST"),
    "patience_s": (hosts, "PATIENCE_S"),
    "breaker_failures": (hosts, "BREAKER_FAILURES"),
    "breaker_pause_s": (hosts, "BREAKER_PAUSE_S"),
    "breaker_openings": (hosts, "BREAKER_OPENINGS"),
    "outage_tries": (outages, "TRIES"),
    "outage_hours": (outages, "HOURS"),
    "redirects": (fetch, "REDIRECTS"),
    "decode_s": (limits, "DECODE_S"),
    "decode_mb": (limits, "DECODE_MB"),
}
_OF_INTAKE = "member_mib"


def crawl_of(*parts: Mapping[str, Any], **more: Any) -> Crawl:
    """Return an entry of `crawl`, of one shard, with the keys of all parts that have a value.

    Constants among them are for `constants`.
    """
    values = {key: value for part in (*parts, more) for key, value in part.items()}
    values = {k: v for k, v in values.items() if k not in CONSTANTS and k != _OF_INTAKE}
    of_entry = {key: value for key, value in values.items() if value is not None}
    assert of_entry.keys() <= Crawl.model_fields.keys()
    return Crawl(shards=1).model_copy(update=of_entry)


@contextmanager
def constants(*parts: Mapping[str, Any]) -> Iterator[None]:
    """Have the constants among the keys of all parts hold."""
    values = {key: value for part in parts for key, value in part.items()}
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for key in CONSTANTS.keys() & values.keys():
            patch.setattr(*CONSTANTS[key], values[key])
        if _OF_INTAKE in values:
            stack.enter_context(limits.using({_OF_INTAKE: values[_OF_INTAKE]}))
        yield
