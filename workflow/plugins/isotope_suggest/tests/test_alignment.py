"""The same section in other languages: what is learned of headings and links, and how much."""

import gzip
import json
import logging
from pathlib import Path

import pytest
from workflow.plugins.isotope_suggest.tests.aligned_pages import Pages, Section, aligned

from isotope_suggest.relations import asked_sections, language_links

LANGUAGES = ("de", "fr")


def lesson(n: int) -> list[Section]:
    """A page whose section Design shows what German pages show in Gestaltung."""
    return [Section(), Section("Design", judged=[f"Taught{n}"]), Section("Legend")]


def taught(count: int, page: list[Section], wit=(), **more) -> Pages:
    """English pages that teach, and one that asks, `A`; and their rows of WIT."""
    names = [f"T{n}" for n in range(count)]
    pages = {name: lesson(n) for n, name in enumerate(names)} | {"A": page}
    spoken = {f"en:{name}": [f"{c}:{name} ({c})" for c in LANGUAGES] for name in pages}
    rows = [("de", f"{name} (de)", "Gestaltung", f"Taught{n}") for n, name in enumerate(names)]
    rows += [("fr", f"{name} (fr)", "Conception", f"Taught{n}") for n, name in enumerate(names)]
    return Pages({"en": pages}, spoken, [*rows, *wit], **more)


ASKING = [Section(), Section("Design"), Section("Legend")]


def test_headings_are_the_same_section_as_often_as_theirs_share_a_picture(tmp_path):
    # Three pages of three teach it; chance (one of two sections, or none) counts for two more.
    pages = taught(3, ASKING, [("de", "A (de)", "Gestaltung", "X")])
    (evidence,) = aligned(pages, tmp_path).items()
    assert evidence == (
        ("4-1", "x"),
        (pytest.approx((3 + 2 / 3) / (3 + 2)), ["de: A (de) # Gestaltung"]),
    )


def test_languages_that_agree_make_it_likelier(tmp_path):
    rows = [("de", "A (de)", "Gestaltung", "X"), ("fr", "A (fr)", "conception", "X")]
    share = (3 + 2 / 3) / (3 + 2)
    evidence = aligned(taught(3, ASKING, rows), tmp_path)
    assert evidence["4-1", "x"][0] == pytest.approx(1 - (1 - share) ** 2)
    assert evidence["4-1", "x"][1] == ["de: A (de) # Gestaltung", "fr: A (fr) # conception"]


def test_one_page_decides_less_than_ten(tmp_path):
    shares = []
    for count in (1, 10):
        folder = tmp_path / f"{count}"
        folder.mkdir()
        pages = taught(count, ASKING, [("de", "A (de)", "Gestaltung", "X")])
        shares += [share for share, _ in aligned(pages, folder).values()]
    assert shares == pytest.approx([(1 + 2 / 3) / 3, (10 + 2 / 3) / 12])


def test_a_heading_that_nobody_has_seen_says_nothing(tmp_path):
    assert not aligned(taught(3, ASKING, [("de", "A (de)", "Sonstiges", "X")]), tmp_path)


def test_a_page_without_a_counterpart_gets_nothing(tmp_path):
    assert not aligned(taught(3, ASKING, [("de", "B (de)", "Gestaltung", "X")]), tmp_path)


@pytest.mark.parametrize("page", [ASKING[:1], ASKING])
def test_the_lead_is_the_lead(tmp_path, page):
    evidence = aligned(taught(0, page, [("de", "A (de)", "", "X")]), tmp_path)
    assert evidence == {("1-0", "x"): (1, ["de: A (de)"])}


@pytest.mark.parametrize("page", [ASKING[:1], ASKING[:2]])
def test_a_lead_is_a_section_of_another_language_only_where_pictures_say_so(tmp_path, page):
    # `Taught` pictures stand in the lead there: the lead is learned, not the section Design.
    names = [f"T{n}" for n in range(6)]
    pages = {n: [Section(judged=[f"Taught{i}"]), Section("Design")] for i, n in enumerate(names)}
    rows = [("de", f"{n} (de)", "Gestaltung", f"Taught{i}") for i, n in enumerate(names)]
    spoken = {f"en:{n}": [f"de:{n} (de)"] for n in [*names, "A"]}
    asking = [*rows, ("de", "A (de)", "Gestaltung", "X")]
    evidence = aligned(Pages({"en": {**pages, "A": page}}, spoken, asking), tmp_path)
    assert evidence == {("7-0", "x"): (pytest.approx(6 / 8), ["de: A (de) # Gestaltung"])}


