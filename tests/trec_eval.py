"""trec_eval itself, the C program: the one that Anserini's jar contains, or one on the PATH."""

import os
import platform
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from zipfile import ZipFile

import polars as pl
import pytest

from isotope.core.lucene import jar

_MEMBER = "trec_eval/trec_eval-linux-amd64"
# Grades that its measure relstring prints as one digit; 0 stands for documents of other rounds.
_DIGITS = 9


@cache
def program() -> Path:
    """Return the program, or skip the test where the jar has none for this processor."""
    if on_path := shutil.which("trec_eval"):
        return Path(on_path)
    if platform.machine() != "x86_64":
        pytest.skip(f"Anserini's jar has no trec_eval for {platform.machine()}, nor has the PATH")
    path = Path(mkdtemp(prefix="isotope-trec-eval-")) / "trec_eval"
    with ZipFile(jar()) as archive:
        path.write_bytes(archive.read(_MEMBER))
    path.chmod(0o700)
    return path


def run(*arguments: str | Path) -> str:
    """Run it, and return what it prints.

    Raises:
        ValueError: with its complaint, where it ends in an error.
    """
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"}
    done = subprocess.run(
        [program(), *arguments],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
    )
    if done.returncode or done.stderr:
        raise ValueError(done.stderr or f"exit status {done.returncode}")
    return done.stdout


def values(qrels: Path, hits: Path, *measures: str) -> dict[tuple[str, str], str]:
    """Return what it prints of every judged query, by (query, measure)."""
    asked = [part for name in measures for part in ("-m", name)]
    rows = (line.split() for line in run("-q", "-c", *asked, qrels, hits).splitlines())
    return {(query, name): value for name, query, value in rows if query != "all"}


def order(hits: Path, named: pl.DataFrame, folder: Path) -> dict[str, list[str]]:
    """Return the documents of each query in its order; `named` has them (query_id, doc_id).

    Its measure relstring prints the grades of the hits, a digit each: in each round nine documents
    of a query are judged, with other grades.
    """
    most = named.group_by("query_id").len()["len"].max()
    assert isinstance(most, int)
    number = pl.int_range(0, pl.len()).over("query_id")
    grade = pl.col("number") % _DIGITS + 1
    judged = named.select("query_id", "doc_id", number=number).with_columns(grade=grade)
    found: dict[str, list[str]] = {q: [""] * n for q, n in named.group_by("query_id").len().rows()}
    for turn in range(-(-most // _DIGITS)):
        some = judged.filter(pl.col("number") // _DIGITS == turn)
        qrels = folder / "grades.qrels"
        lines = [f"{q} 0 {d} {g}" for q, d, g in some.select("query_id", "doc_id", "grade").rows()]
        qrels.write_text("\n".join(lines) + "\n")
        by_grade = {(q, str(g)): d for q, d, g in some.drop("number").rows()}
        for (query, _), digits in values(qrels, hits, f"relstring.{most}").items():
            for place, digit in enumerate(digits.strip("'")):
                if digit.isdigit() and digit != "0":
                    found[query][place] = by_grade[query, digit]
    return found
