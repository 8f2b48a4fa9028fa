"""Every command that README and docs show has its documented effect.

`test_reader` runs in order what a reader can run in the folder of the demo. EFFECTS names what
shows the others: a check here, or a test elsewhere, in a world that the demo has not. A command
that is new in the docs fails until one of them has it.
"""

import json
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable

import duckdb
import polars as pl
import pytest
import yaml
from tests.effects import (
    CLONE,
    COMPILER,
    HOURS,
    NETWORK,
    PACKAGE,
    PUBLISHED,
    ROOT,
    SLURM_NODES,
    SNAKEMAKE,
    Shown,
    answered,
    elsewhere,
    planned,
    printed,
)
from tests.plugged import merged
from tests.workflow.test_reader import RUN

from isotope.cli import commands as main
from isotope.cli.reference import documents
from isotope.core import held, plugins
from isotope.core.plugins import phase_of
from isotope.core.runs import read_trec_run

PROGRAMS = ("isotope", "snakemake", "dvc", "make")
PHASES = (
    "acquire", "parse", "crawl", "project", "collect", "train", "encode", "index", "search",
    "score", "tabulate", "release", *plugins.phases(),
)  # fmt: skip


def documented() -> set[str]:
    """Every command of ours in a block or a span of the pages, as words with single spaces."""
    texts = [page.read_text("utf-8") for page in documents(ROOT)]
    blocks = [b for t in texts for b in re.findall(r"^```sh\n(.*?)^```$", t, re.M | re.S)]
    prose = [re.sub(r"^```.*?^```$", "", t, flags=re.M | re.S) for t in texts]
    lines = [line for block in blocks for line in block.splitlines()]
    lines += [span for text in prose for span in re.findall(r"`([^`\n]+)`", text)]
    words = [
        shlex.split(part, comments=True)
        for x in lines
        for part in re.split(r"&&|;", x)
        if _is_ours(part)
    ]
    return {" ".join(each) for each in words if len(each) > 1}


def _is_ours(line: str) -> bool:
    return line.strip().startswith(tuple(f"{program} " for program in PROGRAMS))


def unfit(request: pytest.FixtureRequest) -> None:
    """`isotope doctor` of the full size: exit status 1, for want of a contact."""
    captured = request.getfixturevalue("capsys")
    request.getfixturevalue("monkeypatch").chdir(request.getfixturevalue("embedded"))
    assert main.main(["doctor", "--configfile", "params/enwiki.yaml"]) == 1
    assert re.search(r"missing.*contact", captured.readouterr().out)


def means(request: pytest.FixtureRequest, setting: str, split: str) -> dict[str, str]:
    """The headline of the toy by hand: MRR@10 of t2m by system."""
    place = request.getfixturevalue("embedded")
    scores = pl.read_parquet(place / "results/score/toy.parquet")
    cell = scores.filter(setting=setting, split=split, task="t2m", measure="MRR@10")
    found = cell.group_by("system").agg(pl.col("value").mean())
    return {system: f"{value:.4f}" for system, value in found.iter_rows()}


def reported(setting: str, split: str, second: str = "R@10") -> Callable[..., None]:
    """`isotope report` prints the headline of a pool, with the means of its scores."""

    def check(request: pytest.FixtureRequest) -> None:
        own = [rf"^{s} +{re.escape(v)} " for s, v in means(request, setting, split).items()]
        head = rf"^{setting}/{split} +t2m MRR@10 +t2m {second} +m2t MRR@10 +m2t {second}$"
        printed(head, *own, r"^Report: /.*/results/report/toy/index\.html$")(request)

    return check


def plugins_listed(request: pytest.FixtureRequest) -> None:
    """`isotope plugins`: each that the package names, with the version and a command or a rule."""
    here = request.getfixturevalue("tmp_path")
    told = answered(request, here, "plugins")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for name, value in project["entry-points"]["isotope.plugins"].items():
        package = value.partition(":")[0]
        assert f"{name}  isotope-ir {project['version']}, package {package}\n" in told
    assert "commands: verify\n" in told


def exported(request: pytest.FixtureRequest) -> None:
    """`isotope trec`: every run and both qrels come out; a run keeps its hits."""
    built, here = request.getfixturevalue("embedded"), request.getfixturevalue("tmp_path")
    place, out = here / "some", here / "out"
    for name in ("data/collect/toy", "results/search/toy/small/test"):
        (place / name).parent.mkdir(parents=True)
        (place / name).symlink_to(built / name)
    assert f"files in {out}" in answered(request, place, "trec", "toy", out)
    ours = sorted((place / "results/search/toy").glob("*/*/*/*.parquet"))
    theirs = sorted((out / "runs/toy").glob("*/*/*/*.trec.gz"))
    assert len(theirs) == len(ours) > 0
    assert read_trec_run(theirs[0]).height == pl.read_parquet(ours[0]).height
    assert (out / "qrels/toy/test/t2m.qrels").is_file()


