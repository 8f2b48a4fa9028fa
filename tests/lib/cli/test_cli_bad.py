"""A bad value for any argument: one named sentence, status 1, no traceback, nothing written."""

import io
import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from PIL import Image
from tests.bad_arguments import T
from tests.plugged import merged, modules

from isotope.cli import commands as main
from isotope.core import errors, store
from isotope.core.schemas import RUN
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.schemas.crawl import PIXELS
from isotope.schemas.score import SCORES
from isotope.tabulate import catalog

ROOT = Path(__file__).parents[3]
SELECT = "'SELECT 1'"
# What an argument is told, by command and argument. {f} is a file, {d} a folder, {n} neither.
BAD: dict[str, dict[str, list[str]]] = {
    "report": {
        "--collection": ["report --collection toi", "report --collection toy --collection ''"],
        "--measure": ["report --measure MRR@5", "report --measure ''"],
        "--setting": ["report --setting huge", "report --setting base", "report --setting"],
        "--split": ["report --split tset", "report --split train"],
    },
    "trec": {
        "collection": ["trec toi out", "trec '' out", "trec ../toy out"],
        "folder": ["trec toy {f}", "trec toy {f}/below", "trec toy"],
    },
    "release": {
        "collection": ["release toi", "release ''", "release ../toy", "release"],
        "--lite": ["release toi --lite", "release toy --lite=yes"],
        "--negatives": [f"release toy --lite --negatives {n}" for n in ("0", "-1", "many")]
        + ["release toy --negatives 3"],
        "--queries": [f"release toy --lite --queries {n}" for n in ("0", "1.5", "all")],
        "--releases": [f"release toy --releases {{{at}}}" for at in "nfd"],
    },
    "unlist": {
        "collection": ["unlist toi", "unlist ''", "unlist ../toy", "unlist"],
        "--delete": ["unlist toi --delete", "unlist toy --delete=yes"],
    },
    "recrawl": {
        "source": ["recrawl toi", "recrawl ''", "recrawl ../toy", "recrawl"],
        "--status": ["recrawl toy --status success", "recrawl toy --status ''"],
        "--gone": ["recrawl toy --gone ''", "recrawl toy --gone no.such.host"],
    },
    "costs": {"names": ["costs toi", "costs toy toi", "costs ''"]},
    "snapshot": {
        "name": [
            *("snapshot not-a-date", "snapshot 20231301", "snapshot 20230229", "snapshot ''"),
            *("snapshot 2023011", "snapshot -3", "snapshot 2023-13"),
        ],
        "--params": [
            *("snapshot 20230101 --params {n}", "snapshot 20230101 --params {d}"),
            *("snapshot 20230101 --params {f}", "snapshot 20230101 --params {yaml}"),
            *("snapshot 20230101 --params {bytes}", "snapshot 20230101 --params /dev/full"),
        ],
    },
    "sql": {
        "query": ["sql 'SELEC 1'", "sql ''", "sql 'DROP VIEW texts'", "sql 'FROM nobody'", "sql"],
        "--format": [f"sql {SELECT} --format xml"],
        "--rows": [f"sql {SELECT} --rows {n}" for n in ("-3", "0", "many", "1.5", "''")],
        "--catalog": [f"sql {SELECT} --catalog {{{at}}}" for at in "nfd"],
    },
    "show": {
        "kind": [f"show picture {T}"],
        "id": ["show text nobody", "show run toy/small", "show text ''", "show text"],
        "--collection": [f"show text {T} --collection toi", f"show text {T} --collection ''"],
        "--most": [f"show text {T} --most {n}" for n in ("-1", "0", "all")],
        "--html": [f"show text {T} --html {at}" for at in ("{d}", "{f}/below.html", "/proc/x/y")],
        "--catalog": [f"show text {T} --catalog {{{at}}}" for at in "nfd"],
    },
}
BAD["push"] = {
    "remote": ["push", "push ''", "push {f}", "push none/below", "push nowhere://x"],
    "paths": ["push none ''", "push none ../data", "push none /data", "push none data/encode"],
    "--collection": ["push none --collection toi", "push none --collection ''"],
    "--version": [f"push none --version {name}" for name in ("''", "../x", "-x", "a/b")],
    "--jobs": [f"push none --jobs {n}" for n in ("0", "65", "many")],
    "--dry-run": ["push none --dry-run=yes", "push none --dry-run"],
}
BAD["pull"] = {
    name: [line.replace("push", "pull", 1) for line in lines] for name, lines in BAD["push"].items()
}
BAD["pull"] |= {
    "--force": ["pull none --force=yes", "pull {d} --force"],
    "--list": ["pull none --list=yes", "pull {d} --list"],
}
BAD["plugins"] = {"--json": ["plugins --json=yes", "plugins more"]}
BAD["new"] = {"folder": ["new", "new ''", "new {f}", "new {d}", "new {f}/below", "new /proc/x/y"]}
BAD["init"] = {
    "table": [
        "init",
        "init ''",
        "init {n}",
        "init {f}",
        "init {empty}",
        "init {d}",
        "init ir_datasets:no",
        "init 'x{{root}}.csv'",
    ],
    "--pictures": [f"init {{table}} --pictures {at}" for at in ("{n}", "{d}", "''", "{f}")],
    "--language": [f"init {{table}} --language {code}" for code in ("''", "klingonese", "e/n")],
    "--name": [f"init {{table}} --name {name}" for name in ("''", "A", "a/b", "../a", "toy")],
    "--output": [
        f"init {{table}} --output {at}" for at in ("{d}", "{f}", "{f}/below.yaml", "/proc/x/y")
    ],
    "--columns": [
        f"init {{table}} --columns {each}"
        for each in ("text", "text=", "=caption", "txet=caption", "text=captoin", "split=a split=b")
    ],
    "--form": [
        f"init {{table}} --form {form}" for form in ("''", "csb", "beir", "parquet", "coco")
    ],
    "--force": ["init {table} --force=yes"],
    "--json": ["init {table} --json=yes"],
}
BAD.update(merged("bad_arguments", "BAD"))
CASES = [line for options in BAD.values() for lines in options.values() for line in lines]


