"""What must not be suggested: each filter alone, their order, and their counts."""

import re
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotope.core import store
from isotope.core.errors import UnknownId
from isotope.core.vectors import write_ids
from isotope.schemas.parse import PICTURES as PLACED
from isotope_suggest import filters as filtering
from isotope_suggest.filters import (
    REASONS,
    Filters,
    aspects,
    counts,
    series_of,
    shown,
)
from isotope_suggest.likeness import CAMERAS, Likeness, PlacePairs, Places, alike_names
from isotope_suggest.origins import Origins
from isotope_suggest.params import Filtering
from isotope_suggest.schemas import FILTERED, PICTURE_KINDS

SPEC = Filtering()
SECTIONS = pl.DataFrame(
    {"text_id": ["s", "t", "d"], "language": ["en", "en", "de"], "page_id": [1, 1, 1]}
)
NO_QRELS = pl.DataFrame(schema=dict.fromkeys(["text_id", "image_id", "split"], pl.String))
NONE_SHOWN = pl.DataFrame(
    schema={"language": pl.String, "page_id": pl.Int64, "image_id": pl.String, "origin": pl.String}
)
NO_REJECTIONS = pl.DataFrame(schema=dict.fromkeys(["text_id", "image_id"], pl.String))


def picture(image_id, **changes):
    plain = {
        **{"image_id": image_id, "file": f"{image_id}.jpg", "kind": "photograph"},
        **{"illustrates": 0.97, "pages": 1, "width": 400, "height": 300, "colours": 200},
        **{"hash": None, "author": None, "licence": None, "is_free": True, "file_page": None},
    }
    return plain | changes


def table(*pictures):
    return pl.DataFrame(store.pa.Table.from_pylist(list(pictures), PICTURE_KINDS))


def filters(pictures, likeness=None, spec=SPEC, **changes: Any):
    some: dict[str, Any] = {
        **{"sections": SECTIONS, "shown": NONE_SHOWN, "qrels": NO_QRELS},
        "rejections": NO_REJECTIONS,
    }
    return Filters(pictures, **(some | changes), likeness=likeness or Likeness(pictures), spec=spec)


def pairs(*rows):
    return pl.DataFrame(list(rows), schema=["text_id", "image_id"], orient="row")


def on_page(*rows, page_id=1, language="en", origin="link"):
    return pl.DataFrame(
        [(language, page_id, image, origin) for image in rows], NONE_SHOWN.schema, orient="row"
    )


def why(outcome):
    return {(r["text_id"], r["image_id"]): r["reason"] for r in outcome.rejected.to_dicts()}


@pytest.mark.parametrize(
    ("changes", "reason", "detail"),
    [
        ({"kind": "icon", "illustrates": 0.1}, "icon", "illustrates with probability 0.1"),
        ({"kind": "flag", "illustrates": 0.1}, "flag", "illustrates with probability 0.1"),
        ({"kind": "logo", "illustrates": 0.1}, "logo", "illustrates with probability 0.1"),
        ({"kind": "placeholder", "illustrates": 0.1}, "placeholder", "probability 0.1"),
        ({"kind": "map"}, "map", "illustrates with probability 0.97"),
        ({"pages": 101}, "on many pages", "101 pages"),
        ({"height": 99}, "too small", "400 x 99 px"),
        ({"is_free": False, "licence": "fair use"}, "not free", "fair use"),
        ({"is_free": None}, "not free", "licence unknown"),
    ],
)
def test_a_picture_is_rejected_with_its_reason(changes, reason, detail):
    pictures = table(picture("bad", **changes), picture("good"))
    outcome = filters(pictures).reject(pairs(("s", "bad"), ("s", "good")))
    assert outcome.left.rows() == [("s", "good")]
    assert outcome.rejected.columns == FILTERED.names
    [row] = outcome.rejected.to_dicts()
    assert (row["text_id"], row["image_id"], row["reason"]) == ("s", "bad", reason)
    assert detail in row["detail"]


