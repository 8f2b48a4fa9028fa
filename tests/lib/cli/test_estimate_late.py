"""What `isotope estimate` says of late interaction and learned sparse models."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from isotope.cli import estimate, estimate_late, estimate_work
from isotope.cli.estimate import Machine
from isotope.cli.estimate_jobs import Job
from isotope.cli.estimate_sizes import Size
from isotope.params import files

ROOT = Path(__file__).parents[3]
COLPALI = {"kind": "late", "name": "x", "images": "pixels", "tokens": 512}
# Texts of 180 words and captions of 25.
OF = Size(10, 100, 0, 0, 0, 0, 0, 0, 0, 0)


@pytest.fixture
def params(tmp_path) -> Any:
    def of(**systems: Any) -> Any:
        models = {"m": COLPALI, "s": {"kind": "sparse", "name": "x"}}
        overlay = {"models": models, "systems": systems}
        overlay["search"] = {"systems": [*systems]}
        overlay["tabulate"] = {"system": next(iter(systems)), "comparisons": []}
        (tmp_path / "o.yaml").write_text(yaml.safe_dump(overlay))
        return files.load([tmp_path / "o.yaml"], root=ROOT)

    return of


def test_a_picture_of_colpali_takes_1030_vectors_of_132_bytes():
    """Faysse et al., ICLR 2025: 1,030 vectors of 128 components a page (256 KB)."""
    assert estimate_late.vectors(COLPALI, OF, "images") == 1_030
    texts = 10 * (180 * 1.3 + 16) * 132
    pooled = 110 * 512
    assert estimate_late.encoded_bytes(COLPALI, OF) == pytest.approx(
        100 * 1_030 * 132 + texts + pooled
    )


def test_captions_make_fewer_vectors_than_pictures():
    own = {**COLPALI, "images": "captions"}
    assert estimate_late.vectors(own, OF, "images") == 25 * 1.3 + 16
    assert estimate_late.vectors({**own, "tokens": 20}, OF, "images") == 20 + 16


def test_models_of_other_kinds_are_left_to_their_vectors():
    assert estimate_late.encoded_bytes({"kind": "hash", "dim": 8}, OF) is None


def test_candidates_cost_less_than_the_whole_pool(params):
    exact = {"kind": "late", "model": "m", "exact_up_to": 10**9}
    seconds = {}
    for name, entry in {"exact": exact, "few": {**exact, "exact_up_to": 0}}.items():
        own = params(**{name: entry})
        jobs = [Job("search_late", {"collection": "toy", "system": name}, 1)]
        [seconds[name]] = estimate_work.core_seconds(own, estimate.sizes(own), jobs)
    # No pool of the embedded encyclopedia has more than 1,000 pictures; two have as many texts.
    assert 0 < seconds["few"] < seconds["exact"]


def test_disk_and_memory_of_encoding_follow_the_kind(params):
    machine = Machine(2, gpu=False)
    late = estimate.costs(params(a={"kind": "late", "model": "m"}), machine)["encode"]
    sparse = estimate.costs(params(a={"kind": "sparse", "model": "s"}), machine)["encode"]
    assert late.disk > 20 * sparse.disk > 0
    assert late.memory_gib > sparse.memory_gib == 8
    assert late.seconds > 100 * sparse.seconds > 0


def test_an_index_of_impacts_takes_room_beside_those_of_words(params):
    machine = Machine(2, gpu=False)
    with_it = estimate.costs(params(a={"kind": "sparse", "model": "s"}), machine)["index"].disk
    without = estimate.costs(params(a={"kind": "bm25"}), machine)["index"].disk
    assert with_it > without


def test_a_search_over_impacts_takes_as_long_as_there_are_postings(params):
    own = params(a={"kind": "sparse", "model": "s"})
    jobs = [Job("search_sparse", {"collection": "toy", "system": "a"}, 1)]
    [seconds] = estimate_work.core_seconds(own, estimate.sizes(own), jobs)
    double = {k: dict(v) if isinstance(v, dict) else v for k, v in own.items()}
    double["acquire"] = {"toy": {"generate": {**own["acquire"]["toy"]["generate"], "pages": 800}}}
    [twice] = estimate_work.core_seconds(double, estimate.sizes(double), jobs)
    assert 0 < seconds < twice
