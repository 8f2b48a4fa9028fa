"""How much memory jobs may take is said by classes of isotope.plan.needs."""

import re
from pathlib import Path

import pytest
from snakemake.iocontainers import Wildcards
from tests import library
from tests.plans import plan_of

from isotope.plan import needs as memory

ROOT = Path(__file__).parents[2]
CLASSES = {name: need for name, need in vars(memory).items() if isinstance(need, memory.Need)}
TEXT = "".join(path.read_text() for path in [ROOT / "Snakefile", *library.rules()])


def test_all_memory_is_declared_by_a_class():
    """A rule that says nothing has what the rule that it is made of says."""
    declared = re.findall(r"\bmem_mb=(?:jobs\.needs\(\s*needs\.(\w+)\b|jobs.needs\(need\))?", TEXT)
    assert declared.count("") == 1, "the rules that others are made of"
    declared += re.findall(r'"\w+": needs\.(\w+)', TEXT)
    assert len(declared) > 30
    assert {*declared} - {""} <= {*CLASSES}


def test_every_class_belongs_to_a_rule():
    named = re.findall(r"\bneeds\.([A-Z_]+)\b", TEXT)
    assert {*named} == {*CLASSES}


def test_memory_grows_with_what_is_read_up_to_its_limit_and_shards_share_it():
    small, large = (memory.DUCKDB_LARGE.mem_mb(mb) for mb in (100, 100_000))
    assert small < large == memory.DUCKDB_LARGE.most_mb
    alone, among = (memory.HOLDS.mem_mb(1_000, shards=n) for n in (1, 10))
    assert alone - memory.HOLDS.base_mb == 10 * (among - memory.HOLDS.base_mb)
    assert memory.HOLDS.mem_mb(0, extra_mb=512) - memory.HOLDS.mem_mb(0) == 512


def test_a_source_that_lucene_projects_declares_its_java():
    sources = {
        "old": {"mode": "bm25", "engine": "lucene"},
        "new": {"mode": "bm25", "engine": "native"},
    }
    jobs = plan_of(project=sources).jobs
    needs = jobs.needs(memory.COUNTS, by_lucene=memory.JAVA)
    declared = [needs(Wildcards(fromdict={"source": source}), {}) for source in sources]
    assert declared == [memory.JAVA.mem_mb(0), memory.COUNTS.mem_mb(0)]
    assert declared[0] > 4_096 > declared[1]


def test_a_job_declares_by_the_sizes_of_its_inputs_but_for_what_it_streams(tmp_path):
    """The function of the rules, on files of a known size; a missing one is for Snakemake."""
    (tmp_path / "texts").write_bytes(b"0" * 3_000_000)
    (tmp_path / "pixels").write_bytes(b"0" * 9_000_000)
    shards = {"search": 4, "project": 3, "index": 2}
    jobs = plan_of(shards=shards).jobs
    inputs = {"texts": str(tmp_path / "texts"), "pixels": [str(tmp_path / "pixels")]}
    assert jobs.needs(memory.HOLDS)(None, inputs) == memory.HOLDS.mem_mb(3.0)
    for phase, n in shards.items():
        declared = jobs.needs(memory.JAVA, shards=phase)(None, {**inputs, "images": []})
        assert declared == memory.JAVA.mem_mb(3.0, shards=n)
    counted = jobs.needs(memory.HOLDS, reads=["pixels"])(None, inputs)
    assert counted == memory.HOLDS.mem_mb(9.0)
    extra = jobs.needs(memory.HOLDS, extra_mb=jobs.search_mb)(None, inputs)
    assert extra == memory.HOLDS.mem_mb(3.0) + 2 * 512
    missing = {"texts": str(tmp_path / "none")}
    with pytest.raises(FileNotFoundError):
        jobs.needs(memory.HOLDS)(None, missing)
    for bounded in (memory.DUCKDB, memory.STREAMS):
        assert jobs.needs(bounded)(None, missing) == min(bounded.most_mb, bounded.mem_mb(10**9))