def page_written(request: pytest.FixtureRequest) -> None:
    """`isotope show run ... --html`: the run's measures, and a page."""
    place, page = (
        request.getfixturevalue("embedded"),
        request.getfixturevalue("tmp_path") / "run.html",
    )
    run = "toy/small/test/t2m/bm25"
    assert "MRR@10" in answered(request, place, "show", "run", run, "--html", page)
    assert "<html" in page.read_text()


def text_shown(request: pytest.FixtureRequest) -> None:
    """`isotope show text`: the documented id is one of the toy's, and its title is shown."""
    place = request.getfixturevalue("embedded")
    ident = request.node.callspec.params["command"].split()[-1]
    [row] = (
        pl.read_parquet(place / "data/collect/toy/texts.parquet").filter(text_id=ident).to_dicts()
    )
    printed(re.escape(row["page_title"]))(request)


def template_shown(request: pytest.FixtureRequest) -> None:
    """`isotope show template`: the documented one is called, and has a picture with its caption."""
    place = request.getfixturevalue("embedded")
    shown = answered(request, place, "show", "template", "Infobox building")
    assert re.search(r"uses +[1-9]", shown)
    assert re.search(r"\['image'\] +\['caption'\]", shown)


def snapshot_added(request: pytest.FixtureRequest) -> None:
    """`isotope snapshot`: one date more in the list; every other line stays."""
    place, before = request.getfixturevalue("tmp_path"), (ROOT / "params.yaml").read_text()
    (place / "params.yaml").write_text(before)
    assert "is now a snapshot" in answered(request, place, "snapshot", "20260301")
    after = (place / "params.yaml").read_text()
    assert [str(each) for each in yaml.safe_load(after)["snapshots"]] == ["20260301"]
    changed = set(before.splitlines()) ^ set(after.splitlines())
    assert all("snapshots" in line or "20260301" in line for line in changed)


def recrawled(*, said: str, removed: int) -> Callable[..., None]:
    """`isotope recrawl`, in a copy of the crawl of the embedded project."""

    def check(request: pytest.FixtureRequest) -> None:
        demo, place = request.getfixturevalue("embedded"), request.getfixturevalue("tmp_path")
        for folder in ("data/crawl/toy", ".isotope/crawl/toy"):
            shutil.copytree(demo / folder, place / folder)
        before = {*place.rglob("*.parquet")}
        words = shlex.split(request.node.callspec.params["command"])[1:]
        assert re.search(said, answered(request, place, *words))
        assert len(before - {*place.rglob("*.parquet")}) == removed

    return check


def unrecorded(request: pytest.FixtureRequest) -> None:
    """`isotope verify --check files` names a file that no job has recorded, and compares the rest.

    So it is without the name of a collection and with it.
    """
    stray = request.getfixturevalue("embedded") / "results/tables/toy/stray.csv"
    stray.touch()
    try:
        printed(
            r"^files +XXH128 .* 100 % +0 ",
            r"^pictures +SHA-256 .* 100 % +0 ",
            r"no digest was written of results/tables/toy/stray\.csv",
        )(request)
    finally:
        stray.unlink()


def unlisted(request: pytest.FixtureRequest) -> None:
    """`isotope unlist toy`: gone from the front page and from the catalog, and its files stay."""
    built, place = request.getfixturevalue("embedded"), request.getfixturevalue("tmp_path")
    report, catalog = place / "results/report", place / "results/catalog.duckdb"
    shutil.copytree(built / "results/report", report)
    shutil.copy(built / "results/catalog.duckdb", catalog)
    (place / "data").symlink_to(built / "data")
    texts = "SELECT count(*) FROM texts WHERE collection = 'toy'"

    def shown() -> tuple[bool, bool]:
        with duckdb.connect(catalog, read_only=True) as con:
            con.execute("SET file_search_path = $root", {"root": str(place)})
            [(count,)] = con.sql(texts).fetchall()
        return 'href="toy/index.html"' in (report / "index.html").read_text(), count > 0

    assert shown() == (True, True)
    assert "its files stay" in answered(request, place, "unlist", "toy")
    assert shown() == (False, False)
    assert (report / "toy/index.html").is_file()


