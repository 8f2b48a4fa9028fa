"""Licences of all that requirements.lock names: a table of them, and a look at each.

    python .ci/licences.py            refuses what is not allowed, and an old table
    python .ci/licences.py --write    writes docs/licences.csv, and the page that counts it

A package says its licence by an expression of SPDX, a classifier, or a text, of which the first
that is there counts. Which licences are allowed, and which packages are under another one, with the
reason, stands in .ci/licences.toml.
"""

import csv
import io
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path
from typing import Any, NamedTuple

from license_expression import ExpressionError, Licensing, get_spdx_licensing
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/licences.md"
TABLE = ROOT / "docs/licences.csv"
COLUMNS = ("package", "version", "licence", "comes_with")
# A licence of no more packages than these names them on the page.
NAMED = 5
DISTRIBUTION = "isotope-ir"
EXTRA = re.compile(r'extra == "([^"]+)"')
LOCKED = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)
# Whatever a text in full says in its other lines, and classifiers without a licence.
VAGUE = {"", "UNKNOWN", "OSI Approved", "Other/Proprietary License"}
HEAD = """# Licences of what is locked

How many packages of `requirements.lock` are under which licence, and why some of other licences are
allowed.

[licences.csv](licences.csv) has each package with its version, its licence as it says itself, and
what it comes with: `base`, which every installation has, the [extras](install.md) that bring it, or
`dev`, what only a checkout has. `python .ci/licences.py --write` writes both; `make lint` refuses a
licence that `.ci/licences.toml` does not allow. [Dependencies](dependencies.md) says what follows
for whoever hands something on.

| licence | packages | in the base | names, of few |
| --- | ---: | ---: | --- |
"""


class Rules(NamedTuple):
    """What is allowed, what texts mean, and packages apart: licence and reason by name."""

    allowed: frozenset[str]
    texts: Mapping[str, str]
    apart: Mapping[str, Mapping[str, str]]
    # Licences that are allowed for a reason, whatever package has them.
    reasons: Mapping[str, str]


class Package(NamedTuple):
    """A locked package, its licence as an expression of SPDX, and what it comes with."""

    name: str
    version: str
    licence: str
    of: tuple[str, ...]


def rules(path: Path = ROOT / ".ci/licences.toml") -> Rules:
    """Read what is allowed."""
    said = tomllib.loads(path.read_text(encoding="utf-8"))
    return Rules(frozenset(said["allowed"]), said["texts"], said["apart"], said["reasons"])


def licence(metadata: Any, texts: Mapping[str, str]) -> str:  # noqa: ANN401 (a message of email)
    """Return the licence that metadata say, as an expression by `texts`; empty for none."""
    if expression := metadata.get("License-Expression"):
        return str(expression)
    classifiers = [
        each.rpartition(" :: ")[2]
        for each in metadata.get_all("Classifier") or []
        if each.startswith("License ::")
    ]
    lines = (metadata.get("License") or "").strip().splitlines()[:1]
    said = [*dict.fromkeys(c for c in classifiers if c not in VAGUE)] or lines
    known = [texts.get(each, each) for each in said if each not in VAGUE]
    parts = [f"({each})" if " OR " in each and len(known) > 1 else each for each in known]
    return " AND ".join(parts)


@cache
def spdx() -> Licensing:
    """Return SPDX's list, which takes a tenth of a second to read."""
    return get_spdx_licensing()


def is_allowed(expression: str, allowed: Iterable[str]) -> bool:
    """Tell whether a licence is one of those allowed: of alternatives one, of parts all.

    Raises:
        ExpressionError: it is no expression of licences.
    """
    keys = {*allowed}
    parsed = spdx().parse(expression)

    def fits(node: Any) -> bool:  # noqa: ANN401 (a node of boolean.py)
        if node.__class__.__name__ in ("AND", "OR"):
            parts = [fits(each) for each in node.args]
            return all(parts) if node.__class__.__name__ == "AND" else any(parts)
        return str(node) in keys

    return parsed is not None and fits(parsed)


def comes_with(extra: str | None) -> set[str]:
    """Return the packages that the base, or an extra beyond it, brings here, by their names."""
    found, waiting = set[tuple[str, str]](), [(DISTRIBUTION, extra or "")]
    while waiting:
        name, asked = waiting.pop()
        if (name, asked) in found:
            continue
        found.add((name, asked))
        for requirement in _required(name, asked):
            inner = canonicalize_name(requirement.name)
            waiting += [(inner, ""), *((inner, each) for each in requirement.extras)]
    return {name for name, _ in found} - {DISTRIBUTION}


@cache
def _requirements(name: str) -> list[Requirement]:
    try:
        return [Requirement(line) for line in requires(name) or []]
    except PackageNotFoundError:
        return []


