"""The page about two snapshots: what has changed, in numbers and side by side.

A change shows the words that are gone and new, near each other, and its pictures. Pages of the
encyclopedia stand in batches, of which one at a time is open; an index by letter leads to each.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from isotope.core import sql
from isotope.core.schemas import STEP
from isotope.core.uploads import decoded_name
from isotope.report.content import thumbnails
from isotope.report.site import excerpt, write_page
from isotope.tabulate.table import PrintedCell, Table, lay_out, plain, read_table, rows

Row = Mapping[str, Any]
Drawn = dict[tuple[str, str], str | None]
PAGES, ITEMS, PICTURES, BATCH, FEW = 100, 20, 300, 20, 60
KINDS = {"text": "Texts", "image": "Images", "pair": "Pairs"}
CHANGES = ("edited", "renamed", "moved", "replaced", "added", "removed")
CLASSES = {
    "edited": "Edited pages",
    "renamed": "Renamed pages",
    "new": "New pages",
    "gone": "Pages that are gone",
    "untouched": "Pages whose words are as they were",
    None: "Pictures that are in no judgement",
}
DIGITS, IDEOGRAPHS, SIGNS = "0-9", "漢字", "#"
_SQL = sql.SQL / "tabulate"
_SIDE_PX = 120
_CHARACTERS = 280
# Categories of Unicode, of blanks, brackets and quotation marks, and marks of other categories.
_OPENING = {"Zs", "Ps", "Pi", "Pf", *"\"'`¡¿"}
_OTHER = {"before": "gone", "after": "new"}
# A letter of a script without spaces is a word of its own.
_TOKEN = re.compile(r"\s*(?:[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]|\w+|[^\w\s])|\s+")
_MOST_TOKENS = 400
_AROUND = 10


class DiffPiece(NamedTuple):
    """Some words: `same` in both, `gone`, `new`, or `cut` where the page leaves words out."""

    kind: str
    text: str


class Snapshot(NamedTuple):
    """A snapshot's collection: its name, its tables by name, and the shards of its pictures."""

    name: str
    tables: Mapping[str, Path]
    pixels: Sequence[Path]


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
    pieces: list[DiffPiece]
    shots: list[Shot]


class PageChanges(NamedTuple):
    """A page, how many changes of each sort it has, and `changes`, some of these `total`."""

    ident: str
    title: str
    was: str
    url: str
    total: int
    tally: list[str]
    changes: list[Change]

    @property
    def marks(self) -> list[str]:
        """The kinds, the changes and the two together, by which a reader chooses."""
        marks = ((c.kind, c.change, f"{c.kind}-{c.change}") for c in self.changes)
        return list(dict.fromkeys(mark for three in marks for mark in three))


class PageShelf(NamedTuple):
    """Pages that stand together in a list; the first of them is number `start` of its class."""

    title: str
    start: int
    entries: list[PageChanges]

    @property
    def marks(self) -> list[str]:
        """Those of all its pages."""
        return list(dict.fromkeys(mark for entry in self.entries for mark in entry.marks))


class ClassGroup(NamedTuple):
    """The pages of a class with the most changes, of `total` that have any."""

    title: str
    ident: str
    total: int
    shelf: PageShelf
    batches: list[PageShelf]


class Lookup(NamedTuple):
    """What is shown of texts and images, by (side, id), and the data: URIs of pictures."""

    texts: Mapping[tuple[str, str], Row]
    images: Mapping[tuple[str, str], Row]
    drawn: Mapping[tuple[str, str], str | None]


def write_changes_page(  # noqa: PLR0913
    collection_name: str,
    earlier: str,
    *,
    before: Sequence[Path],
    later: Sequence[Path],
    before_pixels: Sequence[Path],
    later_pixels: Sequence[Path],
    changes: Path,
    page: Path,
) -> None:
    """Write the page on what has changed in a collection since an earlier one.

    Raises:
        As `build`.
    """
    sides = (
        Snapshot(earlier, {p.stem: p for p in before}, before_pixels),
        Snapshot(collection_name, {p.stem: p for p in later}, later_pixels),
    )
    build(*sides, changes, page)


