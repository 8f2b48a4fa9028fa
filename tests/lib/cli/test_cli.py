"""Every subcommand has help and a place in the docs."""

import shlex
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from tests.report_project import record

import isotope
from isotope.cli import arguments
from isotope.cli import commands as command
from isotope.core import store
from isotope.core.errors import BadParams, MissingFile
from isotope.params import files as params_files
from isotope.params.root import Params
from isotope.report import registry
from isotope.schemas.score import SCORES

ROOT = Path(__file__).parents[3]


def commands() -> dict[str, Any]:
    group: Any = typer.main.get_command(command.app)
    return dict(group.commands)


def test_every_subcommand_has_help_for_itself_and_all_its_arguments():
    for name, each in commands().items():
        assert each.help, name
        assert [parameter.name for parameter in each.params if not parameter.help] == [], name
    assert {"report", "sql", "show", "init"} <= set(commands())


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
    monkeypatch.setattr("isotope.report.diff_page.summary", lambda table: table.parent.name)
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
    monkeypatch.setattr("isotope.report.diff_page.summary", lambda table: table.parent.name)
    for name, page in {"mine": "index.html", "new": "since/old.html"}.items():
        path = Path(f"results/report/{name}") / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    registry.write(record("mine"), Path("results/report/mine/record.json"))
    shutil.copy("results/score/old.parquet", "results/score/mine.parquet")
    for asked, is_told in {("mine",): False, ("mine", "old"): True, ("new",): True}.items():
        assert reported(*(word for name in asked for word in ("--collection", name))) == 0
        assert ("new since old\n" in capsys.readouterr().out) == is_told


@pytest.mark.parametrize(
    ("redirect", "status", "told"),
    [
        (">&-", 0, ""),
        ("| true", 0, ""),
        (">/dev/full", 1, "Unwritable: standard output: no space left on device;"),
    ],
)
def test_an_answer_that_nobody_takes_is_no_fault_and_one_without_room_is_named(
    redirect, status, told, tmp_path
):
    if "full" in redirect and not Path("/dev/full").exists():
        pytest.skip("a device of Linux")
    run = "import sys; from isotope.cli import main; sys.argv[1:] = ['plugins']; sys.exit(main())"
    words = shlex.join([sys.executable, "-c", run])
    command = f"set -o pipefail; {words} {redirect}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr[: len(told) or None]) == (status, told)
