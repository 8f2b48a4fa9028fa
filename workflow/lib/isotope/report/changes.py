"""One change between two snapshots as a page shows it: words gone and new, pictures."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from isotope.report.templates import excerpt
from isotope.report.words import Piece, compared

Row = Mapping[str, Any]
Drawn = dict[tuple[str, str], str | None]
_CHARACTERS = 280
_OTHER = {"before": "gone", "after": "new"}


class Shot(NamedTuple):
    """A picture of one snapshot; `data` is its data: URI, None without pixels."""

    side: str
    title: str
    data: str | None


class Change(NamedTuple):
    """One thing that changed: what, how, its name, its words and its pictures."""

    kind: str
    change: str
    title: str
    note: str
    pieces: list[Piece]
    shots: list[Shot]


class Known(NamedTuple):
    """What is shown of texts and images, by (side, id), and the data: URIs of pictures."""

    texts: Mapping[tuple[str, str], Row]
    images: Mapping[tuple[str, str], Row]
    drawn: Mapping[tuple[str, str], str | None]


def pictures(row: Row) -> list[tuple[str, str]]:
    """Return (side, image id) of the pictures that a row of tables.CHANGES is about."""
    ends = {"before": row["before_id"], "after": row["after_id"]}
    there = [(side, end.split()[-1]) for side, end in ends.items() if end]
    if row["kind"] == "text":
        return []
    return there if row["change"] == "replaced" else there[-1:]


def change(row: Row, known: Known, seen: set[tuple[str, str]]) -> Change:
    """Return what a page shows of a row of tables.CHANGES; pictures in `seen` are not repeated."""
    title, note, pieces = _TOLD[row["kind"]](row, known)
    fresh = [one for one in pictures(row) if one not in seen]
    seen.update(fresh)
    shots = [Shot(one[0], _name(known, one), known.drawn.get(one)) for one in fresh]
    return Change(row["kind"], row["change"], title, note, pieces, shots)


def _text(row: Row, known: Known) -> tuple[str, str, list[Piece]]:
    words = {
        side: known.texts[side, end]["context_section_description"] or ""
        for side, end in (("before", row["before_id"]), ("after", row["after_id"]))
        if end
    }
    if len(words) > 1:
        differ = words["before"] != words["after"]
        return row["detail"], "", compared(words["before"], words["after"]) if differ else []
    alone = [Piece(_OTHER[side], excerpt(told, _CHARACTERS)) for side, told in words.items()]
    return row["detail"], "", [piece for piece in alone if piece.text]


def _image(row: Row, known: Known) -> tuple[str, str, list[Piece]]:
    (*_, side), ident = _sides(row), row["after_id"] or row["before_id"]
    told = {
        when: [c for c in known.images[when, ident]["captions"] or [] if c] for when in _sides(row)
    }
    old, new = told.get("before", []), told.get("after", [])
    gone, fresh = [c for c in old if c not in new], [c for c in new if c not in old]
    pieces = [
        *(Piece("gone", excerpt(caption, _CHARACTERS) + "\n") for caption in gone),
        *(Piece("new", excerpt(caption, _CHARACTERS) + "\n") for caption in fresh),
    ]
    if len(gone) == len(fresh) == 1:
        pieces = compared(gone[0], fresh[0])
    return _name(known, (side, ident)), "captions" if pieces else "", pieces


def _pair(row: Row, known: Known) -> tuple[str, str, list[Piece]]:
    side = _sides(row)[-1]
    text, image = (row["after_id"] or row["before_id"]).split()
    section = known.texts[side, text]["hierarchy"]
    return f"{section}: {_name(known, (side, image))}", row["detail"], []


def _sides(row: Row) -> list[str]:
    return [side for side in ("before", "after") if row[f"{side}_id"]]


def _name(known: Known, image: tuple[str, str]) -> str:
    """Return the file's name as people write it."""
    told = known.images.get(image, {"title": ""})
    return unquote(told["title"] or "").replace("_", " ") or image[1]


_TOLD = {"text": _text, "image": _image, "pair": _pair}