def build(before: Snapshot, after: Snapshot, changes: Path, out: Path) -> None:
    """Write the page on schemas.CHANGES; snapshot_diff and snapshot_survival lie beside it.

    Of each class of pages the 100 with the most changes are shown, with 20 changes each, and 300
    pictures in all. Same input, same bytes.

    Raises:
        MissingFile: a table that is not there.
    """
    relations: dict[str, sql.Files] = {"changes": changes}
    for when, side in (("before", before), ("after", after)):
        relations |= {f"{when}_{name}": path for name, path in side.tables.items()}
    items = _query("items", relations, {"pages": PAGES, "items": ITEMS})
    lookup = _lookup(items, relations, {"before": before.pixels, "after": after.pixels})
    classes = _query("classes", relations, {})
    tables = {name: changes.parent / f"snapshot_{name}.arrow" for name in ("diff", "survival")}
    read = {name: read_table(path) for name, path in tables.items()}
    groups = _groups(items, lookup)
    pages = [entry for group in groups for entry in group.shelf.entries]
    write_page(
        "diff",
        out,
        **{"scope": None, "up": "../../", "before": before.name, "after": after.name},
        **_choices(groups),
        groups=groups,
        letters=by_letter(pages),
        **{"paged": len(pages) > BATCH, "few": len(pages) <= FEW},
        classes={row["page_class"]: row["pages"] for row in classes if row["pages"]},
        survival=read["survival"].to_dicts()[:1],
        tables={
            "diff": _sparse(lay_out(_without_zeros(read["diff"]))),
            "survival": lay_out(_without_zeros(read["survival"])),
        },
    )


def by_letter(entries: Iterable[PageChanges]) -> list[PageShelf]:
    """Return pages by the first letter of the title, digits first and signs last, none empty."""
    named = sorted((entry for entry in entries if entry.title), key=lambda e: _plain(e.title))
    shelves: dict[str, list[PageChanges]] = {}
    for entry in named:
        shelves.setdefault(first_letter(entry.title), []).append(entry)
    order = {DIGITS: "", IDEOGRAPHS: "\U0010fffe", SIGNS: "\U0010ffff"}
    names = sorted(shelves, key=lambda name: order.get(name, name))
    return [PageShelf(name, 1, shelves[name]) for name in names]


def first_letter(title: str) -> str:
    """Return the capital, without accents, by which an index lists a title of any script.

    Digits have one heading, and so have Chinese characters, of which there are too many for one
    each; a Hangul syllable stands under its first consonant. Quotes and brackets don't count, other
    signs have one heading.
    """
    signs = unicodedata.normalize("NFKD", title)
    first = next((sign for sign in signs if not _OPENING & {sign, unicodedata.category(sign)}), "")
    if "IDEOGRAPH" in unicodedata.name(first or " "):
        return IDEOGRAPHS
    if not first.isalnum():
        return SIGNS
    return first.title()[0] if first.isalpha() else DIGITS


def summary(table: Path) -> str:
    """Return snapshot_diff.arrow as plain text: a line a kind, a column a change.

    Raises:
        MissingFile: it is not there.
    """
    counts = {(row["kind"], row["change"]): row["every"] for row in read_table(table).to_dicts()}
    names = ["unchanged", *CHANGES]
    lines = [
        [name.lower(), *(f"{counts.get((kind, c), 0):,}" for c in names)]
        for kind, name in KINDS.items()
    ]
    return plain(lines, ["", *names], right=range(1, len(names) + 1))


def change(row: Row, lookup: Lookup, drawn: set[tuple[str, str]]) -> Change:
    """Return what a page shows of a row of schemas.CHANGES, without pictures in `drawn`."""
    title, note, pieces = _DESCRIBE[row["kind"]](row, lookup)
    fresh = [picture for picture in pictures(row) if picture not in drawn]
    drawn.update(fresh)
    shots = [
        Shot(picture[0], _name(lookup, picture), lookup.drawn.get(picture)) for picture in fresh
    ]
    return Change(row["kind"], row["change"], title, note, pieces, shots)


def pictures(row: Row) -> list[tuple[str, str]]:
    """Return (side, image id) of the pictures that a row of schemas.CHANGES is about."""
    ends = {"before": row["before_id"], "after": row["after_id"]}
    present = [(side, end.split()[-1]) for side, end in ends.items() if end]
    if row["kind"] == "text":
        return []
    return present if row["change"] == "replaced" else present[-1:]


def _query(
    name: str, relations: Mapping[str, sql.Files], values: Mapping[str, object]
) -> list[dict[str, Any]]:
    return rows(_SQL / f"diff/{name}.sql", relations, values).to_dicts()


