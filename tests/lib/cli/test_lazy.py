"""A command loads what it needs: whoever asks for scores waits for no model and no compiler."""

import json
import os
import subprocess
import sys

import pytest

# What takes long to load, or lies in an extra.
SLOW = {
    *("torch", "torchvision", "transformers", "open_clip", "sentence_transformers", "timm"),
    *("snakemake", "dvc", "pyserini", "jnius", "faiss", "matplotlib", "numba", "llvmlite", "ranx"),
    *("pandas", "sklearn", "cv2", "img2dataset", "tokenizers", "wn", "ftfy", "starlette"),
    *("huggingface_hub", "ir_datasets", "mteb", "libzim", "aiohttp", "botocore", "s3fs"),
}
# What the answer of no table needs.
TABLES = {"polars", "duckdb", "pyarrow", "numpy", "scipy", "PIL", "jinja2"}
PROGRAM = """if True:
    import json, shlex, sys
    before = {*sys.modules}
    line = sys.argv[1]
    if line.startswith("import "):
        exec(line)
        status = 0
    else:
        from isotope.cli.commands import main
        status = main(shlex.split(line)[1:])
    print()
    print(json.dumps([status, sorted({name.partition(".")[0] for name in {*sys.modules} - before}),
                      len({*sys.modules} - before)]))
"""


def loaded(line: str, place: str | os.PathLike[str] = ".") -> tuple[int, set[str], int]:
    """Run a command in a new process; return its status, the packages it loaded, and how many
    modules.
    """
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, line], cwd=place, capture_output=True, text=True, check=True
    )
    status, names, count = json.loads(done.stdout.splitlines()[-1])
    return status, {*names}, count


@pytest.mark.parametrize(
    ("line", "most"),
    [
        ("import isotope", 20),
        ("isotope --version", 300),
        ("isotope --help", 300),
        ("isotope verify --help", 400),
        ("isotope suggest --help", 400),
    ],
)
def test_what_answers_without_a_table_loads_no_library_of_tables(line, most):
    """The numbers of modules leave room for a library that grows, not for another one."""
    status, names, count = loaded(line)
    assert (status, names & (SLOW | TABLES)) == (0, set())
    assert count < most


@pytest.mark.parametrize(
    "line",
    [
        "isotope report",
        "isotope sql 'FROM filters'",
        "isotope show run toy/small/test/t2m/bm25",
        "isotope costs",
        "isotope plugins",
        "isotope verify toy --check means --check measures",
    ],
)
def test_what_was_built_is_shown_without_what_built_it(line, embedded):
    status, names, _ = loaded(line, embedded)
    # trec_eval's twin, ranx, is compared with where it is installed.
    twin = (
        {"ranx", "numba", "llvmlite", "pandas", "ir_datasets", "matplotlib"}
        if "measures" in line
        else set()
    )
    assert (status, names & SLOW - twin) == (0, set())


@pytest.mark.parametrize(
    "module", ["isotope.score.score", "isotope.core.measures", "isotope.core.runs"]
)
def test_scores_and_tests_are_computed_by_numpy_and_scipy_alone(module):
    _, names, _ = loaded(f"import {module}")
    assert "numpy" in names
    assert names & SLOW == set()
