"""The whole road on the embedded snapshot and on a real one."""

import csv
import json
import os
import re
import shutil
from pathlib import Path

import polars as pl
import pytest
from scipy.stats import ttest_rel

from isotope.core.plugins import phase_of
from isotope.tabulate.table import FORMS

GOLDEN = Path(__file__).parents[1] / "golden"
HEAD_LINES = 2
NOTHING = "Nothing to be done"
# All but the release, which the target `all` leaves out.
PHASES = {
    *("acquire", "parse", "crawl", "project", "collect", "train", "encode", "index", "search"),
    *("score", "suggest", "tabulate"),
}


@pytest.fixture(scope="module")
def scores(embedded) -> pl.DataFrame:
    keys = ["setting", "split", "task", "system", "measure"]
    table = pl.read_parquet(embedded / "results/score/toy.parquet")
    return table.group_by(keys).agg(pl.col("value").mean()).sort(keys)


@pytest.fixture(scope="module")
def raycharles(embedded, shared, shell, tmp_path_factory) -> Path:
    """A copy of the embedded project in which the real snapshot has run too."""
    place = tmp_path_factory.mktemp("real") / "project"
    shutil.copytree(embedded, place, symlinks=True)
    shell(*local(shared), cwd=place)
    return place


def local(shared: Path) -> list[str]:
    root = f"root={shared / 'snapshots/raycharles'}"
    overlay = ["--configfile", "params/local.yaml", "--config", root, "name=raycharles"]
    return ["snakemake", "--cores", "all", *overlay]


def test_the_embedded_run_keeps_every_promise_of_the_design(embedded, shared, shell):
    told = shell("python", shared / "contract.py", "toy", cwd=embedded)
    assert "all promises kept" in told


def test_run_again_there_is_nothing_to_do(embedded, shell):
    assert NOTHING in shell("snakemake", "--cores", "all", cwd=embedded)


def test_the_scores_are_the_golden_ones(scores):
    """BM25, random and the data they stand on are exact; the trained model's may move a little."""
    with (GOLDEN / "scores.csv").open(newline="") as file:
        expected = list(csv.DictReader(file))
    keys = ["setting", "split", "task", "system", "measure"]
    found = {row[:5]: row[5] for row in scores.select(*keys, "value").iter_rows()}
    assert expected
    for row in expected:
        key = tuple(row[k] for k in keys)
        assert found[key] == pytest.approx(float(row["value"]), abs=float(row["tolerance"])), key


@pytest.mark.parametrize("task", ["t2m", "m2t"])
def test_the_model_trained_from_scratch_is_far_above_chance_on_small_validation(scores, task):
    cell = {"setting": "small", "split": "validation", "measure": "MRR@10", "task": task}
    reached = scores.filter(**cell, system="tiny-clip")["value"].item()
    chance = scores.filter(**cell, system="random")["value"].item()
    assert reached >= 0.15 > 4 * chance


def test_the_demo_is_as_hard_as_atomic_and_its_systems_stand_in_the_papers_order(embedded):
    """Yang et al., SIGIR 2023, Tables 3 and 5: captions before pixels, their fusion above both."""
    table = pl.read_parquet(embedded / "results/score/toy.parquet")
    of_base = table.filter(setting="base", task="t2m", measure="MRR@10")
    found = of_base.pivot("system", index=["split", "query_id"], values="value")
    mean = {name: float(found[name].to_numpy().mean()) for name in found.columns[2:]}
    assert 0.2 < mean["bm25"] < 0.4
    assert mean["random"] < mean["tiny-clip"] / 3 < mean["bm25"] / 6
    for name in ("bm25", "tiny-clip"):
        assert mean["wsum"] > mean[name]
        assert ttest_rel(found["wsum"], found[name]).pvalue < 0.05


def test_suggestions_keep_what_they_promise_at_a_coverage_that_costs_something(embedded):
    kept = pl.read_csv(embedded / "results/tables/toy/suggest/kept.csv").row(0, named=True)
    assert (kept["wanted"], kept["verdict"]) == (0.75, "kept")
    assert kept["right"] / kept["suggestions"] >= kept["wanted"]
    assert 0.15 < kept["coverage"] < 0.6


