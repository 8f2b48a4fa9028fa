"""What textacy's own functions make of strings: facts that tests hold isotope's words to.

`python tests/textacy_facts.py FOLDER SHARED OUT` writes textacy.jsonl (strings of our own, in full)
and textacy.csv (digests of real data) to OUT, which is tests/golden when the facts are made anew.
Into FOLDER textacy was installed: `uv pip install --no-deps --target FOLDER textacy==0.12.0`. Its
functions for preprocessing need none of its dependencies, of which spaCy is one: they are loaded
alone.
"""

import csv
import gzip
import hashlib
import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

VERSION = "0.12.0"
GOLDEN = Path(__file__).parent / "golden"
OWN, REAL = "textacy.jsonl", "textacy.csv"
TOPICS = "collections/atomic/topics.atomic.validation.image-caption.jsonl.gz"
LINES, WORDS = 2_000, 1_024
# The converter's functions in its order, by module and name.
_STEPS = (
    *("remove.html_tags", "normalize.unicode", "normalize.whitespace"),
    *("normalize.bullet_points", "normalize.quotation_marks"),
    *("replace.hashtags", "remove.brackets", "replace.urls"),
)
Convert = Callable[[str], str]


def digest(text: str) -> str:
    """Return 12 hex digits of a string's SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def pages(shared: Path) -> list[str]:
    """Return the wikitext of real pages."""
    files = sorted((shared / "snapshots/pages").glob("*.txt"))
    return [file.read_bytes().decode("utf-8") for file in files]


def lines(shared: Path) -> list[str]:
    """Return 2,000 lines of them, drawn by their digests."""
    own = {line for page in pages(shared) for line in page.split("\n") if line.strip()}
    return sorted(own, key=lambda line: (digest(line), line))[:LINES]


def topics(shared: Path) -> list[str]:
    """Return the published topics, which the authors' converter has made."""
    with gzip.open(shared / TOPICS, "rt", encoding="utf-8") as file:
        return [json.loads(line)["title"] for line in file]


def converter(folder: Path) -> Convert:
    """Return what the authors' converter does to one string."""
    outer, inner, utils = map(ModuleType, ("textacy", "textacy.preprocessing", "textacy.utils"))
    sys.modules |= {module.__name__: module for module in (outer, inner, utils)}
    inner.__path__ = [str(folder / "textacy/preprocessing")]
    # All it is asked for here: to leave None as it is.
    vars(utils)["to_collection"] = lambda value, **_: value
    vars(outer)["utils"] = utils
    steps = [_step(name) for name in _STEPS]

    def convert(text: str) -> str:
        for step in steps:
            text = step(text)
        return " ".join(text.split()[:WORDS])

    return convert


def _step(name: str) -> Convert:
    module, _, function = name.partition(".")
    return getattr(importlib.import_module(f"textacy.preprocessing.{module}"), function)


def real_facts(convert: Convert, shared: Path) -> Iterator[tuple[str, str, str]]:
    """Yield source, digest of a string and digest of what it becomes.

    Of the topics only those that change: the converter does not leave all as they are, either.
    """
    strings = {"page": pages(shared), "line": lines(shared), "topic": topics(shared)}
    for source, own in strings.items():
        for text in own:
            made = convert(text)
            if source != "topic" or made != text:
                yield source, digest(text), digest(made)


def own_facts() -> list[dict[str, str]]:
    """Return strings of our own, with `prepared`, what they become."""
    return [json.loads(line) for line in (GOLDEN / OWN).read_text("utf-8").splitlines()]


def main() -> None:
    """Write the facts."""
    folder, shared, out = map(Path, sys.argv[1:])
    convert = converter(folder)
    own = [{**fact, "prepared": convert(fact["text"])} for fact in own_facts()]
    (out / OWN).write_text("".join(f"{json.dumps(fact)}\n" for fact in own), "utf-8")
    with (out / REAL).open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("source", "text", "prepared"))
        rows.writerows(real_facts(convert, shared))


if __name__ == "__main__":
    main()