def webp() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (4, 3), "red").save(out, "WEBP")
    return out.getvalue()


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """What a build leaves of a collection of one text and one picture; and things to trip over."""
    root = tmp_path_factory.mktemp("cli") / "project"
    score = {"collection": "toy", "setting": "small", "split": "validation", "task": "t2m"}
    hit = {"query_id": T, "doc_id": "i1", "rank": 1, "score": 1.0}
    image = {"image_id": "i1", "image_url": "http://h/i1.png", "split": "validation"}
    for name, row, schema in (
        ("data/collect/toy/texts", {"text_id": T, "split": "validation"}, TEXTS),
        ("data/collect/toy/images", image, IMAGES),
        (
            "data/collect/toy/qrels",
            {"text_id": T, "image_id": "i1", "relevance": 1, "split": "validation"},
            QRELS,
        ),
        ("data/crawl/toy/shard-00000", {"image_id": "i1", "webp": webp()}, PIXELS),
        (
            "results/score/toy",
            score | {"system": "a", "query_id": T, "measure": "MRR@10", "value": 0.5},
            SCORES,
        ),
        ("results/search/toy/small/validation/t2m/a", hit, RUN),
        ("results/search/toy/small/test/m2t/a", hit, RUN),
    ):
        store.write_rows([row], root / f"{name}.parquet", schema)
    for name, row, schema in merged("bad_arguments", "ROWS").values():
        store.write_rows([row], root / f"{name}.parquet", schema)
    catalog.build(root / "results/catalog.duckdb", root)
    written = {
        "results/report/toy/index.html": b"<!doctype html>",
        "results/report/toy/record.json": json.dumps(RECORD).encode(),
        "logs/benchmarks/parse_dump/toy.tsv": b"s\tmax_rss\tcpu_time\n1\t1\t1\n",
        "params.yaml": (ROOT / "params.yaml").read_bytes(),
        "traps/file": b"no YAML mapping",
        "traps/yaml": b"search: [",
        "traps/bytes": b"search: \xff",
        "traps/empty": b"",
        "table.csv": b"image,caption,split\na.png,A dog.,test\n",
    }
    for name, text in {**written, **merged("bad_arguments", "FILES")}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text)
    for name in ("workflow", "Snakefile"):
        (root / name).symlink_to(ROOT / name)
    return root