def test_the_model_trained_from_scratch_has_at_most_5_million_parameters(embedded):
    weights = (embedded / "data/train/toy/tiny-clip/model.safetensors").read_bytes()
    header = json.loads(weights[8 : 8 + int.from_bytes(weights[:8], "little")])
    shapes = [entry["shape"] for name, entry in header.items() if name != "__metadata__"]
    assert sum(int(pl.Series([1, *shape]).product()) for shape in shapes) <= 5_000_000


def test_every_fault_of_the_server_is_in_the_ledger(embedded):
    ledger = pl.read_parquet(embedded / "data/crawl/toy/ledger.parquet")
    assert {"not_found", "gone", "truncated", "not_an_image"} < set(ledger["status"])
    retried = ledger.filter(pl.col("status") == "success", pl.col("attempts") > 1)
    assert retried.height > 0
    urls = pl.read_parquet(embedded / "data/crawl/toy/urls.parquet")
    assert sorted(ledger["image_url"]) == sorted(urls["image_url"])


def test_no_row_of_wit_is_lost(embedded):
    rows = pl.read_parquet(embedded / "data/parse/toy/associations.parquet").height
    rejected = pl.read_parquet(embedded / "data/parse/toy/associations.rejected.parquet")
    assert rejected["reason"].to_list() == ["unclosed_quote"]
    log = (embedded / "logs/parse_wit/toy.log").read_text()
    assert f"WIT: {rows + rejected.height} records, 1 rejected" in log


def test_redirects_disambiguations_and_other_namespaces_are_counted(embedded):
    counts = json.loads((embedded / "data/parse/toy/sections.counts.json").read_text())
    left_out = [counts[k] for k in ("redirect", "disambiguation", "other_namespace")]
    assert all(left_out)
    assert counts["pages"] == counts["articles"] + sum(left_out)


def test_a_text_in_two_splits_is_dropped_with_its_pairs(embedded):
    filters = pl.read_parquet(embedded / "data/collect/toy/filters.parquet")
    dropped = filters.group_by("step").agg(pl.col("dropped").sum())
    assert dict(dropped.rows())["one_split"] > 0
    assert dict(dropped.rows())["alive"] > 0


def test_every_table_comes_as_rows_csv_markdown_and_latex(embedded):
    for name in ("table1", "account", "crawl", "projection", "table3"):
        for suffix in FORMS:
            assert (embedded / f"results/tables/toy/{name}.{suffix}").stat().st_size > 0


def test_the_report_needs_nothing_but_itself(embedded):
    pages = sorted((embedded / "results/report").rglob("*.html"))
    stems = {p.stem for p in pages}
    assert {"index", "collection", "systems", "cases", "queries", "costs", "cite"} <= stems
    assert {"t2m-01", "m2t-01"} <= stems
    assert 'href="toy-later/since/toy.html"' in (embedded / "results/report/index.html").read_text()
    for path in pages:
        page = path.read_text()
        assert not re.search(r"""<(?:link|iframe)|src=["'](?!data:)""", page), path
        inside = re.findall(r"""href=["'](?!https?://|data:|#)([^"'#]+)""", page)
        assert [link for link in inside if not (path.parent / link).is_file()] == [], path
    assert "data:image/webp;base64," in (embedded / "results/report/toy/index.html").read_text()
    assert sum(p.stat().st_size for p in pages) < 10_000_000


def test_every_table_and_figure_of_the_run_is_in_the_report(embedded):
    pages = "".join(p.read_text() for p in (embedded / "results/report/toy").glob("*.html"))
    printed = {p.stem: p.read_text() for p in (embedded / "results/tables/toy").glob("*.md")}
    tables = {name for name, text in printed.items() if len(text.splitlines()) > HEAD_LINES}
    figures = {p.stem for p in (embedded / "results/figures/toy").glob("*.svg")}
    assert {"table2", "strata", "overlap", "subsets"} <= tables
    assert {"curve-tiny-clip", "corpus_size", "categories"} <= figures
    assert [name for name in sorted(tables | figures) if f'id="{name}"' not in pages] == []


def test_the_report_tells_what_the_run_has_cost(embedded):
    page = (embedded / "results/report/toy/costs.html").read_text()
    _, *groups = page.split('<span data-name="phase">')
    rules = {
        f"{group.partition('<')[0]} {name}"
        for group in groups
        for name in re.findall(r'<th scope="row" class="key">([^<]+)</th>', group)
    }
    assert rules >= {
        # The rule toy_acquire, which is of the phase acquire.
        "acquire toy acquire",
        "crawl shard",
        "train model",
        "score runs",
        "tabulate report",
    }


