"""A snapshot's own pictures become rows as WIT has them; what is none of its section is counted."""

import gzip
import shutil
from hashlib import md5
from pathlib import Path
from urllib.parse import quote, unquote

import polars as pl
import pytest

from isotope.core import sql, store
from isotope.core.errors import CorruptFile, MissingColumn
from isotope.intake import wiki_files
from isotope.parse.dump import associate
from isotope.parse.wit import parse_wit
from isotope.schemas.parse import ASSOCIATIONS, PICTURES, REJECTED, SECTIONS

RATIOS = {"validation": 0.1, "test": 0.1}


def section(page: int, number: int = 0, language: str = "en") -> dict[str, object]:
    return {
        "text_id": f"projected-{page:08d}-{number:03d}",
        "page_id": page,
        "page_url": f"https://{language}.wikipedia.org/wiki/P{page}",
        "page_title": f"P{page}",
        "section": number,
        "section_title": f"S{number}" if number else "Introduction",
        "hierarchy": f"S{number}" if number else "Introduction",
        "context_page_description": "lead" if number else "",
        "context_section_description": "words" if number else "lead",
        "language": language,
    }


def picture(page: int, place: int, file: str, number: int = 0, **more: object) -> dict[str, object]:
    rest = {"origin": "link", "caption": "", "alt": "", "is_framed": True, "is_in_table": False}
    ids = {"page_id": page, "place": place, "text_id": f"projected-{page:08d}-{number:03d}"}
    return {**ids, "file": file, **rest, **more}


