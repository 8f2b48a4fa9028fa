"""Kiwix ZIM files old and new, whole, split and damaged."""

import io
import json
from pathlib import Path

import polars as pl
import pytest
from mwparserfromhtml.parse.const import NAMESPACES
from PIL import Image
from tests import old_zim, snapshots
from tests.crawls import crawl_of
from tests.lib.parse.test_snapshots import counts, digests, parse, read
from tests.old_zim import Item, article, redirect
from tests.snapshots import Page

from isotope.core import files as zim
from isotope.core import wikimedia
from isotope.core.errors import CorruptFile, EmptyTable, IsotopeError, MissingFile
from isotope.core.uploads import local_url, upload_url
from isotope.crawl import pictures
from isotope.crawl.pictures import list_pictures, zim_contents, zim_names
from isotope.params.crawl import Pictures
from isotope.parse.dump import gather_dump
from isotope.parse.html_snapshots import site_of

SVG = b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>"


def png() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (5, 4), "blue").save(out, "PNG")
    return out.getvalue()


def paragraph(*hrefs: str) -> str:
    return "<p>" + " ".join(f'<a href="{href}">x</a>' for href in hrefs) + "</p>"


def old_file(folder: Path, *hrefs: str) -> Path:
    """An older file with a page that has these links, a band, a town and a picture."""
    items = [
        article("Ray Charles", paragraph(*hrefs)),
        article("AC/DC", paragraph("Ray_Charles.html")),
        article("Albany, Georgia", "<p>Town</p>"),
        redirect("Brother Ray", "Ray Charles"),
        Item("A/Untitled.html", "", content=b"<p>No title</p>"),
        Item("I/m/Ray.png", "", "image/png", png()),
    ]
    return old_zim.write_old_zim(items, folder / "old.zim", {"Language": "eng"})


def links_from(path: Path, title: str, folder: Path) -> list[str]:
    made = read(parse([path], folder))
    (page,) = set(made["sections"].filter(page_title=title)["page_id"])
    return made["links"].filter(page_id=page)["target"].to_list()


class TestLinks:
    @pytest.mark.parametrize(
        ("href", "title"),
        [
            ("AC_DC.html", "AC/DC"),
            ("Albany%2C_Georgia.html#History", "Albany, Georgia"),
            ("../A/AC_DC.html", "AC/DC"),
            ("/A/AC_DC.html", "AC/DC"),
            ("Brother_Ray.html", "Brother Ray"),
            ("Untitled.html", "Untitled"),
            ("Not_In_The_File.html", "Not In The File"),
            ("../I/m/Ray.png", None),
        ],
    )
    def test_an_address_of_an_older_file_has_the_title_of_its_entry(self, href, title, tmp_path):
        found = links_from(old_file(tmp_path, href), "Ray Charles", tmp_path)
        assert found == ([] if title is None else [title])

    def test_links_of_an_older_file_count_as_links_between_its_pages(self, tmp_path):
        made = read(parse([old_file(tmp_path, "AC_DC.html", "Albany,_Georgia.html")], tmp_path))
        titles = set(made["sections"]["page_title"])
        assert titles == {"Ray Charles", "AC/DC", "Albany, Georgia", "Untitled"}
        assert set(made["links"]["target"]) == titles - {"Untitled"}

    def test_an_address_is_resolved_against_that_of_its_page(self, tmp_path, monkeypatch):
        bodies = {
            "AC/DC": paragraph("../Ray_Charles", "Live", "./DC%2FLive", "DC?x=1"),
            "AC/Live": "<p>Film</p>",
            "Ray Charles": paragraph("AC/Live", "./AC%2FDC", "A./B"),
        }
        pages = [Page(n, 0, title, body) for n, (title, body) in enumerate(bodies.items())]
        monkeypatch.setattr(
            snapshots, "kiwix", lambda page, wiki, ids: f"<html><body>{page.text}</body></html>"
        )
        path = snapshots.write_zim(pages, tmp_path / "x.zim")
        found = links_from(path, "AC/DC", tmp_path)
        assert found == ["Ray Charles", "AC/Live", "AC/DC/Live", "AC/DC"]
        assert links_from(path, "Ray Charles", tmp_path) == ["AC/Live", "AC/DC", "A./B"]


