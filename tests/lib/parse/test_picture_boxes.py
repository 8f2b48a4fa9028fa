"""Size, use and box decide whether a picture belongs to its section, not a table around it."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests import snapshots
from tests.snapshots import Page, Wiki

from isotope.core import sql, store
from isotope.intake.wiki_files import FILES
from isotope.parse import dump
from isotope.parse.boxes import ASIDES

NAMES = {
    "en": {6: "File", 10: "Template", 14: "Category"},
    "de": {6: "Datei", 10: "Vorlage", 14: "Kategorie"},
    "fr": {6: "Fichier", 10: "Modèle", 14: "Catégorie"},
    "ru": {6: "Файл", 10: "Шаблон", 14: "Категория"},
    "ja": {6: "ファイル", 10: "Template", 14: "Category"},
}
BELONGS = None


def reasons(path: Path, folder: Path) -> dict[str, str | None]:
    """Why each file of a page is no picture of its section, None where it is one."""
    names = ("links", "outline", "rejected", "infoboxes", "pictures", "counts")
    tables: dict[str, Any] = {name: folder / name for name in names}
    dump.parse_dump([path], out=folder / "sections", **tables, workers=1)
    query = sql.SQL / "parse/wikitext/10_uses.sql"
    store.write_rows([], folder / "files", FILES)
    relations = {"pictures": tables["pictures"], "files": folder / "files"}
    sql.query(query, relations, {}, out=folder / "uses")
    return dict(pl.read_parquet(folder / "uses").select("file", "reason").rows())


def in_wikitext(text: str, folder: Path, language: str = "en") -> dict[str, str | None]:
    wiki = Wiki(language, NAMES[language])
    page = Page(7, 0, "Lark", f"Words.\n{text}\n")
    return reasons(snapshots.write_export([page], folder / "toywiki.xml", wiki), folder)


def in_html(body: str, folder: Path, language: str = "en") -> dict[str, str | None]:
    wiki = Wiki(language, NAMES[language])
    (record,) = map(json.loads, snapshots.records([Page(7, 0, "Lark", "x")], wiki))
    record["article_body"]["html"] = f"<html><body><p>Words.</p>{body}</body></html>"
    (folder / "x.ndjson").write_text(json.dumps(record) + "\n")
    return reasons(folder / "x.ndjson", folder)


def image(name: str, width: int, kind: str = "mw:File") -> str:
    return f"<span typeof='{kind}'><img resource='./File:{name}' width='{width}'/></span>"


# Language, wikitext, what Parsoid makes of it, and why the picture is none of its section.
WAYS = {
    "a ship in the table of an infobox": (
        "en",
        "{|{{Infobox ship begin}}\n{{Infobox ship image\n|Ship image=[[File:A.png|300px]]\n}}\n|}",
        f"<table class='infobox' about='#mwt1'><tr><td colspan=2>{image('A.png', 300)}</table>",
        BELONGS,
    ),
    "a picture of the size it has in a table that is an infobox": (
        "en",
        "{| class='infobox vcard'\n| colspan=2 | [[File:A.png]]\n|}",
        f"<table class='infobox vcard'><tr><td colspan=2>{image('A.png', 640)}</table>",
        BELONGS,
    ),
    "a map in a box": (
        "de",
        "{{Infobox Fluss\n|KARTE=[[Datei:A.png|250px]]\n|BILD=B.jpg}}",
        f"<table class='infobox'><tr><td colspan=2>{image('A.png', 250)}</table>",
        BELONGS,
    ),
    "a painting in a list of works": (
        "en",
        "{| class='wikitable'\n! Image !! Title\n|-\n| [[File:A.png|150px]] || ''Maid''\n|}",
        f"<table class=wikitable><tr><td>{image('A.png', 150)}<td>Maid</table>",
        BELONGS,
    ),
    "a painting in a list that a template makes": (
        "fr",
        "{{Ligne d'œuvre|image=[[Fichier:A.png|150px]]|titre=Maid}}",
        f"<table about='#mwt1'><tr><td>{image('A.png', 150)}<td>Maid</table>",
        BELONGS,
    ),
    "a portrait in a list of people, in HTML's own table": (
        "fr",
        "<table><tr><td>[[Fichier:A.png|80px]]</td><td>Anne</td></tr></table>",
        f"<table><tr><td>{image('A.png', 80)}<td>Anne</table>",
        BELONGS,
    ),
    "a picture as wide as thumbnails in a table": (
        "de",
        "{|\n| [[Datei:A.png|rahmenlos|hochkant=0.8]]\n|}",
        f"<table><tr><td>{image('A.png', 176, 'mw:File/Frameless')}</table>",
        BELONGS,
    ),
    "a thumbnail in a table": (
        "ru",
        "{|\n| [[Файл:A.png|мини|Words]]\n|}",
        "<table><tr><td><figure typeof='mw:File/Thumb'><img resource='./Файл:A.png' width=220 />"
        "<figcaption>Words</figcaption></figure></table>",
        BELONGS,
    ),
    "a coat of arms of 60 px in a list of towns": (
        "de",
        "{|\n| [[Datei:A.png|60px]] || Elm\n|}",
        f"<table><tr><td>{image('A.png', 60)}<td>Elm</table>",
        "icon",
    ),
    "a medal in a table of results": (
        "en",
        "{|\n| [[File:A.png|16px|alt=1st]] || Ann\n|}",
        f"<table><tr><td>{image('A.png', 16)}<td>Ann</table>",
        "icon",
    ),
    "a flag that a template shows": (
        "en",
        "{|\n| {{flagicon image|A.png|size=20px}} Elm\n|}",
        f"<table><tr><td><span class=flagicon about='#mwt1'>{image('A.png', 20)}</span>Elm</table>",
        "icon",
    ),
    "a flag that a template shows at its own size": (
        "en",
        "{{flagicon image|A.png}} Elm",
        f"<p><span class=flagicon about='#mwt1'>{image('A.png', 23)}</span> Elm</p>",
        "icon",
    ),
    "a banner that a template of another language shows": (
        "ru",
        "{{Флаг из файла|A.png|25px}} Elm",
        f"<p><span about='#mwt1'>{image('A.png', 25)}</span> Elm</p>",
        "icon",
    ),
    "the logo of a box for a sister project": (
        "en",
        "{{Sister project|project=commons|image=A.png|text=See more}}",
        f"<div class='side-box sistersitebox' about='#mwt1'>{image('A.png', 80)} See more</div>",
        "aside",
    ),
    "the logo of a box that the page makes itself": (
        "fr",
        '<div class="autres-projets noprint">[[Fichier:A.png|80px]] Commons</div>',
        f"<div class='autres-projets noprint'>{image('A.png', 80)} Commons</div>",
        "aside",
    ),
    "a picture in a navigation box": (
        "en",
        "{{Navbox\n|name=Elms\n|image=[[File:A.png|100px]]\n|list1=[[Elm]]\n}}",
        f"<div class=navbox about='#mwt1'><table><tr><td>{image('A.png', 100)}</table></div>",
        "aside",
    ),
    "a picture in a table with a navigation box's class": (
        "ru",
        '{| class="navbox collapsible"\n| [[Файл:A.png|100px]] || [[Elm]]\n|}',
        f"<table class='navbox collapsible'><tr><td>{image('A.png', 100)}</table>",
        "aside",
    ),
    "a picture of a bar that folds": (
        "de",
        '<div class="NavFrame"><div class="NavHead">Elms</div>\n[[Datei:A.png|90px]]\n</div>',
        f"<div class=NavFrame><div class=NavHead>Elms</div>{image('A.png', 90)}</div>",
        "aside",
    ),
    "a gallery that folds": (
        "fr",
        '<div class="NavFrame"><div class="NavHead">Elms</div>\n'
        "<gallery>\nFichier:A.png|Words\n</gallery></div>",
        "<div class=NavFrame><ul class=gallery><li class=gallerybox><div class=thumb><img "
        "resource='./Fichier:A.png' width=120 /></div><div class=gallerytext>Words</div></ul>"
        "</div>",
        BELONGS,
    ),
    "a portal's picture": (
        "fr",
        "{{Portail|A.png}}",
        f"<ul class=bandeau-portail about='#mwt1'><li>{image('A.png', 90)} Elms</ul>",
        "aside",
    ),
    "a drawing of unknown size in a table": (
        "ja",
        "{|\n| [[ファイル:A.png]] || Elm\n|}",
        f"<table><tr><td>{image('A.png', 20)}<td>Elm</table>",
        "a sign or an icon",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_wikitext_and_html_agree_which_picture_belongs_to_its_section(way, tmp_path):
    language, text, body, reason = WAYS[way]
    (tmp_path / "html").mkdir()
    written = in_wikitext(text, tmp_path, language)["A.png"]
    rendered = in_html(body, tmp_path / "html", language)["A.png"]
    if reason == "a sign or an icon":
        # A dump lacks the sizes of files, and HTML has them.
        assert (written, rendered) == ("sign_in_table", "icon")
    else:
        assert (written, rendered) == (reason, reason)


def test_each_of_several_flags_in_a_row_is_an_icon(tmp_path):
    flags = "".join(f"[[File:{n}.svg|22x20px|border|link=]]" for n in "ABCD")
    text = f"{{|\n| {flags} Elm || [[File:Elm.jpg|120px]]\n|}}"
    expected = dict.fromkeys([f"{n}.svg" for n in "ABCD"], "icon") | {"Elm.jpg": BELONGS}
    assert in_wikitext(text, tmp_path) == expected


def test_a_photograph_of_unknown_size_in_a_table_belongs_to_its_section(tmp_path):
    found = in_wikitext(
        "{|\n| [[File:A.jpg]] || [[File:B.svg]] || [[File:C.svg|Told]]\n|}", tmp_path
    )
    assert found == {"A.jpg": BELONGS, "B.svg": "sign_in_table", "C.svg": BELONGS}


@pytest.mark.parametrize("name", sorted(ASIDES))
def test_every_class_of_an_aside_counts_on_both_roads(name, tmp_path):
    (tmp_path / "html").mkdir()
    text = f'<div class="plain {name}">\n{{|\n| [[File:A.jpg|100px]]\n|}}\n</div>\n[[File:B.jpg]]'
    body = f"<div class='plain {name}'><table><tr><td>{image('A.jpg', 100)}</table></div>"
    expected = {"A.jpg": "aside", "B.jpg": BELONGS}
    assert in_wikitext(text, tmp_path) == expected
    assert in_html(body + image("B.jpg", 300), tmp_path / "html") == expected


@pytest.mark.parametrize(
    "before",
    [
        "{{Infobox\n| a = b\n|}}\n",
        '{{Quote|{| class="navbox"\n| x }}\n',
        '{|\n| <div class="navbox">\n|}\n',
        '{| class="navbox"\n| x\n |}\n',
        '<table class="navbox"><tr><td>x</table>\n</div></div>\n|}\n',
        '<div class="navbox"/>\n</div>\n',
    ],
)
def test_a_box_ends_where_what_is_around_it_ends(before, tmp_path):
    found = in_wikitext(f"{before}[[File:A.svg]]\n{{{{Box|image=B.jpg}}}}", tmp_path)
    assert found == {"A.svg": BELONGS, "B.jpg": BELONGS}


def test_files_of_an_aside_are_none_that_the_section_links_to(tmp_path):
    in_html(f"<div class=navbox>{image('A.jpg', 90)}</div>{image('B.jpg', 90)}", tmp_path)
    assert pl.read_parquet(tmp_path / "sections")["media"].to_list() == [["B.jpg"]]
