"""Pages are read by people: long sentences, slow beginnings and history are refused.

    python tests/prose.py

A part of `make lint`. The pages are README, CONTRIBUTING, SECURITY, and those in docs and in the
docs of plug-ins. Code and what is generated between two comments are no prose. The rules:

* no sentence has more than LONGEST words; code between backticks counts as a word;
* none has a word of HISTORY, which is CHANGELOG.md's;
* a paragraph of one sentence stands below the title: what the reader has at the end;
* a guide shows a block of code in its first EARLY lines;
* each page stands once in the navigation;
* all pages of docs together have at most MOST words.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[1]
LONGEST, EARLY, MOST = 40, 15, 68_500
FRONT = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
DOCUMENTED = ("docs", "workflow/plugins/*/docs")
GUIDES = "How-to guides"
HISTORY = re.compile(
    r"\b(?:formerly|previously|used to be|until now|as it was before|in earlier versions)\b",
    re.IGNORECASE,
)
_GENERATED = re.compile(r"<!-- (?!/).*?-->.*?<!-- /.*?-->", re.DOTALL)
_STOP = re.compile(r"(?<!\bal\.)(?<!\bFig\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<=[.!?])[)\]\"'*]*\s+")
_WORD = re.compile(r"\S*\w\S*")
_MARKDOWN = MarkdownIt("commonmark").enable("table")


class Fault(NamedTuple):
    """What is wrong on a page, from which line on."""

    page: str
    line: int
    problem: str


class Page(NamedTuple):
    """A page by its path below the project, and its blocks without what is generated."""

    name: str
    text: str
    tokens: Sequence[Token]


def pages(root: Path = ROOT) -> list[Page]:
    """Return the pages of a project."""
    paths = [root / name for name in FRONT if (root / name).is_file()]
    paths += documented(root)
    return [_page(path, root) for path in paths]


def documented(root: Path) -> list[Path]:
    """Return the pages that are counted: of docs and of plug-ins."""
    return sorted(path for folder in DOCUMENTED for path in root.glob(f"{folder}/**/*.md"))


def _page(path: Path, root: Path) -> Page:
    text = path.read_text("utf-8")
    # Lines keep their numbers.
    prose = _GENERATED.sub(lambda block: "\n" * block[0].count("\n"), text)
    return Page(path.relative_to(root).as_posix(), text, _MARKDOWN.parse(prose))


def faults(root: Path = ROOT) -> list[Fault]:
    """Return every fault of the pages below `root`, by page and line."""
    kinds = dict(navigation(root))
    told: list[Fault] = []
    for page in pages(root):
        told += _sentences(page)
        told += _beginning(page)
        if kinds.get(page.name) == GUIDES:
            told += _guide(page)
    return sorted([*told, *_placed(root), *_length(root)])


def _sentences(page: Page) -> Iterator[Fault]:
    for line, sentence in sentences(page.tokens):
        words = len(_WORD.findall(sentence))
        if words > LONGEST:
            yield Fault(page.name, line, f"{words} words in a sentence: {sentence[:60]}...")
        if old := HISTORY.search(sentence):
            yield Fault(page.name, line, f"{old[0]!r} is history: write what is")


def sentences(tokens: Sequence[Token]) -> Iterator[tuple[int, str]]:
    """Yield each sentence, of table cells too, with the number of its block's first line."""
    line = 0
    for before, token in pairwise(tokens):
        line = token.map[0] + 1 if token.map else line
        if token.type == "inline" and before.type != "heading_open":
            yield from ((line, sentence) for sentence in _split(token))


def _split(token: Token) -> Sequence[str]:
    """Return the sentences of a block; code counts as a word, and HTML ends a sentence."""
    words = {"code_inline": "`code`", "softbreak": " ", "hardbreak": ". ", "html_inline": ". "}
    parts = (
        part.content if part.type == "text" else words.get(part.type, "")
        for part in token.children or ()
    )
    return _STOP.split("".join(parts).strip())


def _beginning(page: Page) -> Iterator[Fault]:
    kinds = [token.type for token in page.tokens]
    title = kinds.index("heading_close") if "heading_close" in kinds else len(kinds)
    below = page.tokens[title + 1 : title + 3]
    is_paragraph = [token.type for token in below] == ["paragraph_open", "inline"]
    if not is_paragraph or len(_split(below[1])) > 1:
        line = below[0].map[0] + 1 if below and below[0].map else 1
        yield Fault(page.name, line, "begin with a sentence: what the reader has at the end")


def _guide(page: Page) -> Iterator[Fault]:
    if not any(t.type == "fence" and t.map and t.map[0] < EARLY for t in page.tokens):
        yield Fault(page.name, EARLY, f"a guide without code in its first {EARLY} lines")


def navigation(root: Path) -> Iterator[tuple[str, str]]:
    """Yield each page that a file of navigation names, and its kind."""
    for folder in DOCUMENTED:
        for path in sorted(root.glob(f"{folder}/navigation.yaml")):
            for kind, entries in yaml.safe_load(path.read_text("utf-8")).items():
                for name in _names(entries):
                    yield (path.parent / name).relative_to(root).as_posix(), kind


def _names(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    else:
        for part in entry.values() if isinstance(entry, dict) else entry:
            yield from _names(part)


def _placed(root: Path) -> Iterator[Fault]:
    times = Counter(name for name, _ in navigation(root))
    for folder in DOCUMENTED:
        for path in root.glob(f"{folder}/*.md"):
            name = path.relative_to(root).as_posix()
            if times[name] != 1:
                yield Fault(name, 1, f"{times[name]} times in navigation.yaml: name it once there")


def _length(root: Path) -> Iterator[Fault]:
    words = sum(len(path.read_text("utf-8").split()) for path in documented(root))
    if words > MOST:
        yield Fault("docs", 0, f"{words} words in all pages, more than {MOST}: say less")


def main() -> int:
    """Print every fault."""
    lines = [f"{page}:{line}: {problem}\n" for page, line, problem in faults()]
    sys.stdout.write("".join(lines))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
