"""What rules hand to jobs: plain data without defaults, from which the objects are made again."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from isotope.core.errors import IsotopeError
from isotope.params import files
from isotope.params.root import Params
from isotope.params.sections import ModelKind, SystemKind

ROOT = Path(__file__).parents[3]
OVERLAYS = sorted(path.name for path in (ROOT / "params").glob("*.yaml"))


def loaded(overlay: str) -> Params:
    try:
        return files.load([ROOT / "params" / overlay], ["name=toy", "root=/x"], ROOT)
    except IsotopeError as error:
        pytest.skip(f"needs what is not here: {error}")


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_objects_of_an_overlay_come_back_from_their_specs(overlay):
    params = loaded(overlay)
    for of in (params.collect, params.models, params.systems, params.crawl, params.project):
        for entry in of.values():
            spec = json.loads(json.dumps(entry.spec()))
            assert type(entry).of_spec(spec) == entry
    for part in (params.tabulate, params.search, params.encode, params.score, params.release):
        assert type(part).of_spec(json.loads(json.dumps(part.spec()))) == part


def test_a_default_that_is_written_out_changes_no_spec():
    bm25 = SystemKind.of_spec({"kind": "bm25"})
    assert SystemKind.of_spec({"kind": "bm25", "k1": 0.9, "b": 0.4}).spec() == bm25.spec()
    assert SystemKind.of_spec({"kind": "bm25", "k1": 1}).spec() == {"kind": "bm25", "k1": 1}


def test_an_entry_comes_back_without_the_modules_of_other_kinds():
    code = (
        "import sys\n"
        "from isotope.params.sections import ModelKind\n"
        "ModelKind.of_spec({'kind': 'hash', 'dim': 8})\n"
        "print([m for m in sys.modules if m.startswith('isotope.models.kinds.') and '._' not in m])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "['isotope.models.kinds.hash']"
    assert ModelKind.of_spec({"kind": "hash", "dim": 8}).kind_name() == "hash"
