"""Pages of the site: what they are called, and how one is written."""

from pathlib import Path

from isotope.core import store
from isotope.report.templates import environment

PAGES = {
    "index": "Overview",
    "collection": "Collection",
    "systems": "Systems",
    "cases": "Case studies",
    "costs": "Costs",
    "cite": "How to cite",
}
TASKS = {
    "t2m": ("Image suggestion", "Given a section, find the picture that illustrates it."),
    "m2t": ("Image promotion", "Given a picture, find the section that it illustrates."),
}


def write_page(template: str, out: Path, **context: object) -> None:
    """Write `template`.html.j2 to `out`; every template knows the pages and tasks.

    Raises:
        DiskFull: no room for it.
    """
    page = environment().get_template(f"{template}.html.j2")
    html = page.render(pages=PAGES, tasks=TASKS, here=out.stem, **context)
    with store.aside(out) as part:
        part.write_text(html, encoding="utf-8", newline="\n")
