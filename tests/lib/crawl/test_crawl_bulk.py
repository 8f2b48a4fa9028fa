"""Pictures that others publish whole: what is taken of them, what is damaged, what is requested."""

import base64
import io
import json
import shutil
import tarfile
import zipfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import unquote

import polars as pl
import pytest
from tests import bulk_world
from tests.bulk_world import KINDS, Damage, World
from tests.crawls import crawl_of
from tests.decoding import InProcess

from isotope.core import store
from isotope.core.errors import HostDown, IsotopeError, MissingColumn, MissingFile
from isotope.crawl import bulk_rows, shard
from isotope.crawl.bulk import crawl_bulk
from isotope.crawl.scratch import Scratch
from isotope.crawl.serve import _Handler
from isotope.crawl.wanted import shown
from isotope.intake import pictures
from isotope.params import files
from isotope.params.crawl import Bulk
from isotope.schemas.crawl import LEDGER

ROOT = Path(__file__).parents[3]
OWN = {"threads": 4, "timeout_s": 5, "wait_s": 0.01, "user_agent": "isotope tests"}
SPEC = {**files.load(root=ROOT).crawl["toy"].spec(), **OWN}
SIDE, COUNT = 32, 400
DECODING = crawl_of(side_px=SIDE)


@pytest.fixture(autouse=True)
def _no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard, "Decoders", InProcess)
    monkeypatch.setattr(pictures, "Decoders", InProcess)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return bulk_world.make(tmp_path_factory.mktemp("world"), COUNT, SIDE)


def take(world: World, place: Path, items: list[dict[str, Any]] | None = None) -> list[Path]:
    """Read bulk sources in order; return their ledgers."""
    ledgers: list[Path] = []
    for n, item in enumerate(items or world.bulk):
        folder = place / f"data/crawl/mine/bulk/{n:02d}"
        names = {"pixels": "shard-00000", "ledger": "ledger", "files": "files"}
        outputs = {k: folder / f"{v}.parquet" for k, v in {**names, "damaged": "damaged"}.items()}
        listed = world.listed.get(item.get("source", item.get("crawl", "")))
        scratch = place / f"scratch/mine/bulk-{n:02d}"
        spec = Bulk.of_plain(item)
        crawl_bulk(world.urls, spec, outputs, scratch, DECODING, ledgers.copy(), listed)
        ledgers.append(outputs["ledger"])
    return ledgers