def test_progress_is_visible_on_every_long_step(embedded):
    for rule in ("toy_acquire", "parse_wit", "parse_dump", "crawl_shard", "project_source"):
        logs = "".join(p.read_text() for p in (embedded / f"logs/{rule}").rglob("*.log"))
        assert re.search(r"\d[\d,.]*/s", logs), rule
    for rule in ("train_model", "encode_shard", "search_dense", "score_runs"):
        logs = "".join(p.read_text() for p in (embedded / f"logs/{rule}").rglob("*.log"))
        assert re.search(r"\d[\d,.]*/s", logs), rule


@pytest.fixture
def library(embedded, monkeypatch) -> Path:
    """The demo's own copy of the library, which it now runs by: where that lies is nothing."""
    folders = (embedded / "workflow/lib", embedded / "workflow/plugins")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, folders)))
    return embedded / "workflow/lib/isotope"


def test_touching_code_runs_nothing_and_editing_it_runs_what_depends_on_it(
    embedded, library, shell
):
    score = library / "core/measures.py"
    score.touch()
    assert NOTHING in shell("snakemake", "--cores", "all", "-n", cwd=embedded)
    text = score.read_text()
    score.write_text(text + "\n# edited\n")
    planned = shell("snakemake", "--cores", "all", "-n", "--quiet", "rules", cwd=embedded)
    score.write_text(text)
    assert "score_runs" in planned
    assert "crawl_shard" not in planned
    assert "search_bm25" not in planned


PLANNED = re.compile(r"^(\w+) +(\d+)$", re.MULTILINE)
FAILURES = {
    "isotope_explain/failures.py": "explain_failures",
    "isotope_explain/schemas.py": "explain_failures",
    "isotope_explain/failures_page.py": "explain_page",
}


@pytest.mark.parametrize("file", FAILURES)
def test_an_edit_of_the_failures_plans_nothing_before_the_tables(embedded, library, shell, file):
    path = library.parents[1] / "plugins" / file
    text = path.read_text()
    path.write_text(f"{text}\n# edited\n")
    told = shell("snakemake", "--cores", "all", "-n", "--quiet", "rules", cwd=embedded)
    path.write_text(text)
    planned = {rule for rule, _ in PLANNED.findall(told)} - {"all", "total"}
    assert FAILURES[file] in planned
    assert {*map(phase_of, planned)} == {"tabulate"}


# What is written from the report's templates and from captions of exhibits.
PAGES = {
    *("tabulate_report", "verify_collection", "tabulate_front_pages", "verify_confirmed"),
    *("tabulate_record", "tabulate_overview"),
}
SCORES = {*PAGES, "tabulate_tables_toy", "tabulate_newest", "explain_page"}
# What an edit plans in the demo; None stands for all that a colour can change.
EDITS: dict[str, set[str] | None] = {
    "templates/systems.html.j2": PAGES,
    # A caption, not what makes the table.
    "templates/exhibits.yaml": PAGES,
    "sql/tabulate/tables/headline.sql": SCORES,
    "isotope_toy/scenes.py": None,
    "models/kinds/trained.py": {
        *SCORES,
        *("train_model", "encode_shard", "index_dense", "search_dense", "search_fused"),
        *("score_runs", "suggest_candidates", "suggest_feed", "suggest_sheet"),
        *("suggest_taken_up", "explain_failures", "tabulate_intervals"),
        *("tabulate_largest_pool", "explain_perturbed_dense", "suggest_page"),
        # Failures of the model are among those whose queries are perturbed.
        "explain_perturbed_bm25",
    },
    # No model of the demo is of this kind.
    "models/kinds/lit.py": set(),
}


def edited(file: str, text: str) -> str:
    """A template, a query, a caption or a kind with one more comment; the toy in another colour."""
    if file.startswith("isotope_toy/"):
        return re.sub(r"(\nCOLOURS = \{.*?\()\d+", r"\g<1>77", text, flags=re.DOTALL)
    comments = {".sql": "-- edited", ".j2": "{# edited #}"}
    return f"{text}\n{comments.get(Path(file).suffix, '# edited')}\n"


