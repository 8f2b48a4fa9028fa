"""The pages of Template: and Module: as the table of what each template shows."""

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa

from isotope.parse.site import Site
from isotope.parse.tables import TEMPLATES
from isotope.parse.transclusion.known import NOTHING, TEXT, UNKNOWN
from isotope.parse.transclusion.pages import TEMPLATE, TemplatePage, included
from isotope.parse.transclusion.tree import Parameter, parse, written

_BATCH = 10_000


def read_templates(pages: Iterable[TemplatePage], site: Site) -> pa.Table:
    """Read a wiki's templates into a table of `tables.TEMPLATES`, in the order of their titles.

    A page that can't be read has its reason in the table; of two pages of one title the last
    counts.
    """
    redirects: dict[str, str] = {}
    bodies: dict[str, str] = {}
    for page in pages:
        if page.namespace == TEMPLATE:
            if page.redirect:
                redirects[page.title] = page.redirect
            else:
                bodies[page.title] = included(page.text)
    return _table({"wiki": site.wiki, **row} for row in _rows(bodies, redirects))


def _rows(bodies: Mapping[str, str], redirects: Mapping[str, str]) -> Iterator[dict[str, object]]:
    for title in sorted({*bodies, *redirects}):
        row = {"template": title, "redirect_to": "", "pictures": [], "is_infobox": False}
        if title in redirects:
            target = _target(title, redirects)
            known = "redirect" if target in bodies else f"redirect, of no template: {target}"
            yield {**row, "redirect_to": target, "prints": "", "shows": "", "known_by": known}
            continue
        tree = parse(bodies[title])
        if all(map(_is_plain, tree)):
            prints = TEXT if tree else NOTHING
            yield {**row, "prints": prints, "shows": written(tree), "known_by": "body"}
        else:
            yield {**row, "prints": UNKNOWN, "shows": "", "known_by": "unknown: it has calls"}


def _is_plain(node: object) -> bool:
    return isinstance(node, str | Parameter)


def _target(title: str, redirects: Mapping[str, str]) -> str:
    """Follow redirects to their end; of a circle the last before it closes counts."""
    seen = {title}
    while (following := redirects.get(title)) and following not in seen:
        seen.add(following)
        title = following
    return title


def _table(rows: Iterable[dict[str, object]]) -> pa.Table:
    batches, batch = list[pa.RecordBatch](), list[dict[str, object]]()
    for row in rows:
        batch.append(row)
        if len(batch) == _BATCH:
            batches.append(pa.RecordBatch.from_pylist(batch, schema=TEMPLATES))
            batch = []
    batches.append(pa.RecordBatch.from_pylist(batch, schema=TEMPLATES))
    return pa.Table.from_batches(batches, schema=TEMPLATES)
