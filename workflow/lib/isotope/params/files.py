"""params.yaml with overlays, outside of Snakemake: the same merge, the same checks."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import yaml

from isotope.core import store
from isotope.core.errors import BadParams, MissingFile
from isotope.params import foreign, resolve, schema


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
    return resolve.resolve(merged, foreign.discover(root / foreign.FOLDER))


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


_REMEDY = "add it by hand: `snapshots: [...]` at the top of the file"


def append_snapshot(file: Path, name: str) -> bool:
    """Put `name` at the end of the list `snapshots` of a file of params; keep comments and layout.

    A list that has the name already stays as it is; return whether it was new.

    Raises:
        MissingFile: no such file.
        BadParams: no list `snapshots` in the file, or a file that is no YAML.
        Unwritable: a file that the system does not let be replaced.
    """
    if not file.is_file():
        raise MissingFile(file, "no such file", "run this in the project's folder")
    text = text_of(file)
    listed = _listed(file, text)
    if name in [item.value for item in listed.value]:
        return False
    last = listed.value[-1] if listed.value else None
    place = _place(text, listed, last)
    new = text[:place] + _item(listed, last, name) + text[place:]
    if _values(new) != [*_values(text), name]:
        raise BadParams(file, "a list that can't be appended to", _REMEDY)
    with store.aside(file) as part:
        part.write_text(new, encoding="utf-8", newline="")
    return True


def _listed(file: Path, text: str) -> yaml.SequenceNode:
    with parsing(file):
        root = yaml.compose(text, yaml.SafeLoader)
    entries = root.value if isinstance(root, yaml.MappingNode) else []
    for key, value in entries:
        if key.value == "snapshots" and isinstance(value, yaml.SequenceNode):
            return value
    raise BadParams(file, "no list `snapshots`", _REMEDY)


def _place(text: str, listed: yaml.SequenceNode, last: yaml.Node | None) -> int:
    """Return where an item goes: before the bracket, or below the last line with its comment."""
    if last is None:
        return listed.start_mark.index + 1
    end = last.end_mark.index
    return end if listed.flow_style else end + len(text[end:].partition("\n")[0].rstrip("\r"))


def _item(listed: yaml.SequenceNode, last: yaml.Node | None, name: str) -> str:
    quoted = json.dumps(name)
    if last and not listed.flow_style:
        return f"\n{' ' * listed.start_mark.column}- {quoted}"
    return f"{', ' if last else ''}{quoted}"


def _values(text: str) -> list[str]:
    return [str(value) for value in yaml.safe_load(text)["snapshots"]]
