"""The baseline `wikimedia`: alignment and links alone, with constant confidence."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotope_suggest.baseline import wikimedia
from isotope_suggest.schemas import CANDIDATES

EMPTY = pl.DataFrame(CANDIDATES.empty_table())
LANGUAGES = ("de", "fr", "ja")


def rows(*candidates: tuple[str, float | None, tuple[str, ...], float | None]) -> pl.DataFrame:
    """Candidates of one section: picture, alignment and its languages, share of links."""
    return pl.concat(
        [
            EMPTY,
            pl.DataFrame(
                [
                    {
                        **{"text_id": "t", "image_id": image, "alignment": alignment},
                        "alignment_on": [f"{c}: A: B # C" for c in spoken] if alignment else None,
                        **{"links": links, "bm25": 9.0, "bm25_rank": 1},
                    }
                    for image, alignment, spoken, links in candidates
                ],
                schema_overrides={"alignment_on": pl.List(pl.String), "links": pl.Float32},
            ),
        ],
        how="diagonal_relaxed",
    )


def test_languages_that_agree_come_first_then_one_then_links():
    candidates = rows(
        *(("text", None, (), None), ("links", None, (), 0.9), ("more", None, (), 1.0)),
        *(("one", 0.6, ("de",), None), ("two", 0.9, ("de", "fr"), 0.1)),
        *(("one-linked", 0.6, ("ja",), 0.2), ("unlike", 0.4, ("de", "fr"), None)),
    )
    ranked = wikimedia(candidates).select("image_id", "probability").rows()
    assert ranked == [
        ("two", 0.9), ("one-linked", 0.8), ("one", 0.8), ("more", 0.8), ("links", 0.8),
    ]  # fmt: skip


def test_of_equal_pictures_the_smaller_id_is_first():
    ranked = wikimedia(rows(("b", None, (), 0.5), ("a", None, (), 0.5)))
    assert ranked["image_id"].to_list() == ["a", "b"]
    assert ranked["score"].to_list() == [0.25, 0.25]


def test_without_candidates_nothing_is_suggested():
    ranked = wikimedia(EMPTY)
    assert ranked.columns == ["text_id", "image_id", "score", "probability"]
    assert ranked.is_empty()


SHARES = st.one_of(st.none(), st.floats(0.125, 1, width=32))
SPOKEN = st.sets(st.sampled_from(LANGUAGES), min_size=1).map(sorted).map(tuple)


@given(st.lists(st.tuples(SHARES, SPOKEN, SHARES), max_size=8))
def test_scores_follow_languages_then_links(drawn):
    candidates = rows(*((f"i{n}", *row) for n, row in enumerate(drawn)))
    by_image = {row["image_id"]: row for row in candidates.to_dicts()}

    def order(image: str) -> tuple[float, float, str]:
        row = by_image[image]
        is_aligned = row["alignment"] is not None and row["alignment"] > 0.5
        return (-len(row["alignment_on"]) if is_aligned else 0, -(row["links"] or 0), image)

    ranked = wikimedia(candidates)["image_id"].to_list()
    assert ranked == sorted(ranked, key=order)
    left_out = set(by_image) - set(ranked)
    assert all(order(image)[:2] == (0, 0) for image in left_out)
    assert all(order(image)[:2] != (0, 0) for image in ranked)


@pytest.mark.parametrize("spoken", [("de",), ("de", "de")])
def test_a_language_counts_once(spoken):
    assert wikimedia(rows(("a", 0.9, spoken, None)))["score"].to_list() == [1.0]
