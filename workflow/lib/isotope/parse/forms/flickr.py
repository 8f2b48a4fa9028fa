"""Token files of Flickr8k and Flickr30k: `1000268201_693b08cb0e.jpg#0`, a tab and the caption.

Format: the readme of Flickr8k_text.zip (Hodosh et al., 2013), and results_20130124.token of
Flickr30k (Young et al., 2014).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from isotope.intake.texts import head, lines
from isotope.parse.forms.base import Form, Rejection, refuse
from isotope.parse.forms.columns import Located, batches
from isotope.parse.forms.texts import files_of, named, one_line

_LINE = re.compile(r"(?P<image>[^\t#]+)#(?P<number>\d+)\t(?P<caption>.*\S.*)")
# Flickr30k's results.csv, one line of which lacks a bar.
_HEAD = "image_name| comment_number| comment"
_BARRED = re.compile(r"(?P<image>[^|]+)[|] *(?P<number>\d+) *[|]? *(?P<caption>.*\S.*)")
_COLUMNS = pa.schema(
    [
        *((name, pa.string()) for name in ("id", "query_id", "source_text_id", "image")),
        *(("number", pa.int64()), ("caption", pa.string())),
    ]
)


class Flickr(Form):
    """A line is a caption, five a picture; pictures and lists of splits lie apart."""

    name = "flickr"
    roles: ClassVar[Mapping[str, str]] = {
        **{"image": "image", "text": "caption", "text_id": "id", "number": "number"}
    }
    keeps: ClassVar[Mapping[str, Sequence[str]]] = {"text": ("source_text_id",)}

    def recognises(self, paths: Sequence[Path]) -> bool:
        """Tell by the first line."""
        files = files_of(paths)
        return bool(files) and all(map(_begins, files))

    def read(
        self,
        paths: Sequence[Path],
        options: Mapping[str, Any],
        rejected: list[Rejection] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield rows with `id` (`x.jpg#0`), `image`, `number` and `caption`, on one line.

        `query_id` names the data set, too: `flickr-x`, and `flickr-x-1` of the second caption.

        Raises:
            CorruptFile: bytes that are not UTF-8.
        """
        yield from batches(_rows(files_of(paths), rejected), _COLUMNS)


def _begins(path: Path) -> bool:
    begin = head(path, 4096).decode("utf-8", "replace")
    return begin.startswith(_HEAD) or _LINE.match(begin) is not None


def _rows(files: Sequence[Path], rejected: list[Rejection] | None) -> Iterator[Located]:
    for path, name in named(files):
        for row, line in enumerate(lines(path), 1):
            match = _LINE.fullmatch(line.rstrip("\r\n")) or _BARRED.fullmatch(line.rstrip("\r\n"))
            if match:
                yield name, row, _caption(**match.groupdict())
            elif line.strip() not in ("", _HEAD):
                refuse(rejected, (name, row), "no `picture#number`, tab and caption", line.rstrip())


def _caption(image: str, number: str, caption: str) -> dict[str, object]:
    ids = {"id": f"{image}#{number}", "source_text_id": f"{image}#{number}", "image": image}
    later = f"-{int(number)}" if int(number) else ""
    ids["query_id"] = f"flickr-{image.removesuffix('.jpg')}{later}"
    return {**ids, "number": int(number), "caption": one_line(caption)}
