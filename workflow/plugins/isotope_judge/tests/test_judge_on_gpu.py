"""A model that judges on a GPU: near what it reads on the processor."""

import pytest
from tests.lib.models.test_models_on_gpu import CPU, GPU, pictures
from workflow.plugins.isotope_judge.tests.tiny_vlm import save_vlm

from isotope_judge.params import ModelJudge
from isotope_judge.vlm import Vlm

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("kind", ["qwen2_vl", "idefics3"])
def test_a_judge_reads_on_a_gpu_what_it_reads_on_the_processor(tmp_path, kind):
    folder, parts = save_vlm(tmp_path, kind), ["a dog runs", pictures()[0], "Grade:"]
    fields = {"kind": "vlm", "name": str(folder), "prompt": "{scale} {query} {document}"}
    spec = ModelJudge.of_plain({**fields, "precision": "float32"})
    ours, theirs = (Vlm(spec, [0, 1, 2], device).read(parts) for device in (GPU, CPU))
    assert ours.probabilities == pytest.approx(theirs.probabilities, abs=1e-4)
    assert ours.mass == pytest.approx(theirs.mass, abs=1e-4)
    half = ModelJudge.of_plain({**fields, "precision": "bfloat16"})
    assert Vlm(half, [0, 1, 2], GPU).read(parts).probabilities == pytest.approx(
        theirs.probabilities, abs=0.05
    )