@pytest.mark.parametrize("file", EDITS)
def test_an_edit_plans_what_depends_on_it_and_nothing_else(embedded, library, shell, file):
    dry_run = ("snakemake", "--cores", "all", "-n", "--quiet", "rules")
    is_of_plugin = file.startswith("isotope_")
    path = (library.parents[1] / "plugins" if is_of_plugin else library) / file
    text = path.read_text()
    assert edited(file, text) != text
    path.write_text(edited(file, text))
    told = shell(*dry_run, cwd=embedded)
    path.write_text(text)
    assert "Nothing to be done" in shell(*dry_run, cwd=embedded)
    expected = EDITS[file]
    if expected is None:
        every = dict(PLANNED.findall(shell(*dry_run, "--forceall", cwd=embedded)))
        # What was downloaded stays.
        expected = {*every} - {"all", "total", "crawl_shard"}
    assert {rule for rule, _ in PLANNED.findall(told)} - {"all", "total"} == expected


def test_a_real_snapshot_beside_the_demo_takes_the_whole_road_and_plans_nothing_anew(
    embedded, shared, shell
):
    told = shell(*local(shared), "-n", cwd=embedded)
    jobs = re.findall(r"^(?:local)?[Jj]ob \d+: (.+)$", told, re.MULTILINE)
    of_all = ["write the front page and the catalog", "write the metrics of the newest collection"]
    assert sorted(job for job in jobs if "raycharles" not in job) == of_all
    planned = set(re.findall(r"^(\w+) +\d+$", told, re.MULTILINE))
    phases = {phase_of(rule) for rule in planned - {"all", "total"}}
    assert phases == PHASES


@pytest.mark.long
def test_the_real_run_keeps_every_promise_of_the_design(raycharles, shared, shell):
    told = shell("python", shared / "contract.py", "raycharles", cwd=raycharles)
    assert "all promises kept" in told


@pytest.mark.long
def test_the_three_dead_urls_of_the_real_snapshot_are_found(raycharles):
    ledger = pl.read_parquet(raycharles / "data/crawl/raycharles/ledger.parquet")
    dead = ledger.filter(pl.col("status") != "success")
    assert dead["status"].to_list() == ["not_found"] * 3
    assert ledger.height == 96


@pytest.mark.long
def test_the_real_texts_find_their_own_sections(raycharles):
    """WIT's rows and the dump tell the same pages, so a projection that errs shows."""
    source = raycharles / "data/parse/raycharles"
    members = pl.read_parquet(raycharles / "data/project/raycharles/members.parquet")
    projection = pl.read_parquet(raycharles / "data/project/raycharles/projection.parquet")
    wit = pl.read_parquet(source / "associations.parquet")
    sections = pl.read_parquet(source / "sections.parquet")
    found = (
        wit.join(members, on=["file", "row"])
        .join(projection, on="source_text_id")
        .join(sections, on="text_id", suffix="_found")
    )
    right = found.filter(pl.col("page_title") == pl.col("page_title_found"))
    assert found.height == 100
    assert right.height >= 98


@pytest.mark.long
def test_two_collections_lie_side_by_side(raycharles, shared, shell):
    for name in ("toy", "raycharles"):
        assert (raycharles / f"results/report/{name}/index.html").exists()
        assert (raycharles / f"results/tables/{name}/table1.csv").exists()
    told = shell("python", shared / "contract.py", "toy", cwd=raycharles)
    assert "all promises kept" in told
    assert NOTHING in shell(*local(shared), cwd=raycharles)


@pytest.mark.long
def test_the_catalog_answers_for_both(raycharles, shell):
    query = "select collection, count(*) from texts group by all order by all"
    script = (
        "import duckdb; con = duckdb.connect('results/catalog.duckdb', read_only=True);"
        f"print(con.sql({query!r}).fetchall())"
    )
    told = shell("python", "-c", script, cwd=raycharles)
    assert "('raycharles', 376)" in told
    assert "('toy', " in told


def test_the_cli_prints_where_the_report_is_and_its_headline(embedded, shell):
    told = shell("isotope", "report", cwd=embedded)
    assert f"Report: {embedded.resolve()}/results/report/toy/index.html" in told
    assert re.search(r"bm25 +\d\.\d{4}", told)
    assert f"Changes: {embedded.resolve()}/results/report/toy-later/since/toy.html" in told
    assert re.search(r"^images +584 +20 ", told, re.MULTILINE)


def test_the_cli_says_what_to_do_when_there_is_no_report(tmp_path, shell):
    told = shell("isotope", "report", cwd=tmp_path, check=False)
    assert told.strip() == "MissingFile: results/report: no report yet; run `snakemake --cores all`"