def test_redirects_in_a_circle_lead_nowhere(tmp_path):
    items = [article("A", "<p>x</p>"), redirect("B", "C"), redirect("C", "B")]
    made = read(parse([old_zim.write_old_zim(items, tmp_path / "x.zim")], tmp_path))
    rejected = made["rejected"].select("reason", "detail", "raw").rows()
    assert rejected == [("redirect", "B", ""), ("redirect", "C", "")]
    assert made["sections"]["page_title"].to_list() == ["A"]


class TestSplit:
    @pytest.fixture
    def whole(self, tmp_path) -> Path:
        pages = [Page(n, 0, f"P{n}", f"Text {n} [[P{n + 1}]]") for n in range(40)]
        images = {f"A{n}.png": png() for n in range(9)}
        (tmp_path / "whole").mkdir()
        return snapshots.write_zim(pages, tmp_path / "whole/x.zim", images=images)

    @pytest.fixture
    def parts(self, whole, tmp_path) -> list[Path]:
        (tmp_path / "x.zim").write_bytes(whole.read_bytes())
        return old_zim.split(tmp_path / "x.zim", 3)

    def test_its_pieces_give_the_tables_of_the_whole(self, whole, parts, tmp_path):
        one, other = (parse(f, tmp_path / n) for n, f in (("one", [whole]), ("other", parts)))
        assert digests(one) == digests(other)
        assert counts(one)["articles"] == 40

    def test_the_number_of_shards_does_not_show(self, parts, tmp_path):
        whole = parse(parts, tmp_path / "all")
        some = [parse(parts, tmp_path / f"{n}", part=(n, 4)) for n in range(4)]
        made = {name: tmp_path / f"gathered/{name}" for name in whole}
        gather_dump({name: [part[name] for part in some] for name in whole}, made)
        for name in ("sections", "links", "rejected"):
            assert pl.read_parquet(made[name]).equals(pl.read_parquet(whole[name])), name

    def test_its_pictures_are_those_of_the_whole(self, whole, parts):
        found = [name for part in parts for name in zim_names(part, [])]
        assert found == zim_names(whole, [])
        assert len(found) == 9
        every = list(zim_contents(parts[0], [], lambda _: True))
        assert every == list(zim_contents(whole, [], lambda _: True))

    def test_a_piece_that_lacks_is_named(self, parts, tmp_path):
        parts[1].unlink()
        with pytest.raises(MissingFile, match=r"x\.zimab: no such piece, but there is x\.zimac"):
            parse([parts[0], parts[2]], tmp_path)

    def test_of_a_last_piece_that_lacks_the_one_before_is_named(self, parts, tmp_path):
        parts[2].unlink()
        with pytest.raises(CorruptFile, match=r"add the pieces that come after x\.zimab, or join"):
            parse(parts[:2], tmp_path)


