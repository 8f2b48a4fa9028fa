"""What is no markup has no effect: neither on a page's text nor on any decision about the page."""

import re
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotope.parse.site import wikipedia_site
from isotope.parse.xml_dump import Chunk, parse_batch

SITE = wikipedia_site("en", "https://en.wikipedia.org/wiki/", "enwiki")
# A block of literal text may stand at each ¤, where it is neither within markup nor before it.
ARTICLE = """{{Template:Short description|A mill¤}}
{{Template:Infobox mill
| name = The mill¤
| logo = ¤
| image = Mill.jpg
| caption = The ''old'' mill¤
}}
'''The mill''' is near [[Oak River|the river¤]].<ref>One</ref> It is [[old]].¤ {{Main|Mills¤}}
{{quote|Words¤ of {{lang|fr|moulin}}}} [[File:Fire.jpg|thumb|upright=0.8|By [[A painter]]¤]] ¤
¤
== History ==
It burnt¤.<ref name="a">Two</ref>¤

* [[First owner]]¤
# one¤
{| class="wikitable"
|+ Visitors¤
! Year !! Guests¤
|-
| 1990¤ || [[File:Guest.png|20px]] 100¤
|}
=== Pictures ===
<gallery>
File:G1.jpg|A gallery
G2.png
</gallery>¤
<nowiki>* no item</nowiki> ¤
[[Category:Mills]]¤
[[de:Mühle]]
¤"""
PAGES = {
    "an article": ARTICLE,
    "a list": "¤Lists:\n* [[A]]¤\n* [[B]]\n{{Navbox|list1=[[C]]¤}}\n[[Category:Lists|x]]¤\n",
    "a disambiguation page": "Mill may be:¤\n* [[Mill (film)]]\n{{disambiguation|surname}}\n¤",
    "a redirect": "#REDIRECT [[The mill#History]] ¤\n{{R from move¤}}\n[[Category:Mills]]¤\n",
    "a page of a switch": "Words¤ __NOTOC__ more __DISAMBIG__ ¤",
    "a page of no words": "\n¤\n",
}
# Markup of each kind that decides something.
MARKUP = (
    *("{{disambiguation}}", "__DISAMBIG__", "#REDIRECT [[Elsewhere]]", "{{Infobox x|image=B.jpg}}"),
    *("[[Category:Others]]", "[[de:Anders]]", "[[Elsewhere]]", "[[File:B.jpg|thumb|no]]", "x"),
    *("\n== Heading ==\n", "\n* item\n# item\n", "\n{|\n|-\n| cell\n|}\n", "{{Infobox x", "}}", ""),
    *("[[", "]]", "\n|}\n", "| image = B.jpg\n", "|", "=", "<gallery>\nB.jpg\n</gallery>", "'''"),
    *("<ref>note</ref>", "{{lang|fr|mot}}", "<!", "&lt;", "-{zh:a}-", "<div class='navbox'>"),
)
MARKUPS = st.lists(st.sampled_from(MARKUP), max_size=3).map("".join)
VANISHING = st.one_of(
    MARKUPS.map("<!--{}-->".format),
    MARKUPS.map("<includeonly>{}</includeonly>".format),
    st.sampled_from(
        ["<noinclude>", "</noinclude>", "<onlyinclude>", "</onlyinclude>", "<NOINCLUDE />"]
    ),
)
EMBEDDED = st.tuples(
    st.sampled_from(["math", "source lang='c'", "syntaxhighlight", "timeline", "score", "graph"]),
    MARKUPS,
).map(lambda told: f"<{told[0]}>{told[1]}</{told[0].partition(' ')[0]}>")
LITERAL = st.tuples(st.sampled_from(["nowiki", "pre", "PRE", "pre class='x'"]), MARKUPS).map(
    lambda told: f"<{told[0]}>{told[1]}</{told[0].partition(' ')[0]}>"
)
# Within these MediaWiki takes a comment for text, or for the end of what it stands in.
OPAQUE = re.compile(r"<(ref|nowiki|gallery)\b.*?</\1>|<[^<>]*>|#REDIRECT \[\[[^\]]*\]\]", re.DOTALL)


def decisions(text: str, *, words: bool) -> dict[str, Any]:
    """Every row that a page has in any table, with the words of its text or without them."""
    page = (
        "<page><title>The mill</title><ns>0</ns><id>7</id><revision><id>5</id>"
        f"<text>{escape(text)}</text></revision></page>"
    )
    parsed = parse_batch((SITE, Chunk(Path("x.xml"), 0, page.encode())))
    sections, links, outline, rest = parsed
    spoken = {"caption", "alt", "characters", "context_page_description"}
    spoken.add("context_section_description")

    def kept(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{k: v for k, v in row.items() if words or k not in spoken} for row in rows]

    return {
        "sections": kept(sections.to_pylist()),
        "links": links.to_pylist(),
        "outline": kept(outline.to_pylist()),
        "pictures": kept(rest.pictures),
        "infoboxes": rest.infoboxes,
        "rejected": [{k: v for k, v in row.items() if k != "row"} for row in rest.rejected],
    }