def unlocked(request: pytest.FixtureRequest) -> None:
    """A run on another machine may hold the project: `snakemake --unlock` says that it does not."""
    shell, place = request.getfixturevalue("shell"), request.getfixturevalue("embedded")
    lock, record = place / held.LOCKS / "0.output.lock", place / held.RECORDS / "node7-12-1.json"
    about = {"host": "node7", "process": 12, "since": "2026-01-01 00:00:00"}
    for path, text in ((lock, "data/collect/toy/texts.parquet"), (record, json.dumps(about))):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    try:
        told = shell("snakemake", "--cores", "1", cwd=place, check=False)
        assert "process 12 on node7" in told
        assert lock.exists()
        shell(*shlex.split(request.node.callspec.params["command"]), cwd=place)
        assert not lock.exists()
    finally:
        lock.unlink(missing_ok=True)
        record.unlink(missing_ok=True)


def recipe(target: str, *lines: str) -> Callable[..., None]:
    """The Makefile's recipe is these commands, of which each has its own entry or is pytest's.

    A recipe that makes other targets is their recipes.
    """

    def check(_: pytest.FixtureRequest) -> None:
        text = (ROOT / "Makefile").read_text("utf-8")
        recipes = dict(re.findall(r"^([a-z-]+):.*\n((?:\t.*\n)+)", text, re.MULTILINE))
        body = recipes[target].replace("\\\n", " ")
        made = [line.split() for line in body.splitlines() if "$(MAKE)" in line]
        body += "".join(recipes[word] for words in made for word in words if word in recipes)
        assert [line for line in lines if line not in body] == []

    return check


def of_phase(phase: str) -> Callable[..., None]:
    """The target of a phase asks for what rules of that phase write."""

    def check(request: pytest.FixtureRequest) -> None:
        makers = request.getfixturevalue("targets")[phase]
        assert {phase_of(maker) for maker in makers} == {phase}

    return check


@pytest.fixture(scope="module")
def targets(shell, tmp_path_factory) -> dict[str, set[str]]:
    """The rules whose files each phase's target asks for, from one plan of all phases."""
    place = tmp_path_factory.mktemp("plan")
    shutil.copy(ROOT / "params.yaml", place)
    where = ["--snakefile", ROOT / "Snakefile", "--directory", place]
    told = shell("snakemake", *where, *PHASES, "--dag", cwd=place)
    labels = dict(re.findall(r'^\t(\d+)\[label = "(\w+)', told, re.MULTILINE))
    found: dict[str, set[str]] = {phase: set() for phase in PHASES}
    for maker, target in re.findall(r"^\t(\d+) -> (\d+)$", told, re.MULTILINE):
        if labels[target] in found:
            found[labels[target]].add(labels[maker])
    return found


