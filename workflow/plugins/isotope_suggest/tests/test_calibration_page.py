"""The page of suggestions shows what the benchmark of their probabilities found."""

import re
from pathlib import Path


def test_the_page_of_suggestions_has_the_figures_of_the_calibration_benchmark():
    text = (Path(__file__).parents[4] / "benchmarks/results/suggest_calibration.md").read_text(
        "utf-8"
    )
    cells = [[cell.strip() for cell in row.split("|")] for row in text.splitlines()]
    rows = {row[1]: row[2:-1] for row in cells if len(row) == 9 and row[1].startswith("iso")}
    assert {*rows} == {"isotonic alone", "isotope"}
    gap = re.search(r"Difference: (\S+) \(95 %: ([^)]+)\)", text)
    assert gap
    page = (Path(__file__).parents[1] / "docs/suggest.md").read_text("utf-8")
    part = next(p for p in page.split("\n\n") if "benchmarks/suggest_calibration.py" in p)
    for figure in (*(f for row in rows.values() for f in row[:2]), *gap.groups()):
        assert figure in part, figure