@pytest.mark.parametrize(
    "changes", [{"pages": 100}, {"height": 100}, {"kind": "drawing"}, {"pages": 0}]
)
def test_a_picture_at_a_bound_passes(changes):
    outcome = filters(table(picture("a", **changes))).reject(pairs(("s", "a")))
    assert outcome.rejected.is_empty()


def test_licences_do_not_count_where_the_params_say_so():
    pictures = table(picture("a", is_free=False), picture("b", is_free=None))
    both = pairs(("s", "a"), ("s", "b"))
    outcome = filters(pictures, spec=SPEC.model_copy(update={"free": False})).reject(both)
    assert outcome.left.height == 2


def test_what_is_on_the_page_is_rejected_in_its_infobox_too():
    pictures = table(picture("a"), picture("b"))
    some = filters(pictures, shown=on_page("a", origin="infobox"))
    outcome = some.reject(pairs(("s", "a"), ("s", "b"), ("d", "a")))
    # The page with this id in another language is another page.
    assert outcome.left.rows() == [("s", "b"), ("d", "a")]
    assert outcome.rejected.rows() == [("s", "a", "on the page", "by infobox")]


def test_a_judged_sections_own_picture_is_hidden_and_that_of_another_section_is_not():
    qrels = pl.DataFrame(
        {"text_id": ["s", "t"], "image_id": ["own", "other"], "split": ["test", "test"]}
    )
    pictures = table(picture("own", pages=101), picture("other", pages=101))
    some = filters(pictures, shown=on_page("own", "other"), qrels=qrels)
    outcome = some.reject(pairs(("s", "own"), ("s", "other"), ("t", "own"), ("t", "other")))
    # 101 pages less the one whose picture is hidden are not more than 100.
    assert outcome.left.rows() == [("s", "own"), ("t", "other")]
    assert why(outcome) == {("s", "other"): "on the page", ("t", "own"): "on the page"}


def test_a_picture_of_the_pages_judgements_is_on_the_page_though_the_snapshot_lacks_it():
    qrels = pl.DataFrame({"text_id": ["t"], "image_id": ["a"], "split": ["train"]})
    outcome = filters(table(picture("a")), qrels=qrels).reject(pairs(("s", "a")))
    assert outcome.rejected.rows() == [("s", "a", "on the page", "by judgements")]


def test_near_duplicates_of_the_pages_pictures_are_rejected_but_not_those_of_the_hidden_one():
    pictures = table(
        *(picture("own", hash=0b111), picture("lead", hash=0xFF00), picture("far", hash=2**63 - 1)),
        *(picture("like own", hash=0b110), picture("like lead", hash=0xFF01)),
    )
    qrels = pl.DataFrame({"text_id": ["s"], "image_id": ["own"], "split": ["test"]})
    some = filters(pictures, shown=on_page("own", "lead"), qrels=qrels)
    outcome = some.reject(pairs(*(("s", i) for i in ("like own", "like lead", "far", "own"))))
    assert outcome.left["image_id"].to_list() == ["like own", "far", "own"]
    [row] = outcome.rejected.to_dicts()
    assert row["reason"] == "near duplicate"
    assert row["detail"] == "of lead on the page, 1 bits, no vectors"


def test_an_earlier_rejection_holds_for_its_section_alone():
    rejections = pairs(("s", "a")).with_columns(reason=pl.lit("wrong subject"))
    outcome = filters(table(picture("a")), rejections=rejections).reject(
        pairs(("s", "a"), ("t", "a"))
    )
    assert outcome.left.rows() == [("t", "a")]
    assert outcome.rejected.rows() == [("s", "a", "rejected before", "wrong subject")]


def test_the_first_of_several_reasons_counts_in_the_order_that_is_published():
    pictures = table(picture("a", kind="icon", illustrates=0.1, pages=900, width=20, height=20))
    rejections = pairs(("s", "a"))
    reasons = []
    for shown_there in (on_page("a"), NONE_SHOWN):
        some = filters(pictures, rejections=rejections, shown=shown_there)
        reasons += some.reject(pairs(("s", "a"))).rejected["reason"].to_list()
    assert reasons == ["on the page", "icon"]


