"""Pages of the site: what they are called, and how one is written."""

import re
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, cast

from jinja2 import Environment, FunctionLoader, StrictUndefined

from isotope.core import plugins, store
from isotope.report.content import Scope, group_rows
from isotope.report.words import WORDS
from isotope.tabulate.looks import style_sheet, swatch
from isotope.tabulate.table import spans

PAGES = {
    "index": "Overview",
    "collection": "Collection",
    "systems": "Systems",
    "cases": "Case studies",
    "queries": "Query by query",
    "costs": "Costs",
    "cite": "How to cite",
}


class Script(NamedTuple):
    """A script that a page holds, and the digest by which its policy lets it run."""

    source: str
    digest: str


def write_page(template: str, out: Path, **context: object) -> None:
    """Write `template`.html.j2 to `out`; all have pages, tasks, the vocabulary and scripts.

    The scripts are report.js, which all pages share, and `template`.js where there is one.

    Raises:
        DiskFull: no room for it.
    """
    page = environment().get_template(f"{template}.html.j2")
    scope = context.get("scope")
    scope = scope if isinstance(scope, Scope) else None
    words = WORDS[scope.origin if scope else "published"]
    shared = {"pages": pages(scope), "tasks": words.tasks()}
    shared |= {"scripts": scripts("report", template)}
    shared |= {"vocabulary": words}
    html = page.render(here=out.stem, **shared, **context)
    with store.aside(out) as part:
        part.write_text(html, encoding="utf-8", newline="\n")


def pages(scope: Scope | None) -> dict[str, str]:
    """Return the headings of the pages that a collection has, by name and in their order."""
    further = {stem: heading for stem, (heading, *_) in scope.further.items()} if scope else {}
    named: dict[str, str] = {}
    for stem, heading in PAGES.items():
        named |= further if stem == "costs" else {}
        named[stem] = heading
    if scope and not scope.compared:
        del named["queries"]
    return named


def scripts(*names: str) -> list[Script]:
    """Return those of templates/<name>.js that exist, here or in a plug-in, with digests (CSP Level
    3, section 2.3.1).
    """
    files = plugins.templates()
    paths = [files[f"{name}.js"] for name in dict.fromkeys(names) if f"{name}.js" in files]
    sources = [path.read_text(encoding="utf-8") for path in paths]
    return [Script(text, b64encode(sha256(text.encode()).digest()).decode()) for text in sources]


def environment() -> Environment:
    """Return the templates, escaping every value and refusing every unknown name."""
    templates = Environment(
        loader=FunctionLoader(_template),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = cast("dict[str, Callable[..., object]]", templates.filters)
    filters.update(excerpt=excerpt, web=web, pieces=pieces)
    names = cast("dict[str, Callable[..., object]]", templates.globals)
    names.update(spans=spans, group_rows=group_rows, symbol=symbol)
    names.update(swatch=swatch, look_variables=style_sheet)
    return templates


def _template(name: str) -> tuple[str, str, None] | None:
    """Return the text of a template with its path, as Jinja asks for it; None where none is so."""
    path = plugins.templates().get(name)
    return path and (path.read_text(encoding="utf-8"), str(path), None)


def excerpt(text: str, characters: int) -> str:
    """Return the beginning of `text`, at most `characters` and an ellipsis, ended at a word."""
    joined = " ".join(text.split())
    if len(joined) <= characters:
        return joined
    return (joined[: characters + 1].rpartition(" ")[0] or joined[:characters]) + " …"


def pieces(text: str) -> list[str]:
    """Return the parts of a text between which a long address may go on in the next line."""
    return re.split(r"(?<=\w/)|(?<=//)|(?<=_)", text)


def web(url: str) -> str:
    """Return `url` if a browser may follow it: other schemes could run code."""
    return url if re.match(r"https?://", url) else ""


def symbol(collection: str) -> str:
    """Return a chemical-looking symbol: the first two letters of the name."""
    return (re.sub(r"[\W\d_]", "", collection) or "Is")[:2].capitalize()
