"""The site of a collection drawn for the purpose, page by page, as text."""

import base64
import io
import re
import shutil
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from PIL import Image
from tests import fidelity
from tests.report_project import EVIL, LOOKS, TOLD, build, cell, drawing, files, record

from isotope.core.errors import BadArgument, MissingFile
from isotope.core.pixels import SIDE_PX, thumbnail
from isotope.core.resources import PACKAGE
from isotope.report import collection, registry
from isotope.report.content import described, read_exhibits
from isotope.report.site import PAGES, excerpt, scripts, symbol, web
from isotope.tabulate.looks import COLOURS
from isotope.tabulate.table import write_table

TEMPLATES = sorted(p.stem for p in (PACKAGE / "templates").glob("*.js"))


@pytest.fixture(scope="module")
def root(report_root) -> Path:
    """A project's root with all that the site reads."""
    return report_root


@pytest.fixture(scope="module")
def site(report_site) -> Path:
    """The site's folder."""
    return report_site


def pages(site: Path) -> dict[str, str]:
    return {p.relative_to(site).as_posix(): p.read_text() for p in sorted(site.rglob("*.html"))}


class Elements(HTMLParser):
    """Collect the attributes of every element, and complain of tags that do not nest."""

    VOID = ("meta", "img", "br", "input", "link")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_site_has_a_front_page_and_seven_pages_a_collection(site):
    found = pages(site)
    # This collection's failures are not explained.
    own = PAGES.keys() - {"failures", "suggest"}
    assert {"index.html", *(f"toy/{stem}.html" for stem in own)} < set(found)
    for stem in own:
        links = set(re.findall(r'href="(\w+)\.html"', found[f"toy/{stem}.html"]))
        assert links & PAGES.keys() == own
    assert 'href="toy/index.html"' in found["index.html"]
    assert 'href="toy/failures.html"' not in found["index.html"]


def test_every_page_is_well_formed_and_no_id_occurs_twice(site):
    for name, text in pages(site).items():
        elements = Elements(text)
        assert elements.open == [], name
        ids = [a["id"] for _, a in elements.found if "id" in a]
        assert len(ids) == len(set(ids)), name


def test_no_page_asks_anything_of_the_network(site):
    for text in pages(site).values():
        for tag, attributes in Elements(text).found:
            assert tag not in {"link", "iframe", "object"}
            assert str(attributes.get("src", "data:")).startswith("data:")
            if tag != "a":
                assert not str(attributes.get("href", "#")).startswith("http")
        assert "url(http" not in text
        assert "@import" not in text


def test_a_page_runs_the_scripts_of_the_package_and_no_other(site):
    ours = {one.source: one.digest for one in scripts(*TEMPLATES)}
    for text in pages(site).values():
        found = re.findall("<script>(.*?)</script>", text, re.DOTALL)
        assert len(found) == len(re.findall("<script(?! type=.application/json.)", text))
        allowed = re.findall("'sha256-([^']+)'", text)
        assert allowed == [ours[source] for source in found] == [digest(s) for s in found]


def digest(source: str) -> str:
    return base64.b64encode(sha256(source.encode()).digest()).decode()


def test_every_link_within_the_site_leads_to_a_file_and_a_place_in_it(site):
    found = {(site / name).resolve(): text for name, text in pages(site).items()}
    for page, text in found.items():
        links = [a["href"] or "" for tag, a in Elements(text).found if tag == "a"]
        inside = [link for link in links if not link.startswith("http")]
        assert inside
        for link in inside:
            path, _, place = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.is_file(), link
            assert not place or f'id="{place}"' in found[target], link


def test_words_of_the_collection_cannot_become_markup(site):
    for text in pages(site).values():
        assert EVIL not in text
    assert "&lt;script&gt;alert" in (site / "toy/cases.html").read_text()


def test_pictures_are_in_the_pages_and_small(site):
    text = (site / "toy/cases.html").read_text()
    uris = re.findall(r'src="(data:image/webp;base64,[^"]+)"', text)
    assert len(set(uris)) >= 8
    assert sum(len(text) for text in pages(site).values()) < 2_000_000


def test_every_table_and_figure_stands_on_its_page_once_with_caption_and_files(root, site):
    stems = {path.stem for path in files(root)}
    assert {"table1", "table3", "account", "crawl", "projection", "overlap"} < stems
    texts = pages(site)
    for stem in stems:
        where = [n for n, text in texts.items() if f'id="{stem}"' in text]
        assert len(where) == 1, stem
        if (root / f"results/tables/toy/{stem}.csv").exists():
            for suffix in ("csv", "tex"):
                assert f'href="../../tables/toy/{stem}.{suffix}"' in texts[where[0]]


def test_what_is_shown_bears_the_papers_number():
    numbers = {stem: e.number for stem, e in described().items()}
    assert numbers["table2"] == "Table 2"
    assert numbers["categories"] == "Fig. 2"
    assert numbers["against"] == "Fig. 7"
    of_the_paper = {f"Table {n}" for n in range(1, 6)} | {f"Fig. {n}" for n in range(1, 8)}
    atomic = [n for n in numbers.values() if not n.startswith("OVEN, ")]
    assert fidelity.exhibits(" ; ".join(atomic)) == of_the_paper - {"Fig. 1", "Fig. 6"}
    assert [s for s, n in numbers.items() if n.startswith("Fig. 5")] == ["corpus_size"]
    assert all(e.page in PAGES and e.title for e in described().values())
    assert [s for s, e in described().items() if not e.caption] == ["table3"]