def test_a_free_text_without_a_section_has_no_page():
    pictures = table(picture("a"), picture("b", kind="map"))
    some = filters(pictures, shown=on_page("a"), sections=SECTIONS.clear())
    outcome = some.reject(pairs(("", "a"), ("", "b")))
    assert outcome.left.rows() == [("", "a")]


def test_other_columns_and_their_order_are_left_as_they_are():
    rows = pairs(("t", "b"), ("s", "a"), ("s", "b")).with_columns(bm25=pl.Series([3.0, 2.0, 1.0]))
    outcome = filters(table(picture("a"), picture("b"))).reject(rows)
    assert outcome.left.equals(rows)
    assert filters(table(picture("a"))).reject(rows.clear()).left.height == 0


def test_a_candidate_that_is_no_picture_is_a_named_error():
    with pytest.raises(UnknownId, match="image z: a candidate that the table of pictures has not"):
        filters(table(picture("a"))).reject(pairs(("s", "a"), ("s", "z")))


def test_aspects_are_bounded_by_the_tails_of_their_kind_in_judged_train_pictures(monkeypatch):
    # 1.01, 1.02, ... 1.99: 0.02 * 100 = 2, so the second from each end.
    train = [picture(f"i{n}", width=100 + n, height=100) for n in range(1, 100)]
    drawings = [picture(f"d{n}", kind="drawing") for n in range(40)]
    oddities = [picture("wide", width=900, height=100), picture("tall", width=100, height=101)]
    pictures = table(*train, *drawings, *oddities)
    qrels = pl.DataFrame({"text_id": "x", "image_id": [p["image_id"] for p in train + drawings]})
    qrels = pl.concat(
        [
            qrels.with_columns(split=pl.lit("train")),
            pl.DataFrame({"text_id": "y", "image_id": ["wide"], "split": ["test"]}),
        ]
    )
    bounds = aspects(pictures, qrels, 0.02)
    # Of 40 drawings, none bounds a tail of 2 %: 0.02 * 41 < 1.
    assert bounds.rows() == [("photograph", 1.02, 1.98)]
    monkeypatch.setattr(filtering, "ASPECT_TAIL", 0.02)
    some = filters(pictures, qrels=qrels)
    outcome = some.reject(pairs(("s", "wide"), ("s", "tall"), ("s", "i2"), ("s", "d1")))
    assert why(outcome) == {("s", "wide"): "other aspect", ("s", "tall"): "other aspect"}
    assert outcome.rejected["detail"][0] == "9.0, a photograph has 1.02 to 1.98"


def test_no_tail_bounds_no_aspect():
    train = [picture(f"i{n}", width=100 + n, height=100) for n in range(500)]
    qrels = pl.DataFrame({"image_id": [p["image_id"] for p in train]}).with_columns(
        text_id=pl.lit("x"), split=pl.lit("train")
    )
    assert aspects(table(*train), qrels, 0.0).is_empty()


@settings(max_examples=30)
@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=300), st.sampled_from([0.005, 0.02, 0.1]))
def test_at_most_the_tails_share_of_the_train_pictures_is_beyond_each_bound(ratios, tail):
    some = [picture(f"i{n}", width=round(r * 1e6), height=10**6) for n, r in enumerate(ratios)]
    qrels = pl.DataFrame({"image_id": [p["image_id"] for p in some]}).with_columns(
        text_id=pl.lit("x"), split=pl.lit("train")
    )
    wide = table(*some).with_columns(aspect=pl.col("width") / pl.col("height"))
    for _, narrowest, widest in aspects(wide, qrels, tail).iter_rows():
        assert (wide["aspect"] < narrowest).mean() <= tail
        assert (wide["aspect"] > widest).mean() <= tail


