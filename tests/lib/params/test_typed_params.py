"""The check that params are objects outside `params/`: what it finds, and what it lets be."""

from pathlib import Path
from textwrap import dedent

import pytest
from tests import typed_params

FINE = """
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from isotope.params.crawl import Crawl

def crawl(spec: Crawl, inputs: Mapping[str, Path], limits: Mapping[str, Crawl]) -> None:
    row: dict[str, Any] = {"width": spec.width}
    row["height"] = row.get("width")
"""
SECTIONS = """
from collections.abc import Mapping
from typing import Any
Params = Mapping[str, Any]
"""


def found(tmp_path: Path, text: str, rule: str = "") -> list[str]:
    library = tmp_path / "workflow/lib/isotope"
    for file, content in {
        tmp_path / "Snakefile": "",
        tmp_path / "workflow/rules/crawl.smk": rule,
        library / "params/sections.py": SECTIONS,
        library / "crawl/shard.py": text,
    }.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(content), encoding="utf-8")
    return [fault.found for fault in typed_params.faults(tmp_path)]


def test_objects_of_params_and_mappings_of_paths_and_rows_are_fine(tmp_path):
    assert found(tmp_path, FINE, 'call="crawl.shard:crawl",\nshards=plan.params.shards') == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("def f(spec: Mapping[str, Any]): ...", "spec is Mapping[str, Any]"),
        ("def f(params: 'dict[str, object] | None'): ...", "params is dict[str, object] | None"),
        ("class A:\n    _entry: Any", "entry is Any"),
        ("def f(*, settings: list[Mapping[str, Any]]): ...", "settings is list[Mapping[str, Any]]"),
        ("from isotope.params.sections import Params\ndef f(spec: Params): ...", "spec is Params"),
        ("Spec = dict[str, Any]\ndef f(spec: Spec): ...", "spec is Spec"),
        ("def f(model: Model): return model.params['a']", "a key is read: model.params['a']"),
        ("def f(self): return self._spec.get('a', 1)", "a key is read: self._spec.get('a', 1)"),
    ],
)
def test_a_plain_mapping_and_a_read_key_are_found_by_the_names_of_params(tmp_path, text, fault):
    assert found(tmp_path, text) == [fault]


def test_a_function_of_a_rule_takes_no_mapping_of_anything_under_any_name(tmp_path):
    text = "def crawl(limits: Mapping[str, Mapping[str, Any]]): ..."
    assert found(tmp_path, text) == []
    of_rule = ["a rule gives limits, which is Mapping[str, Mapping[str, Any]]"]
    assert found(tmp_path, text, 'call="crawl.shard:crawl",') == of_rule


def test_rules_read_no_key_of_params(tmp_path):
    rule = 'shards=lambda w: plan.params["crawl"][w.source].shards,'
    assert found(tmp_path, "", rule) == ['a key is read: params["']


def test_a_fault_is_named_with_its_file_and_line(monkeypatch, capsys):
    faults = [typed_params.Fault(Path("new.py"), 3, "spec is Any")]
    monkeypatch.setattr(typed_params, "faults", lambda: faults)
    assert typed_params.main() == 1
    assert capsys.readouterr().out.startswith("new.py:3: spec is Any; give it a class")
    faults.clear()
    assert typed_params.main() == 0
