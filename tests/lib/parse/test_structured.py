"""Structured Contents are read as the HTML of the same pages, as far as they say it."""

import gzip
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests import snapshots, structured
from tests.lib.parse.test_snapshots import TABLES, by_title, counts, digests, parse, read
from tests.snapshots import Page

from isotope.core.errors import CorruptFile
from isotope.parse.dump import gather_dump
from isotope.parse.structured import BARE_LEADS, LOST_PICTURES, LOST_TABLES
from isotope_toy import snapshot as toy

PAGES = 60
_CAPTION_OF_TABLE = re.compile(r"^\|\+.*\n", re.MULTILINE)


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> list[Page]:
    """The embedded encyclopedia without captions of tables, which the form has no place for."""
    folder = tmp_path_factory.mktemp("toy")
    toy.generate(folder, pages=PAGES, draw=False)
    export = next((folder / "dump").glob("*-multistream.xml.bz2"))
    made = snapshots.pages_of(export)
    return [replace(page, text=_CAPTION_OF_TABLE.sub("", page.text)) for page in made]


@pytest.fixture(scope="module")
def snapshot(pages, tmp_path_factory) -> Path:
    return structured.write_structured(pages, tmp_path_factory.mktemp("s") / "toy.tar.gz")


@pytest.fixture(scope="module")
def both(pages, snapshot, tmp_path_factory) -> dict[str, dict[str, Path]]:
    folder = tmp_path_factory.mktemp("both")
    html = snapshots.write_enterprise(pages, folder / "html.tar.gz")
    files = {"structured": snapshot, "html": html}
    return {kind: parse([path], folder / kind) for kind, path in files.items()}


class TestTheEncyclopedia:
    @pytest.mark.parametrize("name", ["sections", "pictures", "infoboxes"])
    def test_its_tables_are_those_of_its_html(self, name, both):
        found, wanted = (read(both[kind])[name] for kind in ("structured", "html"))
        unsaid = ["category"] if name == "sections" else []
        assert found.drop(unsaid).rows() == wanted.drop(unsaid).rows()
        assert len(wanted) > 10

    def test_its_outline_is_that_of_its_html_without_other_languages(self, both):
        found, wanted = (read(both[kind])["outline"] for kind in ("structured", "html"))
        unsaid = ["languages", "links"]
        assert found.drop(unsaid).rows() == wanted.drop(unsaid).rows()
        for name in ("list_items", "table_rows", "references", "has_infobox"):
            assert wanted[name].sum() > 20, name

    def test_its_links_are_those_of_its_html_but_for_captions(self, pages, both):
        found, wanted = (by_title(both[kind], "links") for kind in ("structured", "html"))
        captions = {
            (target, page.title)
            for page in pages
            for line in page.text.splitlines()
            if line.startswith("[[File:")
            for target in re.findall(r"\[\[(?!File:)([^|\]#]*)", line)
        }
        missing = wanted.join(found, on=["title", "target"], how="anti")
        assert not found.join(wanted, on=["title", "target"], how="anti").height
        assert {*missing.select("target", "title").iter_rows()} <= captions
        assert 0 < missing.height < wanted.height / 20

    def test_a_title_that_says_so_is_a_disambiguation_page(self, both):
        found, wanted = (
            read(both[kind])["rejected"].filter(reason="disambiguation")["detail"].to_list()
            for kind in ("structured", "html")
        )
        assert found == wanted
        assert found

    def test_workers_and_shards_do_not_show(self, snapshot, both, tmp_path, monkeypatch):
        monkeypatch.setattr("isotope.parse.html_snapshots.BATCH_BYTES", 10_000)
        whole = digests(both["structured"])
        assert digests(parse([snapshot], tmp_path / "two", workers=2)) == whole
        parts = [parse([snapshot], tmp_path / f"{n}", part=(n, 3)) for n in range(3)]
        gathered = {name: tmp_path / "gathered" / name for name in whole}
        gather_dump({name: [part[name] for part in parts] for name in whole}, gathered)
        assert digests(gathered) == whole


WIKITEXT = """{{Infobox person|name=Ray|image=Ray one.jpg|caption=Ray in 1969|alt=A man}}
'''Ray''' sang in [[Albany, Georgia|Albany]].<ref>A book.</ref>
== Life ==
He had:
* a piano,
* a [[Wurlitzer#Pianos|Wurlitzer]].
[[File:Ray two.jpg|thumb|alt=At a piano|Ray at a piano]]
=== Records ===
{| class="wikitable"
! Year !! Title
|-
| 1959 || What'd I Say
|}
<gallery>
File:Ray three.png|A stage
</gallery>
== Notes ==
"""
_IMG = '<img alt="{alt}" resource="./File:{name}" src="//upload.wikimedia.org/{at}" width="220"/>'
_AT = "wikipedia/commons/thumb/a/ab/{name}/250px-{name}"


