"""docs/fidelity.md: every table and figure of five papers, with code and tests that exist."""

import importlib.util
import re
from pathlib import Path

import pytest
from tests import fidelity

from isotope.core import errors

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "docs/fidelity"
# By record: numbers of the tables and of the figures, counted in the papers' texts.
EXHIBITS = {
    # Tables 1 to 5, Figures 1 to 7 (7 in appendix A).
    "atomic": (5, 7),
    # Tables I and II, Figures 1 to 8.
    "ticrc": (2, 8),
    # Tables 1 to 3 of the text: validation, test and human set, errors. Figures 1 to 9 (7 to 9 in
    # section 10), of which Fig. 3 (right) is the table of the sets.
    "oven": (3, 9),
    # Tables 1 to 5 and, in the appendix, 6 to 13; Figures 1 to 4 and 5 to 10.
    "explainable": (13, 10),
    # An article without numbers: its headings stand in for them.
    "xm3600": (0, 0),
}
# By record: how code and docs name the paper, its sections, and a heading's first line in its text.
SECTIONS = {
    "atomic": (
        r"AToMiC|Yang et al\.",
        "1 2 3 4 4.1 4.2 4.3 4.4 5 5.1 5.2 5.3 5.4 6 7 A B B.1 B.2",
        r"^(?:Appendix )?(\d(?:\.\d)?|[AB](?:\.\d)?)\.? [A-Z]\w",
    ),
    "oven": (
        r"OVEN|Hu et al\.",
        "1 2 3 4 4.1 4.2 5 5.1 5.2 6 7 8 9 10 10.1 10.2 11 11.1 11.2 11.3",
        r"^(\d+(?:\.\d)?) [A-Z]",
    ),
    "explainable": (
        r"Lymperaiou et al\.",
        "1 2 3 3.1 3.2 3.3 4 4.1 4.2 5 5.1 5.2 6 6.1 6.2 6.3 6.4 6.5 7 A A.1 A.2 A.3",
        r"^(\d(?:\.\d)?|A(?:\.\d)?) [A-Z]",
    ),
}
CITING = ("workflow", "docs", "params", "tests", "benchmarks")
HEADINGS = [
    "language selection",
    "image selection",
    "caption generation",
    "caption quality and statistics",
    "empirical evaluation and results",
    "recent uses",
]
SAMPLE = """
- item: Table 1
  paper: "17,173 texts, 16,131 images, 17,801 qrels in validation; M/T 1.03 ± 0.43, T/M 1.10 ± 0.43"
  status: as the paper
  why: ""
  code: [workflow/sql/tabulate/tables/table1.sql, "params/atomic.yaml:collect"]
  tests:
    - tests/sql/test_tabulate.py::test_table_1_prints_the_published_numbers_of_atomic_validation
- item: Section 4.4, measures
  paper: MRR@10, R@10 and R@1K
  status: as the paper
  code:
    - workflow/lib/isotope/core/measures.py::MEASURES
    - "workflow/sql/tabulate/tables/table3.sql::measure"
  tests: ["tests/lib/score/test_score.py::test_a_run_made_of_the_published_qrels_is_perfect"]
"""
OF_TICRC = """
- item: Section V, annotation
  paper: one annotator, 70 hours, in Doccano
  status: not possible
  why: What people marked once is read from the published files.
  code: [workflow/plugins/isotope_papers/docs/ticrc.md]
  tests: []
"""


def generator():
    """docs/fidelity.py, which is a script beside the pages."""
    spec = importlib.util.spec_from_file_location("fidelity_page", ROOT / "docs/fidelity.py")
    assert spec
    assert spec.loader
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


PAGE = generator()


def records() -> list[str]:
    """The names of all records; a skip as long as neither they nor the page have an entry."""
    found = sorted(path.stem for path in RECORDS.glob("*.yaml"))
    if not found and "| together | 0 | 0 | 0 | 0 |" in (ROOT / "docs/fidelity.md").read_text():
        pytest.skip("the records of docs/fidelity are not merged yet")
    return found


