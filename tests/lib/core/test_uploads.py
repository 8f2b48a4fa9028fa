"""Addresses of Wikimedia's files: one file whatever host, size and spelling an address has."""

import re
from pathlib import Path
from uuid import NAMESPACE_URL, uuid3

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotope.core import sql, uploads
from isotope.core.uploads import Upload

COMMONS = "https://upload.wikimedia.org/wikipedia/commons"
THUMB = "https://thumb.wikimedia.org/wikipedia/commons/thumb"
# Its folder is that of MediaWiki: the first digits of the MD5 of `Köln_(Dom)_&_Co.jpg`.
NAME = "Köln (Dom) & Co.jpg"
PLACE = "c/c8/K%C3%B6ln_%28Dom%29_%26_Co.jpg"
LAST = PLACE.rpartition("/")[2]
CANONICAL = f"{COMMONS}/{PLACE}"
# Each shows the file NAME of Commons, in the width behind it.
SPELLINGS = [
    (CANONICAL, None),
    (f"http://upload.wikimedia.org/wikipedia/commons/{PLACE}", None),
    (f"//upload.wikimedia.org/wikipedia/commons/{PLACE}", None),
    (f"HTTPS://Upload.Wikimedia.Org/wikipedia/commons/{PLACE}", None),
    (f"{COMMONS}/c/c8/Köln_(Dom)_&_Co.jpg", None),
    (f"{COMMONS}/c/c8/K%c3%b6ln_(Dom)_%26_Co%2Ejpg", None),
    (f"{COMMONS}/c/c8/K%25C3%25B6ln_%2528Dom%2529_%2526_Co.jpg", None),
    (f"{COMMONS}/c/c8/K%C3%B6ln%20(Dom)%20%26%20Co.jpg", None),
    (f"{CANONICAL}?download", None),
    (f"{CANONICAL}?utm_source=en.wikipedia.org&utm_campaign=parser#/media", None),
    (f"{COMMONS}/thumb/{PLACE}/320px-{LAST}", 320),
    (f"{THUMB}/{PLACE}/330px-{LAST}?utm_source=commons.wikimedia.org", 330),
    (f"//thumb.wikimedia.org/wikipedia/commons/thumb/{PLACE}/960px-thumbnail.jpg", 960),
    (f"https://commons.wikimedia.org/wiki/File:{LAST}", None),
    (f"https://commons.m.wikimedia.org/wiki/File:{LAST}#Summary", None),
    (f"https://commons.wikimedia.org/wiki/Special:FilePath/{LAST}?width=200px", 200),
    ("http://commons.wikimedia.org/wiki/Special:FilePath/Köln (Dom) %26 Co.jpg", None),
    (f"https://commons.wikimedia.org/wiki/Special:Redirect/file/{LAST}?width=120", 120),
    (f"https://commons.wikimedia.org/w/index.php?title=Special:Redirect/file/{LAST}", None),
    (f"https://commons.wikimedia.org/w/index.php?title=File:{LAST}&action=edit", None),
    (f"https://commons.wikimedia.org/w/thumb.php?f={LAST}&w=60", 60),
    (f"https://commons.wikimedia.org/wiki/Cologne#/media/File:{LAST}", None),
]


@pytest.mark.parametrize(("address", "width"), SPELLINGS)
def test_a_file_is_one_whatever_host_size_and_spelling_its_address_has(address, width):
    assert uploads.upload_of(address) == Upload("wikipedia/commons", NAME, width)
    assert uploads.canonical_url(address) == CANONICAL == uploads.upload_url(NAME)
    assert uploads.file_of(address) == NAME


def test_the_id_of_a_picture_is_that_of_the_address_that_wit_writes():
    # uuid3 of the canonical address, from an implementation of RFC 4122 that is not ours.
    ids = {str(uuid3(NAMESPACE_URL, uploads.canonical_url(a))) for a, _ in SPELLINGS}
    assert ids == {str(uuid3(NAMESPACE_URL, CANONICAL))}


