"""The files that a page shows are found with section, caption and size, and its text stays."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotope.parse.files import FileUse, read_options
from isotope.parse.picture_arguments import Options
from isotope.parse.site import ENGLISH_NAMESPACES, FILE, Namespaces
from isotope.parse.templates import MAX_DEPTH
from isotope.parse.wikitext import plain_text, split_pictured, split_sections

PAGE = """{{Infobox album
| name = A
| Cover = A cover.jpg
| caption = The ''first'' cover
| alt = A red box
| signature = A signature.svg
}}
Lead <!-- [[File:Hidden.jpg]] --> text<ref>[[File:In ref.png|thumb]]</ref>.
[[File:Left_one.JPG|thumb|left|120px|upright=1.2|alt=A [[bee]]|A bee, see [[Bee|bees]]{{ref|a|b}}]]
== One ==
{{multiple image|image1=M1.png|caption1=First|image2=M2.png|caption2=Second|alt2=Two}}
{|
| [[Image:Flag of X.svg|20px]] X || <nowiki>[[File:No.jpg]]</nowiki>
|}
=== Two ===
<gallery mode="packed">
File:G1.jpg|A ''gallery'' <!-- not this --> line
G 2.png
Not a file
</gallery>
[[File:Inline.svg|40x30px|link=|A tooltip]] [[:File:Linked.jpg]] [[Media:Sound.ogg]]
{{Listen|filename=Sound.ogg|title=S}} {{cite web|url=http://x.org/a.jpg|title=b.jpg in c}}
"""


def found(text: str, namespaces: Namespaces = ENGLISH_NAMESPACES) -> list[tuple[str, FileUse]]:
    sections, uses = split_pictured(text, namespaces)
    return [(sections[n][1], use) for n, use in uses]


def test_every_file_of_a_page_is_found_in_its_section():
    assert [(section, use.file, use.origin) for section, use in found(PAGE)] == [
        ("", "A cover.jpg", "infobox"),
        ("", "A signature.svg", "infobox"),
        ("", "Left one.JPG", "link"),
        ("One", "M1.png", "template"),
        ("One", "M2.png", "template"),
        ("One", "Flag of X.svg", "link"),
        ("Two", "G1.jpg", "gallery"),
        ("Two", "G 2.png", "gallery"),
        ("Two", "Inline.svg", "link"),
        ("Two", "Sound.ogg", "template"),
    ]


def test_captions_with_links_and_templates_in_them_are_kept_whole():
    shown = {use.file: use.options for _, use in found(PAGE)}
    left = shown["Left one.JPG"]
    assert plain_text(left.caption) == "A bee, see bees"
    assert (plain_text(left.alt), left.width, left.is_framed) == ("A bee", 120, True)
    assert (shown["A cover.jpg"].caption, shown["A cover.jpg"].alt) == (
        "The ''first'' cover",
        "A red box",
    )
    assert shown["A signature.svg"].caption == ""
    assert [shown[f"M{n}.png"].caption for n in (1, 2)] == ["First", "Second"]
    assert [shown[f"M{n}.png"].alt for n in (1, 2)] == ["", "Two"]
    assert plain_text(shown["G1.jpg"].caption) == "A gallery line"
    # What is neither framed nor a thumbnail shows no caption: those who can't see it read it.
    assert shown["Inline.svg"] == Options("", "A tooltip", 40, False)
    assert {use.file for _, use in found(PAGE) if use.is_in_table} == {"Flag of X.svg"}


@pytest.mark.parametrize(
    ("wiki", "name", "link", "framed"),
    [
        ("arwiki", "ملف", "[[ملف:A b.jpg|تصغير|يسار|نص]]", True),
        ("zhwiki", "File", "[[檔案:A b.jpg|縮圖|右|200像素|文]]", True),
        ("jawiki", "ファイル", "[[画像:A b.jpg|サムネイル|左|代替文=絵|文]]", True),
        ("hiwiki", "चित्र", "[[चित्र:A b.jpg|अंगूठाकार|दाएँ|शब्द]]", True),
        ("ruwiki", "Файл", "[[Изображение:A b.jpg|мини|справа|200px|слово]]", True),
        ("swwiki", "Picha", "[[Picha:A_b.jpg|thumb|kulia|maneno]]", True),
        ("dewiki", "Datei", "[[Bild:A b.jpg|mini|hochkant=1.3|Wort]]", True),
        ("frwiki", "Fichier", "[[Fichier:A b.jpg|vignette|droite|mot]]", True),
        ("eswiki", "Archivo", "[[Imagen:A b.jpg|sinmarco|derecha|palabra]]", False),
    ],
)
def test_links_are_read_in_the_words_of_their_language(wiki, name, link, framed):
    namespaces = Namespaces.from_names({FILE: name}, wiki)
    ((_, use),) = found(link, namespaces)
    words = link.rstrip("]").rpartition("|")[2]
    shown = use.options
    assert (use.file, shown.is_framed) == ("A b.jpg", framed)
    assert (shown.caption if framed else shown.alt) == words


@pytest.mark.parametrize(
    ("link", "caption"),
    [
        ("[[File:A.jpg|thumb|Old\n{|\n| b || c\n|-\n| d\n|}\n]]", "Old\nb c\nd"),
        ("[[File:A.jpg|thumb|a [http://b.org/?c=1|left|d e] f]]", "a e f"),
        ("[[File:A.jpg|frameless|thumb|a]]", ""),
        ("[[File:A.jpg|thumb|frameless|a]]", "a"),
    ],
)
def test_bars_and_formats_count_as_in_mediawiki(link, caption):
    [(_, use)] = found(link)
    assert plain_text(use.options.caption) == caption


def test_a_templates_arguments_end_at_every_bar_but_those_of_links_and_templates():
    text = "{{multiple image|image1=A.jpg|caption1=see [http://b.org/?c=1|image2=B.jpg|d] e}}"
    assert [(use.file, use.options.caption) for _, use in found(text)] == [
        ("A.jpg", "see [http://b.org/?c=1"),
        ("B.jpg", ""),
    ]


def test_a_template_may_tell_the_file_and_an_option():
    [(_, use)] = found("[[File:{{lang|x|A.jpg}}|{{nowrap|thumb}}|{{nowrap|A}} b]]")
    assert (use.file, plain_text(use.options.caption)) == ("A.jpg", "A b")


def test_of_several_captions_the_last_counts_and_markup_that_is_open_takes_nothing_along():
    assert read_options(["thumb", "one", "two"]).caption == "two"
    text = "[[File:Open.jpg|thumb|a {{Infobox|image=Open2.jpg [[File:A.jpg]] }} [[File:B.jpg|x]]"
    assert [use.file for _, use in found(text)] == ["A.jpg", "B.jpg"]


PIECES = st.sampled_from(
    [
        *("[[File:A.jpg", "|thumb", "|", "]]", "{{", "}}", "{{Infobox|image=", "B.png", "{|\n"),
        *("<gallery>\n", "C.gif|c\n", "</gallery>", "\n|}", "<!--", "-->", "<ref>", "</ref>"),
        *("x", "\n== H ==\n"),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_looking_for_files_never_changes_the_text(text):
    sections, uses = split_pictured(text, ENGLISH_NAMESPACES)
    assert sections == split_sections(text)
    assert all(0 <= n < len(sections) for n, _ in uses)


NESTED = [("[[File:A.jpg|thumb|", "]]"), ("{{a|b.jpg|", "}}"), ("{{Infobox|image=A.jpg|", "}}")]


@pytest.mark.parametrize(("opening", "closing"), NESTED)
def test_a_page_of_brackets_within_brackets_is_read_at_most_40_times_over(opening, closing):
    """Read once a level, 20,000 of them would hold gigabytes of captions and take hours."""
    text = opening * 20_000 + closing * 20_000
    _, files = split_pictured(text, ENGLISH_NAMESPACES)
    assert len(files) == MAX_DEPTH
    read = sum(len(use.options.caption) + sum(map(len, use.options.unread)) for _, use in files)
    assert read <= MAX_DEPTH * len(text)


@pytest.mark.parametrize(("opening", "closing"), NESTED)
def test_brackets_as_deep_as_pages_have_them_are_all_read(opening, closing):
    text = opening * MAX_DEPTH + closing * MAX_DEPTH
    _, files = split_pictured(f"{text} {text}", ENGLISH_NAMESPACES)
    assert len(files) == 2 * MAX_DEPTH


@pytest.mark.parametrize(
    "text",
    [
        "[[" * 50_000 + "}}" * 50_000,
        "[[" * 50_000 + "{{a|b.jpg}}" * 5_000,
        "{{" * 50_000 + "]]" * 50_000,
        "[[A" + " " * 200_000 + "x|]]",
    ],
    ids=["closed otherwise", "files in open links", "open templates", "spaces in a link"],
)
def test_what_is_open_is_not_searched_again_for_each_mark(text):
    """Searched for each, these took minutes; they end at once."""
    sections, _ = split_pictured(f"{text} words", ENGLISH_NAMESPACES)
    assert plain_text(sections[0][2]).endswith("words")


@pytest.mark.parametrize(
    ("wiki", "name", "first"),
    [
        ("enwiki", "File", "File:Five.png|thumb|300px|Five people in [[1927]]"),
        ("dewiki", "Datei", "Bild:Five.png|mini|300px|Five people in [[1927]]"),
        ("frwiki", "Fichier", "Fichier:Five.png|vignette|300px|Five people in [[1927]]"),
    ],
)
def test_an_image_map_shows_the_file_of_its_first_line(wiki, name, first):
    text = (
        f"A.\n<imagemap>\n# people\n\n{first}\nrect 0 0 10 10 [[Foo]]\ndesc none\n</imagemap>\nB."
    )
    [(_, use)] = found(text, Namespaces.from_names({FILE: name}, wiki))
    assert (use.file, use.options.caption) == ("Five.png", "Five people in [[1927]]")
    assert (use.options.width, use.options.is_framed) == (300, True)
    assert plain_text(text) == "A.\nB."


@pytest.mark.parametrize("first", ["Five.png|thumb", "", "rect 0 0 10 10 [[File:Five.png]]"])
def test_an_image_map_without_a_file_first_shows_nothing(first):
    text = f"A.<imagemap>{first}</imagemap>B."
    assert found(text) == []
    assert plain_text(text) == "A.B."


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("{{wide image|Bay.png|800px|The bay at dusk}}", [("Bay.png", "The bay at dusk", "")]),
        ("{{wide image|Bay.png|800px|The bay|300px|right}}", [("Bay.png", "The bay", "")]),
        ("{{tall image|Bay.png|80x200px|The bay|alt=Water}}", [("Bay.png", "The bay", "Water")]),
        (
            "{{double image|right|A.png|60|B.png|60|An oak|A lime|Leaves|More leaves}}",
            [("A.png", "An oak", "Leaves"), ("B.png", "A lime", "More leaves")],
        ),
        ("{{wide image|1=Bay.png|3=The bay}}", [("Bay.png", "The bay", "")]),
        ("{{wide image|Bay.png|800px}}", [("Bay.png", "", "")]),
        ("{{wide image|Bay.png|x|caption=The bay}}", [("Bay.png", "The bay", "")]),
    ],
)
def test_files_that_a_call_names_by_place_have_the_words_behind_them(call, shown):
    uses = [use for _, use in found(call)]
    assert [(use.file, use.options.caption, use.options.alt) for use in uses] == shown
