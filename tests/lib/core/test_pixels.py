"""Streaming and decoding of the crawl's pictures."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from isotope.core import pixels, store
from isotope.core.errors import CorruptFile, MissingFile, TruncatedFile
from isotope.schemas.crawl import PIXELS


def webp(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "WEBP", lossless=True)
    return out.getvalue()


def shard(path, ids, rows_per_group=2):
    rows = [
        {"image_id": i, "image_url": i, "width": 1, "height": 1, "webp": i.encode()} for i in ids
    ]
    with store.writer(path, PIXELS) as out:
        for start in range(0, len(rows), rows_per_group):
            some = rows[start : start + rows_per_group]
            out.write_table(pa.Table.from_pylist(some, schema=PIXELS))
    return path


@pytest.fixture
def two_shards(tmp_path):
    return [
        shard(tmp_path / "shard-00000.parquet", ["a", "b", "c", "d", "e"]),
        shard(tmp_path / "shard-00001.parquet", ["f", "g", "h"]),
    ]


def test_all_pictures_come_in_the_order_of_the_shards(two_shards):
    assert [i for i, _ in pixels.iter_pixels(two_shards[::-1])] == list("abcdefgh")


def test_a_picture_of_two_crawls_is_known_from_the_one_that_is_named_first(tmp_path):
    ru = [shard(tmp_path / f"ru/shard-0000{n}.parquet", ids) for n, ids in enumerate(["bc", "x"])]
    en = [shard(tmp_path / f"en/shard-0000{n}.parquet", ids) for n, ids in enumerate(["ab", "xy"])]
    shards = pixels.ordered([*ru[::-1], *en])
    assert shards == [*ru, *en]
    assert [pixels.repeated(s, shards) for s in shards] == [set(), set(), {"b"}, {"x"}]
    assert [i for i, _ in pixels.iter_pixels(shards[::-1])] == list("abxybcx")


def test_only_the_wanted_pictures_come_each_with_its_own_bytes(two_shards):
    assert list(pixels.iter_pixels(two_shards, ["g", "b"])) == [("b", b"b"), ("g", b"g")]


def test_no_wanted_pictures_means_none_not_all(two_shards):
    assert list(pixels.iter_pixels(two_shards, [])) == []


def test_a_row_group_without_wanted_pictures_is_never_read(two_shards):
    first = two_shards[0]
    chunk = pq.ParquetFile(first).metadata.row_group(0).column(4)
    damaged = bytearray(first.read_bytes())
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    damaged[start : start + chunk.total_compressed_size] = bytes(chunk.total_compressed_size)
    first.write_bytes(damaged)
    assert [i for i, _ in pixels.iter_pixels([first], ["d", "e"])] == ["d", "e"]
    with pytest.raises(TruncatedFile, match="shard-00000"):
        list(pixels.iter_pixels([first], ["a"]))


def test_a_missing_shard_is_named(tmp_path):
    with pytest.raises(MissingFile, match=r"shard-00009.*crawl"):
        list(pixels.iter_pixels([tmp_path / "shard-00009.parquet"]))


def test_a_truncated_shard_is_named(two_shards):
    whole = two_shards[1].read_bytes()
    two_shards[1].write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TruncatedFile, match="shard-00001"):
        list(pixels.iter_pixels(two_shards))


def test_decoding_returns_the_pixels_that_were_encoded():
    picture = Image.effect_noise((7, 5), 80).convert("RGB")
    assert pixels.decode(webp(picture)).tobytes() == picture.tobytes()


def test_transparency_is_shown_over_white():
    clear = Image.new("RGBA", (2, 2), (200, 0, 0, 0))
    assert pixels.decode(webp(clear)).getpixel((0, 0)) == (255, 255, 255)


def test_a_grey_picture_becomes_rgb():
    assert pixels.decode(webp(Image.new("L", (2, 2), 128))).mode == "RGB"


def test_bytes_that_are_no_webp_are_corrupt_even_when_they_are_a_picture():
    out = io.BytesIO()
    Image.new("RGB", (2, 2)).save(out, "PNG")
    with pytest.raises(CorruptFile, match="image x"):
        pixels.decode(out.getvalue(), where="image x")


def test_a_picture_cut_short_is_corrupt():
    whole = webp(Image.effect_noise((64, 64), 80).convert("RGB"))
    with pytest.raises(CorruptFile):
        pixels.decode(whole[: len(whole) // 2])


def test_a_picture_with_too_many_pixels_is_refused(monkeypatch):
    monkeypatch.setattr(pixels, "MAX_PIXELS", 20)
    with pytest.raises(CorruptFile, match="7 x 5 px"):
        pixels.decode(webp(Image.new("RGB", (7, 5))))
