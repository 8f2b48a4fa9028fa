"""Pictures of the pages that a section links to."""

import pytest
from workflow.plugins.isotope_suggest.tests.aligned_pages import Pages, Section, linked

SHOWN = {
    "Q": [Section(shows=["X"]), Section("More", shows=["Y"])],
    "R": [Section(infobox=["X"])],
    "S": [Section()],
}


def asking(*links: str, **more) -> Pages:
    return Pages({"en": {"A": [Section(), Section("Open", links=links)], **SHOWN}}, **more)


def test_a_linked_page_has_a_share_that_its_pictures_divide(tmp_path):
    # The lead's picture weighs as much as two.
    evidence = linked(asking("Q", "S", "Nowhere"), tmp_path)
    assert evidence == {
        ("1-1", "x"): (pytest.approx(2 / 3), ["Q"]),
        ("1-1", "y"): (pytest.approx(1 / 3), ["Q"]),
    }


def test_pages_that_agree_make_a_picture_likelier(tmp_path):
    # Each of two pages has a half: of Q's the picture has two thirds, of R's all.
    evidence = linked(asking("Q", "R"), tmp_path)
    assert evidence["1-1", "x"] == (pytest.approx(1 - (1 - 1 / 3) * (1 - 1 / 2)), ["R", "Q"])
    assert evidence["1-1", "y"] == (pytest.approx(1 / 6), ["Q"])


def test_a_link_to_a_redirect_is_one_to_its_target(tmp_path):
    evidence = linked(asking("Old R", redirects={"Old R": "R"}), tmp_path)
    assert evidence == {("1-1", "x"): (1, ["R"])}


def test_a_page_of_a_redirects_title_takes_precedence(tmp_path):
    assert not linked(asking("S", redirects={"S": "R"}), tmp_path)


def test_a_link_to_both_counts_once(tmp_path):
    evidence = linked(asking("R", "Old R", redirects={"Old R": "R"}), tmp_path)
    assert evidence == {("1-1", "x"): (1, ["R"])}


def test_links_to_the_own_page_lead_to_none_of_its_pictures(tmp_path):
    sections = [Section(shows=["X"]), Section("Open", links=["A", "Also A"], hidden=["Y"])]
    assert not linked(Pages({"en": {"A": sections}}, redirects={"Also A": "A"}), tmp_path)


def test_pages_of_another_language_with_the_same_title_are_others(tmp_path):
    english = {"A": [Section("", links=["R"])]}
    pages = Pages({"en": english, "de": {"R": [Section(shows=["X"])]}})
    assert not linked(pages, tmp_path)


def test_only_the_likeliest_pictures_are_kept(tmp_path):
    assert [*linked(asking("Q"), tmp_path, depth=1)] == [("1-1", "x")]


def test_an_infobox_weighs_as_much_as_a_lead_wherever_it_stands(tmp_path):
    linked_page = [Section(), Section("Build", shows=["Y"], infobox=["X"])]
    pages = Pages({"en": {"A": [Section("", links=["Q"])], "Q": linked_page}})
    shares = {image: share for (_, image), (share, _) in linked(pages, tmp_path).items()}
    assert shares == pytest.approx({"x": 2 / 3, "y": 1 / 3})