@pytest.fixture
def sample(tmp_path) -> Path:
    """Two small true records."""
    (tmp_path / "atomic.yaml").write_text(SAMPLE, "utf-8")
    (tmp_path / "ticrc.yaml").write_text(OF_TICRC, "utf-8")
    return tmp_path


def test_the_page_of_fidelity_is_what_the_records_say():
    told = "run `make docs`"
    assert (ROOT / "docs/fidelity.md").read_text("utf-8") == PAGE.page(), told


def test_every_paper_has_its_records():
    present = set(records())
    missing = [n for paper in PAGE.PAPERS for n in paper.records if n not in present]
    assert not missing, f"no docs/fidelity/{{{','.join(missing)}}}.yaml"


def test_what_the_records_name_exists():
    found = [
        f"docs/fidelity/{name}.yaml, entry {n}, {wrong}"
        for name in records()
        for n, entry in enumerate(PAGE.entries(RECORDS / f"{name}.yaml"), start=1)
        for wrong in fidelity.wrong(entry, ROOT)
    ]
    assert not found, "\n".join(["", *found])


def test_the_records_cover_every_table_and_figure():
    items = {
        paper.records[0]: [
            e.item
            for name in {*paper.records} & {*records()}
            for e in PAGE.entries(RECORDS / f"{name}.yaml")
        ]
        for paper in PAGE.PAPERS
    }
    missing = [f"{p}: no entry for {x}" for p, texts in items.items() for x in absent(p, texts)]
    assert not missing, "\n".join(["", *missing])


def absent(paper: str, items: list[str]) -> list[str]:
    """The tables, figures and headings of a paper that no item of its entries names."""
    named = fidelity.exhibits(" ; ".join(items))
    headings = HEADINGS if paper == "xm3600" else []
    text = "\n".join(items).lower()
    return [x for x in wanted(paper) if x not in named] + [x for x in headings if x not in text]


def wanted(paper: str) -> list[str]:
    """The numbered tables and figures of a paper."""
    kinds = zip(("Table", "Fig."), EXHIBITS[paper], strict=True)
    return [f"{kind} {n}" for kind, most in kinds for n in range(1, most + 1)]


@pytest.mark.parametrize("paper", EXHIBITS)
def test_the_list_of_tables_and_figures_is_that_of_the_papers(shared, paper):
    """The list is fixed where the papers are not at hand; here it is held against their texts."""
    text = (shared / f"papers/{paper}.txt").read_text("utf-8")
    assert fidelity.exhibits(text) == set(wanted(paper))
    lines = {line.strip().lower() for line in text.splitlines()}
    assert paper != "xm3600" or set(HEADINGS) <= lines


@pytest.mark.parametrize("paper", SECTIONS)
def test_code_and_docs_cite_sections_that_the_paper_has(paper):
    names, sections, _ = SECTIONS[paper]
    files = [p for place in CITING for p in sorted((ROOT / place).rglob("*"))]
    suffixes = {".py", ".sql", ".md", ".yaml", ".j2"}
    texts = [p for p in files if p.suffix in suffixes and p != Path(__file__)]
    cited = {p.relative_to(ROOT): fidelity.citations(p.read_text("utf-8"), names) for p in texts}
    wrong = {str(p): sorted(found - set(sections.split())) for p, found in cited.items()}
    assert not {p: found for p, found in wrong.items() if found}


@pytest.mark.parametrize("paper", SECTIONS)
def test_the_list_of_sections_is_that_of_the_paper(shared, paper):
    text = (shared / f"papers/{paper}.txt").read_text("utf-8")
    _, sections, heading = SECTIONS[paper]
    assert set(re.findall(heading, text, re.MULTILINE)) == set(sections.split())