RECORD = {
    **{"name": "toy", "kind": "wikipedia", "language": "en", "collections": ["toy"]},
    **{"sources": ["toy"], "setting": "small", "split": "validation", "groups": {}},
    "fingerprint": "",
}


def places() -> dict[str, str]:
    traps = {name: f"traps/{name}" for name in ("yaml", "bytes", "empty")}
    return {
        "f": "traps/file",
        "d": "traps",
        "n": "none",
        "challenge": "challenge/test",
        "table": "table.csv",
        **traps,
    }


def contents(root: Path) -> dict[str, bytes]:
    files = (Path(top) / name for top, _, names in os.walk(root) for name in names)
    return {str(path): path.read_bytes() for path in files if path.is_file()}


@pytest.mark.parametrize("line", CASES)
def test_it_is_one_named_sentence_and_nothing_is_written(line, project, monkeypatch, capsys):
    monkeypatch.chdir(project)
    for name, stand_in in merged("bad_arguments", "STAND_INS").items():
        monkeypatch.setattr(name, stand_in)
    before, known = contents(project), {n for n in dir(errors) if n[0].isupper()}
    assert main.main(shlex.split(line.format(**places()))) == 1
    told = capsys.readouterr()
    assert told.out == ""
    [sentence] = told.err.splitlines()
    assert sentence.partition(":")[0] in known
    assert len(sentence) > len("BadArgument: ")
    assert contents(project) == before


def test_every_argument_of_every_subcommand_is_tried_with_a_bad_value():
    group: Any = typer.main.get_command(main.app)
    assert set(BAD) == set(group.commands)
    for name, command in group.commands.items():
        assert set(BAD[name]) == {parameter.opts[0] for parameter in command.params}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("report --setting huge", "invalid choice: 'huge' (choose from 'small', 'base', 'large')"),
        ("report --measure MRR@11", "toy was not scored by it; did you mean 'MRR@10'?"),
        ("report --setting base", "toy was not measured there; measured: small/validation"),
        ("report --collection toi", "did you mean 'toy'?"),
        (f"sql {SELECT} --rows -3", "argument --rows: '-3': give a whole number, at least 1"),
        ("trec toy {f}", "Unwritable: traps/file/qrels/toy/validation/t2m.qrels: not a dir"),
        (
            "snapshot not-a-date",
            "'not-a-date' is no date: give one as in the dump's address: 20230101",
        ),
        ("costs toy toi", "no job of 'toi'; did you mean 'toy'?"),
        (
            "new {d}",
            "BadArgument: FOLDER: traps is not empty, it has bytes, empty, file, yaml; name a new",
        ),
        (
            "init tabel.csv",
            "MissingFile: tabel.csv: no such file or folder; did you mean 'table.csv'",
        ),
        ("init {table} --columns text=captoin", "no column 'captoin'; did you mean 'caption'?"),
        ("init {table} --columns txet=caption", "no role 'txet'; did you mean 'text'?"),
        ("init {table} --form csb", "no form is called 'csb'; did you mean 'csv'?"),
        ("init {table} --output {f}", "traps/file is there; name another file, or add --force"),
        ("nothing", "invalid choice: 'nothing'"),
        *merged("bad_arguments", "MESSAGES").items(),
    ],
)
def test_the_sentence_says_what_is_allowed(line, told, project, monkeypatch, capsys):
    monkeypatch.chdir(project)
    assert main.main(shlex.split(line.format(**places()))) == 1
    assert told in capsys.readouterr().err


def test_what_is_well_said_is_done(project, monkeypatch, capsys):
    monkeypatch.chdir(project)
    for name, stand_in in merged("bad_arguments", "STAND_INS").items():
        monkeypatch.setattr(name, stand_in)
    added = [line for module in modules("bad_arguments") for line in getattr(module, "GOOD", ())]
    for line in ("report", "costs toy", f"sql {SELECT} --rows 1", f"show text {T}", *added):
        assert main.main(shlex.split(line)) == 0, line
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("date", ["20230101", "2023-01-01", "2023-01"])
def test_a_date_is_taken_in_each_form_that_dumps_have(date, tmp_path):
    file = tmp_path / "params.yaml"
    file.write_text("snapshots: []\n")
    assert main.main(["snapshot", date, "--params", str(file)]) == 0
    assert file.read_text() == f'snapshots: ["{date}"]\n'