def test_a_table_that_nothing_describes_is_shown_under_its_own_name(tmp_path):
    write_table(pl.DataFrame({"a": [1], "b": [2]}), tmp_path / "my_own")
    found = read_exhibits([tmp_path / "my_own.arrow"], {})
    assert found["my_own"].exhibit.title == "my own"
    assert found["my_own"].exhibit.page == "systems"


def test_the_level_of_significance_stands_beside_the_letters(root, site, tmp_path):
    assert "= 0.05 after Bonferroni" in (site / "toy/systems.html").read_text()
    collection.build_pages(cell(root), files(root), TOLD._replace(alpha=0.01), tmp_path)
    assert "= 0.01 after Bonferroni" in (tmp_path / "systems.html").read_text()


def test_every_curve_is_shown_under_the_name_of_its_model(site):
    text = (site / "toy/systems.html").read_text()
    assert "<h2>How clip learned</h2>" in text
    assert text.count('<div class="plot"') == 2
    assert len(re.findall(r'role="img" aria-label="[^"]{20,}"', text)) == 2


def test_every_system_has_its_row_in_every_pool(site):
    text = (site / "toy/systems.html").read_text()
    table3 = text.partition('id="table3"')[2].partition("</table>")[0]
    assert table3.count("</svg> rrf</th>") == 6
    assert len(re.findall(r'<td class="number best"[^>]*>[\d.]+<sup>ab</sup>', text)) == 6


def test_best_queries_come_first_and_the_worst_show_where_the_answer_was(site):
    outcomes = re.findall(
        r"(First right answer at rank \d+|The right answer was not returned)",
        (site / "toy/cases.html").read_text(),
    )
    best, worst = outcomes[:3], outcomes[3:6]
    assert best == [f"First right answer at rank {n}" for n in (1, 2, 3)]
    assert worst[0] == "The right answer was not returned" or worst[0].endswith("7")


@pytest.mark.long
def test_the_same_input_gives_the_same_bytes(root, site, tmp_path):
    shutil.copytree(root, tmp_path / "again", ignore=shutil.ignore_patterns("report"))
    assert pages(build(tmp_path / "again")) == pages(site)


def test_a_collection_without_crawl_and_figures_leaves_their_sections_out(root, site, tmp_path):
    for part in ("data/collect", "results/search", "results/tables/toy/table"):
        for file in root.rglob("*"):
            inside = str(file.relative_to(root))
            if file.is_file() and inside.startswith(part):
                (tmp_path / inside).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / inside).write_bytes(file.read_bytes())
    collection.build_pages(
        cell(tmp_path, sources=list[str]()), files(tmp_path), TOLD, tmp_path / "site/toy"
    )
    bare = "".join(pages(tmp_path / "site").values())
    whole = "".join(pages(site).values())
    assert "Systems and measures" in bare
    for part in (
        "What became of the image URLs",
        "How texts found",
        'class="plot"',
        "data:image",
        "<code>src",
    ):
        assert part in whole
        assert part not in bare


def test_how_to_cite_names_what_was_built(site):
    text = (site / "toy/cite.html").read_text()
    assert "@inproceedings{yang2023atomic," in text
    assert "@inproceedings{srinivasan2021wit," in text
    assert "@software{isotope," in text
    for told in ("00ff00ff00ff00ff", "2023-01-01", "abababababababab", "CC BY-SA 4.0"):
        assert told in text


def test_bibtex_has_as_many_opening_as_closing_braces(site):
    text = (site / "toy/cite.html").read_text()
    (bibtex,) = re.findall(r'aria-label="BibTeX">(.*?)</pre>', text, re.DOTALL)
    assert bibtex.count("{") == bibtex.count("}")
    assert bibtex.count("@") == 3


def test_the_fingerprint_of_params_does_not_hang_on_the_order_of_their_keys():
    one, same = {"a": 1, "b": [2, 3]}, {"b": [2, 3], "a": 1}
    assert registry.fingerprint(one) == registry.fingerprint(same)
    assert registry.fingerprint(one) != registry.fingerprint({"a": 1, "b": [3, 2]})
    assert re.fullmatch("[0-9a-f]{16}", registry.fingerprint(one))


def test_a_report_about_a_system_without_runs_is_refused(root, tmp_path):
    about = cell(root, system="unheard-of")
    with pytest.raises(MissingFile, match="no run of this system"):
        collection.build_front_pages(about, files(root), TOLD, [], tmp_path)


def test_a_report_without_table_1_is_refused(tmp_path):
    with pytest.raises(MissingFile, match=r"table1\.arrow"):
        collection.build_pages(cell(tmp_path), [], TOLD, tmp_path)


