"""The credit line of a picture, and whether its licence lets it be used."""

import pytest

from isotope_suggest.credit import author, credit_line, is_free

PAGE = "https://commons.wikimedia.org/wiki/File:A.jpg"


def test_a_credit_line_has_author_licence_and_file_page():
    assert credit_line("A. Person", "CC BY 2.0", PAGE) == f"A. Person, CC BY 2.0, {PAGE}"


def test_what_is_unknown_is_shown_as_unknown():
    nothing = "author unknown, licence unknown, file page unknown"
    assert credit_line(None, None, None) == nothing
    assert credit_line("", "unknown", "") == nothing


@pytest.mark.parametrize(
    ("caption", "name"),
    [
        ("Author: Jane Q. Public", "Jane Q. Public"),
        ("English: Photo by Jane Public, 1999", "Jane Public"),
        ("Deutsch: Foto: Rainer Zufall", "Rainer Zufall"),
        ("© 2004 Jane Public / Wikimedia Commons / CC-BY-SA-3.0", "Jane Public"),
        ("(c) Jane Public", "Jane Public"),
        ("Jane Public, CC BY-SA 4.0, via Wikimedia Commons", "Jane Public"),
        ("A title, flickr-user, https://creativecommons.org/licenses/by/2.0/", "flickr-user"),
        ("English: Lighthouse | Author: Jane Public", "Jane Public"),
        # As the parse phase writes what a table says of files.
        ("Author: Ann Lee, CC-BY-SA-4.0", "Ann Lee"),
        ("By hand, Public domain", "By hand"),
        ("Author: Lee Ann talk", "Lee Ann talk"),
    ],
)
def test_an_author_is_read_from_the_caption(caption, name):
    assert author(caption) == name


@pytest.mark.parametrize(
    "caption",
    [
        "English: Betty Carter",
        "Français : photo de la tour",
        "Deutsch: Foto von Berlin",
        "Image: a lighthouse at night",
        "Released into the public domain by its author",
        "This picture shows a lighthouse on the northern coast, CC BY 2.0",
        "Own work, CC0",
        "unknown",
        "",
        None,
    ],
)
def test_a_caption_that_names_nobody_gives_no_author(caption):
    assert author(caption) is None


@pytest.mark.parametrize("licence", ["CC0", "CC BY", "CC BY-SA 3.0", "public domain", "GFDL"])
def test_free_licences_are_free_wherever_the_file_is(licence):
    assert is_free(licence, None) is True


@pytest.mark.parametrize("licence", ["fair use", "CC BY-NC 2.0", "CC BY-ND", "CC BY-NC-SA 4.0"])
def test_fair_use_and_licences_that_forbid_sale_or_change_are_not_free(licence):
    assert is_free(licence, PAGE) is False


def test_a_file_of_commons_without_a_licence_counts_as_free_and_a_wikis_own_as_unknown():
    assert is_free(None, PAGE) is True
    assert is_free(None, "https://en.wikipedia.org/wiki/File:A.jpg") is None
    assert is_free("unknown", None) is None
