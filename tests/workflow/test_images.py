"""Every page of the report has its pictures in docs/images, and the pictures are small."""

import contextlib
import json
import os
import re
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests import forkserver
from tests.workflow.test_benchmarks import module

from isotope.core.errors import IsotopeError, MissingFile

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs/images"
SET_BYTES = 1_000_000

images = module("docs/images.py")


@pytest.fixture(scope="module")
def pages(embedded) -> dict[str, Path]:
    return images.pages(embedded / "results/report")


def test_every_page_of_the_demo_has_its_pictures(pages):
    names = [*pages, *images.SERVED, images.SITE]
    named = {file for name in names for file in images.files(name)}
    assert {p.name for p in FOLDER.glob("*.webp")} == named, "run `python docs/images.py`"
    assert (FOLDER / "README.md").read_text("utf-8") == images.gallery(names)
    assert {f"{name}-dark.webp" for name in images.DARK} <= named


def test_of_pages_that_are_alike_one_a_task_has_pictures(pages):
    assert [n for n in pages if "cases-" in n] == ["toy-cases-m2t-01", "toy-cases-t2m-01"]
    assert {"index", "toy-index", "toy-later-since-toy"} <= set(pages)


def test_the_pictures_are_small_and_as_wide_as_they_say():
    found = sorted(FOLDER.glob("*.webp"))
    assert len(found) > 20
    for path in found:
        width = int(path.stem.rpartition("-")[2].replace("dark", "1280"))
        with Image.open(path) as picture:
            assert picture.size == (width, images.WINDOWS[width])
        assert path.stat().st_size <= images.LARGEST
    assert sum(p.stat().st_size for p in found) <= SET_BYTES


def test_the_readme_opens_with_pictures_that_exist():
    opening = (ROOT / "README.md").read_text("utf-8").partition("\n## ")[0]
    shown = re.findall(r'(?:src|srcset)="([^"]+)"', opening)
    assert len(shown) == 6
    assert [place for place in shown if not (ROOT / place).is_file()] == []
    assert len(re.findall(r'alt="[^"]{40,}"', opening)) == 3


@pytest.mark.long
def test_a_picture_is_taken_of_a_page(pages, chromium, tmp_path):
    browser = chromium.context.browser
    images.take(browser, pages["index"].as_uri(), "index", tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == set(images.files("index"))
    with Image.open(tmp_path / "index-390.webp") as picture:
        assert len(picture.convert("RGB").getcolors() or []) > 1


@pytest.mark.long
def test_pictures_of_the_site_are_taken(chromium, tmp_path):
    images.take_site(chromium.context.browser, tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == set(images.files(images.SITE))


def test_colours_are_given_up_until_a_picture_is_small(monkeypatch):
    monkeypatch.setattr(images, "LARGEST", 2_000)

    def png(pixels) -> bytes:
        path = images.io.BytesIO()
        Image.fromarray(pixels.astype("uint8")).save(path, "PNG")
        return path.getvalue()

    noise = np.random.default_rng(0).integers(0, 256, (90, 90, 3))
    with pytest.raises(IsotopeError, match="more than 2000 bytes"):
        images.small(png(noise))
    fewer = images.small(png(noise[:60, :50]))
    assert 0 < len(fewer) <= images.LARGEST
    with Image.open(images.io.BytesIO(fewer)) as picture:
        assert len(picture.convert("RGB").getcolors() or []) < max(images.COLOURS)


def test_the_judging_page_is_served_on_a_pool_of_the_demo(embedded, monkeypatch):
    programs = forkserver.stand_in("isotope").parent
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    with images.judging(embedded) as address, urllib.request.urlopen(address) as page:
        assert "ann judges toy" in page.read().decode()
    assert not (embedded / "results/score/toy/pool.parquet").exists()


@pytest.mark.long
def test_the_page_of_suggestions_is_served_on_those_of_the_demo(embedded, monkeypatch):
    programs = forkserver.stand_in("isotope").parent
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    with images.suggesting(embedded) as address:
        at, _, section = address.partition("#section/")
        with urllib.request.urlopen(f"{at}api/section?id={section}") as answer:
            assert json.load(answer)["answers"]
    assert not (embedded / "judgements/toy/suggestions").exists()


def test_old_pictures_stay_until_all_new_ones_are_taken(tmp_path, monkeypatch):
    """The site is one of them, and its pages link those that are there."""
    report, out = tmp_path / "results/report", tmp_path / "out"
    for folder in (report, out):
        folder.mkdir(parents=True)
    (report / "index.html").touch()
    (out / "old.webp").touch()
    for name in ("chromium", "judging", "suggesting"):
        monkeypatch.setattr(images, name, lambda *_: contextlib.nullcontext())
    monkeypatch.setattr(images, "take", lambda _, __, name, out: (out / f"{name}.webp").touch())

    def fail(*_):
        assert (out / "old.webp").is_file()
        raise IsotopeError("the site", "a broken link", "correct it")

    monkeypatch.setattr(images, "take_site", fail)
    with pytest.raises(IsotopeError, match="broken link"):
        images.make(tmp_path, out)
    assert [path.name for path in out.iterdir()] == ["old.webp"]
    monkeypatch.setattr(images, "take_site", lambda _, out: (out / "site.webp").touch())
    images.make(tmp_path, out)
    made = {"index.webp", "judge.webp", "suggest.webp", "site.webp", "README.md"}
    assert {path.name for path in out.iterdir()} == made


def test_without_suggestions_it_says_what_to_run(tmp_path):
    with pytest.raises(MissingFile, match="run `make demo` first"), images.suggesting(tmp_path):
        pass


def test_without_a_report_it_says_what_to_run(tmp_path, capsys):
    with pytest.raises(MissingFile, match="run `make demo` first"):
        images.pages(tmp_path)
    with pytest.raises(SystemExit):
        images.main(["--project", str(tmp_path), "--out", str(tmp_path / "images")])
    assert "no report to take pictures of; run `make demo` first" in capsys.readouterr().err
    assert not (tmp_path / "images").exists()
