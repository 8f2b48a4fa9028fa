"""Entries of params as jobs get them, and the default params with others in their place."""

from pathlib import Path
from typing import Any

from isotope.params import resolve
from isotope.params.files import read
from isotope.params.overlays import lay_over
from isotope.params.root import Params
from isotope.params.sections import SystemKind

ROOT = Path(__file__).parents[1]


def system_of(kind: str, **entry: Any) -> Any:
    """Return an entry of `systems` as the object that its jobs get."""
    return SystemKind.of_spec({"kind": kind, **entry})


def system(kind: str, **entry: Any) -> dict[str, Any]:
    """Return an entry of `systems` with the defaults of its kind."""
    return SystemKind.of_spec({"kind": kind, **entry}).filled()


def resolved(**overlay: Any) -> Params:
    """Return the default params, changed as an overlay changes them."""
    config = dict(read(ROOT / "params.yaml"))
    lay_over(config, overlay)
    return resolve.resolve(config)
