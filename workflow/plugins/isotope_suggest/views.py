"""What the catalog shows of suggestions."""

from collections.abc import Mapping

from isotope.tabulate.catalog import View
from isotope_suggest import schemas

VIEWS: Mapping[str, View] = {
    "section_roles": View("results/suggest/*/sections.parquet", schemas.SECTION_ROLES),
    "picture_kinds": View("results/suggest/*/pictures.parquet", schemas.PICTURE_KINDS),
    "candidates": View("results/suggest/*/candidates.parquet", schemas.CANDIDATES),
    "suggestions": View("results/suggest/*/scored.parquet", schemas.SCORED),
    "filtered": View("results/suggest/*/rejected.parquet", schemas.FILTERED),
    "feed": View("results/suggest/*/feed.parquet", schemas.FEED),
    "feed_changes": View("results/suggest/*/since/*/delta.parquet", schemas.DELTA),
    "taken_up": View("results/suggest/*/taken_up.parquet", schemas.TAKEN_UP),
    "verdicts": View("results/suggest/*/judgements.parquet", schemas.JUDGEMENTS),
}
