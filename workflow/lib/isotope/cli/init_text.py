"""What `isotope init` prints: ten rows as it understands them, what it counted, and what to run."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from textwrap import wrap

from tabulate import tabulate

from isotope.cli.overlay import command_of, of_words
from isotope.cli.tally import DataCounts
from isotope.cli.understanding import Languages, Rehearsal, Understanding, Unused
from isotope.core import extras
from isotope.core.schemas import SEVERAL, UNKNOWN
from isotope.params.pairs import NONE, URLS

_WANTED = {
    "split": "train, validation, test and the like",
    "relevance": "whole numbers from 0",
    "date": "1907-05-31, 1907-05 or 1907",
    "language": "codes such as en or pt-BR",
    "objects": "words",
}
_REASONS = {
    "bad_date": "a date that is none of 1907-05-31, 1907-05 and 1907 (its pair stays)",
    "bad_objects": "objects that are no words (their pair stays)",
    "bad_relevance": "a grade that is no whole number from 0",
    "unknown_split": "a split of an unknown name",
    "no_split": "no split",
    "repeated_pair": "the same pair again",
    "no_picture": "no picture",
    "missing_picture": "a picture that is not there",
    "not_an_image": "a file that is there, but of no format that is read as a picture",
    "svg": "a file that is there, but a drawing (SVG) without pixels",
    "pdf": "a file that is there, but a document (PDF)",
    "no_text": "no text",
    "duplicate_text_id": "the id of another text",
    "duplicate_image_id": "the id of another picture",
    "mixed_splits": "in two lists of splits",
    "unreadable": "a record that can't be read",
}
_WIDTH, _LINE = 44, 100
_NAMED = 3


def text(understanding: Understanding, output: Path, completed: Sequence[str]) -> str:
    """Return all for a terminal: rows, counts, the overlay and the command that runs it.

    `completed` are the files by which the folder has become that of an experiment.
    """
    roles = ", ".join(f"{role} = {' + '.join(n)}" for role, n in understanding.roles.items())
    keep = "; ".join(f"{', '.join(n)} with the {side}" for side, n in understanding.keep.items())
    words, lacking = of_words(understanding), extras.line_for_runs()
    parts = [
        f"{understanding.question.table}: form {understanding.form.name}",
        f"columns: {roles}",
        *([f"kept: {keep}"] if keep else []),
        *_unused(understanding.unused),
        _spoken(understanding.languages),
        "",
        _rows(understanding),
        "",
        *_counted(understanding),
        *_aside(understanding.rehearsed()),
        *(["", *wrap(words, _LINE)] if words else []),
        "",
        *([f"Made this folder an experiment: {', '.join(completed)}."] if completed else []),
        f"Wrote {output}. Run it by",
        *([f"  {lacking}    # what builds is not installed"] if lacking else []),
        f"  {command_of(output)}",
        "A wrong guess: add --columns ROLE=COLUMN, and --force.",
    ]
    return "\n".join(parts) + "\n"


def as_json(understanding: Understanding, name: str, output: Path, completed: Sequence[str]) -> str:
    """Return the same for a program."""
    rehearsal = understanding.rehearsed()
    return (
        json.dumps(
            {
                "form": understanding.form.name,
                "columns": understanding.roles,
                "keep": understanding.keep,
                "unused": asdict(understanding.unused),
                "languages": understanding.languages._asdict(),
                "pairs": rehearsal.pairs,
                "aside": [reason._asdict() for reason in rehearsal.aside],
                "words": understanding.words(),
                "counts": asdict(understanding.counts),
                "rows": understanding.rows,
                "name": name,
                "experiment": completed,
                "output": str(output),
                "overlay": understanding.overlay(name),
                "command": command_of(output),
            },
            ensure_ascii=False,
            indent=1,
            default=str,
        )
        + "\n"
    )


def _rows(understanding: Understanding) -> str:
    heads = ["row", *understanding.roles]
    cells = [[_cell(row.get(head)) for head in heads] for row in understanding.rows]
    return tabulate(cells, heads, tablefmt="simple", disable_numparse=True)


def _cell(value: object) -> str:
    if value is None:
        return ""
    text = " | ".join(map(str, value)) if isinstance(value, list) else str(value)  # pyright: ignore
    line = " ".join(text.split())
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"


def _counted(understanding: Understanding) -> Iterator[str]:
    counts = understanding.counts
    least, mean, most = counts.captions
    aside = {
        "can't be read": counts.unreadable,
        "have no picture": counts.without_picture,
        "have no text": counts.without_text,
    }
    ill = [f"{n:,} {fault}" for fault, n in aside.items() if n]
    yield f"{counts.rows:,} rows" + (f", of which {', '.join(ill)}" if ill else "")
    yield f"{counts.pictures:,} pictures, {_pictures_line(counts, understanding.pictures)}"
    yield f"{counts.texts:,} texts, {least} to {most} a picture, {mean:.1f} in the mean"
    if counts.repeated_text_ids:
        yield f"{counts.repeated_text_ids:,} ids of texts in several rows: each is one text"
    yield f"splits: {_splits(counts.splits, understanding.splits())}"
    if counts.mixed_splits:
        yield f"{counts.mixed_splits:,} pictures in two splits: these are set aside"


def _unused(unused: Unused) -> Iterator[str]:
    """Say which columns are not used, and which look like what their values are not."""
    for name, why in unused.columns.items():
        yield f"not used: {name} ({why})"
    for name, role in unused.refused.items():
        yield f"{name} looks like the {role}, but few of its values are: {_WANTED[role]}"


def _spoken(languages: Languages) -> str:
    if languages.language is None:
        return "language: taken for English, as the texts do not tell: say it by --language CODE"
    if languages.language == UNKNOWN and languages.by == "words":
        return (
            f"language: unknown ({UNKNOWN}), as several are written in this script and the texts "
            "do not tell which: say it by --language CODE"
        )
    named = [code if n == code else f"{n} {code}" for n, code in languages.columns.items()]
    columns = ", ".join(named)
    how = {
        "said": "as said",
        "names": "by the names of the columns",
        "words": "by their script and commonest words",
        "its column": "by its column",
    }
    columns_shown = f" ({columns})" if columns else ""
    several = "several" if languages.language == SEVERAL else languages.language
    line = f"language: {several}{columns_shown}, {how[languages.by]}"
    is_known = UNKNOWN not in languages.columns.values()
    return line if is_known else f"{line}; {UNKNOWN} is unknown: say it by --language COLUMN=CODE"


def _aside(rehearsal: Rehearsal) -> Iterator[str]:
    """Say which pairs a run will use, and what it will leave out of the rows that can be read."""
    pairs = ", ".join(f"{split} {n:,}" for split, n in rehearsal.pairs.items())
    if rehearsal.aside:
        yield f"pairs that a run can use: {pairs or 'none'}; it will leave out"
    for aside in rehearsal.aside:
        reason = _REASONS.get(aside.reason, aside.reason.replace("_", " "))
        where = f"{aside.file}:{aside.row} ({_cell(aside.detail)})"
        yield f"  {aside.times:,}: {reason}; the first is {where}"


def _pictures_line(counts: DataCounts, pictures: str | None) -> str:
    if pictures == URLS:
        return "to be downloaded from their URLs"
    if pictures == NONE or counts.pictures_found is None:
        return "none of which is read: say where they lie by --pictures"
    location = f"in {pictures}" if pictures else "in the data"
    lost = {"missing": counts.missing, "there, but no picture": [*counts.undecodable]}
    if not any(lost.values()):
        return f"all {location}"
    return f"{counts.pictures_found:,} {location}" + "".join(
        f", {len(names):,} {how}: {', '.join(names[:_NAMED])}" + (", …" * (len(names) > _NAMED))
        for how, names in lost.items()
        if names
    )


def _splits(counts: Mapping[str, int], shares: Mapping[str, float] | None) -> str:
    if shares is None:
        return ", ".join(f"{split} {n:,}" for split, n in counts.items())
    listed = ", ".join(f"{split} {share:.0%}" for split, share in shares.items())
    return f"none to search in; by hash: {listed}" if counts else f"none; by hash: {listed}"