def test_a_judged_section_finds_its_own_picture_where_other_languages_show_it(tmp_path):
    page = [Section(), Section("Design", hidden=["Own"]), Section("Legend")]
    evidence = aligned(taught(3, page, [("de", "A (de)", "Gestaltung", "Own")]), tmp_path)
    assert evidence["4-1", "own"][0] == pytest.approx((3 + 2 / 3) / (3 + 2))


def test_what_is_hidden_teaches_neither_that_sections_are_the_same_nor_that_they_differ(tmp_path):
    # German Sage is Legend on three pages. On A it shows what Design hides: nobody may know.
    taught_legends = {f"T{n}": [*ASKING[:2], Section("Legend", judged=[f"L{n}"])] for n in range(3)}
    spoken = {f"en:{name}": [f"de:{name}"] for name in [*taught_legends, "A"]}
    rows = [("de", f"T{n}", "Sage", f"L{n}") for n in range(3)]
    page = [Section(), Section("Design", hidden=["Own"]), Section("Legend")]
    pages = Pages(
        {"en": {**taught_legends, "A": page}}, spoken, [*rows, ("de", "A", "Sage", "Own")]
    )
    share = pytest.approx((3 + 2 / 3) / (3 + 2))
    assert aligned(pages, tmp_path) == {("4-2", "own"): (share, ["de: A # Sage"])}


def test_a_section_whose_picture_is_hidden_is_no_example_of_one_without(tmp_path):
    # Legend shows another picture of the German section, so the page teaches; but Design may, too.
    page = [Section(), Section("Design", hidden=["Own"]), Section("Legend", shows=["Other"])]
    rows = [("de", "A (de)", "Gestaltung", picture) for picture in ("Own", "Other")]
    evidence = aligned(taught(3, page, rows), tmp_path)
    share = pytest.approx((3 + 2 / 3) / (3 + 2))
    assert {key: value for key, (value, _) in evidence.items()} == {
        **{("4-1", "other"): share, ("4-1", "own"): share},
    }


def test_a_section_learns_nothing_from_rows_of_its_own_language(tmp_path):
    page = [Section(hidden=["Own"]), Section("Design", hidden=["Own"])]
    rows = [
        ("en", title, heading, "Own") for title in ("A", "A (de)") for heading in ("", "Design")
    ]
    pages = taught(3, page, rows)
    links = {**pages.languages, "en:A": ["de:A (de)", "en:A"]}
    assert not aligned(Pages(pages.pages, links, pages.wit), tmp_path)


def test_pictures_that_the_collection_lacks_are_no_candidates(tmp_path):
    rows = [("de", "A (de)", "Gestaltung", "X"), ("de", "A (de)", "Gestaltung", "Y")]
    evidence = aligned(taught(3, ASKING, rows, lacking=["X"]), tmp_path)
    assert [*evidence] == [("4-1", "y")]


def union(teaching: int, old: str = "") -> Pages:
    """A union whose headings differ on every page; sections that are the same share links.

    The English ones lead to redirects whose titles begin with `old`.
    """
    links = [f"{old}L{n}" for n in range(1, 4)]
    redirects = {f"{old}L{n}": f"L{n}" for n in range(1, 4)} if old else {}
    english = {f"L{n}": [Section()] for n in range(1, 4)}
    german = {f"G{n}": [Section()] for n in range(1, 4)}
    spoken = {f"de:G{n}": [f"en:L{n}"] for n in range(1, 4)}
    for n in range(teaching + 1):
        name, shows = f"P{n}", [f"Shared{n}"]
        same = Section(f"Own {n}", judged=shows if n < teaching else (), links=links)
        english[name] = [Section(), same, Section(f"Other {n}")]
        section = Section(f"Eigen {n}", shows=shows, links=["G1", "G2", "G3"])
        german[f"{name} (de)"] = [Section(), section]
        spoken[f"en:{name}"] = [f"de:{name} (de)"]
    return Pages({"en": english, "de": german}, spoken, redirects=redirects)


def test_sections_that_share_links_are_the_likelier_the_same(tmp_path):
    # Of nine pairs (English beside German six, German beside English three) six share a picture,
    # and the same six share links; all are smoothed by two pairs. Nobody knows the headings.
    ratio = ((6 + 2 * 6 / 9) / (6 + 2)) / ((0 + 2 * 6 / 9) / (3 + 2))
    odds = ratio / 2
    evidence = aligned(union(3), tmp_path)
    english = {key: value for key, value in evidence.items() if key[0].startswith("en-")}
    share = pytest.approx(odds / (1 + odds))
    assert english == {("en-7-1", "shared3"): (share, ["de: P3 (de) # Eigen 3"])}


