"""Every kind of snapshot of one encyclopedia becomes the same tables."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests import snapshots
from tests.snapshots import ENGLISH, Page

from isotope.core import uploads
from isotope.core.errors import CorruptFile, MissingFile, TruncatedFile
from isotope.core.uploads import upload_url
from isotope.crawl.pictures import zim_contents, zim_names
from isotope.parse import dump
from isotope.parse.dump import gather_dump
from isotope_toy import snapshot as toy
from isotope_toy.pages import ICONS

PAGES = 60
TABLES = ("sections", "links", "outline", "rejected", "infoboxes", "pictures")
WRITERS: dict[str, tuple[str, Callable[..., Path]]] = {
    "xml": ("toywiki.xml", snapshots.write_export),
    "enterprise": ("toywiki-NS0-ENTERPRISE-HTML.json.tar.gz", snapshots.write_enterprise),
    "zim": ("wikipedia_toy_all_maxi_2026-01.zim", snapshots.write_zim),
}
ADAPTERS = tuple(WRITERS)


def parse(files: list[Path], folder: Path, **given) -> dict[str, Path]:
    out = {name: folder / f"{name}.parquet" for name in TABLES} | {"counts": folder / "counts"}
    renamed: dict[str, Any] = {
        ("out" if name == "sections" else name): path for name, path in out.items()
    }
    dump.parse_dump(
        files, **renamed, workers=given.get("workers", 1), part=given.get("part", (0, 1))
    )
    return out


def read(out: dict[str, Path]) -> dict[str, pl.DataFrame]:
    return {name: pl.read_parquet(out[name]) for name in TABLES}


def counts(out: dict[str, Path]) -> dict[str, int]:
    told = json.loads(out["counts"].read_text())
    told.pop(dump.PAGES, None)
    return told


def digests(out: dict[str, Path]) -> dict[str, str]:
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in out.items()}


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> list[Page]:
    folder = tmp_path_factory.mktemp("toy")
    toy.generate(folder, pages=PAGES, draw=False)
    return snapshots.pages_of(next((folder / "dump").glob("*-multistream.xml.bz2")))


@pytest.fixture(scope="module")
def files(pages, tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("snapshots")
    return {kind: write(pages, folder / name) for kind, (name, write) in WRITERS.items()}


@pytest.fixture(scope="module")
def parsed(files, tmp_path_factory) -> dict[str, dict[str, Path]]:
    return {k: parse([files[k]], tmp_path_factory.mktemp(k)) for k in ADAPTERS}


def by_title(out: dict[str, Path], name: str, key: str = "page_id") -> pl.DataFrame:
    """Return a table with titles in place of numbers, which a ZIM file has none of, sorted."""
    tables = read(out)
    titles = tables["sections"].select("page_id", title="page_title").unique()
    table = tables[name].join(titles, on=key, how="left")
    return table.drop(key, "text_id", "revision_id", strict=False).sort(pl.all())


@pytest.mark.parametrize("kind", ADAPTERS)
class TestEveryKind:
    def test_sections_texts_and_hierarchies_are_those_of_the_export(self, kind, parsed):
        found, wanted = (by_title(parsed[k], "sections") for k in (kind, "xml"))
        for name in wanted.columns:
            assert found[name].to_list() == wanted[name].to_list(), name
        assert len(wanted) > 2 * PAGES

    def test_pictures_and_their_captions_are_those_of_the_export(self, kind, parsed):
        found, wanted = (by_title(parsed[k], "pictures") for k in (kind, "xml"))
        assert found.rows() == wanted.rows()
        assert {"link", "infobox"} == set(wanted["origin"])
        captions = wanted.filter(~pl.col("file").is_in([icon.name for icon in ICONS]))["caption"]
        filled = [len(caption) for caption in captions if caption]
        assert len(filled) > len(captions) / 2
        assert min(filled) > 10

    @pytest.mark.parametrize("name", ["links", "infoboxes"])
    def test_links_and_infoboxes_are_those_of_the_export(self, kind, name, parsed):
        found, wanted = (by_title(parsed[k], name) for k in (kind, "xml"))
        assert found.rows() == wanted.rows()
        assert len(wanted)

    def test_the_outline_is_that_of_the_export(self, kind, parsed):
        found, wanted = (by_title(parsed[k], "outline") for k in (kind, "xml"))
        assert found.rows() == wanted.rows()
        for name in ("list_items", "table_rows", "references", "has_infobox"):
            assert wanted[name].sum() > 20, name
        assert wanted["languages"].list.len().sum() > 20

    def test_what_is_left_out_is_so_for_the_same_reasons(self, kind, parsed):
        found, wanted = (
            read(parsed[k])["rejected"].select("reason", "detail", "raw").sort(pl.all())
            for k in (kind, "xml")
        )
        assert found.rows() == wanted.rows()
        assert set(wanted["reason"]) == {"redirect", "disambiguation", "other_namespace"}

    def test_the_counts_are_those_of_the_export(self, kind, parsed):
        assert counts(parsed[kind]) == counts(parsed["xml"])

    def test_the_number_of_workers_does_not_show(self, kind, files, parsed, tmp_path, monkeypatch):
        monkeypatch.setattr("isotope.parse.html_snapshots.BATCH_BYTES", 10_000)
        monkeypatch.setattr("isotope.parse.html_snapshots.ENTRIES", 10)
        assert digests(parse([files[kind]], tmp_path, workers=2)) == digests(parsed[kind])

    def test_the_number_of_shards_does_not_show(self, kind, files, tmp_path):
        given = [files[kind], files["zim"], files["enterprise"]]
        whole = parse(given, tmp_path / "whole")
        parts = [parse(given, tmp_path / f"{n}", part=(n, 5)) for n in range(5)]
        gathered = [{name: tmp_path / f"gathered-{n}" / name for name in whole} for n in range(2)]
        for out, made in zip([[whole], parts], gathered, strict=True):
            gather_dump({name: [part[name] for part in out] for name in whole}, made)
        assert digests(gathered[0]) == digests(gathered[1])

    def test_rows_of_what_is_left_out_are_ordinals_in_the_file(self, kind, files, parsed):
        rejected = read(parsed[kind])["rejected"]
        told = json.loads(parsed[kind]["counts"].read_text())
        assert set(rejected["file"]) == {files[kind].name}
        assert rejected["row"].is_unique().all()
        assert rejected["row"].max() <= told["pages"]


def test_enterprise_keeps_the_numbers_of_pages_and_revisions(parsed):
    found, wanted = (
        read(parsed[k])["sections"].select("text_id", "page_id").sort(pl.all())
        for k in ("enterprise", "xml")
    )
    assert found.rows() == wanted.rows()


class TestZim:
    def test_a_page_without_a_number_has_one_by_its_title(self, parsed):
        """It is the first 15 hexadecimal digits of the title's MD5."""
        sections = read(parsed["zim"])["sections"]
        (found,) = set(sections.filter(page_title="Ashworth Abbey")["page_id"])
        assert f"{found:x}" == hashlib.md5(b"Ashworth Abbey").hexdigest()[:15].lstrip("0")
        assert sections["revision_id"].null_count() == 0

    def test_parsoids_numbers_are_kept_where_they_are_told(self, pages, parsed, tmp_path):
        path = snapshots.write_zim(pages[:20], tmp_path / "x.zim", ids=True)
        found = read(parse([path], tmp_path))["sections"]
        wanted = read(parsed["xml"])["sections"]
        kept = wanted.filter(pl.col("page_id").is_in(found["page_id"].to_list()))
        own = ["text_id", "page_id", "page_title"]
        assert found.select(own).sort(own).rows() == kept.select(own).sort(own).rows()

    @pytest.mark.parametrize(
        ("told", "url"),
        [
            ({"Source": "https://sw.wikipedia.org/"}, "https://sw.wikipedia.org/wiki/A"),
            ({"Source": "de.wikivoyage.org"}, "https://de.wikivoyage.org/wiki/A"),
            ({"Name": "wikipedia_zh-yue_all"}, "https://zh-yue.wikipedia.org/wiki/A"),
            ({"Language": "jpn,eng"}, "https://ja.wikipedia.org/wiki/A"),
            ({}, "https://en.wikipedia.org/wiki/A"),
        ],
    )
    def test_its_metadata_tell_the_wiki(self, told, url, tmp_path):
        path = snapshots.write_zim([Page(1, 0, "A", "Text")], tmp_path / "x.zim", told=told)
        assert read(parse([path], tmp_path))["sections"]["page_url"].to_list() == [url]

    def test_its_pictures_are_called_as_the_associations_call_them(self, tmp_path):
        images = {"A b&c.png": b"1", "Ö.jpg": b"2"}
        path = snapshots.write_zim([Page(1, 0, "A", "Text")], tmp_path / "x.zim", images=images)
        uploads = "https://upload.wikimedia.org/wikipedia"
        commons = [upload_url(name) for name in images]
        assert sorted(zim_names(path, [])) == sorted(commons)
        (tmp_path / "files.csv").write_text("file,project\nÖ.jpg,local\n")
        own = [tmp_path / "files.csv"]
        (local,) = set(zim_names(path, own)) - set(commons)
        assert local == commons[1].replace(f"{uploads}/commons", f"{uploads}/en")
        assert list(zim_contents(path, own, lambda url: url == local)) == [(local, b"2")]