def crawl(
    world: World, place: Path, bulk: list[Path], **settings: Any
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Crawl what is left; return ledger and pictures."""
    out = {
        name: place / f"data/crawl/mine/{file}-00000.parquet"
        for name, file in (("pixels", "shard"), ("ledger", "ledger"))
    }
    policy = crawl_of(side_px=SIDE, after=settings.pop("after", None))
    spec = {**SPEC, "serve": str(world.root / "network"), **settings}
    shard.crawl_shard(world.urls, crawl_of(spec), 0, out, place / "scratch/mine", policy, bulk)
    return pl.read_parquet(out["ledger"]), pl.read_parquet(out["pixels"])


@pytest.fixture
def asked(world: World, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that the network was asked for."""
    bulk_world.serve(world)
    paths, answer = list[str](), _Handler.do_GET

    def noted(self: _Handler) -> None:
        paths.append(self.path)
        answer(self)

    monkeypatch.setattr(_Handler, "do_GET", noted)
    return paths


def damaged(ledgers: list[Path]) -> pl.DataFrame:
    return pl.concat([pl.read_parquet(path.with_name("damaged.parquet")) for path in ledgers])


def test_five_sources_bring_all_but_what_is_damaged_in_them(world, tmp_path):
    ledgers = take(world, tmp_path)
    for kind, ledger in zip(KINDS, ledgers, strict=True):
        came = set(pl.read_parquet(ledger)["image_url"])
        assert came == {*world.of_kind[kind]} - world.lost, kind
        pixels = pl.read_parquet(ledger.with_name("shard-00000.parquet"))
        assert set(pixels["image_url"]) == came
        assert pixels["image_id"].is_sorted()
    assert len(world.lost) == COUNT // 10


def test_what_is_damaged_is_named_by_file_and_row(world, tmp_path):
    told = damaged(take(world, tmp_path))
    found = {Damage(row["file"], row["row"], row["image_url"]) for row in told.to_dicts()}
    assert found == world.damaged
    assert told.null_count().select("file", "status", "reason").row(0) == (0, 0, 0)


def test_only_what_no_source_brought_is_requested_and_becomes_the_same_tables(
    world, tmp_path, asked
):
    ledger, pixels = crawl(world, tmp_path, take(world, tmp_path))
    assert len(asked) == len(world.lost)
    assert set(ledger["status"]) == {"success"}
    assert ledger.height == pixels.height == COUNT
    assert pixels["image_id"].is_sorted()
    requested = ledger.filter(pl.col("http_status").is_not_null())
    assert set(requested["image_url"]) == world.lost
    assert requested["bulk"].null_count() == requested.height
    assert ledger.filter(pl.col("bulk").is_not_null())["attempts"].to_list() == [0] * (
        COUNT - len(world.lost)
    )
    sizes = ledger.join(pixels, on="image_url", suffix="_of_pixels")
    assert (sizes["stored_width"] == sizes["width_of_pixels"]).all()


def test_each_row_says_whence_it_is_and_no_more_than_its_source_knows(world, tmp_path, asked):
    ledger, _ = crawl(world, tmp_path, take(world, tmp_path))
    taken = ledger.filter(pl.col("bulk").is_not_null())
    whence = Counter(bulk.rpartition(", row ")[0].split("/")[0] for bulk in taken["bulk"])
    assert whence.keys() == {"wit_base", "atomic", "competition", "earlier", ""}
    licensed = taken.filter(pl.col("licence").is_not_null())
    earlier = pl.col("bulk").str.starts_with("earlier/")
    assert licensed.equals(taken.filter(earlier))
    assert set(licensed["licence"]) == {"CC0"}
    # The original's size where the source tells it: twice what that crawl stored.
    assert (licensed["width"] == 2 * licensed["stored_width"]).all()
    unsized = taken.filter(pl.col("trait").str.contains("unsized"))
    told = unsized["bulk"].str.contains(r"^(atomic|competition|/)")
    assert told.all()
    assert unsized.height == taken.filter(pl.col("bulk").str.contains(r"^(atomic|comp|/)")).height


def test_pictures_that_may_be_larger_are_requested_only_if_that_is_asked_for(
    world, tmp_path, asked
):
    bulk = take(world, tmp_path)
    first, _ = crawl(world, tmp_path, bulk)
    narrow = first.filter(pl.col("image_url").is_in([*world.narrow]))
    assert (narrow["stored_height"] == SIDE - 8).all()
    told = narrow.filter(pl.col("image_url").is_in(world.of_kind["wit_base"]))
    assert told.height > 10
    assert (told["height"] == 10 * (SIDE - 8)).all()
    counts = [pl.read_parquet(path.with_name("files.parquet"))["smaller"].sum() for path in bulk]
    assert sum(counts) == narrow.height == len(world.narrow)
    before = len(asked)
    again, _ = crawl(world, tmp_path, bulk, refetch_smaller=True)
    assert len(asked) - before == len(world.narrow)
    larger = again.filter(pl.col("image_url").is_in([*world.narrow]))
    assert (larger["stored_height"] == SIDE).all()
    assert larger["bulk"].null_count() == larger.height


def test_a_smaller_picture_stays_where_the_network_has_none(world, tmp_path, asked):
    bulk = take(world, tmp_path)
    rows = [f"/{url.split('/', 3)[3]},gone" for url in sorted(world.narrow)]
    faults = world.root / "faults.csv"
    faults.write_text("\n".join(["path,fault", *map(_unquoted, rows), ""]))
    try:
        ledger, pixels = crawl(world, tmp_path, bulk, refetch_smaller=True)
        before = len(asked)
        again, _ = crawl(world, tmp_path, bulk, refetch_smaller=True)
    finally:
        faults.unlink()
    assert set(ledger["status"]) == {"success"}
    assert pixels.height == COUNT
    narrow = ledger.filter(pl.col("image_url").is_in([*world.narrow]))
    assert set(narrow["error"]) == {"its own address: gone, HTTP 410"}
    assert narrow["bulk"].null_count() == 0
    assert len(asked) == before
    assert again.drop("fetched_at").equals(ledger.drop("fetched_at"))


def _unquoted(row: str) -> str:
    path, _, fault = unquote(row).rpartition(",")
    quoted = path.replace('"', '""')
    return f'"{quoted}",{fault}'


def test_a_killed_job_goes_on_with_its_file_and_leaves_the_same_tables(tmp_path, monkeypatch):
    seen, read, add = list[str](), bulk_rows._parquet, Scratch.add
    monkeypatch.setattr(
        bulk_rows, "_parquet", lambda path, *rest: seen.append(path.name) or read(path, *rest)
    )
    left = [60]

    def killed(self: Scratch, *row: Any) -> None:
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        add(self, *row)

    # Files of 20 rows, so that some are finished.
    small = bulk_world.make(tmp_path / "small", COUNT, SIDE, rows=20)
    item = small.bulk[0]
    monkeypatch.setattr(Scratch, "add", killed)
    with pytest.raises(KeyboardInterrupt):
        take(small, tmp_path / "cut", [item])
    monkeypatch.setattr(Scratch, "add", add)
    first = seen.copy()
    seen.clear()
    cut = take(small, tmp_path / "cut", [item])
    assert seen[0] == first[-1]
    assert len(first) > 2
    assert not {*first[:-1]} & {*seen}
    uncut = take(small, tmp_path / "uncut", [item])
    for path, other in zip(every(cut), every(uncut), strict=True):
        assert pl.read_parquet(path).equals(pl.read_parquet(other)), path.name


def every(ledgers: list[Path]) -> list[Path]:
    """All tables that bulk sources have left."""
    names = ("ledger", "shard-00000", "files", "damaged")
    return [path.with_name(f"{name}.parquet") for path in ledgers for name in names]


def test_what_a_source_has_brought_is_not_taken_of_the_next(world, tmp_path):
    first, second = take(world, tmp_path, [world.bulk[0], {**world.bulk[0], "base": "https://x/"}])
    assert pl.read_parquet(first).height
    assert pl.read_parquet(second).is_empty()
    counts = pl.read_parquet(second.with_name("files.parquet"))
    # Rows of what the first had damaged, and both rows of what it had twice.
    left = damaged([second]).drop_nulls("row").filter(pl.col("status") != "bad_url")
    assert counts["wanted"].sum() == left.height + left.filter(status="checksum").height
    assert counts["taken"].sum() == 0


def test_a_source_that_is_added_brings_what_was_lost_and_nothing_else_changes(
    world, tmp_path, asked
):
    served = world.root / "network"
    away = world.root / "away"
    served.rename(away)
    served.mkdir()
    try:
        bulk = take(world, tmp_path)
        first, _ = crawl(world, tmp_path, bulk[:2], lost_share=1.0)
        before = len(asked)
        again, pixels = crawl(world, tmp_path, bulk, lost_share=1.0)
    finally:
        served.rmdir()
        away.rename(served)
    assert len(asked) == before
    came = {*again.filter(status="success")["image_url"]}
    assert came == {*pl.read_parquet(world.urls)["image_url"]} - world.lost
    kept = first.filter(status="success")
    assert kept.equals(again.join(kept, on="image_url", how="semi"))
    assert pixels.height == len(came)


def test_a_source_that_is_dropped_takes_its_pictures_along(world, tmp_path, asked):
    bulk = take(world, tmp_path)
    crawl(world, tmp_path, bulk)
    before = len(asked)
    ledger, _ = crawl(world, tmp_path, bulk[1:])
    assert len(asked) - before == len({*world.of_kind["wit_base"]} - world.lost)
    assert set(ledger["status"]) == {"success"}


def test_an_earlier_crawl_comes_before_a_bulk_source(world, tmp_path, asked):
    """Its pictures are larger, and its servers say whether they are the same."""
    bulk = take(world, tmp_path)
    ledger, _ = crawl(world, tmp_path / "later", bulk)
    before = len(asked)
    shutil.copytree(tmp_path / "later/data/crawl/mine", tmp_path / "data/crawl/before")
    columns = ledger.filter(pl.col("bulk").is_null())
    store.write(columns.to_arrow(), tmp_path / "data/crawl/before/ledger.parquet", LEDGER)
    again, _ = crawl(world, tmp_path, bulk, after="before", ask_again=False)
    assert len(asked) == before
    assert again.drop("fetched_at").equals(
        ledger.with_columns(
            attempts=pl.when(pl.col("bulk").is_null()).then(0).otherwise("attempts")
        )
        .cast({"attempts": pl.Int32})
        .drop("fetched_at")
    )


def test_no_network_is_no_loss_although_bulk_sources_have_brought_pictures(world, tmp_path):
    """Pictures that came without a request do not stand for a host that answers."""
    bulk = take(world, tmp_path)
    with pytest.raises(HostDown):
        crawl(world, tmp_path, bulk, serve=None, mirror="http://127.0.0.1:9", attempts=1)


def test_two_rows_of_one_address_with_different_bytes_are_neither_taken(world, tmp_path):
    url = world.of_kind["atomic"][0]
    rows = [(url, 1), (url, 2), (url.replace("https", "http"), 3), (url, 1)]
    data = [{"image_url": u, "image": bulk_world.picture(n)} for u, n in rows]
    folder = tmp_path / "data/acquire/twice/p"
    folder.mkdir(parents=True)
    for n, some in enumerate((data[:1], data[2:], data[1:2])):
        pl.DataFrame(some).write_parquet(folder / f"{n}.parquet")
    [ledger] = take(alone(world, tmp_path, "twice"), tmp_path)
    assert pl.read_parquet(ledger).is_empty()
    assert pl.read_parquet(ledger.with_name("shard-00000.parquet")).is_empty()
    [found] = damaged([ledger]).to_dicts()
    assert (found["file"], found["row"], found["status"]) == ("twice/p/2.parquet", 1, "checksum")
    counts = pl.read_parquet(ledger.with_name("files.parquet"))
    assert counts["repeated"].to_list() == [0, 2, 0]
    assert counts["taken"].sum() == 0


def listing(folder: Path, part: str) -> None:
    """Write the manifest of an acquired source."""
    files = [
        {"part": part, "path": f"{part}/{p.name}", "bytes": p.stat().st_size}
        for p in sorted((folder / part).iterdir())
    ]
    (folder / "manifest.json").write_text(json.dumps({"files": files}))


def alone(world: World, tmp_path: Path, name: str, **item: Any) -> World:
    """A world of one acquired source, whose files are below a folder."""
    folder = tmp_path / f"data/acquire/{name}"
    listing(folder, "p")
    bulk = [{"source": name, "part": "p", **item}]
    return World(world.root, world.urls, bulk, {name: folder / "manifest.json"}, {})


def test_archives_and_files_of_a_part_are_a_mirror_too(world, tmp_path):
    own = world.of_kind["mirror"][:4]
    folder = tmp_path / "data/acquire/packed/p"
    paths = [unquote(url.removeprefix("https://upload.wikimedia.org/")) for url in own]
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "some.zip", "w") as archive:
        archive.writestr(paths[0], bulk_world.picture(0))
        archive.writestr("wikipedia/commons/readme.txt", "nothing")
    with tarfile.open(folder / "some.tar", "w") as tar:
        for n in (1, 2):
            member = tarfile.TarInfo(paths[n])
            member.size = len(bulk_world.picture(n))
            tar.addfile(member, io.BytesIO(bulk_world.picture(n)))
    [ledger] = take(alone(world, tmp_path, "packed"), tmp_path)
    assert set(pl.read_parquet(ledger)["image_url"]) == {*own[:3]}
    assert damaged([ledger]).is_empty()


