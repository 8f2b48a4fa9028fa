"""Every rule says how much memory its jobs may take, all from one place."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from isotope.core import memory

RULES = Path(__file__).parents[2] / "workflow/rules"
DECLARED = {
    name: body
    for path in sorted(RULES.glob("[a-z]*.smk"))
    for name, body in re.findall(
        r"^ *rule (\w+):\n((?:\n| +(?!rule )[^ ].*\n)*)", path.read_text(), re.MULTILINE
    )
}


@pytest.mark.parametrize("rule", DECLARED)
def test_a_rule_declares_its_memory_by_its_own_name(rule):
    assert re.findall(r"^ {8,12}mem_mb=(.*),$", DECLARED[rule], re.MULTILINE) == [
        f'memory("{rule}")'
    ]


def test_every_declaration_belongs_to_a_rule():
    assert set(memory.NEEDS) == set(DECLARED)


def test_memory_grows_with_what_is_read_up_to_its_limit_and_shards_share_it():
    small, large = (memory.mem_mb("collect_tables", mb) for mb in (100, 100_000))
    assert small < large == memory.NEEDS["collect_tables"].most_mb
    alone, among = (memory.mem_mb("search_random", 1_000, shards=n) for n in (1, 10))
    base = memory.NEEDS["search_random"].base_mb
    assert alone - base == 10 * (among - base)
    assert memory.mem_mb("search_dense", 0, held_mb=512) - memory.mem_mb("search_dense", 0) == 512


def test_a_job_declares_by_the_sizes_of_its_inputs_but_for_what_it_streams(tmp_path):
    """The function of the rules, on files of a known size; a missing one is for Snakemake."""
    (tmp_path / "texts").write_bytes(b"0" * 3_000_000)
    (tmp_path / "pixels").write_bytes(b"0" * 9_000_000)
    params = {"search": {"memory_mb": 512}, "shards": {"search": 4, "project": 3, "index": 2}}
    rules: dict[str, Any] = {"PARAMS": params, "os": os}
    exec((RULES / "_memory.smk").read_text(), rules)
    inputs = {"texts": str(tmp_path / "texts"), "pixels": [str(tmp_path / "pixels")]}
    declared = rules["memory"]("score_pool")(None, inputs)
    assert declared == memory.mem_mb("score_pool", 3.0)
    assert rules["memory"]("search_random")(None, inputs) == memory.mem_mb(
        "search_random", 3.0, shards=4
    )
    for rule in ("project_index", "index_bm25_shard"):
        needed = memory.mem_mb(rule, 3.0, shards=2)
        assert rules["memory"](rule)(None, {**inputs, "images": []}) == needed
    with pytest.raises(FileNotFoundError):
        rules["memory"]("score_pool")(None, {"texts": str(tmp_path / "none")})
