"""The table of pictures: one row an image, of one pass over the crawl's pixels."""

from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import polars as pl
import pytest
from workflow.plugins.isotope_suggest.tests.suggest_pictures import drawn

from isotope.core import store
from isotope.core.errors import CorruptFile, MissingFile
from isotope.core.uploads import upload_url
from isotope.intake.convert import to_webp
from isotope.schemas.collect import IMAGES, QRELS
from isotope.schemas.crawl import PIXELS
from isotope.schemas.parse import PICTURES as PLACED
from isotope_suggest import looks, pictures
from isotope_suggest.pictures import describe_pictures
from isotope_suggest.schemas import PICTURE_KINDS


def webp(rgb):
    return to_webp(cv2.imencode(".png", rgb[..., ::-1])[1].tobytes())[0]


@cache
def some_pictures():
    return [
        (d, webp(d.rgb)) for d in drawn(4, seed=5) if d.kind in ("photograph", "drawing", "icon")
    ]


class World:
    """A collection on disk: twelve pictures in two shards, an icon on 101 pages, one judged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.drawn, self.webp = (list(column) for column in zip(*some_pictures(), strict=True))
        self.ids = [f"i{n:02}" for n in range(len(self.drawn))]
        self.images, self.qrels = folder / "images.parquet", folder / "qrels.parquet"
        self.placed, self.out = folder / "placed.parquet", folder / "out/pictures.parquet"
        self.shards = [folder / f"crawl/shard-0000{n}.parquet" for n in (0, 1)]
        self.write_images()
        judged = [("t1", "i00", "train"), ("t2", "i01", "test")]
        rows = [
            {"text_id": t, "image_id": i, "relevance": 1, "split": split} for t, i, split in judged
        ]
        store.write_rows(rows, self.qrels, QRELS)
        icon = next(d.file for d in self.drawn if d.kind == "icon")
        shown = [(page, icon) for page in range(101)] + [(7, self.drawn[0].file)] * 2
        placed = [
            dict.fromkeys(PLACED.names) | {"page_id": p, "file": f, "wiki": "enwiki"}
            for p, f in shown
        ]
        store.write_rows(placed, self.placed, PLACED)
        half = len(self.ids) // 2
        self.write_shard(0, range(half))
        self.write_shard(1, range(half, len(self.ids)))

    def write_images(self, **more):
        rows = [
            {
                **dict.fromkeys(IMAGES.names),
                **{"image_id": i, "image_url": upload_url(d.file), "mime_type": d.mime_type},
                **{"width": d.rgb.shape[1], "height": d.rgb.shape[0]},
                "caption_attribution_description": ["A. Person, CC BY-SA 3.0"],
            }
            for i, d in zip(self.ids, self.drawn, strict=True)
        ]
        table = pl.DataFrame(store.pa.Table.from_pylist(rows, IMAGES))
        table.with_columns(pl.Series(n, values) for n, values in more.items()).write_parquet(
            self.images
        )

    def write_shard(self, n, places):
        rows = [
            {
                **{"image_id": self.ids[k], "image_url": "", "webp": self.webp[k]},
                **{"width": self.drawn[k].rgb.shape[1], "height": self.drawn[k].rgb.shape[0]},
            }
            for k in places
        ]
        store.write_rows(rows, self.shards[n], PIXELS)

    def describe(self, threads=1, **changes):
        arguments: dict[str, Any] = {
            **{"images": self.images, "pixels": self.shards, "placed": [self.placed]},
            **{"qrels": self.qrels, "out": self.out, "threads": threads, "maximum_usage": 100},
        }
        describe_pictures(**(arguments | changes))
        return pl.read_parquet(self.out)


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_every_image_has_a_row_with_kind_pages_hash_and_credit(world):
    pictures = world.describe()
    assert pl.read_parquet_schema(world.out) == pl.Schema(
        pl.DataFrame(PICTURE_KINDS.empty_table()).schema
    )
    assert pictures["image_id"].to_list() == world.ids
    kinds = [d.kind for d in world.drawn]
    assert (pictures["kind"] == pl.Series(kinds)).mean() >= 0.9
    assert pictures["file"].to_list() == [d.file for d in world.drawn]
    icons = pictures.filter(pl.Series([k == "icon" for k in kinds]))
    assert icons["pages"].to_list() == [101, 0, 0, 0]
    assert (icons["illustrates"] < 0.5).all()
    # A page counts once, however often it shows the picture.
    assert pictures["pages"][0] == 1
    hashes = [looks.look(content, "")["hash"] for content in world.webp]
    assert pictures["hash"].to_list() == hashes
    credits = pictures.select("author", "licence", "is_free").unique().rows()
    assert credits == [("A. Person", "CC BY-SA 3.0", True)]
    assert pictures["file_page"].str.starts_with("https://commons.wikimedia.org/wiki/File:").all()
    assert [p.name for p in world.out.parent.iterdir()] == ["pictures.parquet"]


@pytest.mark.long
def test_processes_change_no_byte(world, monkeypatch):
    world.describe()
    alone = world.out.read_bytes()
    monkeypatch.setattr(pictures, "_FEW_PICTURES", 0)
    world.describe(threads=2)
    assert world.out.read_bytes() == alone


def test_after_a_kill_only_the_shards_that_are_left_are_measured(world, monkeypatch):
    measured, look = list[str](), looks.look

    def killed(webp, image_id):
        measured.append(image_id)
        if image_id == world.ids[-1] and len(measured) <= len(world.ids):
            raise KeyboardInterrupt
        return look(webp, image_id)

    monkeypatch.setattr(looks, "look", killed)
    with pytest.raises(KeyboardInterrupt):
        world.describe()
    assert not world.out.exists()
    world.describe()
    half = len(world.ids) // 2
    assert measured == world.ids + world.ids[half:]


def test_a_shard_that_was_fetched_anew_is_measured_anew(world, monkeypatch):
    monkeypatch.setattr(pictures, "_learned", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        world.describe()
    monkeypatch.undo()
    world.webp[0] = webp(np.full((90, 120, 3), 250, np.uint8))
    world.write_shard(0, range(len(world.ids) // 2))
    assert world.describe()["hash"][0] is None


def test_a_picture_without_pixels_has_neither_colours_nor_hash(world):
    pictures = world.describe(pixels=[])
    assert pictures["hash"].null_count() == pictures["colours"].null_count() == len(world.ids)
    assert pictures["width"].null_count() == 0


def test_a_picture_that_is_stored_small_has_the_size_of_its_original(world):
    """By which its kind is told, and which the feed and its filters read."""
    count = len(world.ids)
    before = world.describe()
    world.write_images(width=[3_000] * count, height=[2_000] * count)
    pictures = world.describe()
    assert set(pictures.select("width", "height").rows()) == {(3_000, 2_000)}
    assert pictures["hash"].equals(before["hash"])
    icons = before["kind"] == "icon"
    assert (pictures["illustrates"].filter(icons) > before["illustrates"].filter(icons)).all()


def test_an_image_that_shows_anothers_picture_has_its_looks(world):
    world.write_images(picture_id=[world.ids[0]] * len(world.ids))
    pictures = world.describe()
    assert pictures["hash"].n_unique() == 1
    assert pictures["image_id"].n_unique() == len(world.ids)


def test_a_licence_that_the_collection_states_comes_before_captions(world):
    world.write_images(licence=["CC BY-NC 2.0"] + [None] * (len(world.ids) - 1))
    pictures = world.describe()
    assert pictures["licence"].to_list()[:2] == ["CC BY-NC 2.0", "CC BY-SA 3.0"]
    assert pictures["is_free"].to_list()[:2] == [False, True]


def test_pictures_of_the_crawl_that_the_collection_lacks_are_not_measured(world, monkeypatch):
    pl.read_parquet(world.images).head(2).write_parquet(world.images)
    measured, look = list[str](), looks.look
    monkeypatch.setattr(looks, "look", lambda w, i: measured.append(i) or look(w, i))
    assert world.describe().height == 2
    assert measured == world.ids[:2]


def test_of_two_crawls_of_one_picture_the_first_counts(world, tmp_path):
    first = world.describe()
    other = tmp_path / "earlier/shard-00000.parquet"
    other.parent.mkdir()
    grey = webp(np.full((90, 120, 3), 128, np.uint8))
    pl.read_parquet(world.shards[1]).with_columns(webp=pl.lit(grey)).write_parquet(other)
    assert world.describe(pixels=[*world.shards, other]).equals(first)
    again = world.describe(pixels=[other, *world.shards])
    half = len(world.ids) // 2
    assert again["hash"][half:].null_count() == len(world.ids) - half
    assert again["hash"][:half].equals(first["hash"][:half])


def test_a_damaged_picture_is_named_and_nothing_is_half_written(world):
    rows = pl.read_parquet(world.shards[1]).with_columns(webp=pl.lit(b"RIFF no picture"))
    rows.write_parquet(world.shards[1])
    with pytest.raises(CorruptFile, match="image i06: not a WebP picture"):
        world.describe()
    assert not world.out.exists()


def test_a_shard_that_is_not_there_is_named(world):
    world.shards[0].unlink()
    with pytest.raises(MissingFile, match=r"shard-00000\.parquet: no such shard"):
        world.describe()