@pytest.mark.parametrize(
    ("columns", "item", "found"),
    [
        ({"url": ["x"], "image": [b"x"]}, {}, "no column 'image_url' among url, image"),
        ({"image_url": ["x"], "text": ["x"]}, {}, "no column of pictures among image_url, text"),
        ({"image_url": ["x"], "image": [b"x"]}, {"licence": "l"}, "no column 'l' among"),
        ({"image_url": [7], "image": [b"x"]}, {}, "'image_url' is int64; name a column of addr"),
        ({"image_url": ["x"], "i": [[b"x"]]}, {"image": "i"}, "'i' is .*; name a column of bytes"),
    ],
)
def test_a_table_without_a_column_that_the_params_name_is_refused(
    world, tmp_path, columns, item, found
):
    path = tmp_path / "data/acquire/odd/p/a.parquet"
    path.parent.mkdir(parents=True)
    pl.DataFrame(columns).write_parquet(path)
    with pytest.raises(MissingColumn, match=found):
        take(alone(world, tmp_path, "odd", **item), tmp_path)


def test_a_table_of_texts_with_a_line_of_names_is_read_by_them(world, tmp_path):
    url = world.of_kind["atomic"][0]
    path = tmp_path / "data/acquire/named/p/a.tsv"
    path.parent.mkdir(parents=True)
    text = base64.b64encode(bulk_world.picture(1)).decode()
    path.write_text(f"rights\tpixels\turl\tw\th\nCC BY 4.0\t{text}\t{url}\t400\tmany\n")
    named = {"address": "url", "image": "pixels", "licence": "rights", "width": "w", "height": "h"}
    [ledger] = take(alone(world, tmp_path, "named", **named), tmp_path)
    [row] = pl.read_parquet(ledger).to_dicts()
    assert (row["licence"], row["bulk"]) == ("CC BY 4.0", "named/p/a.tsv, row 2")
    # A size that is no number is not known.
    assert (row["width"], row["height"], row["trait"]) == (40, 30, "unsized")


