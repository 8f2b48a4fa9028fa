"""Wikitext of the toy encyclopedia: articles, and the other pages that a real dump mixes in."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from isotope.toy import pages, scenes, words
from isotope.toy.edition import replayed
from isotope.toy.pages import Page, Picture, Section

_DUE = {
    "redirect": (10, 0),
    "ampersand": (30, 1),
    "disambiguation": (25, 2),
    "talk": (20, 3),
    "file": (30, 4),
    "season": (50, 0),
}
_SHARES = {"cited": 0.06, "cited twice": 0.1, "table": 0.2, "list": 0.4}
_IDS_PER_ARTICLE = 10
_FIRST_ID = 1000
_TEMPLATE = "<includeonly>{{{{#if:{{{{{{1|}}}}}}|'''{name}''': {{{{{{1}}}}}}}}}}</includeonly>"
_TABLE = """{{| class="wikitable sortable"
|+ Visitors
! Year !! Guests
|-
| {year} || {guests}
|-
| {later} || style="text-align:right" | {more}
|}}"""
_INFOBOX = """{{{{Infobox building
| name = {title}
| image = {image}
| caption = {caption}
| location = [[{title}|The valley]]
| opened = {{{{start date|{year}}}}}
}}}}"""
_LIST = """* [[{first}]], to the north
* [[{second}|the old house]] and its ''garden''
** a well
# [https://example.org/{slug} timetable]"""


@dataclass(frozen=True, slots=True)
class WikiPage:
    """One `<page>` of a dump; `redirect` is the target's title or empty.

    `revised` says that it was edited between the first edition and the second.
    """

    page_id: int
    namespace: int
    title: str
    text: str
    redirect: str = ""
    revised: bool = False


def page_id(number: int) -> int:
    """Return the page id of article `number`."""
    return _FIRST_ID + number * _IDS_PER_ARTICLE


def wiki_pages(page: Page, seed: int) -> Iterator[WikiPage]:
    """Yield the article and the redirects, disambiguations and other namespaces that go with it."""
    first_id = page_id(page.number)
    article_text, revised = article(page, seed), page.first is not None
    yield WikiPage(first_id, 0, page.later_title, article_text, revised=revised)
    for offset, (namespace, title, text, target) in enumerate(_company(page), start=1):
        yield WikiPage(first_id + offset, namespace, title, text, target)


def article(page: Page, seed: int) -> str:
    """Return the article's wikitext of the dump's day."""
    rng = random.Random(f"{seed}/{page.number}/wiki")
    blocks = ["{{Short description|Public building}}", "<!-- kept by the local history club -->"]
    blocks += replayed(rng, page, lambda of, section: _section(rng, of, section))
    if any("<ref" in block for block in blocks):
        blocks.append("== References ==\n{{Reflist}}")
    kind = page.title.split()[-1]
    blocks.append(f"[[Category:{kind} buildings]]\n[[Category:Places open to the public]]")
    return "\n\n".join(blocks)


def _section(rng: random.Random, page: Page, section: Section) -> str:
    bars = "=" * (2 + len(section.above))
    blocks = [f"{bars} {section.later_title or section.title} {bars}"] if section.title else []
    blocks += _pictures(rng, page, section)
    sentences = [*section.sentences, *filter(None, [section.later_sentence])]
    cited = [_cite(rng, page, s) if i else s for i, s in enumerate(sentences)]
    blocks += ["\n\n".join(" ".join(p) for p in pages.paragraphs(cited))]
    return "\n".join([*blocks, *_extras(rng, page, section)])


def _pictures(rng: random.Random, page: Page, section: Section) -> Iterator[str]:
    shown = list(section.pictures)
    if not section.title and (shown or rng.choice((True, False))):
        image = shown.pop(0) if shown else None
        year, caption = rng.randrange(1700, 2015), caption_of(image) if image else ""
        name = image.name if image else ""
        yield _INFOBOX.format(title=page.later_title, image=name, caption=caption, year=year)
    for picture in shown:
        alt = f"{scenes.listing(picture.scene)}{picture.note}"
        yield f"[[File:{picture.name}|thumb|upright=1.1|alt={alt}|{caption_of(picture)}]]"


def caption_of(picture: Picture) -> str:
    """Return the caption under a picture, in wikitext with links inside."""
    nouns = [scenes.noun(group) for group in picture.scene.groups]
    what = f"{scenes.joined(nouns)} on {picture.scene.ground}"
    return f"{picture.medium} of [[{picture.owner}|{picture.owner}]]: ''{what}''{picture.note}"


def _cite(rng: random.Random, page: Page, sentence: str) -> str:
    chance, year = rng.random(), rng.randrange(1980, 2015)
    book = f"{{{{cite book |title=Houses of the Valley |year={year} |page={year % 97}}}}}"
    if chance < _SHARES["cited"]:
        return f"{sentence}<ref>{book}</ref>"
    if chance < _SHARES["cited twice"]:
        return f'{sentence}<ref name="v{page.number}">{book}</ref><ref name="v{page.number}" />'
    return sentence


def _extras(rng: random.Random, page: Page, section: Section) -> Iterator[str]:
    chance, year = rng.random(), rng.randrange(1900, 2000)
    if section.pictures or not section.title:
        return
    if chance < _SHARES["table"]:
        guests, more = rng.randrange(100, 999), rng.randrange(1000, 9999)
        yield _TABLE.format(year=year, guests=guests, later=year + 10, more=more)
    elif chance < _SHARES["list"]:
        near = [words.title(max(0, page.number - step)) for step in (1, 2)]
        yield _LIST.format(first=near[0], second=near[1], slug=page.number)


def _company(page: Page) -> Iterator[tuple[int, str, str, str]]:
    title, n = page.later_title, page.number
    if page.title != title:
        yield 0, page.title, f"#REDIRECT [[{title}]]\n\n{{{{R from move}}}}", title
    if _due("redirect", n):
        yield 0, f"The {title}", f"#REDIRECT [[{title}]]", title
    if _due("ampersand", n):
        joint = f"{title} & Garden"
        yield 0, joint, f"#redirect [[{title}#Setting]]", title
    if _due("disambiguation", n):
        yield 0, f"{title} (disambiguation)", _disambiguation(title), ""
    yield from _elsewhere(page)


def _due(what: str, number: int) -> bool:
    every, first = _DUE[what]
    return number % every == first


def _disambiguation(title: str) -> str:
    return (
        f"'''{title}''' may refer to:\n* [[{title}]], a public building\n"
        f"* ''{title}'', a lost play\n\n{{{{disambiguation}}}}"
    )


def _elsewhere(page: Page) -> Iterator[tuple[int, str, str, str]]:
    title, n = page.later_title, page.number
    if _due("talk", n):
        yield 1, f"Talk:{title}", "== Opening hours ==\nAre they right? ~~~~", ""
    if _due("file", n):
        name = next(s for s in page.sections if s.pictures).pictures[0].name
        yield 6, f"File:{name}", f"== Summary ==\nA picture at [[{title}]].", ""
    if _due("season", n):
        yield 10, f"Template:Season {n}", _TEMPLATE.format(name=title), ""
        yield 14, f"Category:Season {n}", "[[Category:Places open to the public]]", ""
