"""Whether records of fidelity name what exists, and which tables and figures they cover."""

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import yaml

STATUSES = ("as the paper", "differs", "not possible")
ROMAN = {"I": 1, "II": 2, "III": 3, "IV": 4, "V": 5}
_NUMBER = r"(?:\d+|[IV]+)\b"
_PART = r"(?: ?\([a-z]+\))?"
_MANY = rf"{_NUMBER}{_PART}(?:(?:, and |, | and | to | ?[-–] ?){_NUMBER}{_PART})*"  # noqa: RUF001
_EXHIBIT = re.compile(rf"\b(tab|fig)(?:les?|ures?|s?\.|s)? ({_MANY})", re.IGNORECASE)

# Between a paper's name and a section, the name of whose section it is instead.
_PEER = r"\b(?:AToMiC|OVEN|TICRC|design|Radford|Zhai|Vedantam|RFC)\b"


class Entry(Protocol):
    """An entry of a record, as docs/fidelity.py reads it."""

    @property
    def item(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def why(self) -> str: ...
    @property
    def code(self) -> Sequence[str]: ...
    @property
    def tests(self) -> Sequence[str]: ...


def wrong(entry: Entry, root: Path) -> list[str]:
    """What an entry claims and the project in `root` does not bear out, one sentence each."""
    found: list[str] = []
    if entry.status not in STATUSES:
        found.append(f"status {entry.status!r} is none of {STATUSES}")
    elif entry.status == STATUSES[0]:
        found += [f"as the paper, but no {k}" for k in ("code", "tests") if not getattr(entry, k)]
    elif not entry.why.strip():
        found.append(f"{entry.status}, but no reason why")
    found += [w for path in entry.code if (w := wrong_code(path, root))]
    found += [w for path in entry.tests if (w := wrong_test(path, root))]
    return [f"{entry.item}: {w}" for w in found]


def wrong_code(path: str, root: Path) -> str:
    """Why no file, `file::name` or `file.yaml:key` is there; empty where there is one."""
    if "::" in path:
        file, _, name = path.partition("::")
        return _outside(file, root) or _undefined(root / file, file, name)
    file, colon, key = path.partition(":")
    outside = _outside(file, root)
    if outside or not colon:
        return outside
    if not file.endswith(".yaml"):
        return f"{path!r}: a key is of a .yaml; what a file defines is {file}::{key}"
    return "" if _leads(_loaded(root / file), key.split(".")) else f"{file} has no key {key}"


def wrong_test(path: str, root: Path) -> str:
    """Why no `path::test` or `path::Class::test` is there; empty where there is one."""
    file, _, name = path.partition("::")
    test = name.rpartition("::")[2]
    if "[" in name or "tests" not in file.split("/") or not test.startswith("test_"):
        return f"{path!r} is no tests/file::test without brackets"
    return _outside(file, root) or _undefined(root / file, file, name.replace("::", "."))


def _outside(file: str, root: Path) -> str:
    """Why a path leads to nothing in the project: absent, or anywhere else on this machine."""
    there = root / file
    if not file or not there.resolve().is_relative_to(root.resolve()):
        return f"{file!r} is no path inside the project"
    return "" if there.exists() else f"no file {file}"


def _undefined(there: Path, file: str, name: str) -> str:
    return "" if there.is_file() and name in _names(there) else f"{file} defines no {name}"


@cache
def _names(file: Path) -> frozenset[str]:
    """What a file defines: of Python by its syntax, of others every word."""
    text = file.read_text("utf-8")
    if file.suffix == ".py":
        return frozenset(_defined(ast.parse(text).body))
    return frozenset(re.findall(r"[\w$.-]+", text)) | frozenset(re.findall(r"\w+", text))


def _defined(body: Sequence[ast.stmt], prefix: str = "") -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield prefix + node.name
        if isinstance(node, ast.ClassDef):
            for name in _defined(node.body, f"{prefix}{node.name}."):
                yield from (name, name.replace(".", "::"))
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        yield from (prefix + t.id for t in targets if isinstance(t, ast.Name))


@cache
def _loaded(file: Path) -> Any:
    return yaml.safe_load(file.read_text("utf-8"))


def _leads(node: Any, words: Sequence[str]) -> bool:
    """Whether words lead to a value; names with dots in them take several."""
    if not words:
        return True
    if isinstance(node, list):
        name = words[0]
        inside = name.isdecimal() and int(name) < len(node)
        return inside and _leads(node[int(name)], words[1:])
    heads = range(1, len(words) + 1) if isinstance(node, dict) else ()
    return any(
        ".".join(words[:n]) in node and _leads(node[".".join(words[:n])], words[n:]) for n in heads
    )


def exhibits(text: str) -> set[str]:
    """The tables and figures that a text names: "Tables 6 to 8 and Fig. 2" names four."""
    found: set[str] = set()
    for kind, numbers in _EXHIBIT.findall(text):
        name = "Table" if kind.lower() == "tab" else "Fig."
        found |= {f"{name} {n}" for n in _numbers(re.sub(r"\([a-z]+\)", "", numbers))}
    return found


def _numbers(text: str) -> set[int]:
    found: set[int] = set()
    for part in re.split(r",? and |, ", text):
        ends = [ROMAN.get(n.upper()) or int(n) for n in re.findall(r"\d+|[IVivx]+", part)]
        found |= set(range(ends[0], ends[-1] + 1)) if ends else set()
    return found


def citations(text: str, paper: str) -> set[str]:
    """The sections of a paper that a text cites, where nobody else stands between both.

    `paper` is a pattern of its names; "AToMiC (SIGIR 2023), sections 4.1 and 5" cites two.
    """
    words = re.sub(r"\s+", " ", re.sub(r"^\s*(?:#|--)\s?", "", text, flags=re.MULTILINE))
    number = r"[\dA-B](?:\d|\.\d)*"
    cited = rf"(?:{paper})(?!\w)((?:(?!et al|[;:|]|[a-z]\. ).){{0,60}}?)\bsections? ({number}"
    found: set[str] = set()
    for between, numbers in re.findall(rf"{cited}(?:(?:, | and | to ){number})*)", words):
        if not re.search(_PEER, between):
            found |= set(re.findall(number, numbers))
    return found