@pytest.mark.parametrize(
    ("address", "repository", "name"),
    [
        ("https://upload.wikimedia.org/wikipedia/en/8/80/X.png", "wikipedia/en", "X.png"),
        ("https://upload.wikimedia.org/wiktionary/fr/9/9d/x.png", "wiktionary/fr", "x.png"),
        ("https://upload.wikimedia.org/wikipedia/zh-yue/a/ab/X.png", "wikipedia/zh-yue", "X.png"),
        (f"{COMMONS}/thumb/a/ab/X.svg/langfr-320px-X.svg.png", "wikipedia/commons", "X.svg"),
        (f"{COMMONS}/thumb/a/ab/X.tif/lossy-page2-60px-X.tif.jpg", "wikipedia/commons", "X.tif"),
        (f"{COMMONS}/thumb/a/ab/X.pdf/page12-60px-X.pdf.jpg", "wikipedia/commons", "X.pdf"),
        (f"{THUMB}/a/ab/X.webm/500px--X.webm.jpg", "wikipedia/commons", "X.webm"),
        (f"{THUMB}/a/ab/X.ogv/320px-seek%3D1.5-X.ogv.jpg", "wikipedia/commons", "X.ogv"),
        (f"{COMMONS}/transcoded/a/ab/X.ogv/X.ogv.480p.webm", "wikipedia/commons", "X.ogv"),
        ("https://en.m.wikipedia.org/wiki/File:x_y.jpg", "en.wikipedia.org", "X y.jpg"),
        ("https://de.wikipedia.org/wiki/Köln#/media/Datei:X.jpg", "de.wikipedia.org", "X.jpg"),
        ("https://zh.wikipedia.org/zh-hant/File:X.jpg", "zh.wikipedia.org", "X.jpg"),
    ],
)
def test_a_repository_is_a_wiki_and_a_page_tells_its_own(address, repository, name):
    upload = uploads.upload_of(address)
    assert upload is not None
    assert upload.identity == (repository, name)


@pytest.mark.parametrize("size", ["", "/120px-X.jpg"])
def test_an_earlier_version_is_a_file_of_its_own_in_the_folder_of_its_name(size):
    moment = "20200102030405%21X.jpg"
    address = f"{COMMONS}/{'thumb/' if size else ''}archive/f/fa/{moment}{size}"
    whole = f"{COMMONS}/archive/f/fa/{moment}"
    assert uploads.canonical_url(address) == whole
    assert uploads.upload_url("20200102030405!X.jpg", "wikipedia/commons/archive") == whole
    assert uploads.upload_of(address) != uploads.upload_of(f"{COMMONS}/f/fa/X.jpg")
    assert uploads.request_url(address, 60) == f"{THUMB}/archive/f/fa/{moment}/60px-X.jpg"
    assert uploads.file_of(address) == "X.jpg"


@pytest.mark.parametrize(
    "address",
    [
        "https://x.org/wikipedia/commons/a/ab/X.jpg",
        "https://upload.wikimedia.org.evil.org/wikipedia/commons/a/ab/X.jpg",
        "https://upload.wikimedia.org/wikipedia/en/timeline/0123abcd.png",
        f"{COMMONS}/a/ab/X.jpg/330px-X.jpg",
        f"{COMMONS}/a/ab/%E9.jpg",
        f"{COMMONS}/a/ab/X\ud800.jpg",
        f"{COMMONS}/a/ab/..",
        f"{COMMONS}/a/ab/a%2Fb.jpg",
        f"{COMMONS}/archive/a/ab/X.jpg",
        "https://commons.wikimedia.org/wiki/File:X\ud800.jpg",
        "ftp://upload.wikimedia.org/wikipedia/commons/a/ab/X.jpg",
        "https://en.wikipedia.org/wiki/Cologne",
        "https://en.wikipedia.org/wiki/Talk:Cologne",
        "http://[upload.wikimedia.org/",
        "pictures/a.jpg",
        "",
    ],
)
def test_any_other_address_is_left_as_it_is(address):
    assert uploads.upload_of(address) is None
    assert uploads.canonical_url(address) == uploads.request_url(address, 330) == address
    assert uploads.file_page(address) == ""