@pytest.mark.parametrize(
    ("text", "sections"),
    [
        ("(AToMiC paper, section 3.1)", {"3.1"}),
        ("-- AToMiC (SIGIR 2023),\n-- sections 4.1 and 4.3: so", {"4.1", "4.3"}),
        ("Yang et al., SIGIR 2023, section 4.2", {"4.2"}),
        ("AToMiC, unlike OVEN (section 3)", set()),
        ("AToMiC trains. Nobody says how (section 9)", set()),
        ("AToMiC, and Zhai et al., section 8", set()),
    ],
)
def test_sections_are_read_off_the_words_after_a_papers_name(text, sections):
    assert fidelity.citations(text, SECTIONS["atomic"][0]) == sections


def test_a_true_record_has_nothing_wrong(sample):
    for path in sorted(sample.glob("*.yaml")):
        assert [w for e in PAGE.entries(path) for w in fidelity.wrong(e, ROOT)] == []


def test_the_page_counts_by_status_and_shows_what_differs_and_why(sample):
    page = PAGE.page(sample)
    assert "| AToMiC | 2 | 0 | 0 | 2 |" in page
    assert "| TICRC | 0 | 0 | 1 | 1 |" in page
    assert "| together | 2 | 0 | 1 | 3 |" in page
    told = "Not possible: What people marked once is read from the published files."
    assert f"| Section V, annotation | {told} |" in page
    assert "| Table 1 |" not in page, "it is as the paper"
    path = sample / "ticrc.yaml"
    path.write_text(OF_TICRC.replace("not possible", "differs"), "utf-8")
    assert f"| {told.removeprefix('Not possible: ')} |" in PAGE.page(sample)


def test_the_page_names_the_record_of_every_paper():
    page = (ROOT / "docs/fidelity.md").read_text("utf-8")
    linked = re.findall(r"\]\((fidelity/[^)]+\.yaml)\)", page)
    assert sorted(linked) == sorted(f"fidelity/{name}.yaml" for name in records())


def test_the_page_counts_what_was_made_false_and_who_noticed(sample):
    assert "made false" not in PAGE.page(sample)
    (sample / "atomic.csv").write_text("item,digest,noticed\nTable 1,0,tests/a.py::test_b\nS,1,\n")
    told = "2 of the 2 entries that are as the paper were made false on purpose; of 1 a test"
    assert told in PAGE.page(sample)


def test_signs_of_markdown_are_text(tmp_path):
    (tmp_path / "atomic.yaml").write_text(
        "- item: Appendix B.1\n  paper: says\n  status: differs\n"
        "  why: <image style> | q* `<code>`\n"
    )
    assert r"| Appendix B.1 | \<image style> \| q\* `<code>` |" in PAGE.page(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("table1.sql", "table0.sql", "Table 1: no file workflow/sql/tabulate/tables/table0.sql"),
        ("workflow/sql/tabulate/tables/table1.sql", "/etc/hosts", "no path inside the project"),
        (
            "workflow/sql/tabulate/tables/table1.sql",
            "../shared/papers",
            "no path inside the project",
        ),
        ("workflow/sql/tabulate/tables/table1.sql", '""', "no path inside the project"),
        ("table1.sql,", "table1.sql:splits,", "table1.sql::splits"),
        ("atomic.yaml:collect", "atomic.yaml:collect.x", "params/atomic.yaml has no key collect.x"),
        ("::MEASURES", "::MEASURE", "measures.py defines no MEASURE"),
        ("table3.sql::measure", "table3.sql::colour", "table3.sql defines no colour"),
        ("_of_atomic_validation", "_of_all", "test_tabulate.py defines no test_table_1"),
        ("is_perfect", "is_perfect[t2m]", "without brackets"),
        ("::test_a_run_made_of_the_published_qrels_is_perfect", "", "is no tests/file::test"),
        ("status: as the paper", "status: like the paper", "is none of"),
        ("status: as the paper", "status: not possible", "not possible, but no reason why"),
        ("status: as the paper", "status: differs", "differs, but no reason why"),
        (
            'code: [workflow/sql/tabulate/tables/table1.sql, "params/atomic.yaml:collect"]',
            "code: []",
            "as the paper, but no code",
        ),
    ],
)
def test_what_a_record_gets_wrong_is_said(sample, old, new, told):
    path = sample / "atomic.yaml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    found = [w for e in PAGE.entries(path) for w in fidelity.wrong(e, ROOT)]
    assert len(found) == 1
    assert told in found[0]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("item: Table 1\n", "not a list"),
        ("- Table 1\n", "no mapping"),
        ("- {item: Table 1, status: differs}\n", "paper"),
        ("- {item: Table 1, paper: says, status: differs, reason: so}\n", "reason"),
        ("- {item: Table 1, paper: says, status: differs, code: Makefile}\n", "code"),
        ("- {item: Table 1\n", "no YAML"),
    ],
)
def test_what_is_no_record_is_a_named_error(tmp_path, text, told):
    (tmp_path / "oven.yaml").write_text(text)
    with pytest.raises(errors.BadParams, match=told):
        PAGE.page(tmp_path)