LEAD = "Ray sang<sup class='reference'>[1]</sup> in <a href='./Albany'>Albany</a>."


def html_page(body: str, **told) -> dict[str, pl.DataFrame]:
    """Parse one page of Enterprise with this body."""
    folder = Path(told["folder"])
    folder.mkdir(exist_ok=True)
    page = Page(7, 0, told.get("title", "Ray"), "x")
    (record,) = (json.loads(line) for line in snapshots.records([page], told.get("wiki", ENGLISH)))
    record["article_body"]["html"] = f"<html><body>{body}</body></html>"
    (folder / "x.ndjson").write_text(json.dumps(record) + "\n")
    return read(parse([folder / "x.ndjson"], folder))


def texts(body: str, folder: Path) -> list[str]:
    return html_page(body, folder=folder)["sections"]["context_section_description"].to_list()


class TestText:
    @pytest.mark.parametrize(
        ("body", "text"),
        [
            ("<p>One\ntwo</p><p>three<br>four</p>", "One two\nthree\nfour"),
            ("<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "a\nb\nc"),
            ("<dl><dt>a</dt><dd>b</dd></dl>", "a\nb"),
            (
                "<table class=wikitable><caption>T</caption><tr><th>a</th><th>b</th></tr>"
                "<tr><td><p>c</p><ul><li>d</li></ul></td><td>e<br>f</td></tr></table>",
                "T\na b\nc d e f",
            ),
            ("<pre>a\n b</pre>", "a\nb"),
            ("<p>a<span typeof='mw:Transclusion' about='#mwt1'>b c</span></p>", "ab c"),
            ("<p>&lt;b&gt; &amp;amp; 1&nbsp;km</p>", "<b> &amp; 1 km"),
            ("<p>a<span style='display: none'>b</span><span class='noprint'>c</span></p>", "a"),
            ("<p>x<span class='mwe-math-element'><math><mi>y</mi></math></span></p>", "x"),
            ("<div class='hatnote'>See b.</div><p>a</p><div class='navbox'>c</div>", "a"),
            ("<table class='infobox'><tr><td>b</td></tr></table><p>a</p>", "a"),
            ("<table about='#mwt4'><tr><td>b</td></tr></table><p>a</p>", "a"),
            ("<table about='#mwt4' typeof='mw:ExpandedAttrs'><tr><td>b</td></tr></table>", "b"),
            ("<style>b</style><p>a<!-- c --></p><script>d</script>", "a"),
            ("<div class='toc'><h2>Contents</h2></div><p>a</p>", "a"),
            ("<figure typeof='mw:File/Thumb'><figcaption>b</figcaption></figure><p>a</p>", "a"),
            ("<p>a <a rel='mw:ExtLink' href='https://x'>b</a> c", "a b c"),
        ],
    )
    def test_what_readers_read_stays_a_line_each(self, body, text, tmp_path):
        assert texts(body, tmp_path / "x") == [text]

    def test_headings_cut_wherever_they_stand(self, tmp_path):
        body = (
            f"<section>{LEAD}</section><details><summary class='section-heading'><h2>A <i>b</i>"
            "<span class='mw-editsection'>[edit]</span></h2></summary>one<div class='mw-heading'>"
            "<h4>c</h4></div>two</details><table class='navbox'><tr><td><h2>no</h2></table>"
            "<h2>D</h2>"
        )
        sections = html_page(body, folder=tmp_path)["sections"]
        assert sections.select("hierarchy", "context_section_description").rows() == [
            ("Introduction", "Ray sang in Albany."),
            ("A b", "one"),
            ("A b / c", "two"),
            ("D", ""),
        ]

    def test_links_are_titles_of_articles_in_page_order(self, tmp_path):
        hrefs = [
            *("./B_c?action=edit&amp;redlink=1", "D%3F#x", "../A/E", "./Ray#Life", "/wiki/F"),
            *("https://g.org/H", "//i.org", "#J", "./File:K.jpg", "./Category:L", "./Help:M"),
            *("./b_c", "mailto:n", "./N:_o"),
        ]
        links = "".join(f'<a href="{href}">x</a>' for href in hrefs)
        body = f"{links}<a rel='mw:WikiLink/Interwiki' href='./P'>p</a>"
        found = html_page(body, folder=tmp_path)["links"]["target"].to_list()
        assert found == ["B c", "D?", "E", "F", "N: o"]

    def test_categories_that_a_template_adds_do_not_count(self, tmp_path):
        body = (
            "<p>x</p><link rel='mw:PageProp/Category' href='./Category:A_b#sort'/>"
            "<link rel='mw:PageProp/Category' href='./Category:C' about='#mwt3'/>"
        )
        assert html_page(body, folder=tmp_path)["sections"]["category"].to_list() == [["A b"]]


IMAGE = "<img resource='./File:A_b.svg' src='//x/commons/thumb/a/ab/A_b.svg/40px-A_b.svg.png' {0}/>"


class TestPictures:
    def test_a_picture_within_a_caption_is_one_of_its_section(self, tmp_path):
        inner = f"<span typeof='mw:File'>{IMAGE.replace('A_b', 'F')}</span>"
        body = (
            f"<figure typeof='mw:File/Thumb'>{IMAGE}<figcaption>Of {inner} it</figcaption></figure>"
        )
        shown = html_page(f"<h2>H</h2>{body}", folder=tmp_path)["pictures"]
        assert shown.select("text_id", "file", "caption").rows() == [
            ("projected-00000007-001", "A b.svg", "Of it"),
            ("projected-00000007-001", "F.svg", ""),
        ]

    @pytest.mark.parametrize(
        ("body", "row"),
        [
            (
                f"<figure typeof='mw:File/Frame'><a>{IMAGE}</a><figcaption>A <a href='./Q'>q</a>"
                "<sup class='reference'>[1]</sup></figcaption></figure>",
                ("A b.svg", "link", "A q", "", None, True, False),
            ),
            (
                f"<span typeof='mw:File'><a title='said'>{IMAGE}</a></span>",
                ("A b.svg", "link", "", "said", 40, False, False),
            ),
            (
                "<figure-inline typeof='mw:Image'><a><img resource='./File:C.jpg' src='x' "
                "alt='told' width='30'></a></figure-inline>",
                ("C.jpg", "link", "", "told", 30, False, False),
            ),
            (
                f"<table class=wikitable><tr><td><span typeof='mw:File'>{IMAGE}</span></table>",
                ("A b.svg", "link", "", "", 40, False, True),
            ),
            (
                f"<ul class=gallery><li class=gallerybox><div class=thumb>{IMAGE}</div>"
                "<div class=gallerytext><p>In a row</p></div></li></ul>",
                ("A b.svg", "gallery", "In a row", "", None, True, False),
            ),
            (
                "<div class='thumb tmulti'><div class=thumbinner><div class=tsingle><div "
                f"class=thumbimage><span typeof='mw:File'>{IMAGE}</span></div><div "
                "class=thumbcaption>One</div></div></div></div>",
                ("A b.svg", "template", "One", "", None, True, False),
            ),
            (
                f"<table class=infobox><tr><td colspan=2><span typeof='mw:File'>{IMAGE}</span>"
                "<div>Under it</div></td></tr></table>",
                ("A b.svg", "infobox", "Under it", "", None, True, False),
            ),
            (
                f"<table class=infobox><tr><th>Land</th><td>{IMAGE} Wales</td></tr></table>",
                ("A b.svg", "link", "", "", 40, False, False),
            ),
            (
                "<figure typeof='mw:Video/Thumb'><video resource='./File:D.webm' poster='y'>"
                "</video><figcaption>Moves</figcaption></figure>",
                ("D.webm", "link", "Moves", "", None, True, False),
            ),
            (
                "<figure typeof='mw:Error mw:File/Thumb'><a><span resource='./File:E.png'>E</span>"
                "</a><figcaption>Gone</figcaption></figure>",
                ("E.png", "link", "Gone", "", None, True, False),
            ),
        ],
    )
    def test_each_way_to_show_a_file_is_read(self, body, row, tmp_path):
        wide = "<p>x</p>" + body.format('width="40"')
        shown = html_page(wide, folder=tmp_path)["pictures"]
        columns = ["file", "origin", "caption", "alt", "width", "is_framed", "is_in_table"]
        assert shown.select(columns).rows() == [row]

    @pytest.mark.parametrize(
        ("address", "name"),
        [
            ("./Datei:A_b.jpg", "A b.jpg"),
            ("//upload.wikimedia.org/wikipedia/commons/4/4a/C%26d.png", "C&d.png"),
            ("https://upload.wikimedia.org/wikipedia/de/thumb/4/4a/E.svg/220px-E.svg.png", "E.svg"),
            ("./_assets_/0a1b/F_g.jpg", "F g.jpg"),
            ("../I/H.svg.png", "H.svg"),
            ("../I/i.jpg.webp", "I.jpg"),
            ("./_assets_/0a1b/K.webp", "K.webp"),
            ("I/lossy-page1-300px-L.tif.jpg", "L.tif"),
            ("./_assets_/0a1b/0123456789abcdef", None),
            ("./Special:FilePath/M.png", "M.png"),
        ],
    )
    def test_a_file_is_called_as_its_page_whatever_shows_it(self, address, name):
        assert uploads.file_of(address) == name


class TestRejected:
    def bad(self, lines: list[str], folder: Path):
        (folder / "x.ndjson").write_text("".join(f"{line}\n" for line in lines))
        out = parse([folder / "x.ndjson"], folder)
        return read(out)["rejected"], counts(out)

    @pytest.mark.parametrize(
        "damage",
        [
            lambda r: "{not json",
            lambda r: "[]",
            lambda r: json.dumps({**r, "article_body": None}),
            lambda r: json.dumps({**r, "identifier": "seven"}),
            lambda r: json.dumps({k: v for k, v in r.items() if k != "version"}),
        ],
    )
    def test_a_bad_record_is_named_and_kept_and_costs_no_other(self, damage, tmp_path):
        pages = [Page(n, 0, f"P{n}", "Text") for n in (1, 2, 3)]
        lines = snapshots.records(pages)
        lines[1] = damage(json.loads(lines[1]))
        rejected, told = self.bad(lines, tmp_path)
        assert rejected.select("file", "row", "reason", "raw").rows() == [
            ("x.ndjson", 2, "bad_record", lines[1])
        ]
        assert (told["articles"], told["bad_record"], told["pages"]) == (2, 1, 3)

    def test_of_an_articles_records_the_newest_revision_counts(self, tmp_path, monkeypatch):
        monkeypatch.setattr("isotope.parse.html_snapshots.BATCH_BYTES", 1)
        texts = {1: "old", 2: "new", 3: "older", 4: "other"}
        pages = [Page(4 if n == 4 else 7, 0, "P", f"{word}") for n, word in texts.items()]
        records = [json.loads(line) for line in snapshots.records(pages)]
        for record, revision in zip(records, (5, 9, 2, 1), strict=True):
            record["version"]["identifier"] = revision
        lines = [json.dumps(record) for record in (*records, records[1])]
        rejected, told = self.bad([*lines, "[" * 200_000], tmp_path)
        assert rejected.select("row", "reason", "raw").rows()[:3] == [
            (1, "repeated_page", "revision 5"),
            (3, "repeated_page", "revision 2"),
            (5, "repeated_page", "revision 9"),
        ]
        assert (told["articles"], told["repeated_page"], told["bad_record"]) == (2, 3, 1)
        kept = pl.read_parquet(tmp_path / "sections.parquet")
        assert kept.select("page_id", "revision_id").unique(maintain_order=True).rows() == [
            (7, 9),
            (4, 1),
        ]

    @pytest.mark.parametrize(
        ("body", "reason"),
        [
            ("", "empty"),
            ("<p> </p>", "empty"),
            ("<meta property='mw:PageProp/disambiguation'/><p>x</p>", "disambiguation"),
            ("<p>x</p><div id='disambigbox'></div>", "disambiguation"),
            (
                "<p>x</p><div typeof='mw:Transclusion' data-mw='"
                '{"parts":[{"template":{"target":{"wt":"hndis"}}}]}\'></div>',
                "disambiguation",
            ),
        ],
    )
    def test_pages_without_an_article_are_left_out(self, body, reason, tmp_path):
        assert html_page(body, folder=tmp_path)["rejected"]["reason"].to_list() == [reason]

    @pytest.mark.parametrize("depth", [700, 3_000])
    @pytest.mark.parametrize(("name", "write"), [WRITERS["enterprise"], WRITERS["zim"]])
    def test_a_page_too_deep_to_read_is_kept_aside_whole_and_alone(
        self, name, write, depth, tmp_path, monkeypatch
    ):
        deep = f"<html><body>{'<div>' * depth}bottom{'</div>' * depth}</body></html>"
        plain = snapshots.render
        monkeypatch.setattr(
            snapshots, "render", lambda page, wiki: deep if page.page_id == 2 else plain(page, wiki)
        )
        monkeypatch.setattr(
            snapshots, "kiwix", lambda page, wiki, ids: snapshots.render(page, wiki)
        )
        pages = [Page(n, 0, f"P{n}", "Text") for n in (1, 2, 3)]
        out = parse([write(pages, tmp_path / name)], tmp_path)
        rejected = read(out)["rejected"]
        assert rejected.select("row", "reason", "raw").rows() == [(2, "bad_record", deep)]
        assert counts(out)["articles"] == 2

    @pytest.mark.parametrize("kind", ["enterprise", "zim"])
    def test_a_truncated_file_is_named_and_leaves_nothing(self, kind, files, tmp_path):
        data, path = files[kind].read_bytes(), tmp_path / files[kind].name
        path.write_bytes(data[: len(data) // 2])
        with pytest.raises((TruncatedFile, CorruptFile), match=path.name):
            parse([path], tmp_path / "out")
        assert not list((tmp_path / "out").glob("*"))

    @pytest.mark.parametrize("name", ["x.tar.gz", "x.zim", "x.ndjson.gz"])
    def test_what_is_no_snapshot_is_refused(self, name, tmp_path):
        (tmp_path / name).write_bytes(b"no snapshot at all")
        with pytest.raises((TruncatedFile, CorruptFile), match=name):
            parse([tmp_path / name], tmp_path / "out")
        with pytest.raises(MissingFile, match="none"):
            parse([tmp_path / f"none-{name}"], tmp_path / "out")
