"""Write docs/benchmarks.md from the latest results in benchmarks/results; nothing is typed.

python docs/benchmarks.py [PAGE]
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from run import RESULTS, claims, markdown  # noqa: E402

PAGE = Path(__file__).with_name("benchmarks.md")
INTRODUCTION = """# Benchmarks

Written by `python docs/benchmarks.py` from `benchmarks/results/`; `make bench` measures anew. Each
claim of speed stands beside the peer that it names: the same input, the same answer checked, both
in one run, medians of several rounds, each in a process of its own. A ratio is the peer's time over
isotope's. The machine, the versions and the command close each section.

## Claims

"""


def page() -> str:
    """Return the page."""
    found = claims()
    missed = [f"{c['phase']} ({c['peer']})" for c in found if c["reached"] == "no"]
    told = "Not reached: " + (", ".join(missed) or "none") + f"; of {len(found)} measured."
    sections = [path.read_text("utf-8") for path in sorted(RESULTS.glob("*.md"))]
    parts = [markdown(found) + "\n" + told + "\n", *(f"#{section}" for section in sections)]
    return INTRODUCTION + "\n".join(part.rstrip() + "\n" for part in parts)


def main(path: Path = PAGE) -> None:
    """Write the page."""
    path.write_text(page(), "utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
