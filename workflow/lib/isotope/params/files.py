"""params.yaml with overlays, outside of Snakemake: the same merge, the same checks."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import yaml

from isotope.core.errors import BadParams, MissingFile
from isotope.params import foreign, resolve, schema

SCHEMA = Path("workflow/schemas/params.schema.yaml")


def load(
    overlays: Sequence[Path] = (), pairs: Sequence[str] = (), root: Path = Path()
) -> resolve.Params:
    """Return the params of the project at `root`, as `--configfile` and `--config` change them.

    Raises:
        MissingFile: no params.yaml, or no such overlay.
        BadParams: what the schema refuses; a pair without `=`; a file that is no YAML mapping.
    """
    merged: dict[str, Any] = {}
    for path in (root / "params.yaml", *overlays):
        if not path.is_file():
            raise MissingFile(path, "no such params", "run in the project's root")
        _merge(merged, _read(path))
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise BadParams("--config", f"{pair!r} has no `=`", "write key=value")
        merged[key] = value
    if not (root / SCHEMA).is_file():
        raise MissingFile(root / SCHEMA, "no such schema", "run in the project's root")
    return resolve.resolve(merged, root / SCHEMA, foreign.discover(root / foreign.FOLDER))


def text_of(path: Path) -> str:
    """Return the text of a file of params, every newline as it is.

    Raises:
        BadParams: bytes that are not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"not UTF-8 at byte {error.start}"
        raise BadParams(path, found, "save it as UTF-8") from error


@contextmanager
def parsing(path: Path) -> Iterator[None]:
    """Name the file, the line and the column where YAML can't be read.

    Raises:
        BadParams: where it can't.
    """
    try:
        yield
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        found = " ".join(str(getattr(error, "problem", None) or error).split())
        raise BadParams(f"{path}{place}", f"not YAML: {found}", "mend that line") from error


def _read(path: Path) -> Mapping[str, Any]:
    with parsing(path):
        found = yaml.safe_load(text_of(path))
    if not isinstance(found, Mapping):
        raise BadParams(path, f"no mapping: {schema.shown(found)}", "write `key: value` lines")
    return cast(Mapping[str, Any], found)


def _merge(into: dict[str, Any], overlay: Mapping[str, Any]) -> None:
    for key, value in overlay.items():
        if isinstance(value, Mapping) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value
