"""A run says before its first job which extra it lacks: what its functions can't do without."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from isotope.cli import new
from isotope.core import extras, provenance
from isotope.core.errors import MissingExtra
from isotope.params import files
from isotope.params.sections import MODELS, kinds
from isotope.params.tabulate import Detector
from isotope.plan.closures import Closures
from isotope.plan.plan import Plan

ROOT = Path(__file__).parents[2]
RULES = [*ROOT.glob("workflow/rules/*.smk"), *ROOT.glob("workflow/plugins/*/rules/*.smk")]
CALLS = sorted({c for p in RULES for c in re.findall(r'call="([\w.]+:\w+)"', p.read_text("utf-8"))})


def needed(*roots: str) -> set[str]:
    """The extras beside `build` whose packages functions can't do without."""
    return {*filter(None, map(extras.extra_of, provenance.packages(*roots)))} - {"build"}


def test_only_what_learns_or_reads_by_a_model_needs_one_and_words_need_lucene():
    """By rule: crawling, parsing, collecting, scoring and drawing need the extra `build` alone."""
    found = {call: needed(call) for call in CALLS}
    light = ("acquire", "crawl", "collect", "score", "release", "isotope_toy", "isotope_verify")
    assert {call: of for call, of in found.items() if call.startswith(light) and of} == {}
    neural = {call.partition(":")[0] for call, of in found.items() if "neural" in of}
    assert {"train.clip", "search.rerank"} <= neural
    assert {name.partition(".")[0] for name in neural} <= {
        *("train", "encode", "explain", "search", "tabulate", "isotope_judge", "isotope_suggest")
    }
    assert needed("search.bm25:search_bm25") == needed("index.bm25:index_bm25") == {"lucene"}
    assert needed("search.systems:search_dense") == set()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("hash", set[str]()),
        ("trained", {"neural"}),
        ("open_clip", {"neural"}),
        ("sentence", {"neural"}),
        ("conse", {"neural", "offline"}),
    ],
)
def test_a_job_needs_what_the_kind_that_it_works_for_needs(kind, expected):
    of: Any = kinds(MODELS)[kind]
    assert needed("encode.shard:encode_shard", f"models.kinds.{kind}", of.loader) == expected


def test_what_copes_without_a_package_does_not_demand_it():
    """ZIM files are read where libzim is."""
    assert "libzim" not in provenance.packages("parse.dump:parse_source")
    assert "torch" in provenance.packages("train.clip:train")


@pytest.mark.parametrize(
    ("detector", "expected"),
    [
        ({"kind": "ssd", "threshold": 0.5, "batch": 8}, {"offline", "neural"}),
        ({"name": "x/detr", "threshold": 0.5, "batch": 8}, {"neural"}),
    ],
)
def test_a_detector_needs_what_its_own_class_imports(detector, expected):
    params = files.load(root=ROOT)
    tabulate = params.tabulate.model_copy(update={"detector": Detector.model_validate(detector)})
    changed = params.model_copy(update={"tabulate": tabulate})
    assert needed(Plan(changed, {}).facts.detector) == expected


def test_files_of_a_source_demand_what_reads_them(tmp_path):
    (tmp_path / "o.yaml").write_text(
        "acquire: {wiki: {files: {dump: [x_en_2024-01.zimaa]}}}\n"
        "collect: {two: {kind: pairs, data: 'ir_datasets:beir/scifact'}}\n"
    )
    params = files.load([ROOT / "params.yaml"], root=ROOT)
    assert Plan(params, {}).sources.packages("toy") == set()
    overlaid = files.load([tmp_path / "o.yaml"], root=ROOT)
    assert Plan(overlaid, {}).sources.packages("wiki") == {"libzim"}
    source = overlaid.collect["two"].source
    assert Plan(overlaid, {}).sources.packages(str(source)) == {"ir_datasets"}


def test_digests_of_code_lead_to_what_it_needs(tmp_path, monkeypatch):
    closures = Closures(tmp_path / "closures.json")
    code = closures.digest("search.bm25:search_bm25")
    closures.demand([code, "another"])
    there = extras.find_spec
    monkeypatch.setattr(extras, "find_spec", lambda n: None if n == "pyserini" else there(n))
    with pytest.raises(MissingExtra, match=r"^pyserini: .*'isotope-ir\[lucene\]'$"):
        closures.demand([code])
    monkeypatch.setattr(extras, "find_spec", lambda n: None if n == "libzim" else there(n))
    with pytest.raises(MissingExtra, match=r"'isotope-ir\[zim\]'$"):
        closures.demand([code], ["libzim"])
    closures.keep()
    again = Closures(tmp_path / "closures.json")
    assert again.digest("search.bm25:search_bm25") == code
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra):
        again.demand([code])


WITHOUT = """if True:
    import sys
    from isotope.core import extras
    there = extras.find_spec
    extras.find_spec = lambda name: None if name == "torch" else there(name)
    from snakemake.cli import main
    main()
"""


@pytest.mark.long
def test_a_run_without_the_extra_of_its_models_ends_before_its_first_job(tmp_path):
    place = tmp_path / "demo"
    new.new(place)
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, "--cores", "1"],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "torch: it is not installed; pip install 'isotope-ir[neural]'" in done.stderr
    assert not (place / "data").exists()
    assert "0 of 54 jobs" in done.stdout + done.stderr