DVC, MONTH = (f"tests/workflow/test_{name}.py" for name in ("dvc", "month"))
PYTHON = "tests/workflow/test_python.py"
DVC_S3 = "tests/workflow/test_dvc_s3.py"
LAYOUT = "tests/workflow/test_layout.py"
COCO = "tests/workflow/test_coco.py"
REHEARSAL = "tests/workflow/test_rehearsal.py"
RELEASE = "tests/workflow/test_release.py"
DOCS = "tests/workflow/test_docs.py"
EXAMPLES = "tests/lib/tabulate/test_examples.py"
SHOW = "tests/lib/cli/test_show.py"
INIT = "tests/lib/cli/test_init.py"
LUCENE = "tests/lib/core/test_lucene.py"
CLUSTER = "tests/cluster/test_cluster.py"
PUSHED = "test_a_push_completes_what_killed_ones_left"
OVERLAID = f"{SNAKEMAKE} --configfile params"
FOLDER_REMOTE = "tests/lib/transfer/test_folder.py"
RETURNS = "test_what_was_sent_comes_back"
SLURM = "snakemake --profile workflow/profiles/slurm"
EFFECTS: dict[str, Callable[..., None]] = {
    "isotope verify --check files": unrecorded,
    "isotope verify toy --check files": unrecorded,
    # isotope
    "isotope report --collection toy --measure MRR@10 --measure nDCG@10 --setting large "
    "--split test": reported("large", "test", "nDCG@10"),
    "isotope doctor --configfile params/enwiki.yaml": unfit,
    "isotope show run toy/small/test/t2m/bm25 --html run.html": page_written,
    "isotope show text projected-00001000-003": text_shown,
    "isotope show template Infobox building": template_shown,
    "isotope snapshot 20260301": snapshot_added,
    # Tables of the shards that have such a row, and that of them all.
    "isotope recrawl toy": recrawled(
        said=r"toy: 3 truncated are requested again by `snakemake", removed=5
    ),
    "isotope recrawl toy --status not_found": recrawled(
        said=r"toy: 3 not_found are requested again", removed=5
    ),
    "isotope recrawl toy --gone pictures.example.org": recrawled(
        said=r"pictures\.example\.org is gone", removed=0
    ),
    "isotope plugins": plugins_listed,
    "snakemake --configfile params/letters.yaml": elsewhere(
        PACKAGE,
        "tests/workflow/test_extending.py",
        "test_the_overlay_plans_what_the_package_adds",
    ),
    **{
        command: elsewhere(
            CLONE, FOLDER_REMOTE, f"{RETURNS}_with_records_times_and_modes", "Sent", "Fetched"
        )
        for command in ("isotope push", "isotope pull", "isotope push REMOTE")
    },
    **{
        f"isotope push s3://bucket/isotope {what}": elsewhere(
            NETWORK, "tests/lib/transfer/test_s3.py", RETURNS, "Sent"
        )
        for what in ("results/release/toy --version 2026-03", "data/collect --dry-run")
    },
    **{
        f"isotope pull https://storage.example.org/isotope {what}": elsewhere(
            *(NETWORK, "tests/lib/transfer/test_web.py"),
            *(f"{RETURNS}_each_file_asked_for_once", "Fetched"),
        )
        for what in ("results/release/toy --version 2026-03", "--collection toy")
    },
    "isotope trec toy out": exported,
    "isotope unlist toy": unlisted,
    # snakemake
    "snakemake --unlock": unlocked,
    f"{SNAKEMAKE} --forcerun acquire_source -- acquire": planned("toy_acquire"),
    **{f"{SNAKEMAKE} {phase}": of_phase(phase) for phase in PHASES},
    f"{SNAKEMAKE} lite": planned("release_collection", "release_lite"),
    f"{SNAKEMAKE} <phase>": elsewhere(CLONE, DVC, "test_every_stage_asks_for_its_own_phase"),
    f"{OVERLAID}/enwiki.yaml": elsewhere(NETWORK, LAYOUT, "test_full_scale_plans_under_1000_jobs"),
    f"{OVERLAID}/enwiki.yaml params/2026.yaml": planned(
        "encode_shard", "search_dense", "search_late", "search_sparse", "search_reranked"
    ),
    f"{OVERLAID}/enwiki.yaml params/atomic-finetune.yaml": planned(
        "train_model",
        "search_fused",
        "tabulate_tables_enwiki_20221101",
        tables=("enwiki-20221101/table5",),
    ),
    f"{OVERLAID}/atomic.yaml params/atomic-baselines.yaml params/coco-test.yaml"
    " --config root=FOLDER name=atomic": planned(
        "crawl_pictures", "tabulate_tables_atomic", tables=("atomic/against",)
    ),
    f"{OVERLAID}/atomic.yaml params/atomic-baselines.yaml params/atomic-finetune.yaml"
    " params/coco-test.yaml params/coco-finetuned.yaml --config root=FOLDER name=atomic": planned(
        "crawl_pictures", "train_model", "tabulate_tables_atomic", tables=("atomic/against",)
    ),
    **{
        f"{OVERLAID}/{name}.yaml --config root=FOLDER name={name}": planned(
            *("collect_tables", "search_bm25", "search_trec", rule), tables=(f"{name}/table3",)
        )
        for name, rule in (
            ("trec2023", "tabulate_tables_trec2023"),
            ("trec2023-promotion", "tabulate_tables_trec2023_promotion"),
        )
    },
    f"{OVERLAID}/structured.yaml --config root=FOLDER name=enwiki": planned(
        "parse_dump", "parse_wikidata", "crawl_shard"
    ),
    f"{SNAKEMAKE} tabulate --configfile params/styles.yaml": planned("tabulate_styles"),
    f"{OVERLAID}/enwiki.yaml params/objects.yaml": planned(
        "tabulate_objects",
        "tabulate_tables_enwiki_20221101",
        tables=("enwiki-20221101/objects", "enwiki-20221101/object_counts"),
    ),
    f"{OVERLAID}/coco.yaml --config root=FOLDER": elsewhere(
        PUBLISHED, COCO, "test_the_real_pictures_give_the_numbers_of_the_page"
    ),
    f"{OVERLAID}/flickr8k.yaml --config root=ROOT": planned(
        "parse_pairs", "tabulate_tables_flickr8k"
    ),
    f"{OVERLAID}/atomic.yaml --config root=../atomic name=atomic": elsewhere(
        PUBLISHED, RELEASE, "test_collect_on_a_release_gives_the_table_1_of_the_collection"
    ),
    "snakemake --cores 8 --configfile params/enwiki.yaml -- crawl": planned(
        "crawl_shard", without=("encode_", "search_", "score_")
    ),
    "snakemake --profile workflow/profiles/monthly": elsewhere(
        CLONE, MONTH, "test_the_monthly_profile_is_one_that_snakemake_takes"
    ),
    f"{SLURM} --configfile params/enwiki.yaml": planned(
        "crawl_shard", "encode_shard", "score_runs_shard"
    ),
    f"{SLURM} --slurm-no-account --slurm-status-command squeue": elsewhere(
        SLURM_NODES, CLUSTER, "test_a_cluster_that_lost_a_node_ends_with_the_tables_of_a_local_run"
    ),
    # dvc
    "dvc remote add -d store s3://bucket/isotope": elsewhere(NETWORK, DVC_S3, PUSHED),
    "dvc remote modify store endpointurl https://storage.example.org": elsewhere(
        NETWORK, DVC_S3, PUSHED
    ),
    # make
    "make demo": recipe("demo", "snakemake --cores all", "isotope report"),
    "make demo PYTHON=/path/to/python3.13": elsewhere(
        NETWORK, PYTHON, "test_every_tested_python_installs"
    ),
    "make full": recipe(
        "full", "snakemake --cores all --configfile params/full.yaml -- full", "isotope report"
    ),
    "make test": recipe("test", "pytest", "$(TESTS)"),
    "make test-library": recipe("test-library", "pytest", "tests/lib"),
    "make lint": recipe(
        "lint",
        "ruff check",
        "snakefmt --check",
        "snakemake --lint",
        "sqlfluff lint",
        "lint-imports",
        "python tests/typed_params.py",
        "python tests/literal_paths.py",
        "python tests/names.py",
        "python tests/prose.py",
        "pyright",
    ),
    "make bench": recipe("bench", "python benchmarks/run.py"),
    "make docs": recipe("docs", "python docs/parameters.py"),
    "make site": recipe("site", "python docs/website.py"),
    "make java": elsewhere(
        COMPILER, LUCENE, "test_the_classes_are_what_a_compiler_makes_of_their_sources"
    ),
    "make rehearsal": elsewhere(
        HOURS,
        REHEARSAL,
        "test_a_rehearsal_is_killed_three_times_and_ends_with_every_phase_measured",
    ),
    "make rehearsal SHARE=0.01": elsewhere(
        HOURS,
        REHEARSAL,
        "test_a_rehearsal_is_killed_three_times_and_ends_with_every_phase_measured",
    ),
    "make system": recipe("system", "chromium-headless-shell wordnet-base"),
    "make test-network": recipe("test-network", "pytest --quiet -m network tests/workflow"),
    "make test-cluster": recipe("test-cluster", "pytest -m slow tests/cluster"),
    **merged("effects", "EFFECTS"),
}


