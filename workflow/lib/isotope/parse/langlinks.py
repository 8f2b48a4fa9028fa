"""Language links of a wiki's pages, as Wikimedia dumps them: the table `langlinks`.

https://www.mediawiki.org/wiki/Manual:Langlinks_table; the dump is MySQL's, one statement a line,
https://meta.wikimedia.org/wiki/Data_dumps. Since 2013 most links are Wikidata's, which the wikitext
of a page does not have; this table has both.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from isotope.core.errors import CorruptFile, MissingFile, TruncatedFile
from isotope.intake.texts import records

_INSERT = re.compile(r"INSERT (?:IGNORE )?INTO `langlinks` (?:\([^()]*\) )?VALUES ")
_STRING = r"'((?:[^'\\]|\\.)*)'"
_ROW = re.compile(rf"\((\d{{1,18}}),{_STRING},{_STRING}\)([,;])")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_SIGNS = {"0": "\0", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}
_SHOWN = 60
_AGAIN = "download the file again and compare its checksum with the published one"
_REMEDY = "give the dump's langlinks.sql.gz"


def read_langlinks(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield page id, language code and title of every link, in the order of the file.

    The file is read line by line: some megabytes are in memory at a time. A code is that of the
    other wiki's address, such as `de` or `zh-min-nan`; a title has spaces and its namespace.

    Raises:
        MissingFile: no such file.
        TruncatedFile: a statement that breaks off.
        CorruptFile: a packed file that is not whole; a row of another form, with its line, or no
            rows of this table at all.
    """
    has_rows = False
    for number, line in _lines(path):
        insert = _INSERT.match(line)
        if insert:
            has_rows = True
            yield from _rows(f"{path}:{number}", line, insert.end())
    if not has_rows:
        raise CorruptFile(path, "no rows of the table `langlinks`", _REMEDY)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    if not path.is_file():
        raise MissingFile(path, "no such file", "check the path, or run `acquire`")
    texts = (line.decode("utf-8", "backslashreplace") for line in records(path))
    yield from enumerate(texts, start=1)


def _rows(where: str, line: str, at: int) -> Iterator[tuple[int, str, str]]:
    end = ","
    for row in _ROW.finditer(line, at):
        if row.start() != at or end != ",":
            break
        page_id, code, title, end = row.groups()
        at = row.end()
        yield int(page_id), _plain(code), _plain(title).replace("_", " ")
    remainder = line[at:].strip()
    if remainder:
        raise CorruptFile(
            where, f"no row (ll_from, ll_lang, ll_title): {remainder[:_SHOWN]!r}", _REMEDY
        )
    if end != ";":
        raise TruncatedFile(where, "a statement without its end", _AGAIN)


def _plain(text: str) -> str:
    return _ESCAPED.sub(_sign, text) if "\\" in text else text


def _sign(escaped: re.Match[str]) -> str:
    return _SIGNS.get(escaped[1], escaped[1])
