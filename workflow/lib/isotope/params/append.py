"""A new snapshot in params.yaml: one more item of a list, every other byte as it was."""

import json
from pathlib import Path

import yaml

from isotope.core import store
from isotope.core.errors import BadParams, MissingFile
from isotope.params.files import parsing, text_of

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