class TestDamage:
    @pytest.fixture
    def data(self, tmp_path) -> bytes:
        return old_file(tmp_path, "AC_DC.html").read_bytes()

    def damaged(self, data: bytes, at: int, new: bytes, folder: Path) -> Path:
        (folder / "damaged").mkdir(exist_ok=True)
        path = folder / f"damaged/{at}.zim"
        path.write_bytes(data[:at] + new + data[at + len(new) :])
        return path

    def test_a_pointer_to_no_cluster_is_named(self, data, tmp_path):
        pointers = int.from_bytes(data[48:56], "little")
        path = self.damaged(data, pointers, b"\xff" * 4, tmp_path)
        with pytest.raises(CorruptFile, match=rf"{path.name}.*can't be"):
            parse([path], tmp_path / "out")
        assert not list((tmp_path / "out").glob("*.parquet"))

    def test_a_type_that_is_not_listed_is_named(self, data, tmp_path):
        first = int.from_bytes(data[32:40], "little")
        dirent = int.from_bytes(data[first : first + 8], "little")
        path = self.damaged(data, dirent, b"\x50", tmp_path)
        for reads in (lambda: parse([path], tmp_path / "out"), lambda: zim_names(path, [])):
            with pytest.raises(CorruptFile, match=rf"{path.name}: entry 0 can't be read"):
                reads()

    def test_a_cluster_that_does_not_unpack_is_named(self, data, tmp_path):
        cluster = int.from_bytes(data[48:56], "little") + 8
        path = self.damaged(data, cluster, b"\x05", tmp_path)
        with pytest.raises(CorruptFile, match=path.name):
            parse([path], tmp_path / "out")

    def test_any_byte_that_is_wrong_is_named_or_harmless(self, data, tmp_path):
        named = list[tuple[str, str]]()
        for at in range(0, len(data) - 16, 5):
            path = self.damaged(data, at, b"\xff", tmp_path)
            try:
                parse([path], tmp_path / "out")
                list(zim_contents(path, [], lambda _: True))
            except CorruptFile as error:
                named.append((path.name, str(error)))
        assert all(name in told for name, told in named)
        assert len(named) > 10


class TestWiki:
    @pytest.mark.parametrize(
        ("told", "url"),
        [
            ({"Language": "glg"}, "https://gl.wikipedia.org/wiki/"),
            ({"Language": "bpy"}, "https://bpy.wikipedia.org/wiki/"),
            ({"Language": "fre"}, "https://fr.wikipedia.org/wiki/"),
            ({"Language": "nob,nno"}, "https://no.wikipedia.org/wiki/"),
            ({"Language": "yue"}, "https://zh-yue.wikipedia.org/wiki/"),
            ({"Language": "pt"}, "https://pt.wikipedia.org/wiki/"),
            ({"Name": "wikibooks_fr_all"}, "https://fr.wikibooks.org/wiki/"),
            ({"Name": "wikivoyage_deu_europe"}, "https://de.wikivoyage.org/wiki/"),
            ({"Name": "wiktionary_bpy"}, "https://bpy.wiktionary.org/wiki/"),
            ({"Name": "wikipedia_en_simple_all"}, "https://simple.wikipedia.org/wiki/"),
            ({"Name": "wikisource_mul_all"}, "https://wikisource.org/wiki/"),
            ({"Name": "wikispecies_en_all"}, "https://species.wikimedia.org/wiki/"),
            ({"Name": "ray_charles", "Language": "eng"}, "https://en.wikipedia.org/wiki/"),
            (
                {"Source": "http://fr.m.wikibooks.org/wiki/Accueil"},
                "https://fr.wikibooks.org/wiki/",
            ),
            ({"Source": "https://species.wikimedia.org/"}, "https://species.wikimedia.org/wiki/"),
        ],
    )
    def test_a_file_has_the_address_of_its_wiki(self, told, url, tmp_path):
        path = snapshots.write_zim([Page(1, 0, "A", "Text")], tmp_path / "x.zim", told=told)
        assert site_of(path).base_url == url

    def test_a_wiki_without_editions_has_the_language_that_is_told(self, tmp_path):
        told = {"Source": "https://species.wikimedia.org/", "Language": "eng"}
        path = snapshots.write_zim([Page(1, 0, "A", "Text")], tmp_path / "x.zim", told=told)
        assert site_of(path).language == "en"

    def test_every_language_of_iso_639_1_is_known_by_its_three_letters(self):
        """The Debian package iso-codes has the tables of SIL."""
        table = Path("/usr/share/iso-codes/json/iso_639-3.json")
        if not table.is_file():
            pytest.skip("the package iso-codes is not installed")
        wanted = {
            entry["alpha_3"]: entry["alpha_2"]
            for entry in json.loads(table.read_text())["639-3"]
            if "alpha_2" in entry and entry["alpha_3"] != "nob"
        }
        assert {code: wikimedia.wiki_language(code) for code in wanted} == wanted
        assert len(wanted) > 180

    def test_no_code_of_a_wikipedia_is_taken_for_another_ones(self):
        assert [c for c in NAMESPACES if wikimedia.wiki_language(c) != c] == []