def _required(name: str, extra: str) -> Iterator[Requirement]:
    # Other markers, of Pythons and platforms, count as met: the page is the same on all of them.
    for requirement in _requirements(name):
        of = EXTRA.search(str(requirement.marker or ""))
        if (canonicalize_name(of[1]) if of else "") == canonicalize_name(extra):
            yield requirement


def read(table: Path) -> list[Package]:
    """Return the packages of a table that was written; of none that is not there."""
    if not table.is_file():
        return []
    rows = csv.DictReader(table.read_text(encoding="utf-8").splitlines())
    return [Package(*(row[c] for c in COLUMNS[:3]), tuple(row[COLUMNS[3]].split())) for row in rows]


def packages(lock: str, known: Rules) -> list[Package]:
    """Return the packages of a lock, sorted by name."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    base = comes_with(None)
    brought = {extra: comes_with(extra) - base for extra in declared["optional-dependencies"]}
    # What is not of this Python or platform, as it was written where it is.
    written = {package.name: package for package in read(TABLE)}
    found: list[Package] = []
    for name, version in sorted({*LOCKED.findall(lock)}):
        of = ["base"] if name in base else [e for e in brought if name in brought[e] and e != "all"]
        before = written.get(name, Package(name, version, "", ()))
        # The oldest Python has the most packages, so it tells what each comes with.
        comes = before.of if before.of and not is_oldest(declared) else tuple(of) or ("dev",)
        stated = known.apart.get(name, {}).get("licence")
        stated = stated or _of_installed(name, known.texts, before.licence)
        found.append(Package(name, version, stated, comes))
    return found


def is_oldest(declared: Mapping[str, Any]) -> bool:
    """Tell whether this Python is the oldest that a project declares."""
    lowest = min(Version(s.version) for s in SpecifierSet(declared["requires-python"]))
    return sys.version_info[:2] == lowest.release[:2]


def _of_installed(name: str, texts: Mapping[str, str], otherwise: str) -> str:
    try:
        return licence(distribution(name).metadata, texts)
    except PackageNotFoundError:
        return otherwise


def refused(found: Iterable[Package], known: Rules) -> Iterator[str]:
    """Yield a line for each package whose licence is not allowed, and each needless exception."""
    names = set[str]()
    for package in found:
        names.add(package.name)
        if "reason" in known.apart.get(package.name, {}) or package.licence in known.reasons:
            continue
        try:
            fits = is_allowed(package.licence, known.allowed)
        except ExpressionError as error:
            found = f"{package.licence!r} is no SPDX expression ({error})"
            yield f"{package.name}: {found}; add it to `texts`"
            continue
        if not fits:
            said = repr(package.licence) if package.licence else "none is stated"
            yield f"{package.name}: {said} is not allowed; do without it, or say why in `apart`"
    yield from (
        f"{name}: it is not locked; take it out of `apart`" for name in known.apart.keys() - names
    )


def table(listed: Iterable[Package]) -> str:
    """Return the table of all packages, comma-separated."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    rows.writerows([*package[:3], " ".join(package.of)] for package in listed)
    return text.getvalue()


def page(listed: Iterable[Package], known: Rules) -> str:
    """Return the page: packages counted by licence, and why some are allowed all the same."""
    groups = defaultdict[str, list[Package]](list)
    for package in listed:
        groups[package.licence].append(package)
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    rows = [_row(stated, group) for stated, group in ordered]
    reasons = [f"* {of}: {why}" for of, why in known.reasons.items()]
    reasons += [
        f"* `{name}` ({each['licence']}): {each['reason']}"
        for name, each in sorted(known.apart.items())
        if "reason" in each
    ]
    apart = "\n## Packages apart\n\nTheir licences are not among those allowed for all:\n\n"
    return HEAD + "\n".join(rows) + "\n" + apart + "\n".join(reasons) + "\n"


def _row(stated: str, group: list[Package]) -> str:
    names = ", ".join(f"`{p.name}`" for p in group) if len(group) <= NAMED else ""
    of_base = sum(p.of == ("base",) for p in group)
    return f"| {stated} | {len(group)} | {of_base} | {names} |"


def main(*arguments: str) -> int:
    """Check, and write or compare the table and the page; return an exit status."""
    known = rules()
    listed = packages((ROOT / "requirements.lock").read_text(encoding="utf-8"), known)
    texts = {TABLE: table(listed), PAGE: page(listed, known)}
    if "--write" in arguments:
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
    wrong = [*refused(listed, known)]
    wrong += [
        f"{path.name}: not as written; run `python .ci/licences.py --write`"
        for path, text in texts.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    sys.stderr.write("".join(f"{line}\n" for line in wrong))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