def _lookup(
    items: Sequence[Row], relations: Mapping[str, sql.Files], pixels: Mapping[str, Sequence[Path]]
) -> Lookup:
    """Look up what the changes speak of, and draw the first pictures among them."""
    ends = [str(row[end]).split() for row in items for end in ("before_id", "after_id") if row[end]]
    ids = sorted({part for end in ends for part in end})
    texts = _rows_by_side("texts", relations, ids)
    images = _rows_by_side("images", relations, ids)
    first = list(dict.fromkeys(picture for row in items for picture in pictures(row)))[:PICTURES]
    drawn: Drawn = {}
    for side, shards in pixels.items():
        ids_of_side = sorted(image for when, image in first if when == side)
        thumbnails_of_side = thumbnails(shards, ids_of_side, _SIDE_PX) if ids_of_side else {}
        drawn |= {(side, ident): picture for ident, picture in thumbnails_of_side.items()}
    return Lookup(texts, images, drawn)


def _rows_by_side(
    name: str, relations: Mapping[str, sql.Files], ids: list[str]
) -> dict[tuple[str, str], dict[str, Any]]:
    relations_of_table = {
        f"{when}_{name}": relations[f"{when}_{name}"] for when in ("before", "after")
    }
    key = f"{name[:-1]}_id"
    records = _query(name, relations_of_table, {"ids": ids})
    return {(row["side"], row[key]): row for row in records}


def _groups(items: Sequence[Row], lookup: Lookup) -> list[ClassGroup]:
    by_class = {
        name: list(rows_of_class)
        for name, rows_of_class in groupby(items, lambda row: row["class"])
    }
    return [
        _group(name or "none", title, by_class[name], lookup)
        for name, title in CLASSES.items()
        if name in by_class
    ]


def _group(name: str, title: str, items: Sequence[Row], lookup: Lookup) -> ClassGroup:
    entries = _entries(items, lookup)
    starts = range(0, len(entries), BATCH)
    batches = [PageShelf(title, at + 1, entries[at : at + BATCH]) for at in starts]
    return ClassGroup(
        title, f"pages-{name}", items[0]["in_class"], PageShelf(title, 1, entries), batches
    )


def _entries(items: Sequence[Row], lookup: Lookup) -> list[PageChanges]:
    entries: list[PageChanges] = []
    for page_id, page in groupby(items, lambda row: row["page_id"]):
        rows_of_page, drawn = list(page), set[tuple[str, str]]()
        first, changes = (
            rows_of_page[0],
            [change(row, lookup, drawn) for row in rows_of_page if row["total"]],
        )
        title, was = first["title"] or first["was"] or "", first["was"] or ""
        was = was if was != title else ""
        head = f"page-{page_id or 'none'}", title, was, first["url"] or "", first["total"]
        entries.append(PageChanges(*head, _tally(rows_of_page) if changes else [], changes))
    return entries


def _tally(items: Sequence[Row]) -> list[str]:
    """Say how many texts, images and pairs of a page have changed, and how: a line a kind."""
    counts = {(row["kind"], row["change"]): row["of_its_kind"] for row in items}
    lines = {
        name: ", ".join(f"{counts[kind, c]:,} {c}" for c in CHANGES if (kind, c) in counts)
        for kind, name in KINDS.items()
    }
    return [f"{name}: {line}" for name, line in lines.items() if line]


def _choices(groups: Sequence[ClassGroup]) -> dict[str, Any]:
    """Return the kinds and the changes that there are, and which of the two never meet."""
    marks = {mark for group in groups for mark in group.shelf.marks}
    kinds = {kind: name for kind, name in KINDS.items() if kind in marks}
    changes = [change for change in CHANGES if change in marks]
    pairs = [f"{kind}-{change}" for kind in kinds for change in changes]
    return {"kinds": kinds, "changes": changes, "never": [p for p in pairs if p not in marks]}


def _without_zeros(table: pl.DataFrame) -> pl.DataFrame:
    """Leave out counts that are zero in every row, but for the judgements that hold."""
    counts = table.select(pl.exclude("kind", "change", "split", "judgements", "held", "held_share"))
    return table.drop(c.name for c in counts if all(value in (0, None) for value in c.to_list()))


def _sparse(table: Table) -> Table:
    """Leave the cells empty whose count is zero."""
    cells = [[PrintedCell("") if c.text == "0" else c for c in row] for row in table.rows]
    return Table(table.columns, cells)


def _plain(title: str) -> str:
    """Return letters and digits alone, without accents and capitals."""
    return "".join(c for c in unicodedata.normalize("NFKD", title.casefold()) if c.isalnum())