def with_vectors(tmp_path, pictures, vectors):
    """Write vectors, by image, in two shards and map them."""
    halves = [list(vectors)[::2], list(vectors)[1::2]]
    paths = []
    for n, ids in enumerate(halves):
        np.save(tmp_path / f"{n}.npy", np.array([vectors[i] for i in ids], np.float32))
        write_ids(pl.Series(ids, dtype=pl.String), tmp_path / f"{n}.ids.parquet")
        paths.append((tmp_path / f"{n}.npy", tmp_path / f"{n}.ids.parquet"))
    return Likeness(pictures, [p[0] for p in paths], [p[1] for p in paths])


def test_hash_and_vectors_must_agree_where_both_are_known(tmp_path):
    hashes = {"a": 0, "same": 1, "hash alone": 3, "cosine alone": 2**40 - 1, "no hash": None}
    pictures = table(*(picture(i, hash=h) for i, h in hashes.items()))
    vectors = {"a": [1, 0], "same": [2, 0.1], "hash alone": [0, 1], "cosine alone": [1, 0]}
    likeness = with_vectors(tmp_path, pictures, vectors | {"no hash": [1, 0.01]})
    ids, rows = pl.Series([*hashes]), PlacePairs(np.zeros(4, np.int64), np.arange(1, 5))
    both = likeness.near_duplicates(ids, rows, 6, 0.98)
    assert [ids[i] for i in both["other"]] == ["same", "no hash"]
    assert both["bits"].to_list() == [1, None]
    assert both["cosine"][0] == pytest.approx(2 / np.hypot(2, 0.1), abs=1e-6)
    hashes_alone = Likeness(pictures).near_duplicates(ids, rows, 6, 0.98)
    assert [ids[i] for i in hashes_alone["other"]] == ["same", "hash alone"]
    assert hashes_alone["cosine"].to_list() == [None, None]


COVERS = {
    "a": "Lanterns of the Harbour.jpg",
    "b": "LanternsOfTheHarbour 1997 Reissue.jpg",
    "c": "Lanterns of the Harbour (Japanese edition).png",
    "d": "Lanterns of the Valley.jpg",
    "e": "Lanterns of the harbour.jpg",
}
FAR = {"a": 0, "b": 2**18 - 1, "c": 0b1111 << 30, "d": 1, "e": 2**20 - 1}


def test_covers_of_one_record_are_near_duplicates_though_hash_and_vectors_are_apart(tmp_path):
    pictures = table(*(picture(i, file=f, hash=FAR[i]) for i, f in COVERS.items()))
    likeness = with_vectors(tmp_path, pictures, {i: [n, 1] for n, i in enumerate(COVERS)})
    ids, rows = pl.Series([*COVERS]), PlacePairs(np.zeros(4, np.int64), np.arange(1, 5))
    duplicates = likeness.near_duplicates(ids, rows, 6, 0.98)
    # d is near by its hash, and its vector and name are another's; e has the name and another look.
    assert duplicates.select("other", "bits", "cosine", "named").rows() == [
        (1, 18, None, True),
        (2, 4, None, True),
    ]
    ranked = pairs(*(("s", i) for i in COVERS))
    left = filters(pictures, likeness).one_of_a_kind(ranked)
    assert left.left["image_id"].to_list() == ["a", "d", "e"]
    assert left.rejected["detail"].to_list() == [
        "of a, 18 bits, names alike",
        "of a, 4 bits, names alike",
    ]