def inserted(text: str, blocks: dict[int, str]) -> str:
    """Put blocks at these offsets."""
    for at in sorted(blocks, reverse=True):
        text = text[:at] + blocks[at] + text[at:]
    return text


@st.composite
def anywhere(draw: st.DrawFn, text: str) -> dict[int, str]:
    """Blocks at any offset where MediaWiki reads them as such."""
    opaque = {n for m in OPAQUE.finditer(text) for n in range(m.start() + 1, m.end())}
    opaque |= set(range(len("#REDIRECT"))) if text.startswith("#REDIRECT") else set()
    places = [n for n in range(len(text) + 1) if n not in opaque]
    chosen = draw(st.lists(st.sampled_from(places), min_size=1, max_size=4, unique=True))
    return {at: draw(VANISHING) for at in chosen}


@st.composite
def at_marks(draw: st.DrawFn, marked: str, kind: st.SearchStrategy[str]) -> str:
    """The page with such blocks at some of its marks."""
    marks = marked.count("¤")
    chosen = draw(st.sets(st.integers(0, marks - 1), min_size=1, max_size=3))
    pieces = marked.split("¤")
    return pieces[0] + "".join(
        (draw(kind) if n in chosen else "") + piece for n, piece in enumerate(pieces[1:])
    )


@pytest.mark.parametrize("name", PAGES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_comment_put_anywhere_changes_no_row_of_any_table(name, data):
    text = PAGES[name].replace("¤", "")
    changed = inserted(text, data.draw(anywhere(text)))
    assert decisions(changed, words=True) == decisions(text, words=True)


@pytest.mark.parametrize("name", PAGES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_what_a_formula_or_a_listing_holds_changes_no_row_of_any_table(name, data):
    text = PAGES[name].replace("¤", "")
    changed = data.draw(at_marks(PAGES[name], EMBEDDED))
    assert decisions(changed, words=True) == decisions(text, words=True)


@pytest.mark.parametrize("name", [name for name in PAGES if name != "a page of no words"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_literal_text_is_text_and_decides_nothing(name, data):
    text = PAGES[name].replace("¤", "")
    changed = data.draw(at_marks(PAGES[name], LITERAL))
    assert decisions(changed, words=False) == decisions(text, words=False)


def test_the_pages_are_of_each_kind_and_have_all_that_is_decided():
    reasons = [
        [r["reason"] for r in decisions(p.replace("¤", ""), words=True)["rejected"]]
        for p in PAGES.values()
    ]
    assert reasons == [[], [], ["disambiguation"], ["redirect"], ["disambiguation"], ["empty"]]
    every = decisions(ARTICLE.replace("¤", ""), words=True)
    assert [p["file"] for p in every["pictures"]] == [
        *("Mill.jpg", "Fire.jpg", "Guest.png", "G1.jpg", "G2.png"),
    ]
    assert [b["file"] for b in every["infoboxes"]] == ["Mill.jpg"]
    assert [s["category"] for s in every["sections"]] == [["Mills"]] * 3
    assert [(o["list_items"], o["table_rows"], o["references"]) for o in every["outline"]] == [
        *((0, 0, 1), (2, 2, 1), (0, 0, 0)),
    ]
    assert every["outline"][0]["languages"] == ["de:Mühle"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Words <!-- {{disambiguation}} -->", None),
        ("Words <nowiki>{{disambiguation}}</nowiki>", None),
        ("Words <pre>__DISAMBIG__</pre>", None),
        ("Words <includeonly>{{disambiguation}}</includeonly>", None),
        ("Words {{disambig<!-- of ships -->}}", "disambiguation"),
        ("Words <noinclude>{{disambiguation}}</noinclude>", "disambiguation"),
        ("<!-- only a comment -->", "empty"),
        ("<includeonly>{{disambiguation}}</includeonly> ", "empty"),
        ("<!-- first -->#REDIRECT [[B]]", None),
        ("<gallery>\nA.jpg\n</gallery>", None),
    ],
)
def test_which_pages_are_left_out_is_decided_by_their_markup(text, reason):
    reasons = [row["reason"] for row in decisions(text, words=True)["rejected"]]
    assert reasons == ([] if reason is None else [reason])


def test_an_infobox_that_is_commented_out_has_no_picture():
    box = "{{Infobox<!-- x --> b|image=<!-- C.jpg -->B.jpg}}"
    found = decisions(f"<!-- {{{{Infobox a|image=A.jpg}}}} -->{box}\nWords.", words=True)
    assert [box["file"] for box in found["infoboxes"]] == ["B.jpg"]
    assert [picture["file"] for picture in found["pictures"]] == ["B.jpg"]
