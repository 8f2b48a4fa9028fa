"""What queries of this plug-in's pages answer; tables of its own it has none."""

from collections import Counter
from collections.abc import Callable, Mapping

from tests.doc_answers import Answer, Tables


def outcomes(t: Tables) -> Answer:
    rows = t("data/crawl/*/ledger.parquet")
    counts = Counter((r["status"], r["fetched_from"] is not None) for r in rows)
    return sorted((*key, n) for key, n in counts.items())


ANSWERS: Mapping[str, Callable[[Tables], Answer]] = {
    "workflow/plugins/isotope_papers/docs/kb.md, 1": outcomes,
}