def test_another_cover_of_what_the_page_shows_is_not_suggested():
    pictures = table(*(picture(i, file=f, hash=FAR[i]) for i, f in COVERS.items()))
    outcome = filters(pictures, shown=on_page("a")).reject(pairs(("s", "b"), ("s", "e")))
    assert outcome.left["image_id"].to_list() == ["e"]
    assert outcome.rejected["detail"].to_list() == ["of a on the page, 18 bits, names alike"]


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        ("Lanterns of the Harbour.jpg", "lanterns_of_the_harbour_2.PNG", True),
        ("Oslo by night.jpg", "Panorama: Oslo by night, 1998 (cropped).jpg", True),
        ("Straße am Hafen.jpg", "STRASSE AM HAFEN (Plakat).jpg", True),
        ("Фонари гавани.jpg", "Обложка - Фонари гавани, второе издание.jpg", True),
        ("港口之灯.jpg", "港口之灯 再版封面.jpg", True),
        ("港之.jpg", "港之灯.jpg", False),
        ("Oslo.jpg", "Oslo by night.jpg", False),
        ("Cromley Lodge carving.jpg", "Ormmere Lodge carving.jpg", False),
        ("Screenshot 2.png", "Screenshot of a spreadsheet.png", False),
        ("IMG 00012345678.jpg", "IMG 00012345679.jpg", False),
        ("12345678.jpg", "12345678 (2).jpg", False),
    ],
)
def test_names_are_alike_where_one_has_all_letters_of_the_other(first, second, alike):
    assert alike_names(first, second) == alike_names(second, first) == alike


@given(st.text(max_size=30), st.text(max_size=10), st.text(max_size=10))
def test_words_before_and_behind_and_numbers_do_not_change_what_a_name_is(name, before, behind):
    if name.casefold() != name or "." in name + before + behind:
        return
    longer = f"{before} 1 {name} 2 {behind}.jpg"
    plain = "".join(c for c in name if c.isascii() and c.isalpha())
    assert alike_names(f"{name}.jpg", longer) or len(plain) < 8 or re.match(CAMERAS, plain)


def test_vectors_are_those_of_the_system_or_else_of_hashes(tmp_path):
    pictures = table(picture("a", hash=0), picture("b", hash=2**64 - 1), picture("c", hash=None))
    ids = pl.Series(["b", "a", "c", "unknown"])
    signs = Likeness(pictures).vectors(ids)
    assert (signs @ signs.T).round(6).tolist() == [
        *([1, -1, 0, 0], [-1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]),
    ]
    likeness = with_vectors(tmp_path, pictures, {"a": [3, 4], "b": [0, 2]})
    expected = np.array([[0, 1], [0.6, 0.8], [0, 0], [0, 0]], np.float32)
    np.testing.assert_allclose(likeness.vectors(ids), expected, atol=1e-6)


@given(st.lists(st.text(max_size=3), unique=True), st.lists(st.text(max_size=3)))
def test_places_are_those_of_the_list(ids, asked):
    positions = Places(pl.Series(ids, dtype=pl.String)).positions(pl.Series(asked, dtype=pl.String))
    assert positions.tolist() == [ids.index(i) if i in ids else -1 for i in asked]


def test_ids_that_share_a_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(pl.Series, "hash", lambda ids: pl.Series([7] * len(ids), dtype=pl.UInt64))
    places = Places(pl.Series(["a", "b", "c"]))
    assert places.positions(pl.Series(["c", "x", "a", "b"])).tolist() == [2, -1, 0, 1]


def test_of_near_duplicates_the_best_is_left_and_what_is_like_one_that_goes_stays():
    # b is like a, c is like b alone: b goes and c stays.
    pictures = table(
        *(picture("a", hash=0), picture("b", hash=0b111111), picture("c", hash=0b111111111111)),
        picture("z", hash=2**60),
    )
    ranked = pairs(("s", "a"), ("s", "b"), ("s", "c"), ("s", "z"), ("t", "b"), ("t", "a"))
    outcome = filters(pictures).one_of_a_kind(ranked)
    assert outcome.left.rows() == [("s", "a"), ("s", "c"), ("t", "b")]
    details = outcome.rejected.select("text_id", "image_id", "reason", "detail").rows()
    assert details[0] == ("s", "b", "near duplicate", "of a, 6 bits, no vectors")
    assert details[1] == ("s", "z", "near duplicate", "of a, 1 bits, no vectors")
    assert details[2][:3] == ("t", "a", "near duplicate")