def test_a_file_without_a_line_is_damaged_and_a_link_that_leads_back_ends(world, tmp_path):
    empty = tmp_path / "data/acquire/empty/p/a.tsv"
    empty.parent.mkdir(parents=True)
    empty.touch()
    [ledger] = take(alone(world, tmp_path, "empty"), tmp_path)
    [found] = damaged([ledger]).to_dicts()
    assert (found["file"], found["row"]) == ("empty/p/a.tsv", None)
    url = world.of_kind["mirror"][0]
    path = tmp_path / "mirror" / unquote(url.removeprefix("https://upload.wikimedia.org/"))
    path.parent.mkdir(parents=True)
    path.write_bytes(bulk_world.picture(1))
    (path.parent / "round").symlink_to(tmp_path / "mirror")
    (path.parent / "gone.jpg").symlink_to("nowhere")
    folder = World(world.root, world.urls, [{"folder": str(tmp_path / "mirror")}], {}, {})
    [ledger] = take(folder, tmp_path / "round")
    assert pl.read_parquet(ledger)["image_url"].to_list() == [url]


@pytest.mark.parametrize("kind", KINDS)
def test_no_bytes_of_a_file_end_the_job_but_by_a_named_error(kind, tmp_path):
    """Each time some bytes are others, or the end is missing, or it comes twice."""
    world = bulk_world.make(tmp_path / "world", 60, SIDE)
    item = world.bulk[KINDS.index(kind)]
    places = {"earlier": world.root / "data/crawl/earlier", "mirror": world.root / "mirror"}
    folder = places.get(kind, world.root / f"published/{kind}")
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.name != "ledger.parquet")
    random = Random(kind)
    for n in range(12):
        path = random.choice(files)
        whole = path.read_bytes()
        path.chmod(0o644)
        path.write_bytes(spoilt(whole, random))
        if "source" in item:
            listing(world.listed[kind].parent, item["part"])
        with suppress(IsotopeError):
            [ledger] = take(world, tmp_path / str(n), [item])
            assert {*pl.read_parquet(ledger)["image_url"]} <= {*world.of_kind[kind]}
        path.write_bytes(whole)


