"""Every rule says how much memory its jobs may take, all from one place."""

import re
from pathlib import Path

import pytest

from isotope import memory

RULES = Path(__file__).parents[2] / "workflow/rules"
DECLARED = {
    name: body
    for path in sorted(RULES.glob("[a-z]*.smk"))
    for name, body in re.findall(r"^rule (\w+):\n((?:[ \n].*\n)*)", path.read_text(), re.MULTILINE)
}


@pytest.mark.parametrize("rule", DECLARED)
def test_a_rule_declares_its_memory_by_its_own_name(rule):
    assert re.findall(r"^        mem_mb=(.*),$", DECLARED[rule], re.MULTILINE) == [
        f'memory("{rule}")'
    ]


def test_every_declaration_belongs_to_a_rule():
    assert set(memory.NEEDS) == set(DECLARED)


def test_memory_grows_with_what_is_read_up_to_its_limit_and_shards_share_it():
    small, large = (memory.mem_mb("collect_tables", mb) for mb in (100, 100_000))
    assert small < large == memory.NEEDS["collect_tables"].most_mb
    alone, among = (memory.mem_mb("search_fused", 1_000, shards=n) for n in (1, 10))
    base = memory.NEEDS["search_fused"].base_mb
    assert alone - base == 10 * (among - base)
    assert memory.mem_mb("search_dense", 0, held_mb=512) - memory.mem_mb("search_dense", 0) == 512


def test_a_job_is_planned_with_the_memory_that_its_inputs_ask_for(embedded, shell):
    told = shell(
        "snakemake",
        "-n",
        "--cores",
        "1",
        "--forcerun",
        "collect_tables",
        "search_dense",
        cwd=embedded,
    )
    jobs = re.findall(r"rule (\w+):.*?resources: .*?mem_mb=(\d+)", told, re.DOTALL)
    planned = {rule: int(mb) for rule, mb in jobs}
    inputs = (embedded / "data/collect/toy").glob("*.parquet")
    assert any(inputs)
    assert memory.NEEDS["collect_tables"].base_mb < planned["collect_tables"]
    assert planned["search_dense"] >= memory.NEEDS["search_dense"].base_mb + 2 * 512