class World:
    """A parsed snapshot in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known: dict[str, list[Path]] = {"wit": [], "wit_rejected": []}

    def of(self, sections: list[dict[str, object]], pictures: list[dict[str, object]]) -> None:
        store.write_rows(sections, self.folder / "sections", SECTIONS)
        store.write_rows(pictures, self.folder / "pictures", PICTURES)

    def rows(self, *files: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
        outputs = {n: self.folder / f"out/{n}" for n in ("associations", "rejected")}
        parsed = {n: self.folder / n for n in ("sections", "pictures")}
        associate(parsed, self.known, files, RATIOS, outputs)
        return pl.read_parquet(outputs["associations"]), pl.read_parquet(outputs["rejected"])


@pytest.fixture
def world(tmp_path) -> World:
    return World(tmp_path)


def upload(project: str, file: str) -> str:
    name = file.replace(" ", "_")
    digest = md5(name.encode()).hexdigest()
    base = "https://upload.wikimedia.org/wikipedia"
    return f"{base}/{project}/{digest[0]}/{digest[:2]}/{quote(name)}"


NAME = "Ray Charles (cropped), l'été & Ömür!.jpg"


def test_a_picture_has_wits_columns_and_is_looked_for_in_both_wikis(world):
    world.of(
        [section(1), section(1, 1)],
        [picture(1, 0, "A.PNG"), picture(1, 1, NAME, 1, caption="c", alt="a")],
    )
    found, rejected = world.rows()
    assert found.columns == ASSOCIATIONS.names
    assert rejected.is_empty()
    assert found["image_url"].to_list() == [
        upload(project, name) for name in ("A.PNG", NAME) for project in ("commons", "en")
    ]
    row = found.row(2, named=True)
    assert (row["page_title"], row["section_title"], row["hierarchical_section_title"]) == (
        "P1",
        "S1",
        "P1 / S1",
    )
    assert found["section_title"][0] == ""
    assert found["hierarchical_section_title"][0] == "P1"
    assert set(found["context_page_description"]) == {"lead"}
    assert (row["caption_reference_description"], row["caption_alt_text_description"]) == ("c", "a")
    assert found["mime_type"].to_list() == ["image/png"] * 2 + ["image/jpeg"] * 2
    assert found["is_main_image"].to_list() == [True, True, False, False]
    assert found["row"].to_list() == [1, 2, 3, 4]
    assert set(found["file"]) == {"wikitext"}


def test_a_table_of_the_wikis_own_files_decides_where_a_file_is(world, tmp_path):
    world.of(
        [section(1)], [picture(1, n, f) for n, f in enumerate(["A b.jpg", "It's (2).jpg", "C.jpg"])]
    )
    table = tmp_path / "enwiki-20230101-image.sql.gz"
    rows = (
        r"('A_b.jpg',1,2,3,'a:0:{}',8,'BITMAP','image','jpeg',4,5,'20100101','x'),"
        r"('It\'s_(2).jpg',1,2,3,'a, (b)',8,NULL,'image','jpeg',4,5,'2','x');"
    )
    with gzip.open(table, "wt") as out:
        out.write("-- MySQL dump\nCREATE TABLE `image` (\n);\n")
        out.write(f"INSERT INTO `image` VALUES {rows}\n")
    found, _ = world.rows(table)
    assert found["image_url"].to_list() == [
        upload("en", "A b.jpg"),
        upload("en", "It's (2).jpg"),
        upload("commons", "C.jpg"),
    ]


def test_a_lookup_table_tells_projects_and_attributions(world, tmp_path):
    world.of([section(1)], [picture(1, n, f"{c}.jpg") for n, c in enumerate("ABC")])
    table = tmp_path / "files.csv"
    table.write_text("file,project,attribution\na.jpg,local,Ann\nB.jpg,,Bob\n")
    found, _ = world.rows(table)
    told = found.select("image_url", "caption_attribution_description").rows()
    assert told == [
        (upload("en", "A.jpg"), "Ann"),
        (upload("commons", "B.jpg"), "Bob"),
        (upload("en", "B.jpg"), "Bob"),
        (upload("commons", "C.jpg"), ""),
        (upload("en", "C.jpg"), ""),
    ]


SAID_OF_FILES = """file,project,attribution,author,license
A.jpg,commons,,Ann Lee,CC-BY-SA-4.0
B.jpg,commons,By hand,  ,Public domain
C.jpg,commons,,"Lee, Ann (talk)",
D.jpg,commons,,,
E.jpg,local,,Ann Lee,Fair use
"""


def test_author_and_licence_of_a_table_reach_the_release(world, tmp_path):
    """By the query that suggestions read, too; `unknown` where nobody says."""
    world.of([section(1)], [picture(1, n, f"{c}.jpg") for n, c in enumerate("ABCDE")])
    (tmp_path / "files.csv").write_text(SAID_OF_FILES)
    found, _ = world.rows(tmp_path / "files.csv")
    told = found["caption_attribution_description"].to_list()
    assert told[:2] == ["Author: Ann Lee, CC-BY-SA-4.0", "By hand, Public domain"]
    assert (told[2], told[3]) == ("Author: Lee Ann talk", "")
    images = found.select(
        image_id=pl.col("image_url").str.slice(-5, 1),
        image_url="image_url",
        caption_attribution_description=pl.concat_list("caption_attribution_description"),
    )
    images.write_parquet(tmp_path / "images.parquet")
    query = sql.SQL / "release/attributions.sql"
    read = sql.query(query, {"images": tmp_path / "images.parquet"}, {})
    assert read is not None
    assert read.select("licence", pl.col("attribution")).rows() == [
        ("CC BY-SA 4.0", "Author: Ann Lee, CC-BY-SA-4.0"),
        ("public domain", "By hand, Public domain"),
        ("unknown", "Author: Lee Ann talk"),
        ("unknown", "unknown"),
        ("fair use", "Author: Ann Lee, Fair use"),
    ]


def test_a_file_that_a_table_leads_to_another_one_is_that_one(world, tmp_path):
    shown = [picture(1, 0, "Old.jpg"), picture(1, 1, "Old.ogg"), picture(1, 2, "New.png")]
    world.of([section(1)], shown)
    table = tmp_path / "files.csv"
    lines = ["file,project,target", "old.jpg,,new.png", "Old.ogg,,Sound.wav", "New.png,commons,"]
    table.write_text("\n".join(lines) + "\n")
    found, rejected = world.rows(table)
    assert (
        found.select("image_url", "mime_type").rows()
        == [(upload("commons", "New.png"), "image/png")] * 2
    )
    assert rejected.select("reason", "detail").rows() == [("audio", "Sound.wav")]


@pytest.mark.parametrize(
    ("content", "error", "said"),
    [
        ("name,project\nA.jpg,local\n", MissingColumn, "no column `file`"),
        ("file,project\nA.jpg,local\nB.jpg,here\n", CorruptFile, r"files\.csv:3: project 'here'"),
        ("", CorruptFile, "not a table"),
    ],
)
def test_a_table_of_files_that_is_none_is_named(tmp_path, content, error, said):
    (tmp_path / "files.csv").write_text(content)
    with pytest.raises(error, match=said):
        wiki_files.read_files([tmp_path / "files.csv"], tmp_path / "out")
    (tmp_path / "image.sql").write_text("INSERT INTO `page` VALUES (1);\n")
    with pytest.raises(CorruptFile, match="no rows of the table"):
        wiki_files.read_files([tmp_path / "image.sql"], tmp_path / "out")


def test_icons_signs_sounds_and_films_are_counted_with_their_reason(world):
    bare = {"is_framed": False}
    shown = [
        picture(1, 0, "A.ogg"),
        picture(1, 1, "A.webm"),
        picture(1, 2, "A.pdf"),
        picture(1, 3, "Icon.svg", **bare, width=20),
        picture(1, 4, "Small but framed.svg", width=20),
        picture(1, 5, "Flag.svg", **bare, is_in_table=True),
        picture(1, 6, "Told.svg", **bare, is_in_table=True, alt="A map"),
        picture(1, 7, "Bare.svg", **bare),
        picture(1, 8, "Odd.xyz"),
    ]
    world.of([section(1)], shown)
    found, rejected = world.rows()
    names = {url.rpartition("/")[2] for url in found["image_url"]}
    assert names == {"Small_but_framed.svg", "Told.svg", "Bare.svg"}
    assert rejected.select("reason", "detail").rows() == [
        ("audio", "A.ogg"),
        ("video", "A.webm"),
        ("document", "A.pdf"),
        ("icon", "Icon.svg"),
        ("sign_in_table", "Flag.svg"),
        ("unknown_kind", "Odd.xyz"),
    ]
    assert rejected["raw"][0] == "P1"


def test_a_page_keeps_its_split_whatever_else_the_snapshot_has(world):
    many = range(1, 2001)
    world.of([section(p) for p in many], [picture(p, 0, f"{p}.jpg") for p in many])
    splits = dict(world.rows()[0].select("page_title", "split").rows())
    shares = {s: sum(v == s for v in splits.values()) / len(splits) for s in set(splits.values())}
    assert shares == pytest.approx({"train": 0.8, "validation": 0.1, "test": 0.1}, abs=0.02)
    few = range(5, 2000, 7)
    world.of([section(p, language="sw") for p in few], [picture(p, 0, "x.jpg") for p in few])
    later = dict(world.rows()[0].select("page_title", "split").rows())
    assert later == {title: splits[title] for title in later}


def test_wits_rows_come_first_and_its_splits_win(world, tmp_path):
    world.of([section(1), section(2)], [picture(1, 0, "A.jpg"), picture(2, 0, "B.jpg")])
    wit = {"language": "en", "page_title": "P1", "image_url": "u", "split": "validation"}
    store.write_rows([{**wit, "file": "wit", "row": 1}], tmp_path / "wit", ASSOCIATIONS)
    lost = {"file": "wit", "row": 2, "reason": "bad_url", "detail": "", "raw": ""}
    store.write_rows([lost], tmp_path / "lost", REJECTED)
    world.known = {"wit": [tmp_path / "wit"], "wit_rejected": [tmp_path / "lost"]}
    found, rejected = world.rows()
    assert found["image_url"][0] == "u"
    assert set(found.filter(page_title="P1")["split"]) == {"validation"}
    assert rejected["reason"].to_list() == ["bad_url"]


@pytest.mark.parametrize(
    ("in_wit", "in_dump"),
    [("iw", "he"), ("fil", "tl"), ("no", "nb"), ("nan", "nan"), ("lah", "pnb"), ("zh-TW", "zh")],
)
def test_a_split_of_wit_counts_whatever_it_calls_the_language(world, tmp_path, in_wit, in_dump):
    pages = range(1, 30)
    wit = {"language": in_wit, "image_url": "u", "split": "test"}
    rows = [{**wit, "page_title": f"P{page}", "file": "wit", "row": page} for page in pages]
    rows += [{**wit, "language": "xx", "page_title": "P30", "file": "wit", "row": 30}]
    store.write_rows(rows, tmp_path / "wit", ASSOCIATIONS)
    store.write_rows([], tmp_path / "wit_rejected", REJECTED)
    world.known = {"wit": [tmp_path / "wit"], "wit_rejected": [tmp_path / "wit_rejected"]}
    shown = [picture(page, 0, "A.jpg") for page in (*pages, 30)]
    world.of([section(page, language=in_dump) for page in (*pages, 30)], shown)
    own = world.rows()[0].filter(pl.col("file") == "wikitext")
    assert set(own.filter(pl.col("page_title") != "P30")["split"]) == {"test"}
    assert set(own.filter(pl.col("page_title") == "P30")["split"]) == {"train"}


def test_the_real_dumps_own_pictures_agree_with_wit(shared, raycharles, tmp_path):
    """100 rows of WIT; the only misses are the thumbnails of a TIFF, which are no files."""
    root = shared / "snapshots/raycharles"
    parse_wit(
        sorted(root.glob("wit/*.gz")), out=tmp_path / "wit", rejected=tmp_path / "wit_rejected"
    )
    world = World(tmp_path)
    for name in ("sections", "pictures"):
        shutil.copy(raycharles[name], tmp_path / name)
    wit, _ = pl.read_parquet(tmp_path / "wit"), world.rows()
    own = pl.read_parquet(tmp_path / "out/associations")
    theirs, ours = (
        {(r["page_title"], r["section_title"], file(r["image_url"])) for r in rows.to_dicts()}
        for rows in (wit, own.filter(pl.col("page_title").is_in(wit["page_title"].implode())))
    )
    both = len(theirs & ours)
    assert both / len(ours) >= 0.95, sorted(ours - theirs)
    assert both / len(theirs) >= 0.95, sorted(theirs - ours)
    assert all(".tif" in name for _, _, name in theirs - ours)


def file(url: str) -> str:
    return unquote(url.rpartition("/")[2]).replace("_", " ")