def spoilt(whole: bytes, random: Random) -> bytes:
    data = bytearray(whole)
    for _ in range(random.choice([1, 3, 30])):
        if data:
            data[random.randrange(len(data))] = random.randrange(256)
    end = random.randrange(len(data) + 1) if random.random() < 0.3 else len(data)
    return bytes(data[:end]) * random.choice([1, 1, 1, 2])


def test_a_folder_that_is_not_there_is_named(world, tmp_path):
    gone = World(world.root, world.urls, [{"folder": str(tmp_path / "no")}], {}, {})
    with pytest.raises(MissingFile, match=r"no such folder; check crawl\.<source>\.bulk"):
        take(gone, tmp_path)


UPLOAD = "https://upload.wikimedia.org/wikipedia"
FILE = f"{UPLOAD}/commons/a/ab/A_bé.jpg"


@pytest.mark.parametrize(
    ("address", "is_same"),
    [
        (f"{UPLOAD}/commons/a/ab/A_b%C3%A9.jpg", True),
        ("http://upload.wikimedia.org/wikipedia/commons/a/ab/A_b%c3%a9.jpg?utm_source=x", True),
        (f"{UPLOAD}/commons/thumb/a/ab/A_b%C3%A9.jpg/300px-A_b%C3%A9.jpg", True),
        ("//thumb.wikimedia.org/wikipedia/commons/thumb/a/ab/A_b%C3%A9.jpg/330px-x.jpg", True),
        (f"{UPLOAD}/en/a/ab/A_b%C3%A9.jpg", False),
        (f"{UPLOAD}/commons/a/ab/A_be.jpg", False),
        ("https://example.org/wikipedia/commons/a/ab/A_b%C3%A9.jpg", False),
    ],
)
def test_a_row_is_of_a_file_by_its_name_and_repository(address, is_same):
    """tests/lib/core/test_uploads.py has every spelling of an address."""
    [found, wanted] = shown([address, FILE])
    assert (found == wanted) is is_same


@pytest.mark.parametrize("address", [None, "", "File:A.jpg", "upload", "https://", "https://host"])
def test_what_is_no_address_shows_no_file(address):
    assert shown([address, FILE]).is_null().to_list() == [True, False]
