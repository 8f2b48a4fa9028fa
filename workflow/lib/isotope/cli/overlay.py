"""The overlay that makes a collection of somebody's data: its name, place and text."""

import re
import shlex
from pathlib import Path
from textwrap import wrap
from typing import Any

import yaml

from isotope.cli.understanding import Understanding
from isotope.core.errors import BadArgument
from isotope.core.schemas import SEVERAL
from isotope.core.store import aside
from isotope.intake.yaml import yaml_value
from isotope.params.files import text_of
from isotope.params.pairs import NONE

_WIDTH = 98
_SUFFIXES = re.compile(r"\.(gz|bz2|zst|csv|tsv|txt|token|jsonl?|ndjson|parquet|tar|tgz)\b")


def command_of(overlay: Path) -> str:
    """Return the command that runs an overlay."""
    return f"snakemake --cores all --configfile {shlex.quote(str(overlay))}"


def name_of(table: str) -> str:
    """Return the name of a collection of this data: that of its file or folder."""
    last = re.split(r"[/:]", table.rstrip("/").replace("*", ""))[-1]
    stem = _SUFFIXES.sub("", last.lower())
    return re.sub(r"[^a-z0-9_-]+", "-", stem).strip("-_") or "mine"


def demand_place(name: str, output: Path, *, force: bool) -> None:
    """Check, before anything is read, that a collection may be called so and the file be written.

    Raises:
        BadArgument: a file that is there, without `force`; a name that can't be a collection's, or
            is that of one in params.yaml.
    """
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", name):
        problem = f"{name!r} can't name a collection"
        raise BadArgument("--name", problem, "give lower-case letters, digits, - and _")
    params = Path("params.yaml")
    present: Any = yaml_value(text_of(params), params) if params.is_file() else {}
    if name in ((present or {}).get("collect") or {}):
        raise BadArgument("--name", f"params.yaml has a collection {name!r}", "give another name")
    if output.exists() and not (force and output.is_file()):
        raise BadArgument("--output", f"{output} is there", "name another file, or add --force")


def write(understanding: Understanding, name: str, output: Path) -> None:
    """Write the overlay aside and rename it.

    Raises:
        Unwritable, DiskFull: as `core.store.aside`.
    """
    with aside(output) as part:
        part.write_text(overlay_text(understanding, name, output), "utf-8")


def of_words(understanding: Understanding) -> str:
    """Return what systems that read words find a picture by, where that is not plain."""
    words = understanding.words()
    if words == "first":
        several = " of each language" if understanding.languages.language == SEVERAL else ""
        return (
            f"texts: first: a picture's first text{several} is a query, its others stand for it in "
            "bm25. Without that line all are queries, and bm25 finds nothing."
        )
    if words == "objects":
        column = understanding.roles["objects"][0]
        return f"caption: {column}: these words stand for the picture in bm25."
    if words:
        return ""
    column = understanding.unmet()
    why = (
        f"no text has a word of {column}"
        if column
        else "no column has words that stand for a picture"
    )
    if understanding.pictures == NONE:
        return (
            f"Only random is run, which is chance: no picture is read, and {why}. Say where "
            "pictures lie by --pictures, or which column has words by --columns caption=COLUMN."
        )
    return (
        f"bm25 is left out: {why}. One that has them: --columns caption=COLUMN. A model that sees "
        "pictures stands in models, encode and systems of params.yaml."
    )


def overlay_text(understanding: Understanding, name: str, output: Path) -> str:
    """Return the overlay as YAML, with the command that runs it."""
    table = understanding.question.table
    head = f"# {table} as a collection, as `isotope init` understands it. Run it by\n"
    head += f"#   {command_of(output)}\n"
    head += "".join(f"# {line}\n" for line in wrap(of_words(understanding), _WIDTH))
    body = understanding.overlay(name)
    styles = {"collect": False}
    return head + "".join(
        yaml.safe_dump(
            {key: value},
            sort_keys=False,
            allow_unicode=True,
            width=110,
            default_flow_style=styles.get(key),
        )
        for key, value in body.items()
    )
