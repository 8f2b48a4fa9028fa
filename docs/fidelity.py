"""Write docs/fidelity.md: what five papers describe, and what of it isotope does.

Every entry comes from docs/fidelity/*.yaml, whose form docs/fidelity/README.md has;
tests/workflow/test_fidelity.py follows the paths, keys and tests that they name.
"""

import argparse
import csv
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from isotope.cli.reference import grid
from isotope.core.errors import BadParams

PAGE = Path(__file__).with_name("fidelity.md")
RECORDS = Path(__file__).with_name("fidelity")
STATUSES = ("as the paper", "differs", "not possible")
KEYS = ("item", "paper", "status", "why", "code", "tests")
INTRODUCTION = """# What the papers say, and what isotope does

Where isotope differs from five papers, and why; the records name the code and the tests of all that
it does as they say.

Written by `python docs/fidelity.py` from the records in `docs/fidelity/`. A record has an entry for
each method, system, measure, table, figure and detail of protocol that its paper describes. A test
follows every path, key and test that an entry names. An entry that differs does something else, for
the reason shown; one that is not possible needs what can't be had. The record has the paper's words
beside it.

"""


class Paper(NamedTuple):
    """A paper: how it is cited, and the records of its parts, by file name without ending."""

    name: str
    citation: str
    records: Sequence[str]


PAPERS = (
    Paper(
        "AToMiC",
        "Yang et al., AToMiC: An Image/Text Retrieval Test Collection to Support Multimedia "
        "Content Creation, SIGIR 2023",
        ["atomic"],
    ),
    Paper(
        "TICRC",
        "Pokrywka et al., Temporal Image Caption Retrieval Competition: Description and "
        "Results, FedCSIS 2023",
        ["ticrc"],
    ),
    Paper(
        "OVEN",
        "Hu et al., Open-domain Visual Entity Recognition: Towards Recognizing Millions of "
        "Wikipedia Entities, ICCV 2023",
        ["oven", "oven-models"],
    ),
    Paper(
        "Crossmodal-3600",
        "Thapliyal et al., Crossmodal-3600: A Massively Multilingual Multimodal Evaluation "
        "Dataset, EMNLP 2022, as its authors' article describes it",
        ["xm3600"],
    ),
    Paper(
        "Explainable evaluation",
        "Lymperaiou et al., Towards Explainable Evaluation of Language Models on the Semantic "
        "Similarity of Visual Concepts, COLING 2022",
        ["explainable", "explainable-corpora"],
    ),
)


class Entry(NamedTuple):
    """One thing that a paper describes, and what is here of it."""

    item: str
    paper: str
    status: str
    why: str = ""
    code: Sequence[str] = ()
    tests: Sequence[str] = ()


def entries(record: Path) -> list[Entry]:
    """Return the entries of a record.

    Raises:
        BadParams: the file is no list of entries with the keys and kinds of `Entry`.
    """
    try:
        found = yaml.safe_load(record.read_text("utf-8"))
    except yaml.YAMLError as error:
        raise BadParams(str(record), f"no YAML: {error}", "mend it there") from error
    if not isinstance(found, list):
        raise BadParams(str(record), "not a list", "write one entry a list item")
    return [_entry(fields, f"{record}, entry {n}") for n, fields in enumerate(found, start=1)]


def _entry(fields: object, where: str) -> Entry:
    remedy = f"give item, paper and status as text, and of {', '.join(KEYS[3:])} what there is"
    if not isinstance(fields, dict):
        raise BadParams(where, f"{fields!r} is no mapping", remedy)
    wrong = [key for key, value in fields.items() if not _fits(key, value)]
    missing = [key for key in KEYS[:3] if not fields.get(key)]
    if wrong or missing:
        named = ", ".join(map(str, [*wrong, *missing]))
        raise BadParams(where, f"missing, unknown or of the wrong kind: {named}", remedy)
    return Entry(**fields)


