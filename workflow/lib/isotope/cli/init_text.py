"""What `isotope init` prints: ten rows as it understands them, what it counted, and what to run."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from tabulate import tabulate

from isotope.cli.init import Understanding
from isotope.cli.overlay import command_of
from isotope.cli.tally import Counts
from isotope.params.pairs import NONE, URLS

_WIDTH = 44
_NAMED = 3


def text(understanding: Understanding, output: Path) -> str:
    """Return all for a terminal: rows, counts, the overlay and the command that runs it."""
    roles = ", ".join(f"{role} = {' + '.join(n)}" for role, n in understanding.roles.items())
    keep = "; ".join(f"{', '.join(n)} with the {side}" for side, n in understanding.keep.items())
    parts = [
        f"{understanding.question.table}: form {understanding.form.name}",
        f"columns: {roles}",
        *([f"kept: {keep}"] if keep else []),
        "",
        _rows(understanding),
        "",
        *_counted(understanding),
        "",
        f"Wrote {output}. Run it by",
        f"  {command_of(output)}",
        "A wrong guess: add --columns ROLE=COLUMN, and --force.",
    ]
    return "\n".join(parts) + "\n"


def as_json(understanding: Understanding, name: str, output: Path) -> str:
    """Return the same for a program."""
    return (
        json.dumps(
            {
                "form": understanding.form.name,
                "columns": understanding.roles,
                "keep": understanding.keep,
                "counts": asdict(understanding.counts),
                "rows": understanding.rows,
                "name": name,
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
    ill = [f"{n:,} {what}" for what, n in aside.items() if n]
    yield f"{counts.rows:,} rows" + (f", of which {', '.join(ill)}" if ill else "")
    yield f"{counts.pictures:,} pictures, {_found(counts, understanding.pictures)}"
    yield f"{counts.texts:,} texts, {least} to {most} a picture, {mean:.1f} in the mean"
    if counts.repeated_text_ids:
        yield f"{counts.repeated_text_ids:,} ids of texts in several rows: each is one text"
    yield f"splits: {_splits(counts.splits, understanding.splits())}"
    if counts.mixed_splits:
        yield f"{counts.mixed_splits:,} pictures in two splits: these are set aside"


def _found(counts: Counts, pictures: str | None) -> str:
    if pictures == URLS:
        return "to be downloaded from their URLs"
    if pictures == NONE or counts.pictures_found is None:
        return "none of which is read: say where they lie by --pictures"
    place = f"in {pictures}" if pictures else "in the data"
    missing = counts.missing
    if not missing:
        return f"all {place}"
    names = ", ".join(missing[:_NAMED]) + (", …" if len(missing) > _NAMED else "")
    return f"{counts.pictures_found:,} {place}, {len(missing):,} missing: {names}"


def _splits(there: Mapping[str, int], shares: Mapping[str, float] | None) -> str:
    if shares is None:
        return ", ".join(f"{split} {n:,}" for split, n in there.items())
    said = ", ".join(f"{split} {share:.0%}" for split, share in shares.items())
    return f"none to search in; by hash: {said}" if there else f"none; by hash: {said}"
