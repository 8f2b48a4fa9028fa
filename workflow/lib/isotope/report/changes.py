"""One change between two snapshots as a page shows it: words gone and new, pictures."""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Any, NamedTuple
from urllib.parse import unquote

from isotope.report.site import excerpt

# A letter of a script without spaces is a word of its own.
_TOKEN = re.compile(r"\s*(?:[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]|\w+|[^\w\s])|\s+")
_MOST_TOKENS = 400
_AROUND = 10


class Piece(NamedTuple):
    """Some words: `same` in both, `gone`, `new`, or `cut` where the page leaves words out."""

    what: str
    text: str


def compared(before: str, after: str) -> list[Piece]:
    """Return both versions as one line of pieces; what is shared is shown near a change only.

    Beyond the words that both begin and end with, 400 words and signs of each are compared.
    """
    one, two = _TOKEN.findall(before), _TOKEN.findall(after)
    head = _shared(one, two)
    tail = _shared(one[head:][::-1], two[head:][::-1])
    middle = [tokens[head : len(tokens) - tail] for tokens in (one, two)]
    pieces = [Piece("same", "".join(one[:head])), *_changes(*middle)]
    pieces.append(Piece("same", "".join(one[len(one) - tail :])))
    return list(_shortened([piece for piece in pieces if piece.text]))


def _shared(one: Sequence[str], two: Sequence[str]) -> int:
    """Count the tokens that both begin with."""
    pairs = zip(one, two, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _changes(one: Sequence[str], two: Sequence[str]) -> Iterator[Piece]:
    old, new = one[:_MOST_TOKENS], two[:_MOST_TOKENS]
    for what, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            yield Piece("same", "".join(old[a:b]))
        else:
            yield Piece("gone", "".join(old[a:b]))
            yield Piece("new", "".join(new[c:d]))
    if len(one) > _MOST_TOKENS or len(two) > _MOST_TOKENS:
        yield Piece("cut", " … ")


def _shortened(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Leave out the middle of what is shared, or its far end where the text begins or ends."""
    for n, piece in enumerate(pieces):
        tokens = _TOKEN.findall(piece.text)
        before = 0 if n == 0 else _AROUND
        after = 0 if n == len(pieces) - 1 else _AROUND
        if piece.what != "same" or len(tokens) <= before + after + 1:
            yield piece
            continue
        kept = [tokens[:before], tokens[len(tokens) - after :]]
        yield from (
            each
            for each in (
                Piece("same", "".join(kept[0])),
                Piece("cut", " … "),
                Piece("same", "".join(kept[1])),
            )
            if each.text
        )


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