def test_the_headline_puts_the_best_system_on_top(root):
    text = collection.headline(root / "results/score/toy.parquet", setting="small", split="test")
    head, first, *_ = text.splitlines()
    assert head.split() == [
        "small/test",
        "t2m",
        "MRR@10",
        "t2m",
        "R@10",
        "m2t",
        "MRR@10",
        "m2t",
        "R@10",
    ]
    assert first.split()[0] == "rrf"
    assert len({len(line) for line in text.splitlines()}) == 1


def test_a_system_that_lacks_a_task_does_not_lead_by_the_mean_of_the_others():
    cells = {"setting": "small", "split": "test"}
    both = {**cells, "system": "both", "t2m MRR@10": 0.6, "m2t MRR@10": 0.5}
    half = {**cells, "system": "half", "t2m MRR@10": 0.9, "m2t MRR@10": None}
    beats = {"t2m MRR@10 beats": "", "m2t MRR@10 beats": ""}
    table3 = pl.DataFrame([row | beats for row in (half, both)])
    assert collection.leader(table3, "small", "test").system == "both"
    alone = collection.leader(table3.filter(system="half"), "small", "test")
    assert alone.values == [("t2m", "0.900")]


def test_a_measure_that_was_not_scored_is_refused_with_the_likely_one(root):
    scores = root / "results/score/toy.parquet"
    with pytest.raises(BadArgument, match="--measure MAPP: toy was not scored by it; did you mean"):
        collection.headline(scores, setting="small", split="test", measures=("MRR@10", "MAPP"))


def test_a_task_without_a_run_is_a_dash_in_the_headline(root, tmp_path):
    whole = pl.read_parquet(root / "results/score/toy.parquet")
    name = whole["system"][0]
    half = whole.filter((pl.col("system") != name) | (pl.col("task") == "t2m"))
    half.write_parquet(tmp_path / "toy.parquet")
    text = collection.headline(tmp_path / "toy.parquet", setting="small", split="test")
    [line] = [line for line in text.splitlines() if line.startswith(f"{name} ")]
    assert [cell == "—" for cell in line.split()[1:]] == [False, False, True, True]


def test_a_thumbnail_fits_its_frame_and_bytes_that_are_no_picture_have_none():
    uri = thumbnail(drawing(3))
    assert uri is not None
    with Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))) as small:
        assert max(small.size) == SIDE_PX
    assert thumbnail(b"<html>no picture</html>") is None


def test_an_excerpt_ends_at_a_word():
    assert excerpt("one two  three", 8) == "one two …"
    assert excerpt("one two", 8) == "one two"
    assert excerpt("x" * 20, 8) == "xxxxxxxx …"


def test_only_web_addresses_become_links():
    assert web("https://en.wikipedia.org/wiki/A") == "https://en.wikipedia.org/wiki/A"
    assert web("javascript:alert(1)") == ""


@pytest.mark.parametrize(("name", "letters"), [("raycharles", "Ra"), ("2-x", "X"), ("42", "Is")])
def test_a_collection_gets_a_chemical_symbol(name, letters):
    assert symbol(name) == letters


def test_the_front_page_shows_the_tables_of_a_group_of_collections(site, tmp_path):
    """CIDEr of captioning models, and its correlation with choices, stand side by side."""
    folder = tmp_path / "results/tables/xm3600"
    folder.mkdir(parents=True)
    scores = {"language": ["de", "all"], "captioner": ["m", "m"], "cider": [0.25, 0.5]}
    write_table(pl.DataFrame(scores), folder / "captioners")
    told = {"over": ["languages"], "of": ["m - n"], "points": [36], "kendall": [0.75]}
    write_table(pl.DataFrame(told), folder / "correlation")
    groups = {"xm3600": [folder / f"{t}.arrow" for t in ("captioners", "correlation")]}
    front = tmp_path / "results/report/index.html"
    told = record("x", groups={name: [str(p) for p in paths] for name, paths in groups.items()})
    collection.build_front_page(tmp_path, [told], front)
    text = front.read_text()
    Elements(text)
    assert re.findall(r'<section class="wide" id="([^"]+)"', text) == [
        "xm3600-captioners",
        "xm3600-correlation",
    ]
    for number in ("0.2500", "0.5000", "0.7500"):
        assert f">{number}<" in text
    assert '<a href="../tables/xm3600/captioners.csv">csv</a>' in text
    assert "xm3600-" not in (site / "index.html").read_text()


def test_a_system_has_one_colour_in_the_table_and_in_the_figure(site):
    page = (site / "toy/systems.html").read_text()
    drawn = (site.parent / "figures/toy/corpus_size.svg").read_text()
    for system, place in LOOKS.items():
        row = re.search(
            rf'<th scope="row" class="key">(<svg class="swatch".*?</svg>) {system}</th>', page
        )
        assert row is not None
        assert f"var(--system-{place})" in row[1]
        assert f"--system-{place}: {COLOURS[place]};" in page
        assert COLOURS[place] in drawn
    figure = page[page.index('<section class="wide" id="corpus_size">') :]
    assert not [colour for colour in COLOURS if colour in figure]
    assert "stroke: var(--system-0)" in figure
