"""Names of earlier versions, which are read for one version more, with a line that names the new.

A kind of collection that has become a form of `pairs` keeps its source: what was a part of it is
still one, but for those that tell splits, which the collection names now.
"""

import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import PurePosixPath
from typing import Any, cast

from isotope.core import plugins
from isotope.params.overlays import lay_over
from isotope.params.pairs import KARPATHY
from isotope.params.sections import Plain

# Kinds of `collect`, and what an entry says now in place of its kind.
COLLECTIONS: Mapping[str, Mapping[str, Any]] = {
    "coco": {
        **{"kind": "pairs", "form": "coco", "texts": "first-of-several"},
        "columns": {"image": "coco_url", "text_id": "query_id", "objects": "objects"},
    },
    "coco-captions": {
        **{"kind": "pairs", "form": "coco", "texts": "five"},
        "columns": {"image": "coco_url", "text_id": "query_id"},
    },
    "flickr": {
        **{"kind": "pairs", "form": "flickr", "texts": "first-of-several"},
        "columns": {"text_id": "query_id"},
    },
    "xm3600": {"kind": "pairs", "form": "xm3600", "texts": "language"},
    "atomic": {"kind": "pairs", "form": "atomic"},
}
# Of kind flickr, where Karpathy's JSON has the captions, too.
_OF_KARPATHY = {"kind": "pairs", "form": "karpathy", "texts": "first-of-several"}
# Keys, and where their values stand now.
KEYS: Mapping[str, str] = {"tabulate.since": "tabulate.diff"}
# Parts that told splits: lists, a file each, whose names say which, and Karpathy's JSON.
_SPLITS = {"train": "train", "restval": "train", "val": "validation", "dev": "validation"}


def renamed(params: Plain) -> None:
    """Say in place of each old kind and engine what it is called now, and print the line.

    Values of a wrong type are left to the checks of the schema.
    """
    for name, entry in _entries(params.get("collect")).items():
        old = entry.get("kind")
        now = COLLECTIONS.get(old) if isinstance(old, str) else None
        if now is not None:
            source = _entries(params.get("acquire")).get(str(entry.get("source")), {})
            files = _entries(source).get("files", {})
            if old == "flickr" and "tokens" not in files:
                now = _OF_KARPATHY
            entry.update({**now, **({} if now is _OF_KARPATHY else _splits(files))})
            replacement = ", ".join(f"{key}: {value}" for key, value in now.items())
            sys.stderr.write(f"params collect.{name}: `kind: {old}` is now `{replacement}`\n")
    for section in ("project", "systems"):
        for name, entry in _entries(params.get(section)).items():
            if entry.get("engine") == "impacts":
                entry["engine"] = "native"
                line = "`engine: impacts` is now `engine: native`"
                sys.stderr.write(f"params {section}.{name}: {line}\n")


def moved(params: Plain) -> None:
    """Move renamed keys, those of plug-ins too, to where they stand now, and print the line."""
    of_plugins = (plugin.renamed for plugin in plugins.registered().values())
    for old, now in chain(KEYS.items(), *(keys.items() for keys in of_plugins)):
        *above, key = old.split(".")
        section = _below(params, above)
        if section is not None and key in section:
            value = section.pop(key)
            for name in reversed(now.split(".")):
                value = {name: value}
            lay_over(params, value)
            sys.stderr.write(f"params {old} is now `{now}`\n")


def _below(params: Plain, keys: Sequence[str]) -> Plain | None:
    for key in keys:
        inner = params.get(key)
        if not isinstance(inner, dict):
            return None
        params = cast("Plain", inner)
    return params


def _splits(files: dict[str, list[str]]) -> dict[str, dict[str, str]]:
    """Take what tells splits out of the parts of a source; return it by the split."""
    lists = [path for part in ("splits", "ids") for path in files.pop(part, [])]
    splits = {_split_of(path): path for path in lists}
    karpathy = files.pop(KARPATHY, [])
    return {"splits": splits or {KARPATHY: karpathy[0]}} if lists or karpathy else {}


def _split_of(path: str) -> str:
    name = PurePosixPath(path).name.lower()
    return next((split for word, split in _SPLITS.items() if word in name), "test")


def _entries(value: object) -> dict[str, Any]:
    entries = cast("dict[str, Any]", value).items() if isinstance(value, dict) else ()
    return {name: entry for name, entry in entries if isinstance(entry, dict)}