def test_links_to_redirects_are_shared_as_those_to_their_targets(tmp_path):
    evidence = []
    for old in ("", "Old "):
        folder = tmp_path / f"{old}links"
        folder.mkdir()
        evidence.append(aligned(union(3, old), folder))
    assert evidence[0] == evidence[1]


def test_language_links_count_both_ways(tmp_path):
    pages = union(3)
    turned = {
        "en:P3": [],
        "de:P3 (de)": ["en:P3"],
        **{key: links for key, links in pages.languages.items() if key != "en:P3"},
    }
    both = tmp_path / "both"
    both.mkdir()
    evidence = aligned(Pages(pages.pages, turned), tmp_path)
    assert evidence == aligned(pages, both)


def test_only_the_likeliest_pictures_are_kept(tmp_path):
    rows = [("de", "A (de)", "", f"X{n}") for n in range(4)]
    evidence = aligned(taught(0, ASKING, rows), tmp_path, depth=2)
    assert [image for _, image in evidence] == ["x0", "x1"]


@pytest.mark.parametrize(
    ("pages", "reason"),
    [
        (Pages({"en": {"A": ASKING}}, {}, [("de", "A", "", "X")]), "no page has a language link"),
        (Pages({"en": {"A": ASKING}}, {"en:A": ["de:A"]}), "no section of another language shows"),
    ],
)
def test_without_a_second_language_the_log_says_why(tmp_path, caplog, pages, reason):
    with caplog.at_level(logging.WARNING, logger="isotope"):
        assert not aligned(pages, tmp_path)
    assert reason in caplog.text


def test_candidates_are_for_open_sections_and_those_that_validation_or_test_judge(tmp_path):
    page = [
        *(Section(), Section("Shown", shows=["X"]), Section("Hidden", hidden=["Y"])),
        *(Section("Taught", judged=["Z"]), Section("Open")),
    ]
    inputs = Pages({"en": {"A": page}}).write(tmp_path)
    asked = asked_sections(inputs.sections, 0.5)
    assert asked.select("text_id", "role").rows() == [
        *(("1-0", "open"), ("1-2", "judged"), ("1-4", "open")),
    ]
    assert asked_sections(inputs.sections, 0.95)["text_id"].to_list() == ["1-2"]


def dumped(folder: Path, name: str, *links: tuple[int, str, str]) -> Path:
    """A dump's table of language links."""
    folder.mkdir(parents=True, exist_ok=True)
    values = ",".join(f"({page},'{code}','{title}')" for page, code, title in links)
    with gzip.open(folder / name, "wt", encoding="utf-8") as file:
        file.write(f"INSERT INTO `langlinks` VALUES {values};\n")
    return folder / name


def test_a_dumps_table_of_language_links_counts_as_those_of_the_articles(tmp_path):
    # With underscores, and a row without a language, as dumps have them.
    table = dumped(tmp_path, "langlinks.sql.gz", (1, "de", "A_(de)"), (1, "", "nowhere"))
    pages = Pages({"en": {"A": ASKING}}, {}, [("de", "A (de)", "", "X")])
    pages.langlinks = [("en", table)]
    assert aligned(pages, tmp_path) == {("1-0", "x"): (1, ["de: A (de)"])}


def test_the_tables_of_a_union_are_told_apart_by_their_sources(tmp_path):
    pages = Pages(
        {"en": {"A": [Section()]}, "de": {"Z": [Section()], "A1": [Section(shows=["X"])]}}
    )
    folder = tmp_path / "de"
    table = dumped(folder / "langlinks", "dewiki-langlinks.sql.gz", (2, "en", "A"))
    entry = {"part": "langlinks", "path": "langlinks/dewiki-langlinks.sql.gz"}
    listed = {"files": [{**entry, "bytes": table.stat().st_size}, {**entry, "part": "wit"}]}
    (folder / "manifest.json").write_text(json.dumps(listed))
    (tmp_path / "en").mkdir()
    (tmp_path / "en/manifest.json").write_text('{"files": []}')
    manifests = [tmp_path / source / "manifest.json" for source in ("en", "de")]
    pages.langlinks = language_links(manifests, pages.origins)
    assert pages.langlinks == [("de", table)]
    assert aligned(pages, tmp_path) == {("en-1-0", "x"): (1, ["de: A1"])}
