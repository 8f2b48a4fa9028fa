"""The ASSUME comments of the project, and whether each says what leaves it open."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_MARK = re.compile(r"\bASSUME (?=\w)")
SUFFIXES = {".py", ".sql", ".smk", ".yaml", ".java"}
_COMMENT = re.compile(r"^\s*(?:#|--|//|\*)\s?")
_SOURCE = re.compile(
    r"\b(?:papers?|AToMiC|TICRC|OVEN|Crossmodal-3600|WIT|articles?|authors|measurements?|params"
    r"|files?|dump|database|points|data|card)\b"
)
# "does not say", "no paper says", "without naming", "leaves it open"
_OPEN = re.compile(
    r"\b(?:no|not|nor|none|nothing|neither|never|without|\w+n't)\b.*?"
    r"\b(?:say|tell|nam|giv|stat|describ|mention|answer|decid|print|specif|speak)\w*"
    r"|\bleav\w+ (?:\w+ ){0,3}open\b|\bsays nothing\b"
)


class Assumption(NamedTuple):
    """An assumption: its file, line, and words from the mark to the end of the comment."""

    file: Path
    line: int
    text: str

    @property
    def unexplained(self) -> bool:
        """Whether no clause names a source that does not answer it."""
        clauses = re.split(r"[;:.](?=\s|$)|, (?=as|and|which|where)", self.text)
        return not any(_SOURCE.search(c) and _OPEN.search(c) for c in clauses)


def assumptions(file: Path) -> Iterator[Assumption]:
    """Yield what a file assumes, in comments and in docstrings."""
    lines = file.read_text("utf-8").splitlines()
    for n, line in enumerate(lines):
        if _MARK.search(line):
            yield Assumption(file, n + 1, _words(lines[n:]))


def _words(lines: list[str]) -> str:
    """Join the first line from its mark on, and those of the same comment or paragraph."""
    marker = _COMMENT.match(lines[0])
    found = [_MARK.split(lines[0], 1)[1]]
    for line in lines[1:]:
        here = _COMMENT.match(line)
        if _MARK.search(line):
            found.append(_MARK.split(_COMMENT.sub("", line), 1)[0])
            break
        if bool(here) != bool(marker) or not line.strip(' #-*"'):
            break
        found.append(_COMMENT.sub("", line))
    return " ".join(part.strip() for part in found)
