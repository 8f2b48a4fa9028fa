"""params.yaml with overlays, outside of Snakemake: the same merge, the same checks."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from isotope import params, trec_systems
from isotope.errors import BadParams, MissingFile

SCHEMA = Path("workflow/schemas/params.schema.yaml")


def load(
    overlays: Sequence[Path] = (), pairs: Sequence[str] = (), root: Path = Path()
) -> params.Params:
    """Return the params of the project at `root`, as `--configfile` and `--config` change them.

    Raises:
        MissingFile: no params.yaml, or no such overlay.
        BadParams: what the schema refuses; a pair without `=`.
    """
    merged: dict[str, Any] = {}
    for path in (root / "params.yaml", *overlays):
        if not path.is_file():
            raise MissingFile(path, "no such params", "run in the project's root")
        _merge(merged, yaml.safe_load(path.read_text(encoding="utf-8")))
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise BadParams("--config", f"{pair!r} has no `=`", "write key=value")
        merged[key] = value
    return params.resolve(merged, root / SCHEMA, trec_systems.discover(root / trec_systems.FOLDER))


def _merge(into: dict[str, Any], overlay: Mapping[str, Any]) -> None:
    for key, value in overlay.items():
        if isinstance(value, Mapping) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value
