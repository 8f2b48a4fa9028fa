"""A page that comes again counts once; a file that is a redirect is its target."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest
from tests import snapshots
from tests.lib.parse.test_dump import HEAD, TAIL, multistream, page

from isotope.core.errors import CorruptFile
from isotope.core.uploads import upload_url
from isotope.parse import dump, html_snapshots

NAMES = ("sections", "links", "outline", "rejected", "infoboxes", "pictures")
BOX = "{{{{Infobox x|image={}.jpg}}}}"


def revision(number: int, title: str, revised: int, word: str) -> str:
    """A page whose words, links, pictures and infobox all tell its revision."""
    text = (
        f"{BOX.format(word)}\n{word} [[{word}]] [[Shared]] [[Datei:{word} x.jpg|mini|c]]\n== S ==\n"
    )
    return page(number, title, text).replace(f"<id>{number + 1000}</id>", f"<id>{revised}</id>")


ONCE = [revision(n, f"P{n}", 5, f"W{n}") for n in range(1, 6)]
OLD, NEW = revision(3, "P3", 4, "Old"), revision(3, "P3", 9, "New")


def parse(files: Sequence[Path], folder: Path, part: tuple[int, int] = (0, 1)) -> dict[str, Path]:
    out = {name: folder / name for name in (*NAMES, "counts")}
    named = {("out" if name == "sections" else name): path for name, path in out.items()}
    dump.parse_dump(files, **named, workers=1, part=part)  # pyright: ignore[reportArgumentType]
    return out


def in_parts(files: Sequence[Path], folder: Path, parts: int) -> dict[str, Path]:
    pieces: list[dict[str, Path]] = []
    for n in range(parts):
        (folder / str(n)).mkdir(parents=True)
        pieces.append(parse(files, folder / str(n), (n, parts)))
    out = {name: folder / name for name in pieces[0]}
    dump.gather_dump({name: [piece[name] for piece in pieces] for name in out}, out)
    return out


def words(tables: Mapping[str, Path]) -> dict[str, list[str]]:
    """What each table has of the revisions of page 3, in its own words."""
    of = {name: pl.read_parquet(tables[name]) for name in NAMES}
    of = {n: t.filter(pl.col("page_id") == 3) for n, t in of.items() if n != "rejected"}
    return {
        "sections": of["sections"]["context_section_description"].to_list(),
        "links": of["links"]["target"].to_list(),
        "outline": of["outline"]["links"].to_list(),
        "infoboxes": of["infoboxes"]["file"].to_list(),
        "pictures": of["pictures"]["file"].to_list(),
    }


def only(word: str) -> dict[str, list[object]]:
    return {
        "sections": [f"{word} {word} Shared", ""],
        "links": [word, "Shared"],
        "outline": [[word, "Shared"], []],
        "infoboxes": [f"{word}.jpg"],
        "pictures": [f"{word}.jpg", f"{word} x.jpg"],
    }


def told(tables: Mapping[str, Path]) -> list[tuple[object, ...]]:
    rejected = pl.read_parquet(tables["rejected"])
    return rejected.select("file", "row", "reason", "detail", "raw").rows()


# Where the second revision stands: beside the first, in another stream, in another file.
PLACES = {
    "beside": [[*ONCE[:2], OLD, NEW, *ONCE[3:]]],
    "later": [[ONCE[0], OLD, *ONCE[1:2], *ONCE[3:], NEW]],
    "earlier": [[NEW, *ONCE[:2], OLD, *ONCE[3:]]],
    "in another file": [[*ONCE[:2], OLD], [*ONCE[3:], NEW]],
    "thrice": [[OLD, *ONCE[:2], OLD, *ONCE[3:], NEW]],
}


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("place", PLACES)
def test_of_a_page_that_comes_again_the_newest_revision_counts(place, parts, tmp_path, monkeypatch):
    monkeypatch.setattr("isotope.parse.xml_dump.SPAN_BYTES", 1)
    files: list[Path] = []
    for n, pages in enumerate(PLACES[place]):
        files.append(tmp_path / f"dump{n}.xml.bz2")
        files[-1].write_bytes(multistream(pages, 1))
    tables = in_parts(files, tmp_path / "parts", parts) if parts > 1 else parse(files, tmp_path)
    assert words(tables) == only("New")
    at = [
        (f"dump{n}.xml.bz2", row + 1, "repeated_page", "P3", "revision 4")
        for n, pages in enumerate(PLACES[place])
        for row, own in enumerate(pages)
        if own == OLD
    ]
    assert told(tables) == at
    counts = json.loads(tables["counts"].read_text())
    shown = (counts["pages"], counts["articles"], counts["repeated_page"])
    assert shown == (5 + len(at), 5, len(at))
    sections = pl.read_parquet(tables["sections"])
    assert (counts["sections"], counts["sections_without_text"]) == (
        len(sections),
        (sections["context_section_description"] == "").sum(),
    )
    assert sections["text_id"].n_unique() == len(sections) == 10


def test_of_one_revision_twice_the_first_counts(tmp_path):
    again = OLD.replace("Old", "Again")
    (tmp_path / "dump.xml").write_text(HEAD + OLD + again + TAIL)
    tables = parse([tmp_path / "dump.xml"], tmp_path)
    assert words(tables) == only("Old")
    assert told(tables) == [("dump.xml", 2, "repeated_page", "P3", "revision 4")]


def test_pages_of_two_wikis_in_one_source_are_an_error_that_names_both(tmp_path):
    for n, language in enumerate(("de", "fr")):
        text = (HEAD + OLD + TAIL).replace("de.wikipedia", f"{language}.wikipedia")
        (tmp_path / f"dump{n}.xml").write_text(text)
    with pytest.raises(CorruptFile, match=r"page 3 is in https://de\.wikipedia\.org and in .*fr\."):
        parse(sorted(tmp_path.glob("*.xml")), tmp_path)


REDIRECTS = [
    page(
        20, "Datei:Old name.jpg", "#WEITERLEITUNG", ns=6, extra='<redirect title="Datei:New.png" />'
    ),
    page(21, "Datei:Own.jpg", "A file", ns=6),
]
SHOWS = page(
    22,
    "A",
    "{{Infobox x|image=old_name.jpg}} A [[Datei:Old name.jpg|mini|c]] [[Datei:Own.jpg|mini]]",
)


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("pages", [[*REDIRECTS, SHOWS], [SHOWS, *REDIRECTS]])
def test_a_file_that_is_a_redirect_is_its_target(pages, parts, tmp_path, monkeypatch):
    monkeypatch.setattr("isotope.parse.xml_dump.SPAN_BYTES", 1)
    (tmp_path / "dump.xml.bz2").write_bytes(multistream(pages, 1))
    files = [tmp_path / "dump.xml.bz2"]
    tables = in_parts(files, tmp_path / "parts", parts) if parts > 1 else parse(files, tmp_path)
    pictures = pl.read_parquet(tables["pictures"])
    assert pictures["file"].to_list() == ["New.png", "New.png", "Own.jpg"]
    assert pl.read_parquet(tables["infoboxes"]).select("file", "image_url").rows() == [
        ("New.png", upload_url("New.png"))
    ]
    assert pl.read_parquet(tables["sections"])["media"].to_list() == [["New.png", "Own.jpg"]]
    counts = json.loads(tables["counts"].read_text())
    assert (counts["file_redirect"], counts["redirected_pictures"]) == (1, 2)
    assert (counts["articles"], counts["other_namespace"], counts["repeated_page"]) == (1, 1, 0)
    assert [(r[2], r[3], r[4]) for r in told(tables) if r[2] == "file_redirect"] == [
        ("file_redirect", "Datei:Old name.jpg", "Datei:New.png")
    ]


def test_a_record_of_a_file_names_its_redirects(tmp_path):
    record = json.loads(snapshots.records([snapshots.Page(1, 6, "File:New.png", "x")])[0])
    record |= {"namespace": {"identifier": 6}, "redirects": [{"name": "File:Old.jpg"}]}
    (tmp_path / "x.ndjson").write_text(json.dumps(record) + "\n")
    (batch,) = html_snapshots.record_batches(tmp_path / "x.ndjson")
    *_, rest = html_snapshots.parse_records(batch)
    assert [(r["reason"], r["detail"], r["raw"]) for r in rest.rejected] == [
        ("other_namespace", "File:New.png", ""),
        ("file_redirect", "File:Old.jpg", "File:New.png"),
    ]
