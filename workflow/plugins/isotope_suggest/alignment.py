"""Pictures of the same section in other languages.

As Wikimedia's section alignment does, it follows language links to a page's counterparts and takes
the pictures of the section that is the same one there. Which one that is, is learned: two headings
stand for the same section as often as sections of theirs share a picture, and sections are the more
likely the same the more linked pages they share. Source of the idea:
https://www.mediawiki.org/wiki/Structured_Data_Across_Wikimedia/Section-level_Image_Suggestions/Data_Pipeline
"""

from collections.abc import Mapping
from pathlib import Path

from isotope.core import sql
from isotope.core.progress import log
from isotope.core.store import rows_in
from isotope_suggest.resources import SQL

STEPS = SQL / "alignment"
# Pages for which chance counts beside those that teach: one page alone does not decide.
PAGES = 2


def align(relations: Mapping[str, sql.Files], folder: Path, depth: int) -> Path:
    """Make a table in `folder`: text_id, image_id, and this source's columns of schemas.CANDIDATES.

    Sections have at most `depth` pictures, and rows are sorted by both ids.
    `alignment` is the estimated share, in (0, 1], in which a section that shows the picture is the
    same one, over languages: one less the product of what each lacks. `alignment_on` names them,
    `de: Titel # Heading`, or `de: Titel` for a lead, the likeliest first. `relations` are those of
    `relations.write_relations`. A warning says why no section has one.
    """
    params = {"pages": PAGES, "depth": depth}
    tables = sql.run_chain(sorted(STEPS.glob("*.sql")), relations, folder, params=params)
    if not rows_in(tables["counterparts"]):
        log.warning(
            "no page has a language link, so no section is aligned with one of another language; "
            "acquire the dump's langlinks.sql.gz as the part langlinks of the source"
        )
    elif not rows_in(tables["elsewhere"]):
        log.warning(
            "no section of another language shows a picture of the collection, so none is aligned; "
            "suggest for a union of languages, or give WIT with other languages"
        )
    else:
        pairs, aligned = rows_in(tables["evidence"]), rows_in(tables["aligned"])
        log.info("%d pairs of sections compared, %d pictures aligned", pairs, aligned)
    return tables["aligned"]