def test_one_picture_of_a_series_is_left():
    names = {"a": "Bridge in fog 1.jpg", "b": "Bridge_in_fog_2.JPG", "c": "Bridge at night 1.jpg"}
    pictures = table(*(picture(i, file=f) for i, f in names.items()))
    outcome = filters(pictures).one_of_a_kind(pairs(("s", "b"), ("s", "a"), ("s", "c"), ("t", "a")))
    assert outcome.left.rows() == [("s", "b"), ("s", "c"), ("t", "a")]
    assert outcome.rejected.rows() == [("s", "a", "same series", "as b")]


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("Castle (12).jpg", "Castle (3).png", True),
        ("Castle-01-east.jpg", "castle 02 east.jpg", False),
        ("DSC00123.jpg", "DSC00124.jpg", False),
        ("IMG_20120304_1.jpg", "IMG_20120305_2.jpg", False),
        ("Castle.jpg", "Castle.png", False),
        ("12.jpg", "13.jpg", False),
        ("城の写真 1.jpg", "城の写真 2.jpg", True),
    ],
)
def test_a_series_is_of_names_that_differ_in_a_number(first, second, same):
    rows = pl.DataFrame({"file": [first, second]}).select(series_of(pl.col("file")))["file"]
    assert (rows[0] is not None and rows[0] == rows[1]) == same


@settings(max_examples=40)
@given(st.lists(st.integers(0, 2**8 - 1), min_size=1, max_size=12), st.integers(0, 4))
def test_no_two_that_are_left_are_alike_and_each_that_goes_is_like_a_better_one(hashes, bits):
    ids = [f"i{n:02}" for n in range(len(hashes))]
    pictures = table(
        *(picture(i, hash=h, file=f"{i}x.jpg") for i, h in zip(ids, hashes, strict=True))
    )
    pictures = pictures.with_columns(file=pl.lit("plain.jpg"))
    with patch.object(filtering, "PHASH_DISTANCE", bits):
        outcome = filters(pictures).one_of_a_kind(pairs(*(("s", i) for i in ids)))
    left = [ids.index(i) for i in outcome.left["image_id"]]
    apart = lambda a, b: (hashes[a] ^ hashes[b]).bit_count()  # noqa: E731
    assert all(apart(a, b) > bits for a in left for b in left if a < b)
    for image in outcome.rejected["image_id"]:
        n = ids.index(image)
        assert any(a < n and apart(a, n) <= bits for a in left)
    assert sorted(left + [ids.index(i) for i in outcome.rejected["image_id"]]) == [*range(len(ids))]


def test_what_pages_show_is_found_in_the_tables_of_every_source(tmp_path):
    def row(page_id, file, origin="link"):
        return dict.fromkeys(PLACED.names) | {"page_id": page_id, "file": file, "origin": origin}

    sources = {"en": [row(1, "A b.jpg"), row(1, "A b.jpg", "infobox")], "de": [row(1, "C.png")]}
    paths = []
    for code, rows in sources.items():
        paths.append(tmp_path / f"{code}.parquet")
        store.write_rows([*rows, row(2, "Not in the collection.jpg")], paths[-1], PLACED)
    pictures = table(
        picture("a", file="A b.jpg"), picture("c", file="C.png"), picture("n", file=None)
    )
    shown_rows = shown(paths, pictures, Origins(languages={"en": "en", "de": "de"}, union=True))
    assert shown_rows.columns == ["language", "page_id", "image_id", "origin"]
    assert shown_rows.rows() == [("de", 1, "c", "link"), ("en", 1, "a", "infobox")]


def test_counts_have_a_row_for_every_reason():
    rejected = pl.DataFrame(
        [("s", "a", "icon", ""), ("t", "a", "icon", ""), ("s", "b", "too small", "")],
        schema=FILTERED.names,
        orient="row",
    )
    counted = counts(rejected)
    assert counted["reason"].to_list() == list(REASONS)
    numbers = {row[0]: row[1:] for row in counted.iter_rows() if row[1]}
    assert numbers == {"icon": (2, 1, 2), "too small": (1, 1, 1)}
    assert counts(rejected.clear()).select("candidates", "pictures", "sections").sum().row(0) == (
        *(0, 0, 0),
    )