def _fits(key: object, value: object) -> bool:
    if key in KEYS[:4]:
        return isinstance(value, str)
    listed = isinstance(value, list) and all(isinstance(v, str) for v in value)
    return key in KEYS[4:] and listed


def page(records: Path = RECORDS) -> str:
    """Return the page from the records of a folder; a paper without a record is left out.

    Raises:
        BadParams: a record of no paper, or one that can't be read.
    """
    known = {name for paper in PAPERS for name in paper.records}
    for path in sorted(records.glob("*.yaml")):
        if path.stem not in known:
            raise BadParams(str(path), "of no paper", f"name it {', '.join(sorted(known))}")
    read = [
        (paper, [e for name in paper.records for e in _present(records / f"{name}.yaml")])
        for paper in PAPERS
    ]
    told = INTRODUCTION + _counts(read) + _witnessed(records, read)
    return told + "".join(_section(p, found) for p, found in read if found)


def _present(record: Path) -> list[Entry]:
    return entries(record) if record.exists() else []


def _counts(read: Sequence[tuple[Paper, Sequence[Entry]]]) -> str:
    rows = [[paper.name, *_row(found)] for paper, found in read if found]
    together = [entry for _, found in read for entry in found]
    return grid(["paper", *STATUSES, "entries"], [*rows, ["together", *_row(together)]]) + "\n"


def _witnessed(records: Path, read: Sequence[tuple[Paper, Sequence[Entry]]]) -> str:
    """Return how many entries were broken on purpose, and of how many a test noticed."""
    rows: list[dict[str, str]] = []
    for path in sorted(records.glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as lines:
            rows += csv.DictReader(lines)
    claimed = sum(entry.status == STATUSES[0] for _, found in read for entry in found)
    noticed = sum(bool(row["noticed"]) for row in rows)
    told = (
        f"{len(rows)} of the {claimed} entries that are {STATUSES[0]} were made false on purpose; "
        f"of {noticed} a test that the entry names noticed ([how](fidelity/README.md)).\n"
    )
    return f"\n{told}" if rows else ""


def _row(found: Sequence[Entry]) -> list[str]:
    numbers = Counter(entry.status for entry in found)
    return [*(str(numbers[status]) for status in STATUSES), str(len(found))]


def _section(paper: Paper, entries: Sequence[Entry]) -> str:
    numbers = Counter(entry.status for entry in entries)
    links = " and ".join(f"[{name}.yaml](fidelity/{name}.yaml)" for name in paper.records)
    told = f"{numbers[STATUSES[0]]} entries are {STATUSES[0]}, with their code and tests in {links}"
    rows = [[_plain(entry.item), _here(entry)] for entry in entries if entry.status != STATUSES[0]]
    table = f"\n{grid(['of the paper', 'here'], rows)}\n" if rows else ""
    return f"\n## {paper.name}\n\n{paper.citation}. {told}.\n{table}"


def _here(entry: Entry) -> str:
    is_absent = entry.status == STATUSES[2]
    return (f"{entry.status.capitalize()}: " if is_absent else "") + _plain(entry.why)


def _plain(text: str) -> str:
    """Return text on one line, in which only code between backticks means something."""
    spans = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(s if s.startswith("`") else re.sub(r"([<*])", r"\\\1", s) for s in spans)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page, or say what a record has wrong."""
    told = argparse.ArgumentParser(prog="python docs/fidelity.py", description=__doc__)
    told.formatter_class = argparse.RawDescriptionHelpFormatter
    told.add_argument(
        "page", nargs="?", type=Path, default=PAGE, help="what to write [%(default)s]"
    )
    told.add_argument("--records", type=Path, default=RECORDS, help="their folder [%(default)s]")
    chosen = told.parse_args(arguments)
    try:
        text = page(chosen.records)
    except BadParams as error:
        told.exit(1, f"{error}\n")
    chosen.page.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