def test_what_no_wiki_says_whose_it_is_is_asked_at_that_wiki():
    page = "https://en.wikipedia.org/wiki/Special:Redirect/file/A_b.jpg"
    address = "http://en.m.wikipedia.org/wiki/File:a b.jpg"
    assert uploads.canonical_url(address) == uploads.request_url(address, None) == page
    assert uploads.request_url(address, 330) == f"{page}?width=330"


@pytest.mark.parametrize(
    ("url", "width", "wanted"),
    [
        (f"{COMMONS}/a/ab/X.jpg", None, f"{COMMONS}/a/ab/X.jpg"),
        (f"{COMMONS}/a/ab/X.jpg", 330, f"{THUMB}/a/ab/X.jpg/330px-X.jpg"),
        (f"{COMMONS}/a/ab/X.svg", 330, f"{THUMB}/a/ab/X.svg/330px-X.svg.png"),
        (f"{COMMONS}/a/ab/X.tif", 60, f"{THUMB}/a/ab/X.tif/lossy-page1-60px-X.tif.jpg"),
        (f"{COMMONS}/a/ab/X.pdf", 60, f"{THUMB}/a/ab/X.pdf/page1-60px-X.pdf.jpg"),
        (f"{COMMONS}/a/ab/X.webm", 500, f"{THUMB}/a/ab/X.webm/500px--X.webm.jpg"),
        (f"{COMMONS}/thumb/a/ab/X.jpg/300px-X.jpg", None, f"{COMMONS}/a/ab/X.jpg"),
        (f"{COMMONS}/thumb/a/ab/X.jpg/330px-X.jpg", None, None),
        (f"{THUMB}/a/ab/X.jpg/330px-X.jpg?utm_source=x", None, f"{THUMB}/a/ab/X.jpg/330px-X.jpg"),
        (f"{COMMONS}/thumb/a/ab/X.jpg/300px-X.jpg", 960, f"{THUMB}/a/ab/X.jpg/960px-X.jpg"),
        ("https://x.org/thumb/a/ab/X.jpg/300px-X.jpg", 960, None),
    ],
)
def test_only_originals_and_permitted_widths_are_asked_for(url, width, wanted):
    assert uploads.request_url(url, width) == (wanted or url)


@pytest.mark.parametrize(("letters", "cut"), [("x" * 156, False), ("x" * 157, True)])
@pytest.mark.parametrize("letter", ["x", "я"])
def test_a_name_is_cut_by_its_bytes_as_people_write_it_not_as_addresses_do(letters, cut, letter):
    # 156 letters and `.jpg` are 160 bytes; of two bytes each, half as many and no more.
    name = (letters if letter == "x" else letters.replace("xx", "я")) + ".JPG"
    last = uploads.request_url(uploads.upload_url(name), 120).rpartition("/")[2]
    assert (last == "120px-thumbnail.jpg") is cut
    assert cut or last.startswith("120px-x") or last.startswith("120px-%D1%8F")


@pytest.mark.parametrize(
    ("host", "repository"),
    [
        ("en.wikipedia.org", "wikipedia/en"),
        ("fr.wiktionary.org", "wiktionary/fr"),
        ("commons.wikimedia.org", "wikipedia/commons"),
        ("meta.wikimedia.org", "wikipedia/meta"),
        ("www.mediawiki.org", "wikipedia/mediawiki"),
        ("wikisource.org", "wikipedia/sources"),
    ],
)
def test_a_wiki_and_its_repository_name_each_other(host, repository):
    assert uploads.repository_of(host) == repository
    assert uploads.host_of(repository) == host
    page = uploads.file_page(uploads.upload_url("A b.jpg", repository))
    assert page == f"https://{host}/wiki/File:A_b.jpg"


def test_every_address_that_mediawiki_writes_stays_as_it_is():
    # Every printable letter of ASCII that a title may have, as PHP's rawurlencode writes it.
    forbidden = set("#<>[]|{}%_/\\:+")
    letters = "".join(chr(n) for n in range(33, 127) if chr(n) not in forbidden)
    for name in (f"A{letters}é字.jpg", "A+B.jpg", "100 percent.jpg"):
        address = uploads.upload_url(name)
        assert re.fullmatch(uploads.CANONICAL, address)
        assert uploads.canonical_url(address) == address
        assert uploads.upload_of(address) == Upload("wikipedia/commons", name)