def test_a_record_of_no_paper_is_a_named_error(tmp_path):
    (tmp_path / "oven-model.yaml").write_text("[]")
    with pytest.raises(errors.BadParams, match="of no paper"):
        PAGE.page(tmp_path)


def test_the_program_writes_the_page_has_help_and_tells_what_is_wrong(sample, tmp_path, capsys):
    PAGE.main([str(tmp_path / "page.md"), "--records", str(sample)])
    assert (tmp_path / "page.md").read_text("utf-8") == PAGE.page(sample)
    with pytest.raises(SystemExit, match="0"):
        PAGE.main(["--help"])
    assert "docs/fidelity/README.md" in capsys.readouterr().out
    (sample / "oven.yaml").write_text("- Table 1\n")
    with pytest.raises(SystemExit, match="1"):
        PAGE.main([str(tmp_path / "none.md"), "--records", str(sample)])
    assert "oven.yaml, entry 1" in capsys.readouterr().err
    assert not (tmp_path / "none.md").exists()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Table 5, rows (e) to (j)", {"Table 5"}),
        ("Tables 6 to 8 and Fig. 2", {"Table 6", "Table 7", "Table 8", "Fig. 2"}),
        ("Tables 6, 7 and 9", {"Table 6", "Table 7", "Table 9"}),
        ("section 6.3, figure 4 (a) and (b)", {"Fig. 4"}),
        ("TABLE II: Final results", {"Table 2"}),
        ("Figures 2-4", {"Fig. 2", "Fig. 3", "Fig. 4"}),
        ("tabulate 3 figs", set()),
    ],
)
def test_tables_and_figures_are_read_off_the_text_of_an_item(text, named):
    assert fidelity.exhibits(text) == named


def test_what_no_item_names_is_absent():
    assert absent("ticrc", ["Table I", "Fig. 1", "Figs. 2 to 8, samples"]) == ["Table 2"]
    assert absent("xm3600", [*HEADINGS[1:]]) == ["language selection"]


def test_names_of_classes_and_keys_with_dots_are_found(tmp_path):
    (tmp_path / "a.py").write_text("class A:\n    B = 1\n\n    def c(self): ...\n\nD: int = 2\n")
    (tmp_path / "a.yaml").write_text("models: {clip-b.1: {of: [x, y]}}\n")
    for path in ("a.py::A", "a.py::A.B", "a.py::A::c", "a.py::D", "a.yaml:models.clip-b.1.of.1"):
        assert fidelity.wrong_code(path, tmp_path) == ""
    for path in ("a.py::c", "a.py::A.D", "a.yaml:models.clip-b.2", "a.yaml:models.clip-b.1.of.2"):
        assert fidelity.wrong_code(path, tmp_path)
