"""What `isotope doctor` looks at for judging."""

from pathlib import Path
from typing import Any

from isotope.params import files
from isotope_judge.findings import findings
from isotope_judge.params import Judge

ROOT = Path(__file__).parents[4]
JUDGE: dict[str, Any] = {"depth": 1, "setting": "small", "split": "test", "measures": ["nDCG@10"]}


def test_the_weights_of_models_that_judge_are_looked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full/model.safetensors").write_bytes(b"0")
    names = ("./full", "./empty", "./nowhere", "us/judge-8B")
    judges = {f"j{n}": {"kind": "vlm", "name": name} for n, name in enumerate(names)}
    params = files.load(root=ROOT)
    judge = Judge.of_plain({**JUDGE, "models": judges})
    listed = list(findings(params.model_copy(update={"judge": judge})))
    assert [finding.state for finding in listed] == ["ok", "missing", "missing", "note"]
    assert "16.0 GB" in listed[3].remedy
