"""How varied suggestions are, by hand."""

import numpy as np
import polars as pl
import pytest
from workflow.plugins.isotope_suggest.tests.test_evaluate import judged

from isotope_suggest.measure import variety
from isotope_suggest.measure.variety import Floats

# Angles in degrees: a, b and c follow each other within 25, d stands alone, e has no vector.
ANGLES = {"a": 0, "b": 20, "c": 40, "d": 120}


def vectors(image_ids: pl.Series) -> Floats:
    rows = [
        [np.cos(np.radians(ANGLES[i])), np.sin(np.radians(ANGLES[i]))] if i in ANGLES else [0, 0]
        for i in image_ids
    ]
    return np.array(rows, np.float32)


def test_pictures_are_in_a_cluster_directly_or_over_others() -> None:
    # cos 20° is 0.94 and cos 40° 0.77: a and c are alike over b alone.
    assert variety.clusters(vectors(pl.Series(["a", "b", "c", "d", "e"]))) == [0, 0, 0, 1, 2]
    assert variety.clusters(vectors(pl.Series(["a", "c"]))) == [0, 1]
    assert variety.clusters(vectors(pl.Series(["e", "e"]))) == [0, 1]


def test_cluster_recall_is_the_share_of_clusters_that_the_first_ten_show() -> None:
    rows = [
        *(("t1", image, "suggest", 1.0, 0.5) for image in "ad"),
        *(("t1", image, "bm25", 1.0, None) for image in "abe"),
        *(("t2", image, "bm25", 1.0, None) for image in "d"),
    ]
    sample = judged(rows, {"t1": "a", "t2": "a", "t3": "a"})
    table = variety.cluster_recall(sample, vectors, seed=0)
    columns = ("system", "sections", "pictures", "clusters", "cluster_recall")
    # t1 has the clusters ab, d and e, t2 has d, and nobody answers t3.
    assert table.select(columns).rows() == [
        ("suggest", 2, 1.0, 1.0, pytest.approx((2 / 3 + 0) / 2)),
        ("bm25", 2, 2.0, 1.5, pytest.approx((2 / 3 + 1) / 2)),
    ]
    assert (table["low"] <= table["cluster_recall"]).all()


def test_what_stands_below_the_tenth_place_does_not_count() -> None:
    rows = [("t1", "d", "bm25", 1.0, None)] * 10 + [("t1", "a", "bm25", 1.0, None)]
    table = variety.cluster_recall(judged(rows, {"t1": "a"}), vectors, seed=0)
    assert table["cluster_recall"].to_list() == [1.0]


def test_no_section_has_no_cluster() -> None:
    assert variety.cluster_recall(judged([], {}), vectors, seed=0).is_empty()


def test_shares_are_of_open_sections_and_of_suggestions() -> None:
    sections = pl.DataFrame(
        {
            "text_id": ["a", "b", "c", "d", "e"],
            "role": ["open"] * 4 + ["judged"],
            "page_class": ["STEM", "STEM", "STEM", None, "STEM"],
            "language": ["en", "en", "de", "de", "fr"],
        }
    )
    feed = pl.DataFrame({"text_id": ["a", "a", "c"]})
    rows = variety.shares(feed, sections.lazy()).rows()
    assert rows == [
        ("page class", "STEM", 3, 0.75, 2, 3, 1.0),
        ("page class", "", 1, 0.25, 0, 0, 0.0),
        ("language", "de", 2, 0.5, 1, 1, pytest.approx(1 / 3)),
        ("language", "en", 2, 0.5, 1, 2, pytest.approx(2 / 3)),
    ]
    assert variety.shares(feed.clear(), sections.lazy())["suggestions_share"].null_count() == 4
