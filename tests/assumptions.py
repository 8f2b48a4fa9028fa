"""The ASSUME comments of the project, and whether each says what leaves it open."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_MARK = re.compile(r"\bASSUME (?=\w)")
SUFFIXES = {".py", ".sql", ".smk", ".yaml", ".java"}
_COMMENT = re.compile(r"^\s*(?:#|--|//|\*)\s?")
_SOURCE = (
    r"(?:\b(?:papers?|AToMiC|TICRC|OVEN|Crossmodal-3600|WIT|articles?|authors|measurements?|params"
    r"|files?|dump|database|points|data|card|section|appendix)\b|\b\d+\.\d+\b)"
)
_NOT = r"\b(?:no|not|nor|none|nothing|neither|never|without|only|open|\w+n't)\b"
# "no paper says", "the paper does not say", "section 5.1 names no base"
_OPEN = re.compile(rf"{_NOT} (?:\w+ )?{_SOURCE}|{_SOURCE}.*{_NOT}", re.IGNORECASE)
# A clause after a colon that names a source gives the reason: the paper has one name an object.
_REASON = re.compile(rf"[;:.] .*(?:{_SOURCE}|\btables?\b)", re.IGNORECASE)


class Assumption(NamedTuple):
    """An assumption: its file, line, and words from the mark to the end of the comment."""

    file: Path
    line: int
    text: str

    @property
    def unexplained(self) -> bool:
        """Whether no clause names a source and what that one lacks, and no reason names one."""
        clauses = re.split(r"[;.](?=\s|$)", self.text)
        return not (any(map(_OPEN.search, clauses)) or _REASON.search(self.text))


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
