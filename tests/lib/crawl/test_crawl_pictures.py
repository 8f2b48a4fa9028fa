"""Pictures that came with a data set end in the crawl's shards, each with its row of the ledger."""

import hashlib
import io
import re
import runpy
import shutil
import tarfile
import uuid
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from tests import chaos
from tests.crawls import crawl_of
from tests.lib.intake.test_archives import changed
from tests.lib.intake.test_intake_pictures import STATUSES, formats

from isotope.acquire.fetch import acquire
from isotope.core.errors import CorruptFile, MissingColumn, TooManyRefused
from isotope.crawl.ledger import gather_ledgers
from isotope.crawl.pictures import crawl_pictures, list_pictures
from isotope.intake.convert import to_webp
from isotope.intake.limits import Refused, using
from isotope.params.acquire import DigestedSource
from isotope.params.crawl import Pictures

BASE = "https://pictures.example/"
ROTATED = Image.Exif()
ROTATED[274] = 6


def picture(colour: str, form: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (6, 4), colour).save(
        out, form, **({"lossless": True} if form == "WEBP" else {})
    )
    return out.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def tarred(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


@pytest.fixture
def crawled(tmp_path):
    """Acquire files as the part `images` and crawl them; give pixels and ledger."""

    def run(files: dict[str, bytes], shards: int = 1, base: str = BASE):
        (tmp_path / "up").mkdir()
        for name, data in files.items():
            (tmp_path / "up" / name).parent.mkdir(exist_ok=True)
            (tmp_path / "up" / name).write_bytes(data)
        manifest = tmp_path / "data/manifest.json"
        listed = [str(tmp_path / "up" / name) for name in files]
        acquire(
            DigestedSource.of_plain({"files": {"images": listed}}), manifest, tmp_path / "scratch"
        )
        spec, urls = Pictures(part="images", base=base), tmp_path / "urls.parquet"
        list_pictures(manifest, spec, shards, urls)
        outs = [
            {k: tmp_path / f"{k}-{n}.parquet" for k in ("pixels", "ledger")} for n in range(shards)
        ]
        for n, out in enumerate(outs):
            crawl_pictures(manifest, urls, spec, crawl_of(), n, out)
        return [pl.concat([pl.read_parquet(o[k]) for o in outs]) for k in ("pixels", "ledger")]

    return run


def test_files_zips_tars_and_tables_all_give_their_pictures(crawled, tmp_path):
    table = pa.table(
        {
            "image_url": ["https://upload.example/p.jpg"],
            "image": [{"bytes": picture("green", "JPEG"), "path": "p.jpg"}],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    pixels, ledger = crawled(
        {
            "one.png": picture("red"),
            "two.zip": zipped({"a/x.jpg": picture("blue", "JPEG"), "a/readme.txt": b"no picture"}),
            "three.tar.gz": tarred({"b/y.png": picture("white")}),
            "four.parquet": (tmp_path / "t.parquet").read_bytes(),
        }
    )
    urls = [BASE + "a/x.jpg", BASE + "b/y.png", BASE + "one.png", "https://upload.example/p.jpg"]
    assert ledger["image_url"].to_list() == sorted(urls)
    assert set(ledger["status"]) == {"success"}
    assert pixels["image_id"].to_list() == sorted(
        str(uuid.uuid3(uuid.NAMESPACE_URL, u)) for u in urls
    )
    for webp in pixels["webp"]:
        assert Image.open(io.BytesIO(webp)).size == (6, 4)


def test_webp_is_kept_byte_for_byte(crawled):
    data = picture("red", "WEBP")
    pixels, ledger = crawled({"one.webp": data})
    assert pixels["webp"].to_list() == [data]
    assert ledger["sha256"].to_list() == [hashlib.sha256(data).hexdigest()]
    assert ledger["sha256"].equals(ledger["upstream_sha256"].alias("sha256"))


def noise(mode: str) -> Image.Image:
    """A picture of random values; of 16 bits or in colours of a palette, if its mode says so."""
    random = np.random.default_rng(7)
    if mode == "I;16":
        return Image.fromarray(random.integers(0, 65_536, (23, 37)).astype(np.uint16))
    values = Image.fromarray(random.integers(0, 256, (23, 37, 4)).astype(np.uint8))
    return values.convert(mode) if mode in ("RGBA", "LA") else values.convert("RGB").convert(mode)


def saved(mode: str, form: str, **options) -> bytes:
    out = io.BytesIO()
    noise(mode).save(out, form, **options)
    return out.getvalue()


@pytest.fixture(scope="module")
def resizer():
    """img2dataset's own, without the package's start, which imports torch and clients of sites."""
    file = distribution("img2dataset").locate_file("img2dataset/resizer.py")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_ALBUMENTATIONS_UPDATE", "1")
        resizer = runpy.run_path(str(file))["Resizer"]
    return resizer(0, "no", False, encode_quality=100, encode_format="webp")


@pytest.mark.parametrize(
    "data",
    [
        *(saved(mode, "PNG") for mode in ("L", "RGB", "RGBA", "LA", "P", "1")),
        *(saved(mode, "JPEG") for mode in ("L", "RGB", "CMYK")),
        *(saved(mode, "TIFF") for mode in ("L", "RGB", "RGBA")),
        *(saved(mode, form) for form in ("GIF", "BMP") for mode in ("L", "RGB", "P")),
        *(saved(mode, "WEBP") for mode in ("RGB", "RGBA")),
        saved("RGB", "JPEG", progressive=True, quality=40),
        saved("RGB", "JPEG")[:400],
        b"no picture",
        b"",
    ],
)
def test_a_picture_becomes_the_bytes_that_img2dataset_makes_of_it(data, resizer, capfd):
    webp, width, height, _, _, error = resizer(io.BytesIO(data))
    if error:
        with pytest.raises(Refused, match=re.escape(" ".join(error.split()))):
            to_webp(data)
    else:
        assert to_webp(data) == (webp, width, height)
    assert capfd.readouterr() == ("", "")


def test_what_is_no_picture_is_counted_and_not_stored(crawled):
    files = {
        "a.jpg": b"<html>not here</html>",
        "b.webp": picture("red", "WEBP")[:20],
        "c.png": picture("red"),
    }
    pixels, ledger = crawled(files)
    assert dict(ledger.select("image_url", "status").rows()) == {
        BASE + "a.jpg": "not_an_image",
        BASE + "b.webp": "not_an_image",
        BASE + "c.png": "success",
    }
    assert pixels["image_url"].to_list() == [BASE + "c.png"]


def test_shards_share_the_pictures_without_loss_or_repeat(crawled):
    files = {f"{n}.png": picture("red") for n in range(7)}
    pixels, ledger = crawled({"all.zip": zipped(files)}, shards=3)
    assert sorted(ledger["image_url"]) == sorted(BASE + name for name in files)
    assert pixels["image_id"].is_unique().all()
    assert pixels["image_id"].is_sorted()


def test_a_broken_archive_is_named(crawled):
    with pytest.raises(CorruptFile, match=r"two.zip"):
        crawled({"two.zip": zipped({"a.jpg": picture("red")})[:-30]})


def test_a_table_without_image_url_is_named(crawled, tmp_path):
    pq.write_table(pa.table({"image": [b"x"]}), tmp_path / "t.parquet")
    with pytest.raises(MissingColumn, match=r"images.parquet"):
        crawled({"images.parquet": Path(tmp_path / "t.parquet").read_bytes()})


@pytest.mark.parametrize("name", ["images.tgz", "images.tar"])
def test_a_tar_is_known_by_any_of_its_endings_and_by_names_without_a_dot(name, crawled):
    pixels, _ = crawled({name: tarred({"./00aa.png": picture("red"), "00bb.png": picture("blue")})})
    assert sorted(pixels["image_url"]) == [f"{BASE}00aa.png", f"{BASE}00bb.png"]


@pytest.mark.parametrize("shards", [1, 3])
def test_pictures_of_one_name_in_folders_and_archives_are_all_there(crawled, shards):
    colours = ["red", "green", "blue", "white", "black"]
    red, green, blue, white, black = (picture(colour, "WEBP") for colour in colours)
    files = {
        "train/1.webp": red,
        "train2/1.webp": green,
        "one.zip": zipped({"x/1.webp": blue, "train/1.webp": white}),
        "two.tar.gz": tarred({"./x/1.webp": black}),
    }
    pixels, ledger = crawled(files, shards)
    assert dict(pixels.select("image_url", "webp").rows()) == {
        f"{BASE}train/1.webp": red,
        f"{BASE}train2/1.webp": green,
        f"{BASE}one.zip/x/1.webp": blue,
        f"{BASE}one.zip/train/1.webp": white,
        f"{BASE}two.tar.gz/x/1.webp": black,
    }
    assert len(ledger) == len(colours)


def test_a_name_that_an_archive_has_twice_is_said(crawled, caplog):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for _ in range(2):
            archive.addfile(tarfile.TarInfo("1.webp"))
    with caplog.at_level("WARNING"):
        _, ledger = crawled({"one.tar": out.getvalue()})
    assert len(ledger) == 1
    assert "1 pictures repeat an address" in caplog.text


def test_poisons_among_own_pictures_are_rows_and_a_clean_rerun_has_them_all(crawled, tmp_path):
    """A bomb, a cut picture and a wrong checksum cost themselves; mended, nothing is left of it."""
    whole = {name: picture("red") for name in ("a.png", "b.png", "c.png", "d.png")}
    data = zipped({**whole, "b.png": chaos.png(16_000, 10_000, rows=1), "c.png": b"\x89PNG\r\n"})
    at = data.index(b"d.png") + 10
    broken = data[:at] + bytes([data[at] ^ 255]) + data[at + 1 :]
    pixels, ledger = crawled({"a.zip": broken})
    told = dict(ledger.select("image_url", "status").rows())
    assert {url[-5:]: status for url, status in told.items()} == {
        **{"a.png": "success", "b.png": "too_many_pixels"},
        **{"c.png": "not_an_image", "d.png": "unreadable"},
    }
    assert pixels.height == 1
    for each in tmp_path.iterdir():
        shutil.rmtree(each) if each.is_dir() else each.unlink()
    pixels, ledger = crawled({"a.zip": zipped(whole)})
    assert set(ledger["status"]) == {"success"}
    assert pixels.height == 4


@pytest.mark.parametrize("addresses", [[["u"]], [1], [b"u"]])
def test_addresses_that_are_no_texts_are_named_with_the_file(crawled, addresses):
    out = io.BytesIO()
    pq.write_table(pa.table({"image_url": addresses, "image": [picture("red")]}), out)
    with pytest.raises(MissingColumn, match=r"a.parquet: image_url is"):
        crawled({"a.parquet": out.getvalue()})


def shared(folder: Path, holder: str, good: int, bad: int, **intake: float) -> pl.DataFrame:
    """Crawl pictures of which some can't be read, and gather the ledger of all shards."""
    files = {f"g{n}.png": picture("red") + bytes([n]) for n in range(good)}
    files |= {f"b{n}.png": b"no picture" for n in range(bad)}
    (up := folder / "up").mkdir()
    if holder == "folder":
        for name, data in files.items():
            (up / name).write_bytes(data)
    elif holder == "parquet":
        urls = [f"{BASE}{name}" for name in files]
        pq.write_table(pa.table({"image_url": urls, "image": [*files.values()]}), up / "x.parquet")
    else:
        (up / f"x.{holder}").write_bytes({"zip": zipped, "tar.gz": tarred}[holder](files))
    manifest = folder / "data/manifest.json"
    listed = [str(path) for path in sorted(up.iterdir())]
    acquire(DigestedSource.of_plain({"files": {"images": listed}}), manifest, folder / "scratch")
    spec = Pictures(part="images", base=BASE)
    entry = crawl_of(pictures=spec)
    list_pictures(manifest, spec, 2, folder / "urls")
    for n in range(2):
        outputs = {"pixels": folder / f"shard-{n}", "ledger": folder / f"ledger-{n}"}
        crawl_pictures(manifest, folder / "urls", spec, entry, n, outputs)
    ledgers = [folder / f"ledger-{n}" for n in range(2)]
    gathered = folder / "crawl/mine/ledger.parquet"
    gathered.parent.mkdir(parents=True)
    with using(intake):
        gather_ledgers(folder / "urls", ledgers, gathered, entry, entry)
    return pl.read_parquet(gathered)


@pytest.mark.parametrize("holder", ["folder", "zip", "tar.gz", "parquet"])
def test_more_refused_pictures_than_the_share_fail_and_say_so(holder, tmp_path):
    said = r"b0\.png: 5 of 9 pictures can't be read, more than 50%; the first: not_an_image"
    with pytest.raises(TooManyRefused, match=said):
        shared(tmp_path, holder, 4, 5)
    assert not (tmp_path / "crawl/mine/ledger.parquet").exists()


@pytest.mark.parametrize("holder", ["folder", "zip", "tar.gz", "parquet"])
def test_fewer_refused_pictures_than_the_share_are_rows(holder, tmp_path):
    ledger = shared(tmp_path, holder, 4, 4)
    assert ledger["status"].to_list() == ["not_an_image"] * 4 + ["success"] * 4


def test_the_share_of_refused_pictures_is_that_of_the_records(tmp_path):
    with pytest.raises(TooManyRefused, match="1 of 9 pictures can't be read, more than 10%"):
        shared(tmp_path, "folder", 8, 1, refused=0.1)


def test_pages_beside_the_pictures_of_a_folder_are_no_refused_pictures(tmp_path):
    """766 pages of HTML lay beside one user's figures; they are rows, and end nothing."""
    (tmp_path / "up").mkdir()
    for n in range(9):
        (tmp_path / f"up/{n}.html").write_text("<p>A page.</p>")
    (tmp_path / "up/a.png").write_bytes(picture("red"))
    files = [str(path) for path in sorted((tmp_path / "up").iterdir())]
    manifest = tmp_path / "data/manifest.json"
    acquire(DigestedSource.of_plain({"files": {"images": files}}), manifest, tmp_path / "scratch")
    spec = Pictures(part="images", base=BASE)
    list_pictures(manifest, spec, 1, tmp_path / "urls")
    outputs = {"pixels": tmp_path / "shard", "ledger": tmp_path / "ledger-0"}
    crawl_pictures(manifest, tmp_path / "urls", spec, crawl_of(), 0, outputs)
    entry = crawl_of(pictures=spec)
    gather_ledgers(tmp_path / "urls", [tmp_path / "ledger-0"], tmp_path / "all", entry, entry)
    assert pl.read_parquet(tmp_path / "all")["status"].to_list().count("not_an_image") == 9


def test_changed_pictures_in_a_tar_end_with_a_row_of_the_ledger_each(tmp_path):
    """From the archive to the ledger, as a job does it: address, status and reason of each."""
    kinds = formats()
    names = [*kinds]
    files = {f"{n}.png": changed(kinds[names[n % len(names)]], n) for n in range(300)}
    (tmp_path / "x.tar.gz").write_bytes(tarred(files))
    manifest = tmp_path / "data/manifest.json"
    source = DigestedSource.of_plain({"files": {"images": [str(tmp_path / "x.tar.gz")]}})
    acquire(source, manifest, tmp_path / "scratch")
    spec = Pictures(part="images", base=BASE)
    list_pictures(manifest, spec, 1, tmp_path / "urls")
    outputs = {"pixels": tmp_path / "shard", "ledger": tmp_path / "ledger"}
    crawl_pictures(manifest, tmp_path / "urls", spec, crawl_of(), 0, outputs)
    ledger, pixels = (pl.read_parquet(outputs[name]) for name in ("ledger", "pixels"))
    assert {*ledger["image_url"]} == {f"{BASE}{name}" for name in files}
    kept = ledger.filter(status="success")
    assert {*kept["image_url"]} == {*pixels["image_url"]}
    refused = ledger.filter(pl.col("status") != "success")
    assert {*refused["status"]} <= STATUSES
    bad = refused.filter(status="not_an_image")
    assert bad.height > 50
    assert bad["error"].null_count() == 0