def _img(name: str, alt: str = "") -> str:
    return _IMG.format(alt=alt, name=name, at=_AT.format(name=name))


HTML = f"""<html><body><section><table class="infobox" about="#mwt1"><tbody>
<tr><th colspan="2">Ray</th></tr><tr><td colspan="2" class="infobox-image"><span typeof="mw:File">
{_img("Ray_one.jpg", "A man")}</span><div class="infobox-caption">Ray in 1969</div></td></tr>
</tbody></table><p><b>Ray</b> sang in <a rel="mw:WikiLink" href="./Albany,_Georgia">Albany</a>.
<sup class="mw-ref reference" typeof="mw:Extension/ref"><a href="#n">[1]</a></sup></p></section>
<section><h2>Life</h2><p>He had:</p><ul><li>a piano,</li><li>a
<a rel="mw:WikiLink" href="./Wurlitzer#Pianos">Wurlitzer</a>.</li></ul>
<figure typeof="mw:File/Thumb"><a>{_img("Ray_two.jpg", "At a piano")}</a><figcaption>Ray at a piano
</figcaption></figure></section><section><h3>Records</h3><table class="wikitable"><tbody>
<tr><th>Year</th><th>Title</th></tr><tr><td>1959</td><td>What'd I Say</td></tr></tbody></table>
<ul class="gallery" typeof="mw:Extension/gallery"><li class="gallerybox"><div class="thumb">
{_img("Ray_three.png")}</div><div class="gallerytext">A stage</div></li></ul></section>
<section><h2>Notes</h2></section></body></html>"""


def _image(name: str, caption: str, alt: str = "", width: int = 250) -> dict[str, object]:
    at = _AT.format(name=name)
    told = {"caption": caption, "alternative_text": alt, "width": width, "height": width}
    return {"content_url": f"https://upload.wikimedia.org/{at}", **told}


def _section(name: str, *parts: Mapping[str, object]) -> dict[str, object]:
    return {"type": "section", "name": name, "has_parts": list(parts)}


def _link(target: str) -> dict[str, str]:
    return {"url": f"https://en.wikipedia.org/wiki/{target}", "text": "x"}


PICTURE = {"type": "image", "images": [_image("Ray_one.jpg", "Ray in 1969", "A man")]}
RECORDS = _section(
    "Records",
    {"type": "table", "table_references": [{"identifier": "t"}]},
    {"type": "gallery", "images": [_image("Ray_three.png", "A stage")]},
)
RAY: dict[str, Any] = {
    "name": "Ray",
    "identifier": 7,
    "version": {"identifier": 9},
    "url": "https://en.wikipedia.org/wiki/Ray",
    "in_language": {"identifier": "en"},
    "is_part_of": {"identifier": "enwiki", "url": "https://en.wikipedia.org"},
    "main_entity": {"identifier": "Q1"},
    "abstract": "Ray sang in Albany.",
    "infoboxes": [
        {"type": "infobox", "name": "Infobox person", "has_parts": [_section("Ray", PICTURE)]}
    ],
    "sections": [
        _section(
            "Abstract",
            {
                "type": "paragraph",
                "value": "Ray sang in Albany.[1]",
                "links": [_link("Albany,_Georgia")],
                "citations": [{"identifier": "cite_note-1", "text": "[1]"}],
            },
        ),
        _section(
            "Life",
            {"type": "paragraph", "value": "He had:"},
            {
                "type": "list",
                "has_parts": [
                    {"type": "list_item", "value": "a piano,"},
                    {
                        "type": "list_item",
                        "value": "a Wurlitzer.",
                        "links": [_link("Wurlitzer#Pianos")],
                    },
                ],
            },
            {"type": "image", "images": [_image("Ray_two.jpg", "Ray at a piano", "At a piano")]},
            RECORDS,
        ),
        _section("Notes"),
    ],
    "tables": [
        {
            "identifier": "t",
            "headers": [[{"value": "Year"}, {"value": "Title"}]],
            "rows": [[{"value": "1959"}, {"value": "What'd I Say"}]],
        }
    ],
}


