"""The templates that the encyclopedia's articles call: pages among the others, as in a dump."""

from collections.abc import Iterator

from isotope_toy.dump import WikiPage

# Before the first article.
_FIRST_ID = 10
_DOCUMENTED = "<noinclude>{{Documentation}}</noinclude>"
_PAGES = {
    "Infobox building": """<includeonly>{| class="infobox vcard"
! colspan="2" | {{{name|{{PAGENAME}}}}}
{{#if:{{{image|}}}|
{{!}}-
{{!}} colspan="2" {{!}} [[File:{{{image}}}|220px|alt={{{alt|}}}]]<br />{{{caption|}}}
}}{{#if:{{{flag|}}}|
{{!}}-
{{!}} colspan="2" {{!}} [[File:{{{flag}}}|23px]]
}}{{#if:{{{location|}}}|
{{!}}-
! Location {{!}}{{!}} {{{location}}}
}}{{#if:{{{opened|}}}|
{{!}}-
! Opened {{!}}{{!}} {{{opened}}}
}}
|}</includeonly>""",
    "Start date": '<includeonly>{{{1}}}{{#if:{{{2|}}}|-{{{2}}}}}<span class="bday dtstart"'
    ' style="display:none">{{{1}}}</span></includeonly>',
    "Short description": '<includeonly><div class="shortdescription nomobile noprint"'
    ' style="display:none">{{{1}}}</div></includeonly>',
    "Reflist": '<includeonly><div class="reflist"><references /></div></includeonly>',
    "Cite book": "<includeonly><cite>''{{{title}}}''{{#if:{{{year|}}}|. {{{year}}}}}"
    "{{#if:{{{page|}}}|. p. {{{page}}}}}.</cite></includeonly>",
    "R from move": '<includeonly><div class="rcat">This page was moved.</div></includeonly>',
    "Disambiguation": '<includeonly><div class="dmbox metadata">This page lists articles of one'
    " name.</div>__DISAMBIG__</includeonly>",
}
_REDIRECTS = {"Infobox house": "Infobox building", "Disambig": "Disambiguation"}


def template_pages() -> Iterator[WikiPage]:
    """Yield the pages of Template: that all editions have, redirects of old names among them."""
    pages = [(title, text + _DOCUMENTED, "") for title, text in _PAGES.items()]
    pages += [
        (title, f"#REDIRECT [[Template:{to}]]", f"Template:{to}")
        for title, to in _REDIRECTS.items()
    ]
    for page_id, (title, text, redirect) in enumerate(pages, start=_FIRST_ID):
        yield WikiPage(page_id, 10, f"Template:{title}", text, redirect)
