"""An edit makes anew what depends on it: the closures of all rules' functions."""

import re
from pathlib import Path

import pytest

from isotope.core import plugins, provenance
from isotope.core.resources import PACKAGE

ROOT = Path(__file__).parents[3]
SQL = ROOT / "workflow/sql"
ROOTS = sorted(
    name
    for path in (ROOT / "workflow/rules").glob("*.smk")
    for name in re.findall(r'\bcall="([^"]+)"', path.read_text())
)
# Phases that come before the tables, in the order of the road.
EARLIER = (
    *("acquire", "parse", "crawl", "project", "collect", "train", "encode", "index", "search"),
    "score",
)
# What shows results, and the columns of its tables.
SHOWS = ("report", "tabulate")


def packages(root: str) -> set[str]:
    """Return the packages whose files a function depends on."""
    return {file.partition("/")[0] for file in provenance.closure(root)}


def test_rules_of_every_phase_are_looked_at():
    assert {root.partition(".")[0] for root in ROOTS} >= {*EARLIER, "tabulate"}


@pytest.mark.parametrize("root", ROOTS)
def test_no_rule_of_the_core_depends_on_a_plug_in(root):
    assert not packages(root) & plugins.packages().keys()


@pytest.mark.parametrize("root", [r for r in ROOTS if r.partition(".")[0] in EARLIER])
def test_no_phase_before_the_tables_depends_on_tables_or_reports(root):
    assert not {*SHOWS} & packages(root)
    assert not {f"schemas/{name}.py" for name in SHOWS} & {*provenance.closure(root)}


def test_what_reads_manifests_does_not_fetch():
    closure = provenance.closure("core.manifest:placed")
    assert closure == ["core/digests.py", "core/manifest.py", "core/store.py"]


def test_a_closure_is_made_of_names_and_not_of_modules():
    """Both use `schemas.parse`; what gathers the shards of a dump does not use what parses it."""
    gathered = provenance.closure("parse.dump:gather_dump")
    assert "schemas/parse.py" in gathered
    assert set(gathered) < set(provenance.closure("parse.dump:parse_source"))
    assert "parse/wikitext.py" not in gathered


def test_a_name_that_a_function_binds_for_itself_is_not_the_modules():
    """`build_index` has an argument `documents` and a loop over `contents`, a function there."""
    assert "core/prepare.py" in provenance.closure("core.lucene:contents")
    assert "core/prepare.py" not in provenance.closure("core.lucene:build_index")


def test_files_beside_a_module_and_java_classes_belong_to_what_names_them():
    assert "parse/wiki_words.json" in provenance.closure("parse.dump:parse_source")
    java = [f for f in provenance.closure("project.match:project") if f.startswith("java/")]
    assert "java/BatchSearch.java" in java


def test_an_unknown_function_is_an_error():
    with pytest.raises(KeyError, match=r"core\.store has no nothing"):
        provenance.closure("core.store:nothing")


def templates(root: str) -> set[str]:
    """The templates, by their stems, that are code of a function."""
    files = (Path(file) for file in provenance.closure(root))
    return {file.name.partition(".")[0] for file in files if file.parent.name == "templates"}


def test_a_page_has_its_template_with_what_that_uses_and_no_other():
    shared = {"base", "report", "macros"}
    exhibits = {*shared, "exhibits"}
    pages = {
        "report.collection:write_report": {*exhibits, "collection", "systems", "cases", "case"}
        | {"queries"},
        "report.collection:write_front_pages": {*exhibits, "index", "cite"},
        "report.collection:write_overview": {*exhibits, "overview"},
        "report.collection:write_record": {*shared, "costs"},
        "report.diff_page:write_changes_page": {*shared, "diff"},
    }
    assert {root: templates(root) for root in pages} == pages


def test_what_writes_no_page_has_no_template():
    """A caption of an exhibit is no part of its table; verifying looks at tables that it names."""
    assert templates("tabulate.exhibits:tabulate_exhibits") == set()
    pages = {root for root in ROOTS if templates(root) - {"exhibits"}}
    assert {root.partition(":")[0] for root in pages} == {
        *("report.collection", "report.diff_page")
    }


def queries(root: str) -> set[str]:
    """The queries, below workflow/sql, that are code of a function."""
    files = [(PACKAGE / file).resolve() for file in provenance.closure(root)]
    return {file.relative_to(SQL).as_posix() for file in files if file.is_relative_to(SQL)}


def test_a_function_has_the_queries_that_it_names_and_no_other():
    """By a constant, a name that another module binds, `glob`, and what a value completes."""
    assert queries("parse.dump:count_inlinks") == {"parse/inlinks.sql"}
    strata = {path.relative_to(SQL).as_posix() for path in (SQL / "tabulate/strata").glob("*.sql")}
    assert queries("tabulate.strata:intervals_table") == strata
    assert queries("project.match:prepare_queries") == {
        "project/members.sql",
        "project/queries.sql",
    }


def test_queries_that_only_params_name_are_code_of_nothing():
    of_kinds = {f"collect/{path.name}" for path in (SQL / "collect").iterdir() if path.is_dir()}
    assert {str(Path(q).parent) for q in queries("collect.build:collect_tables")} == {
        *("check", "check/shared")
    }
    assert "collect/union" in of_kinds
    exhibits = {"tabulate/tables/metrics.sql", "tabulate/tables/table5.sql"}
    assert queries("tabulate.exhibits:tabulate_exhibits") == exhibits


def test_queries_of_a_form_are_code_of_the_form_alone():
    own = {path.relative_to(SQL).as_posix() for path in (SQL / "parse/pairs/atomic").glob("*.sql")}
    assert own
    assert own == queries("parse.forms.atomic")
    assert not own & queries("parse.pairs:parse_pairs")


def test_every_query_is_code_of_a_rule_or_of_a_command_or_is_named_by_params():
    entries = [
        f"{package.replace('/', '.')}.{path.stem}"
        for package in ("cli", "parse/forms")
        for path in (PACKAGE / package).glob("[!_]*.py")
    ]
    reached = {q for root in (*ROOTS, *entries, "report.account") for q in queries(root)}
    every = {path.relative_to(SQL).as_posix() for path in SQL.rglob("*.sql")}
    assert {
        q for q in every - reached if not q.startswith(("collect/", "tabulate/tables/"))
    } == set()
