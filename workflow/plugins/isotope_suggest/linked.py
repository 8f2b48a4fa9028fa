"""Pictures of the pages that a section links to.

Wikimedia's section topics follow a section's links to Wikidata and Commons; here they lead to what
the linked pages themselves show, the lead's and the infobox's first.
"""

from collections.abc import Mapping
from pathlib import Path

from isotope.core import sql
from isotope.core.progress import log
from isotope.core.store import rows_in
from isotope_suggest.resources import SQL

_LINKS = SQL / "links.sql"


def link(relations: Mapping[str, sql.Files], folder: Path, depth: int) -> Path:
    """Make a table in `folder`: text_id, image_id, and this source's columns of schemas.CANDIDATES.

    Sections have at most `depth` pictures, and rows are sorted by both ids.
    `links` is a share in (0, 1]: each of the n linked pages with pictures has 1/n, which its
    pictures divide by weight (2 in the lead or an infobox, else 1); shares of several pages are
    combined as those of `alignment.align`. `links_on` are the pages' titles, the greatest share
    first. A link to a redirect is one to its target; links to the section's own page don't count.
    """
    tables = sql.run_chain([_LINKS], relations, folder, params={"depth": depth})
    log.info("%d pictures of linked pages", rows_in(tables["links"]))
    return tables["links"]
