"""The check that names of the library say what a thing is: what it finds, and what it lets be."""

from pathlib import Path
from textwrap import dedent

import pytest
from tests import names

FINE = """
from typing import NamedTuple

class Origin(NamedTuple):
    placed: str
    own_rows: int

def found_elsewhere(rows, *, is_given=False):
    ownership = [row["own"] for row in rows]
    return dict(found=ownership, each=rows.told)
"""


def bad(folder: Path, text: str, file: str = "crawl/shard.py") -> list[tuple[int, str]]:
    path = folder / "workflow/lib/isotope" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text), encoding="utf-8")
    return [(fault.line, fault.name) for fault in names.faults(folder)]


def test_words_within_names_and_names_of_others_are_fine(tmp_path):
    assert bad(tmp_path, FINE) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("own = 1", "own"),
        ("own: int = 1", "own"),
        ("found, rest = 1, 2", "found"),
        ("_WHOLE = 1", "_WHOLE"),
        ("def read(place): ...", "place"),
        ("def read(*, place): ...", "place"),
        ("def read(*place): ...", "place"),
        ("def read(**place): ...", "place"),
        ("async def read(place): ...", "place"),
        ("key = lambda each: each", "each"),
        ("for each in (): ...", "each"),
        ("rows = [told for told in ()]", "told"),
        ("rows = {told: 1 for told in ()}", "told"),
        ("if said := 1: ...", "said"),
        ("with open('a') as said: ...", "said"),
        ("try: ...\nexcept OSError as what: ...", "what"),
        ("import os as there", "there"),
        ("match 1:\n    case kept: ...", "kept"),
        ("match 1:\n    case [*rest]: ...", "rest"),
        ("match 1:\n    case {**rest}: ...", "rest"),
        ("match 1:\n    case int() as one: ...", "one"),
        ("def of(): ...", "of"),
        ("def _made(): ...", "_made"),
        ("class Given: ...", "Given"),
        ("class Origin:\n    seen: str", "seen"),
        ("class Origin:\n    def read(self):\n        self._known = 1", "_known"),
    ],
)
def test_each_form_of_a_name_that_says_nothing_is_found(tmp_path, text, name):
    assert name in [fault for _, fault in bad(tmp_path, text)]


def test_a_fault_is_told_with_its_line(tmp_path):
    assert bad(tmp_path, "rows = 1\nothers = 2\n") == [(2, "others")]


def test_a_key_of_the_params_may_be_a_field_of_its_class_and_nothing_else(tmp_path):
    text = "class Rerank:\n    of: str\n    every: int\n\ndef of(): ...\n"
    assert bad(tmp_path, text, "search/kinds/rerank.py") == [(3, "every"), (5, "of")]


@pytest.mark.parametrize(
    "file",
    ["workflow/lib/isotope/irds.py", "workflow/plugins/isotope_papers/tests/test_geval.py"],
)
def test_every_module_of_the_core_and_of_plug_ins_with_their_tests_is_read(tmp_path, file):
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text("own = 1\n", "utf-8")
    assert names.faults(tmp_path) == [names.Fault(Path(file), 1, "own")]


def test_each_key_is_still_a_field():
    for file, keys in names.KEYS.items():
        folder = "plugins" if file.startswith("isotope_") else "lib/isotope"
        text = (names.ROOT / "workflow" / folder / file).read_text("utf-8")
        assert all(f"\n    {key}: " in text for key in keys), file
