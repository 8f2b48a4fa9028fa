"""The first picture of an infobox, in the forms in which editors write it."""

import gzip
import re
from urllib.parse import unquote

import polars as pl
import pytest

from isotope.core.uploads import upload_url
from isotope.parse.infobox import infobox_picture
from isotope.parse.prepared import PreparedPage
from isotope.parse.site import ENGLISH_NAMESPACES


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("{{Infobox person\n| name = Ray\n| image = Ray_Charles 1.jpg\n}}", "Ray Charles 1.jpg"),
        ("{{Infobox album|cover=[[File:modern.PNG|200px]]|x=y.jpg}}", "Modern.PNG"),
        ("{{Taxobox | image = File:Aquila.jpeg | image2 = B.jpg }}", "Aquila.jpeg"),
        ("{{Speciesbox\n|image=<!-- old.jpg -->new.jpg\n}}", "New.jpg"),
        ("{{Infobox a|data={{nested|b=c}}\n|logo = D.svg\n}}", "D.svg"),
        ("{{Infobox a|name=b.jpg's friend}}\n[[File:out.jpg]]", None),
        ("{{Infobox a|image=}}\n| image = out.jpg\n", None),
        ("[[File:lead.jpg|thumb]] no box", None),
        ("{{Infobox never closed\n|image = Open.webp\n", "Open.webp"),
    ],
)
def test_the_first_picture_is_found(text, name):
    page = PreparedPage.from_wikitext(text, ENGLISH_NAMESPACES)
    assert infobox_picture(page.text, page.infobox) == name


def test_a_file_of_commons_has_the_address_that_wit_gives_it(shared):
    files = sorted((shared / "snapshots/raycharles/wit").glob("*.tsv.gz"))
    text = "".join(gzip.decompress(path.read_bytes()).decode() for path in files)
    form = r"https://upload\.wikimedia\.org/wikipedia/commons/[0-9a-f]/[0-9a-f]{2}/[^\t\n]+"
    addresses = sorted(set(re.findall(form, text)))
    names = [unquote(url.rpartition("/")[2]).replace("_", " ") for url in addresses]
    assert [upload_url(name) for name in names] == addresses
    assert len(addresses) > 20


def test_the_real_dump_has_pictures_in_its_infoboxes(raycharles):
    boxes = pl.read_parquet(raycharles["infoboxes"])
    pictures = dict(boxes.select("page_title", "file").rows())
    assert len(pictures) == boxes.height == 47
    assert pictures["Ayn Rand"] == "Ayn Rand.jpg"
    assert pictures["Apollo"] == "Apollo of the Belvedere.jpg"