@pytest.mark.long
def test_the_target_full_plans_what_the_demo_leaves_out(project, shell):
    place = project()
    overlay = ["--configfile", "params/full.yaml"]
    planned = shell("snakemake", "-n", "--quiet", "rules", *overlay, "--", "full", cwd=place)
    heavy = {"release_collection", "search_tuned", "tabulate_styles"}
    assert heavy <= set(re.findall(r"^(\w+) +\d+$", planned, re.MULTILINE))
    demo = shell("snakemake", "-n", "--quiet", "rules", cwd=place)
    assert not heavy & set(re.findall(r"^(\w+) +\d+$", demo, re.MULTILINE))
    against = ["--", "results/tables/toy/against.md"]
    assert "tabulate_tables_toy" in shell("snakemake", "-n", *overlay, *against, cwd=place)
    assert "MissingRule" in shell("snakemake", "-n", *against, cwd=place, check=False)


def test_the_demo_tells_the_second_edition_from_the_first(embedded):
    """What the generator says that it revised against what was found in the two collections."""
    revisions = pl.read_csv(embedded / "data/acquire/toy-later/revisions.csv")
    found = pl.read_parquet(embedded / "results/tables/toy-later/since/toy/changes.parquet")
    texts = found.filter(pl.col("change") != "unchanged", kind="text").with_columns(
        page_id=pl.coalesce("after_id", "before_id").str.slice(10, 8).cast(int)
    )
    told = revisions.join(texts, on="page_id", how="left").group_by("revision", "change").len()
    alone = {
        "text edited": "edited",
        "section renamed": "renamed",
        "picture exchanged": "edited",
        "section moved": "moved",
        "section added": "added",
        "section removed": "removed",
    }
    for revision, change in alone.items():
        pages = revisions.filter(revision=revision).height
        assert told.filter(revision=revision).rows() == [(revision, change, pages)]
    for revision, kept in {"page added": "after_id", "page removed": "before_id"}.items():
        own = texts.join(revisions.filter(revision=revision), on="page_id")
        assert own.height > own["page_id"].n_unique() == revisions.filter(revision=revision).height
        assert own.select("before_id", "after_id").null_count().row(0, named=True)[kept] == 0
    assert set(texts["page_id"]) <= set(revisions["page_id"])
    images = dict(found.filter(kind="image").group_by("change").len().rows())
    assert images["replaced"] == revisions.filter(revision="picture redrawn").height
    heights = dict(revisions.group_by("revision").len().rows())
    filled = heights["section illustrated"]
    # A picture that another section has got has captions of more languages, if there are any; that
    # section's text is as it was.
    assert filled / 2 < images["edited"] <= heights["caption changed"] * 3 + filled
    assert "edited" not in told.filter(revision="section illustrated")["change"].to_list()
    assert found.filter(kind="pair", change="added").height > filled
    ledger = pl.read_parquet(embedded / "data/crawl/toy-later/ledger.parquet")
    assert ledger.filter(http_status=304).height > 20 * ledger.filter(http_status=200).height


def test_every_failure_of_the_embedded_run_is_explained_by_its_true_objects(embedded):
    tables = embedded / "results/tables/toy"
    failures = pl.read_parquet(tables / "failures.parquet")
    images = pl.read_parquet(embedded / "data/collect/toy/images.parquet")
    objects = pl.read_parquet(embedded / "data/acquire/toy/objects.parquet")
    seen = objects.join(images, on="image_url").group_by("image_id").agg("synset")
    scene = {image: set(synsets) for image, synsets in seen.iter_rows()}
    assert failures.height > 0
    for row in failures.drop_nulls("ca").iter_rows(named=True):
        truth, found = scene[row["truth_id"]], scene[row["found_id"]]
        assert row["ca"] == pytest.approx(len(truth & found) / len(truth))
        assert len(row["pairs"]) == min(len(truth - found), len(found - truth))
    ranking = pl.read_csv(tables / "ranking.csv")
    told = failures.group_by("task", "system").len("told").sort("task", "system")
    counted = ranking.filter(pl.col("fails") > 0).select("task", "system", told="fails")
    assert told.rows() == counted.sort("task", "system").rows()
    page = (embedded / "results/report/toy/failures.html").read_text()
    assert page.count("<rect ") > page.count("<svg ") > 0