def test_every_documented_command_is_run_or_has_its_effect_named():
    assert documented() == set(EFFECTS) | (set(RUN) & documented())
    assert set(RUN) <= documented()


BUILT_DEMO = "def test_it(shell, built):\n    told = shell('dvc', 'repro', cwd=built)\n"


@pytest.mark.parametrize(
    ("body", "is_shown"),
    [
        (f"{BUILT_DEMO}    assert 'up to date' in told\n", True),
        (BUILT_DEMO, False),
        (f"{BUILT_DEMO}    assert True\n", False),
        (f"{BUILT_DEMO}    assert 'up to date'\n", False),
        ("def test_it(shell, built):\n    pass\n", False),
        ("def test_it():\n    assert True\n", False),
        ("def test_it():\n    assert run()\n\ndef run():\n    return ask('dvc', 'repro')\n", True),
        ("def test_it():\n    assert 1\n\ndef test_other():\n    assert ask('repro')\n", False),
    ],
)
def test_an_emptied_test_shows_no_command(body, is_shown):
    shown = Shown(body, "test_it")
    assert (shown.says("repro") and shown.asserts) == is_shown


COMMANDS = [
    pytest.param(command, marks=[pytest.mark.long] if command in merged("effects", "LONG") else [])
    for command in EFFECTS
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_documented_command_has_its_documented_effect(request, command):
    EFFECTS[command](request)