def manifest(paths: list[Path], folder: Path) -> Path:
    """The manifest of files that lie in a folder `dump` beside it."""
    files = [
        {"part": "dump", "path": f"dump/{p.name}", "bytes": p.stat().st_size, "url": None}
        for p in paths
    ]
    (folder / "manifest.json").write_text(json.dumps({"files": files}))
    return folder / "manifest.json"


class TestPictures:
    def crawled(self, images: dict[str, bytes], folder: Path) -> pl.DataFrame:
        (folder / "dump").mkdir()
        path = snapshots.write_zim([Page(1, 0, "A", "x")], folder / "dump/x.zim", images=images)
        told, spec = manifest([path], folder), Pictures(part="dump")
        list_pictures(told, spec, 1, folder / "urls.parquet")
        out = {name: folder / f"{name}.parquet" for name in ("pixels", "ledger")}
        pictures.crawl_pictures(told, folder / "urls.parquet", spec, crawl_of(), 0, out)
        return pl.read_parquet(out["ledger"])

    def test_a_drawing_is_called_svg_as_in_a_crawl(self, tmp_path):
        ledger = self.crawled({"A.svg": SVG, "B.png": png(), "C.png": b"none"}, tmp_path)
        found = dict(ledger.select("image_url", "status").rows())
        statuses = {"A.svg": "svg", "B.png": "success", "C.png": "not_an_image"}
        assert found == {upload_url(name): status for name, status in statuses.items()}
        assert ledger.filter(status="svg")["format"].to_list() == ["svg"]

    def test_a_picture_in_two_sizes_is_one(self, tmp_path):
        items = [
            Item("I/m/A.png", "", "image/png", png()),
            Item("I/m/A.png.webp", "", "image/webp", png()),
        ]
        path = old_zim.write_old_zim(items, tmp_path / "x.zim")
        assert zim_names(path, []) == [upload_url("A.png")]

    def test_a_file_without_pictures_says_so(self, tmp_path):
        with pytest.raises(EmptyTable, match=r"x\.zim: a ZIM file without pictures.*`maxi`"):
            self.crawled({}, tmp_path)


def test_metadata_that_is_no_text_is_named(tmp_path):
    path = old_zim.write_old_zim([article("A", "<p>x</p>")], tmp_path / "x.zim", {"Name": "wiki"})
    path.write_bytes(path.read_bytes().replace(b"wiki", b"\xff\xfe\xfd\xfc"))
    with pytest.raises(IsotopeError, match="its metadata can't be read"):
        site_of(path)


@pytest.mark.parametrize(("name", "known"), [("a.zim", True), ("a.zimab", True), ("a.zip", False)])
def test_a_zim_file_or_its_piece_is_told_by_its_name(name, known):
    assert zim.is_zim(Path(name)) is known


@pytest.mark.parametrize(
    ("host", "folder"),
    [
        ("en.wikipedia.org", "wikipedia/en"),
        ("zh-yue.wikipedia.org", "wikipedia/zh-yue"),
        ("de.wikivoyage.org", "wikivoyage/de"),
        ("species.wikimedia.org", "wikipedia/species"),
        ("www.mediawiki.org", "wikipedia/mediawiki"),
        ("www.wikisource.org", "wikipedia/sources"),
    ],
)
def test_a_wikis_own_uploads_lie_in_the_folder_that_wikimedia_gives_them(host, folder):
    """Folder of $wgUploadPath; a9 begins the MD5 of `Example.jpg`."""
    assert local_url("Example.jpg", host) == (
        f"https://upload.wikimedia.org/{folder}/a/a9/Example.jpg"
    )
