"""Write docs/benchmarks.md from the latest results in benchmarks/results; nothing is typed.

python docs/benchmarks.py [PAGE]
"""

import re
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from run import RESULTS, claims  # noqa: E402

PAGE = Path(__file__).with_name("benchmarks.md")
INTRODUCTION = """# Benchmarks

What isotope takes beside its peers, and where each measurement stands with its machine, versions
and command.

Written by `python docs/benchmarks.py` from `benchmarks/results/`; `make bench` measures anew. In a
comparison both have the same input, the same answer is checked, and times are medians of several
rounds, each in a process of its own. Beside a peer is its ratio: what it took over what isotope
took, and after ≥ the ratio that isotope promises, if it does.

## Beside peers

| measured | input | isotope | peers and their ratios |
|---|---|---:|---|
"""
ALONE = """
## Without a peer

Each of these has tables of its own; of limits that are set the result is repeated here.

"""
# A sentence that ends in its verdict, such as: Under 50 ms in the median: yes.
LIMIT = re.compile(r"(?:^|(?<=[.;] ))[^.:;\n|]+(?:\.\d+[^.:;\n|]*)*: (?:yes|no)\.", re.MULTILINE)


def page(results: Path = RESULTS) -> str:
    """Return the page: a row for each comparison, and a line for each other result."""
    compared = claims()
    missed = [f"{c['benchmark']} ({c['peer']})" for c in compared if c["reached"] == "no"]
    apart = {c["benchmark"] for c in compared}
    lines = [_line(path) for path in sorted(results.glob("*.md")) if path.stem not in apart]
    told = f"\nNot reached: {', '.join(missed) or 'none'}; of {len(compared)} compared.\n"
    return INTRODUCTION + _rows(compared) + told + ALONE + "".join(lines)


def _rows(compared: Sequence[Mapping[str, str]]) -> str:
    peers = defaultdict[tuple[str, str, str], list[str]](list)
    for c in compared:
        took = f"{c['ours']} {c['unit']}"
        peers[_link(c["benchmark"]), c["input"], took].append(_peer(c))
    return "".join(f"| {' | '.join([*row, '; '.join(told)])} |\n" for row, told in peers.items())


def _peer(claim: Mapping[str, str]) -> str:
    missed = ": not reached" if claim["reached"] == "no" else ""
    least = claim["at_least"] and f" (≥ {claim['at_least']}{missed})"
    return f"{claim['peer']} {float(claim['ratio']):.2f}{least}"


def _line(result: Path) -> str:
    text = result.read_text("utf-8")
    title = text.partition("\n")[0].removeprefix("# ")
    limits = " ".join(LIMIT.findall(text))
    return f"* {_link(result.stem)}: {title}.{limits and ' '}{limits}\n"


def _link(benchmark: str) -> str:
    return f"[{benchmark}](../benchmarks/results/{benchmark}.md)"


def main(path: Path = PAGE) -> None:
    """Write the page."""
    path.write_text(page(), "utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