def _text(row: Row, lookup: Lookup) -> tuple[str, str, list[DiffPiece]]:
    words = {
        side: lookup.texts[side, end]["context_section_description"] or ""
        for side, end in (("before", row["before_id"]), ("after", row["after_id"]))
        if end
    }
    if len(words) > 1:
        differ = words["before"] != words["after"]
        return row["detail"], "", compared(words["before"], words["after"]) if differ else []
    alone = [DiffPiece(_OTHER[side], excerpt(text, _CHARACTERS)) for side, text in words.items()]
    return row["detail"], "", [piece for piece in alone if piece.text]


def _image(row: Row, lookup: Lookup) -> tuple[str, str, list[DiffPiece]]:
    (*_, side), ident = _sides(row), row["after_id"] or row["before_id"]
    captions = {
        when: [c for c in lookup.images[when, ident]["captions"] or [] if c] for when in _sides(row)
    }
    old, new = captions.get("before", []), captions.get("after", [])
    gone, fresh = [c for c in old if c not in new], [c for c in new if c not in old]
    pieces = [
        *(DiffPiece("gone", excerpt(caption, _CHARACTERS) + "\n") for caption in gone),
        *(DiffPiece("new", excerpt(caption, _CHARACTERS) + "\n") for caption in fresh),
    ]
    if len(gone) == len(fresh) == 1:
        pieces = compared(gone[0], fresh[0])
    return _name(lookup, (side, ident)), "captions" if pieces else "", pieces


def _pair(row: Row, lookup: Lookup) -> tuple[str, str, list[DiffPiece]]:
    side = _sides(row)[-1]
    text, image = (row["after_id"] or row["before_id"]).split()
    shown = lookup.texts[side, text]
    section = STEP.join(shown[name] for name in ("page_title", "hierarchy") if shown[name])
    return f"{section}: {_name(lookup, (side, image))}", row["detail"], []


def _sides(row: Row) -> list[str]:
    return [side for side in ("before", "after") if row[f"{side}_id"]]


def _name(lookup: Lookup, image: tuple[str, str]) -> str:
    """Return the file's name as people write it."""
    row = lookup.images.get(image, {"title": ""})
    return decoded_name(row["title"] or "") or image[1]


_DESCRIBE = {"text": _text, "image": _image, "pair": _pair}


def compared(before: str, after: str) -> list[DiffPiece]:
    """Return both versions as one line of pieces; what is shared is shown near a change only.

    Beyond the words that both begin and end with, 400 words and signs of each are compared.
    """
    old_tokens, two = _TOKEN.findall(before), _TOKEN.findall(after)
    head = _shared(old_tokens, two)
    tail = _shared(old_tokens[head:][::-1], two[head:][::-1])
    middle = [tokens[head : len(tokens) - tail] for tokens in (old_tokens, two)]
    pieces = [DiffPiece("same", "".join(old_tokens[:head])), *_changes(*middle)]
    pieces.append(DiffPiece("same", "".join(old_tokens[len(old_tokens) - tail :])))
    return list(_shortened([piece for piece in pieces if piece.text]))


def _shared(left: Sequence[str], two: Sequence[str]) -> int:
    """Count the tokens that both begin with."""
    pairs = zip(left, two, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _changes(old_tokens: Sequence[str], two: Sequence[str]) -> Iterator[DiffPiece]:
    old, new = old_tokens[:_MOST_TOKENS], two[:_MOST_TOKENS]
    for operation, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if operation == "equal":
            yield DiffPiece("same", "".join(old[a:b]))
        else:
            yield DiffPiece("gone", "".join(old[a:b]))
            yield DiffPiece("new", "".join(new[c:d]))
    if len(old_tokens) > _MOST_TOKENS or len(two) > _MOST_TOKENS:
        yield DiffPiece("cut", " … ")


def _shortened(pieces: Sequence[DiffPiece]) -> Iterator[DiffPiece]:
    """Leave out the middle of what is shared, or its far end where the text begins or ends."""
    for n, piece in enumerate(pieces):
        tokens = _TOKEN.findall(piece.text)
        before = 0 if n == 0 else _AROUND
        after = 0 if n == len(pieces) - 1 else _AROUND
        if piece.kind != "same" or len(tokens) <= before + after + 1:
            yield piece
            continue
        ends = [tokens[:before], tokens[len(tokens) - after :]]
        yield from (
            piece_left
            for piece_left in (
                DiffPiece("same", "".join(ends[0])),
                DiffPiece("cut", " … "),
                DiffPiece("same", "".join(ends[1])),
            )
            if piece_left.text
        )