def write(folder: Path, *records: object, name: str = "x.ndjson") -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    lines = (r if isinstance(r, str) else json.dumps(r) for r in records)
    (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return folder / name


def ray(folder: Path, **given: object) -> dict[str, pl.DataFrame]:
    """Parse Ray's record with other fields."""
    return read(parse([write(folder, {**RAY, **given})], folder))


def test_one_page_in_three_forms_is_one_article(tmp_path):
    page = Page(7, 0, "Ray", WIKITEXT)
    (html,) = (json.loads(line) for line in snapshots.records([replace(page, text="x")]))
    html["article_body"]["html"], html["version"]["identifier"] = HTML, 9
    forms = {
        "xml": snapshots.write_export([page], tmp_path / "x.xml"),
        "html": write(tmp_path / "html", html),
        "structured": write(tmp_path / "structured", RAY),
    }
    made = {kind: read(parse([path], tmp_path / kind)) for kind, path in forms.items()}
    for name in TABLES:
        found = {
            kind: tables[name].drop("revision_id", strict=False) for kind, tables in made.items()
        }
        assert found["structured"].rows() == found["html"].rows(), name
        assert found["structured"].rows() == found["xml"].rows(), name
    assert made["structured"]["sections"]["hierarchy"].to_list() == [
        *("Introduction", "Life", "Life / Records", "Notes")
    ]
    assert made["structured"]["pictures"]["origin"].to_list() == ["infobox", "link", "gallery"]


def texts(folder: Path, *parts: Mapping[str, object], **given: object) -> list[str]:
    sections = ray(folder, sections=[_section("Abstract", *parts)], **given)["sections"]
    return sections["context_section_description"].to_list()


class TestText:
    @pytest.mark.parametrize(
        ("part", "text"),
        [
            ({"type": "paragraph", "value": " One\n two "}, "One two"),
            (
                {
                    "type": "ordered_list",
                    "has_parts": [
                        {
                            "type": "list_item",
                            "value": "a",
                            "has_parts": [
                                {"type": "list", "has_parts": [{"type": "list_item", "value": "b"}]}
                            ],
                        },
                        {"type": "list_item", "value": "c"},
                    ],
                },
                "a\nb\nc",
            ),
            (
                {
                    "type": "definition_list",
                    "has_parts": [
                        {"type": "definition_term", "value": "a"},
                        {"type": "definition", "value": "b"},
                    ],
                },
                "a\nb",
            ),
            ({"type": "quote", "value": "A new kind of part"}, "A new kind of part"),
            ({"type": "paragraph", "values": ["a", "b"]}, "a\nb"),
            ({"type": "image", "value": "x", "images": []}, ""),
            (
                {
                    "type": "paragraph",
                    "value": "In [1959] he[2] sang[a].",
                    "citations": [{"text": "[2]"}, {"text": "[a]"}, {"text": "he"}],
                },
                "In [1959] he sang.",
            ),
        ],
    )
    def test_each_part_that_readers_read_is_a_line(self, part, text, tmp_path):
        assert texts(tmp_path, {"type": "paragraph", "value": "x"}, part) == [f"x\n{text}".strip()]

    def test_tables_are_read_where_a_part_names_them_with_those_inside(self, tmp_path):
        table = {
            "identifier": "t",
            "headers": [[{"value": "a"}, {"value": "b"}]],
            "rows": [[{"nested_table": {"rows": [[{"value": "c"}, {"value": "d"}]]}}], []],
            "footers": [[{"value": "e\nf"}]],
        }
        part = {"type": "table", "table_references": [{"identifier": "t"}]}
        assert texts(tmp_path, part, tables=[table]) == ["a b\nc d\ne f"]
        made = read({name: tmp_path / f"{name}.parquet" for name in TABLES})
        assert made["outline"]["table_rows"].to_list() == [4]

    def test_lists_of_parts_may_be_texts_of_json_as_in_parquet(self, tmp_path):
        columns = ("sections", "infoboxes", "tables")
        written = {name: json.dumps(RAY[name]) for name in columns}
        found, wanted = ray(tmp_path / "a", **written), ray(tmp_path / "b")
        assert all(found[name].rows() == wanted[name].rows() for name in TABLES)

    def test_without_sections_the_abstract_is_the_lead_and_is_counted(self, tmp_path):
        out = parse([write(tmp_path, {**RAY, "sections": None})], tmp_path)
        sections = read(out)["sections"]
        assert sections["context_section_description"].to_list() == ["Ray sang in Albany."]
        assert counts(out)[BARE_LEADS] == 1

    def test_links_are_titles_of_articles(self, tmp_path):
        ours, others = "https://en.wikipedia.org/wiki/", "https://de.wikipedia.org/wiki/X"
        urls = [f"{ours}B_c?action=edit&redlink=1", f"{ours}D%3F#x", f"{ours}Ray#Life"]
        urls += [f"{ours}File:E.jpg", others, "#cite_note-1", "//en.wikipedia.org/wiki/F"]
        urls += ["./G", "/wiki/H", f"{ours}Category:I", f"{ours}b_c", "https://j.org/"]
        links = [{"url": url, "text": "x"} for url in urls]
        part = {"type": "paragraph", "value": "x", "links": links}
        made = ray(tmp_path, sections=[_section("Abstract", part)])
        assert made["links"]["target"].to_list() == ["B c", "D?", "F", "G", "H"]

    @pytest.mark.parametrize(
        ("title", "reason"),
        [
            ("Ray (disambiguation)", ["disambiguation"]),
            ("Ray (Begriffsklärung)", ["disambiguation"]),
            ("Ray (singer)", []),
        ],
    )
    def test_pages_are_disambiguation_by_their_titles(self, title, reason, tmp_path):
        assert ray(tmp_path, name=title)["rejected"]["reason"].to_list() == reason

    def test_a_record_of_nothing_is_empty(self, tmp_path):
        empty = {"sections": [], "infoboxes": [], "abstract": ""}
        assert ray(tmp_path, **empty)["rejected"]["reason"].to_list() == ["empty"]


class TestPictures:
    @pytest.mark.parametrize(
        ("part", "row"),
        [
            (
                {"type": "image", "images": [_image("A_b.jpg", "Said", "Told")]},
                ("A b.jpg", "link", "Said", "Told", None, True),
            ),
            (
                {"type": "gallery", "images": [_image("A.png", "", "A.png", 120)]},
                ("A.png", "gallery", "", "", None, True),
            ),
            (
                {"type": "image", "images": [_image("A.svg", "", "Flag", 20)]},
                ("A.svg", "link", "", "Flag", 20, False),
            ),
            (
                {"type": "image", "images": [_image("A.svg", "Said", "", 20)]},
                ("A.svg", "link", "Said", "", None, True),
            ),
            (
                {"type": "paragraph", "value": "x", "images": [_image("A.jpg", "Said", "", 300)]},
                ("A.jpg", "link", "", "Said", 300, False),
            ),
            (
                {
                    "type": "list_item",
                    "value": "x",
                    "links": [{**_link("X"), "images": [_image("A.svg", "", "Flag", 20)]}],
                },
                ("A.svg", "link", "", "Flag", 20, False),
            ),
        ],
    )
    def test_each_way_to_show_a_file_is_read(self, part, row, tmp_path):
        sections = [_section("Abstract", {"type": "paragraph", "value": "x"}, part)]
        shown = ray(tmp_path, sections=sections, infoboxes=[])["pictures"]
        columns = ["file", "origin", "caption", "alt", "width", "is_framed"]
        assert shown.select(columns).rows() == [row]

    def test_a_field_of_an_infobox_shows_icons(self, tmp_path):
        field = {"type": "field", "name": "Land", "value": "x"}
        flag = {**field, "links": [{**_link("X"), "images": [_image("F.svg", "", "", 23)]}]}
        box = {"type": "infobox", "has_parts": [_section("", flag, PICTURE)]}
        made = ray(tmp_path, infoboxes=[box], sections=[])
        shown = made["pictures"].select("file", "origin", "width", "is_framed").rows()
        assert shown == [("F.svg", "link", 23, False), ("Ray one.jpg", "infobox", None, True)]
        assert made["infoboxes"]["file"].to_list() == ["Ray one.jpg"]

    def test_what_the_snapshot_names_and_lacks_is_counted(self, tmp_path):
        parts = [
            {"type": "image", "images": [{"content_url": ""}, {"width": 3}]},
            {"type": "table", "table_references": [{"identifier": "gone"}]},
            {"type": "table"},
        ]
        record = {**RAY, "infoboxes": [], "sections": [_section("Abstract", *parts), RECORDS]}
        told = counts(parse([write(tmp_path, record)], tmp_path))
        assert {name: told.get(name) for name in (LOST_PICTURES, LOST_TABLES, BARE_LEADS)} == {
            **{LOST_PICTURES: 2, LOST_TABLES: 2, BARE_LEADS: None}
        }


HTML_RECORD = snapshots.records([Page(8, 0, "B", "Text")])[0]
ENTITY = {"id": "Q1", "type": "item", "labels": {}, "claims": {}, "sitelinks": {}}


class TestFiles:
    @pytest.mark.parametrize("name", ["x.ndjson.gz", "x.jsonl", "x.zip", "x.parquet", "x.tgz"])
    def test_each_form_that_is_published_is_the_same_snapshot(self, name, tmp_path):
        other = {**RAY, "identifier": 8, "name": "Ray two"}
        plain = write(tmp_path, RAY, other)
        path = tmp_path / name
        if name.endswith(".gz"):
            path.write_bytes(gzip.compress(plain.read_bytes()))
        elif name.endswith(".zip"):
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("enwiki_namespace_0_0.ndjson", json.dumps(RAY) + "\n")
                archive.writestr("__MACOSX/._enwiki_namespace_0_0.ndjson", "x")
                archive.writestr("enwiki_namespace_0_1.ndjson", json.dumps(other))
        elif name.endswith(".parquet"):
            lists = ("sections", "infoboxes", "tables")
            rows = [
                {k: json.dumps(v) if k in lists else v for k, v in r.items()} for r in (RAY, other)
            ]
            pl.DataFrame(rows).write_parquet(path)
        elif name.endswith(".tgz"):
            snapshots.write_tar([plain.read_bytes()], path)
        else:
            path.write_bytes(plain.read_bytes())
        found, wanted = read(parse([path], tmp_path / "a")), read(parse([plain], tmp_path / "b"))
        assert all(found[n].rows() == wanted[n].rows() for n in TABLES)
        assert wanted["sections"]["page_title"].n_unique() == 2

    @pytest.mark.parametrize(
        ("records", "where", "found"),
        [
            ([RAY, "{", HTML_RECORD], "x.ndjson, row 3", "a page's HTML, while"),
            ([HTML_RECORD, RAY], "x.ndjson, row 2", "a page's Structured Contents, while"),
            ([RAY, ENTITY], "x.ndjson, row 2", "an entity of Wikidata"),
            ([ENTITY], "x.ndjson, row 1", "an entity of Wikidata"),
        ],
    )
    def test_a_mixture_is_named_with_its_row(self, records, where, found, tmp_path):
        with pytest.raises(CorruptFile, match=re.escape(found)) as told:
            parse([write(tmp_path, *records)], tmp_path)
        assert where in str(told.value)
        assert not (tmp_path / "sections.parquet").exists()

    def test_a_mixture_of_files_is_named(self, tmp_path):
        files = [write(tmp_path, RAY), write(tmp_path, HTML_RECORD, name="y.ndjson")]
        with pytest.raises(CorruptFile, match=r"y\.ndjson, row 1.*x\.ndjson, row 1"):
            parse(files, tmp_path)

    @pytest.mark.parametrize(
        "field",
        [
            {"sections": "{"},
            {"sections": 3},
            {"sections": [3]},
            {"sections": [_section("Abstract", {"type": "list", "has_parts": ["x"]})]},
            {"tables": {"identifier": "t"}},
            {"tables": [{"identifier": "t", "rows": [{"value": "x"}]}]},
            {"identifier": "seven"},
            {"is_part_of": None},
            {"sections": json.loads('{"has_parts":[' * 90 + "]}" * 90)},
        ],
    )
    def test_a_bad_record_is_named_and_kept_and_costs_no_other(self, field, tmp_path):
        bad = json.dumps({**RAY, **field})
        path = write(tmp_path, {**RAY, "identifier": 6, "name": "A"}, bad, "[]", "{")
        out = parse([path], tmp_path)
        rejected = read(out)["rejected"]
        assert rejected.select("file", "row", "reason", "raw").rows() == [
            ("x.ndjson", row, "bad_record", raw) for row, raw in ((2, bad), (3, "[]"), (4, "{"))
        ]
        assert counts(out)["articles"] == 1

    def test_of_an_articles_records_the_newest_revision_counts(self, tmp_path):
        revisions = [{**RAY, "version": {"identifier": n}} for n in (5, 9, 2)]
        rejected = read(parse([write(tmp_path, *revisions)], tmp_path))["rejected"]
        assert rejected.select("row", "reason", "raw").rows() == [
            (1, "repeated_page", "revision 5"),
            (3, "repeated_page", "revision 2"),
        ]
