"""Tables of wikitext: markup and attributes go, one line of text stays for each row."""

import re

_BREAK = re.compile(r"<br[\s/]*>|\n", re.IGNORECASE)
_CELL_END = re.compile(r"\|\||!!")
_BULLET = re.compile(r"^[*#:;\s]+")


def strip_tables(text: str) -> str:
    """Turn every table row into one line of its cells' text; a caption gets a line of its own.

    A table without its end mark keeps its lines as they are, less the marks: it can't swallow
    what follows. Source: https://www.mediawiki.org/wiki/Help:Tables.
    """
    if "{|" not in text and "\n|" not in text and not text.startswith("|"):
        return text
    return _Tables(text).strip()


class _Tables:
    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        marks = [line.lstrip(" \t:")[:2] for line in self.lines]
        self.marks = marks
        self.ends_left = marks.count("|}")
        # A section may begin inside a table whose start lies before its heading.
        self.depth = 1 if self.ends_left > marks.count("{|") else 0
        self.row: list[str] = []
        self.out: list[str] = []

    def strip(self) -> str:
        for line, mark in zip(self.lines, self.marks, strict=True):
            if mark in ("{|", "|}", "|-", "|+"):
                self._border(mark, line.lstrip(" \t:")[2:])
            elif mark[:1] == "|" or (self.depth and mark[:1] == "!"):
                self._cells(line.lstrip(" \t:"))
            elif self.depth:
                self.row.append(_BULLET.sub("", line))
            else:
                self.out.append(line)
        self._end_row()
        return "\n".join(self.out)

    def _border(self, mark: str, rest: str) -> None:
        self._end_row()
        if mark == "{|":
            self.depth += self.ends_left > self.depth
            self.out.append("" if "=" in rest else rest)
        elif mark == "|}":
            self.ends_left -= 1
            self.depth = max(self.depth - 1, 0)
            self.out.append(rest)
        elif mark == "|+":
            self.out.append(_without_attributes(rest))

    def _cells(self, line: str) -> None:
        cells = _CELL_END.split(line[1:]) if line[0] == "!" else line[1:].split("||")
        self.row += [_without_attributes(cell) for cell in cells]
        if not self.depth:
            self._end_row()

    def _end_row(self) -> None:
        if self.row:
            self.out.append(_BREAK.sub(" ", " ".join(self.row)))
            self.row = []


def _without_attributes(cell: str) -> str:
    """Drop attributes, which a pipe ends; words before a pipe and the pipe of a link stay."""
    attributes, _, content = cell.partition("|")
    if "[[" in attributes or not content:
        return cell
    return content if "=" in attributes or attributes.strip() in ("", "nowrap") else cell
