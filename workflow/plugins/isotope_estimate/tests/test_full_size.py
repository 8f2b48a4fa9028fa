"""The page of full size is what the estimate says today."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_of_full_size_is_what_the_estimate_says():
    """`full_size.py`, beside it, writes it anew."""
    page = runpy.run_path(str(DOCS / "full_size.py"))["page"]
    assert (DOCS / "full-size.md").read_text("utf-8") == page()