NAMES = ("A b.jpg", "Köln (Dom) & Co.jpg", "x'y\"z!*~$@=;,+-.png", "字.svg", "100 % of it.gif")


def asked(expression: str, values: dict[str, list[str]], folder: Path) -> list[str]:
    """Return what queries say of rows."""
    pl.DataFrame(values).write_parquet(folder / "rows.parquet")
    (folder / "query.sql").write_text(f"SELECT {expression} AS told FROM rows")
    found = sql.query(folder / "query.sql", {"rows": folder / "rows.parquet"}, {})
    assert found is not None
    return found["told"].to_list()


def test_queries_give_files_the_addresses_that_the_library_gives(tmp_path):
    for repository in ("wikipedia/commons", "wiktionary/fr"):
        values = {"name": [*NAMES], "repository": [repository] * len(NAMES)}
        wanted = [uploads.upload_url(name, repository) for name in NAMES]
        assert asked("upload_url(name, repository)", values, tmp_path) == wanted


def test_queries_know_a_file_by_any_address(tmp_path):
    values = {"url": [*(address for address, _ in SPELLINGS), "https://x.org/a b", "a.jpg"]}
    wanted = [CANONICAL] * len(SPELLINGS) + ["https://x.org/a b", "a.jpg"]
    assert asked("file_url(url)", values, tmp_path) == wanted


def one_of(*texts: str) -> st.SearchStrategy[str]:
    return st.sampled_from(texts)


LETTERS = st.lists(
    one_of(
        *(
            "X.jpg",
            "a.svg",
            "330px-",
            "-",
            "%",
            "%25",
            "%C3%A4",
            "%E9",
            "ä",
            "\ud800",
            " ",
            "_",
            "!",
        ),
        *("20200101000000!", "[", "]", "@", ":", "\0", "\n", "..", "+", "&", "%2F", "%253A"),
    ),
    max_size=4,
).map("".join)
STORED = st.tuples(
    one_of("https://upload.wikimedia.org/", "//thumb.wikimedia.org/", "http://x.org/"),
    one_of("wikipedia/commons/", "wiktionary/fr/", "x/"),
    one_of("", "thumb/", "archive/", "thumb/archive/"),
    one_of("a/ab/", "f/fa/", "a/"),
    LETTERS,
    one_of("", "", "/330px-X.jpg", "?utm_source=x", "#a"),
).map("".join)
SHOWN = st.tuples(
    one_of("https://commons.wikimedia.org/", "//en.m.wikipedia.org/", "http://x.org/"),
    one_of("wiki/File:", "wiki/Special:FilePath/", "w/index.php?title=File:", "#/media/File:"),
    LETTERS,
    one_of("", ".jpg", ".png?width=9", ".gif#a"),
).map("".join)


@settings(max_examples=500)
@given(STORED | SHOWN | st.text())
def test_whatever_an_address_is_it_has_one_canonical_form_and_breaks_nothing(address):
    whole = uploads.canonical_url(address)
    assert uploads.canonical_url(whole) == whole
    upload = uploads.upload_of(address)
    if upload is None:
        assert whole == address
    else:
        found = uploads.upload_of(whole)
        assert found is not None
        assert found.identity == upload.identity
        assert uploads.request_url(address, 330) == uploads.request_url(whole, 330)
        assert uploads.file_page(address) == uploads.file_page(whole)
    assert (uploads.file_page(address) == "") is (upload is None)
    assert isinstance(uploads.file_of(address), str | None)


def test_a_file_of_commons_and_of_a_wiki_is_one_picture_to_queries(tmp_path):
    homes = ("wikipedia/commons", "wiktionary/zh-min-nan")
    urls = [uploads.upload_url(name, home) for name in ("A b.jpg", "É.png") for home in homes]
    other = "https://example.org/wikipedia/commons/a/ab/A.png"
    first, same, second, alike, kept = asked(
        "in_any_repository(url)", {"url": [*urls, other]}, tmp_path
    )
    assert first == same != second == alike
    assert kept == other
