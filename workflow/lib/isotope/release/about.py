"""about.json: what a release says of itself, for programs; card and Croissant are made of it.

Keys: name, title, kind, description, licence, licence_url, homepage, citation, limits, entry (the
collection's params), fingerprint (of all params), measures, languages (of the texts, the most
frequent first), captions (language of the captions that stand for images), texts_like (FORM),
sources (upstream files with their digests), snapshots (dates in the names of these files), version
(of isotope), statistics (`statistics.statistics`), evaluated (splits that MTEB evaluates) and, of a
small release, lite_of.
"""

import json
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, cast

from isotope.core.errors import CorruptFile, MissingFile
from isotope.core.manifest import entries
from isotope.core.schemas import SEVERAL

NAME = "about.json"
_DAY = re.compile(r"(?<!\d)(20\d\d[01]\d[0-3]\d)(?!\d)")
_MOST_FILES = 40
_UNKNOWN = "unknown"
_SEVERAL_LICENCES = "several"
# The published version that the fields of texts are like. A release of a snapshot that does not
# say so is of an earlier form, whose hierarchies begin with the title of the page.
FORM = "AToMiC-Texts-v0.2.1"
_OF_SNAPSHOTS = ("wikipedia", "union")
EARLIER = (
    "texts are of an earlier form: hierarchies begin with the page's title, leads have the page's"
    " context, and media are judged pictures; `snakemake --cores all release` writes them anew"
)


# What is printed, and read by no name.
Json = str | int | float | bool | None | Sequence["Json"] | Mapping[str, "Json"]


class CollectionFacts(NamedTuple):
    """What the plan says of a collection, by the keys of about.json.

    `systems` are the kinds of the systems by name, `lite` the bounds of the small form.
    """

    title: str
    kind: str
    description: str
    licence: str
    licence_url: str
    homepage: str
    citation: str
    limits: str
    entry: Mapping[str, Json]
    systems: Mapping[str, str]
    measures: Sequence[str]
    lite: Mapping[str, int]
    fingerprint: str


def describe(  # noqa: PLR0913
    facts: CollectionFacts,
    manifests: Sequence[Path],
    *,
    collection: str,
    language: str,
    captions: str,
    columns: Mapping[str, Mapping[str, int]],
) -> dict[str, Any]:
    """Return what is known of a collection before its release is counted.

    `manifests` are those of its sources, of which the first files are listed;
    `language` is that of the texts by the params, `columns` counts what their rows say of
    `language` and `licence`. Where facts state no licence it is that of the rows.
    """
    files = [_file(path, file) for path in manifests for file in entries(path)]
    days = {day for file in files for day in _DAY.findall(file["path"])}
    languages = [c for c in columns.get("language", {}) if c not in (_UNKNOWN, SEVERAL)]
    return {
        "name": collection,
        **facts._asdict(),
        "licence": _licence(facts.licence, columns.get("licence", {})),
        "languages": languages or [language],
        "texts_like": FORM,
        "captions": captions,
        "sources": files[:_MOST_FILES],
        "snapshots": sorted(days),
        "version": version("isotope-ir"),
    }


def _licence(stated: str, rows: Mapping[str, int]) -> str:
    """Return the licence stated, else the one of all rows; `several` where they differ."""
    if stated != _UNKNOWN or not rows:
        return stated
    return next(iter(rows)) if len(rows) == 1 else _SEVERAL_LICENCES


def _file(manifest: Path, file: Mapping[str, Any]) -> dict[str, Any]:
    source = manifest.parent.name
    return {"source": source, "path": file["path"], "sha256": file["sha256"]}


def write_about(folder: Path, about: Mapping[str, Any]) -> None:
    """Write about.json of the release in `folder`."""
    text = json.dumps(about, indent=1, ensure_ascii=False) + "\n"
    (folder / NAME).write_text(text, encoding="utf-8")


def read_about(folder: Path) -> dict[str, Any]:
    """Read about.json of a release.

    Raises:
        MissingFile: no release there, or one of an earlier isotope.
        CorruptFile: a file that is not JSON.
    """
    path = folder / NAME
    if not path.is_file():
        releases = sorted(about_file.parent.name for about_file in folder.parent.glob(f"*/{NAME}"))
        choices = f"; there are {', '.join(releases)}" if releases else ""
        remedy = f"run `snakemake --cores all release`, or name another one{choices}"
        raise MissingFile(path, "no such file: no release, or one of an earlier isotope", remedy)
    try:
        return cast("dict[str, Any]", json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise CorruptFile(path, f"not JSON ({error})", "release the collection again") from error


def is_earlier(about: Mapping[str, Any]) -> bool:
    """Tell whether the texts of a release have the form of before FORM."""
    return about["kind"] in _OF_SNAPSHOTS and about.get("texts_like") != FORM


def text(about: Mapping[str, Any], folder: Path) -> str:
    """Return what a release has, for a terminal: its size, its licence, where it is."""
    counts = about["statistics"]
    lines = [f"{about['title']}: {about['description']}"]
    for split, texts in counts["texts"].items():
        images = counts["images"][split]
        pairs = counts["qrels"].get(split, {"pairs": 0})["pairs"]
        numbers = f"{texts['texts']:>12,} texts {images['images']:>12,} images {pairs:>12,} pairs"
        lines.append(f"{split:<10} {numbers}")
    if is_earlier(about):
        lines.append(f"Its {EARLIER}.")
    if lite := about.get("lite_of"):
        lines += [_pool(name, size) for name, size in lite["pools"].items()]
        lines += [_order(agreement) for agreement in lite["agreement"]]
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    lines.append(f"Licence: {about['licence']}. Size: {size / 1e6:,.1f} MB.")
    return "\n".join([*lines, f"Release: {folder.resolve()}", ""])


def _pool(name: str, size: Mapping[str, Any]) -> str:
    parts = f"{size['judged']:,} judged, {size['negatives']:,} hard negatives"
    return f"{name}: {size['queries']:,} queries, {size['pairs']:,} pairs: {parts}"


def _order(agreement: Mapping[str, Any]) -> str:
    tau = "too few" if agreement["tau"] is None else f"tau {agreement['tau']:.2f}"
    name = f"{agreement['split']}/{agreement['task']} {agreement['measure']}"
    return f"{name}: order of {agreement['systems']} systems against the whole pool: {tau}"
