"""The site of the pages: whole, sorted, closed in itself, and usable by eyes, keys and search."""

import ast
import json
import re
import shutil
import subprocess
import textwrap
import tomllib
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from lxml import html
from playwright.sync_api import Page, expect
from pygments.lexers import get_lexer_by_name
from tests.accessibility import faults
from tests.browser import until
from tests.demo import copy_project
from tests.once import once
from tests.workflow.test_benchmarks import module
from tests.workflow.test_docs import PAGES
from tests.workflow.test_plugins import OURS, taken, with_its_needs

import isotope
from isotope.core import plugins
from isotope.core.errors import BadPlugin, MissingFile, ToolFailed

ROOT = Path(__file__).parents[2]
website = module("docs/website.py")
EXAMPLE = website.example
REPORT = "<!doctype html><html lang='en'><title>Report</title><main><h1>Report</h1></main></html>"
BLOCK = re.compile(r"^ *```(\w+)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
DRAWN = (
    "document.getAnimations().length === 0"
    " && [...document.images].filter(i => i.checkVisibility()).every(i => i.complete)"
)
# Blocks that show files of pictures or tables, which no lexer colours, and the graph.
PLAIN = {"csv", "mermaid"}
WIDTHS = (1280, 390)
# What one sees first, a page with a graph, one with wide tables, one of docstrings.
SOME = ("index.html", "docs/rules.html", "docs/snapshots.html", "example.html")


def make(project: Path, out: Path, report: Path) -> list[str]:
    """Make the site; return what is said."""
    return list(website.build(project, out, report))


@pytest.fixture(scope="module")
def site() -> Path:
    """The site of this project, with a report."""

    def build(folder: Path) -> None:
        (folder / "report/toy").mkdir(parents=True)
        for name in ("index.html", "toy/index.html", "toy/.digest"):
            (folder / "report" / name).write_text(REPORT)
        (folder / "said").write_text("\n".join(make(ROOT, folder / "site", folder / "report")))

    return once("website", build) / "site"


@pytest.fixture
def small(tmp_path, monkeypatch) -> Path:
    """A project of few pages and no plug-in."""
    monkeypatch.setattr(plugins, "registered", dict)
    monkeypatch.setattr(plugins, "packages", dict)
    monkeypatch.setattr(website, "python", lambda: "# Python\n")
    monkeypatch.setattr(website, "example", lambda **_: "# Example\n")
    place = tmp_path / "project"
    (place / "docs").mkdir(parents=True)
    (place / "README.md").write_text("# Front\n\n[one](docs/one.md#part-1)\n")
    (place / "docs/one.md").write_text("# One\n\n## Part 1\n\n[code](../code.py) `[no](link.md)`\n")
    (place / "code.py").write_text('"""Says: é."""\n')
    (place / "docs/navigation.yaml").write_text("Tutorials: [one.md]\n")
    return place


def documents(site: Path) -> Iterator[tuple[Path, html.HtmlElement]]:
    """Every page but those of the report and the one for what is not found."""
    for path in sorted(site.rglob("*.html")):
        if "report" not in path.parts and path.name != "404.html":
            yield path, html.fromstring(path.read_bytes())


def test_every_page_is_there_and_is_sorted_by_what_a_reader_wants(site):
    for page in PAGES:
        place = site / page
        front = "overview" if (ROOT / page).with_name("index.md").is_file() else "index"
        name = f"{front if place.name == 'README.md' else place.stem}.html"
        assert (place.parent / name).is_file(), page
    first = html.fromstring((site / "index.html").read_bytes())
    tabs = [tab.text_content().strip() for tab in first.find_class("md-tabs__link")]
    assert tabs == ["isotope", *website.KINDS]
    # `make site` says so of a page that nothing sorts.
    assert "in no navigation.yaml" not in (site.parent / "said").read_text()


def test_every_link_leads_to_a_file_and_to_a_place_in_it(site):
    pages = dict(documents(site))
    ids = {path: {e.get("id") for e in page.xpath("//*[@id]")} for path, page in pages.items()}
    broken: list[str] = []
    followed = 0
    for path, page in pages.items():
        for place in page.xpath("//@href | //@src | //@srcset"):
            parts = urlsplit(str(place))
            if parts.scheme or parts.netloc:
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = ids.get(goal, {parts.fragment})
            if not goal.is_file() or parts.fragment not in {"", *known}:
                broken.append(f"{path.relative_to(site)}: {place}")
            followed += 1
    assert broken == []
    assert followed > 3_000


def test_no_page_loads_anything_from_elsewhere(site):
    loading = "//script/@src | //link[not(@rel='canonical')]/@href | //img/@src | //source/@srcset"
    for path, page in documents(site):
        for place in page.xpath(loading):
            assert not urlsplit(str(place)).netloc, (path, place)
    for path in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import )[\"']?(?:https?:)?//", path.read_text()), path


def test_code_that_pages_link_to_is_text_and_pictures_are_themselves(site):
    code = site / "workflow/lib/isotope/encode/shard.py.txt"
    assert (
        code.read_text("utf-8-sig") == (ROOT / "workflow/lib/isotope/encode/shard.py").read_text()
    )
    assert len(list((site / "docs/images").glob("*.webp"))) > 20


def test_the_rule_graph_is_drawn_for_light_and_dark_and_listed(site):
    page = html.fromstring((site / "docs/rules.html").read_bytes())
    shown = [str(place) for place in page.xpath("//img/@src")]
    assert shown == [f"rules-1-{scheme}.svg#only-{scheme}" for scheme in ("light", "dark")]
    for place in shown:
        drawn = (site / "docs" / place.partition("#")[0]).read_text()
        assert ">collect_tables<" in drawn
    assert "crawl_shard" in page.text_content()


def test_public_names_plug_ins_and_errors_are_shown_with_their_docstrings(site):
    page = html.fromstring((site / "python.html").read_bytes())
    heads = {" ".join(e.text_content().split()) for e in page.xpath("//h3 | //h4")}
    names = {f"isotope.{name}" for name in getattr(isotope, "__all__", ()) if name[0] != "_"}
    expected = {*names, "isotope.core.plugins.Plugin", "MissingFile"}
    assert [e for e in expected if not any(head.startswith(e) for head in heads)] == []
    assert "What a package adds to isotope" in page.text_content()


def test_the_report_of_the_demo_comes_along_where_it_is_built(site):
    assert (site / "report/toy/index.html").is_file()
    assert not (site / "report/toy/.digest").exists()
    page = html.fromstring((site / "example.html").read_bytes())
    assert "report/index.html" in page.xpath("//article//a/@href")


def test_where_the_demo_has_not_run_the_site_says_so(small, monkeypatch):
    monkeypatch.setattr(website, "example", EXAMPLE)
    for linked in ("docs/images/README.md", "docs/tabulate.md", "docs/images/toy-index-1280.webp"):
        (small / linked).parent.mkdir(exist_ok=True)
        shutil.copy(
            ROOT / linked if linked.endswith("webp") else small / "docs/one.md", small / linked
        )
    (small / "docs/tabulate.md").write_text("# Tabulate\n\n## The report\n")
    (small / "docs/images/README.md").write_text("# Pictures\n\n![one](toy-index-1280.webp)\n")
    (small / "docs/one.md").write_text("# One\n\n## Part 1\n\n[pictures](images/README.md)\n")
    said = make(small, small / "site", small / "none")
    assert any("before `make demo`" in line for line in said)
    page = html.fromstring((small / "site/example.html").read_bytes())
    assert "After make demo, make site has its report here." in page.text_content()


def test_a_small_site_has_its_pages_code_and_a_note_of_what_nothing_sorts(small):
    (small / "docs/two.md").write_text("# Two\n\n[a folder](../docs)\n")
    out = small / "site"
    said = make(small, out, small / "none")
    assert "docs/two.md: in no navigation.yaml, so under How-to guides" in said
    assert (out / "code.py.txt").read_text("utf-8-sig") == '"""Says: é."""\n'
    assert "two.md" in (out / "docs.txt").read_text()
    assert 'href="../code.py.txt"' in (out / "docs/one.html").read_text()
    # A second time it comes in place of the first.
    make(small, out, small / "none")
    assert [path.name for path in small.glob(".site-*")] == []


@pytest.mark.parametrize(
    ("text", "error", "told"),
    [
        ("[x](three.md)", MissingFile, r"README.md: a link to three.md"),
        ('<img src="none.png" alt="">', MissingFile, r"a link to none.png"),
        ("[x](docs/one.md#part-2)", ToolFailed, r"anchor does not exist[\s\S]*README.md:3"),
        ("[x][nowhere]", ToolFailed, r"README.md:3"),
    ],
)
def test_a_page_that_leads_nowhere_is_named(small, text, error, told):
    (small / "README.md").write_text(f"# Front\n\n{text}\n")
    with pytest.raises(error, match=told):
        make(small, small / "site", small / "none")
    assert not (small / "site").exists()
    assert [path.name for path in small.glob(".site-*")] == []


@pytest.mark.parametrize(
    ("text", "error"), [("Recipes: [one.md]\n", BadPlugin), ("Tutorials: [no.md]\n", MissingFile)]
)
def test_a_navigation_that_names_what_is_not_there_is_refused(small, text, error):
    (small / "docs/navigation.yaml").write_text(text)
    with pytest.raises(error, match=r"navigation\.yaml"):
        make(small, small / "site", small / "none")


def test_pages_of_a_strangers_plug_in_come_into_the_groups_that_are_there(small, monkeypatch):
    folder = small.parent / "isotope_letters"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs/letters.md").write_text("# Letters\n\n[made of](../rules.py)\n")
    (folder / "rules.py").write_text("pass\n")
    (folder / "docs/navigation.yaml").write_text("Tutorials:\n- Group: [letters.md]\n")
    (small / "docs/navigation.yaml").write_text("Tutorials:\n- Group: [one.md]\n")
    plugin = plugins.Plugin(name="letters", package="isotope_letters")
    monkeypatch.setattr(plugins, "registered", lambda: {"letters": plugin})
    monkeypatch.setattr(plugins, "packages", lambda: {"isotope_letters": folder})
    out = small / "site"
    make(small, out, small / "none")
    page = (out / "workflow/plugins/isotope_letters/docs/letters.html").read_text()
    assert 'href="../rules.py.txt"' in page
    groups = [e.text_content().split() for e in html.fromstring(page).find_class("md-nav__link")]
    assert groups.count(["Group"]) == 1


@pytest.mark.parametrize(
    "name",
    [n if n == "suggest" else pytest.param(n, marks=pytest.mark.long) for n in OURS],
)
def test_without_a_plug_in_the_site_holds_together(name, tmp_path, monkeypatch):
    known = plugins.registered()
    gone = with_its_needs(name)
    project = taken(copy_project(tmp_path / "project"), gone)
    left = {other: plugin for other, plugin in known.items() if other not in gone}
    folders = {p.package: project / "workflow/plugins" / p.package for p in left.values()}
    monkeypatch.setattr(plugins, "registered", lambda: left)
    monkeypatch.setattr(plugins, "packages", lambda: folders)
    out = tmp_path / "site"
    make(project, out, tmp_path / "none")
    listed = (out / "index.html").read_text()
    assert [n for n in gone if f"isotope_{n}/" in listed] == []
    # Other pages link to files of the plug-in; such a link leads to words that say so.
    candidates = [project / "SECURITY.md"]
    candidates += [page for folder in folders.values() for page in folder.glob("docs/*.md")]
    linking = [
        page
        for page in candidates
        if any(f"/isotope_{n}/" in page.read_text("utf-8") for n in gone)
    ]
    assert (out / "absent.html").exists() == bool(linking)
    for page in linking:
        shown = out / page.relative_to(project).with_suffix(".html")
        assert "absent.html" in shown.read_text("utf-8")
    assert all(
        f"isotope_{n}/" in listed for n in left if any(folders[left[n].package].glob("docs/*.md"))
    )


BLOCKS = [(page, *block) for page, text in PAGES.items() for block in BLOCK.findall(text)]
PARSED = {
    "python": ast.parse,
    "yaml": lambda text: list(yaml.safe_load_all(text)),
    "toml": tomllib.loads,
    "json": json.loads,
    "sh": lambda text: subprocess.run(["bash", "-n"], input=text, text=True, check=True),
}
# Rules are of Snakemake's language; `tests/workflow/test_extending.py` runs them.
RULE = re.compile(r"^(?:use )?rule \w+", re.MULTILINE)
STANDS_FOR = re.compile(r"<(\w+)>")


@pytest.mark.parametrize("page", sorted({page for page, *_ in BLOCKS}))
def test_the_code_of_a_page_is_of_a_known_language_and_parses(page):
    for language, text in ((lang, text) for name, lang, text in BLOCKS if name == page):
        assert language in PLAIN or get_lexer_by_name(language)
        if language in PARSED and not RULE.search(text):
            PARSED[language](STANDS_FOR.sub(r"\1", textwrap.dedent(text)))


def test_blocks_of_code_are_found_with_their_languages():
    assert len(BLOCKS) > 150
    assert {"sh", "yaml", "python", "sql"} <= {language for _, language, _ in BLOCKS}


@pytest.fixture(scope="module")
def served(site) -> Iterator[str]:
    """The address of the site on a plain server of files."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def read(page: Page) -> list[str]:
    """What is wrong with a page at both widths, when a theme's pictures and colours are there."""
    found: list[str] = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        until(page, DRAWN)
        found += faults(page, [(width, scheme) for width in WIDTHS])
    return found


@pytest.mark.parametrize("pages", ["some", pytest.param("all", marks=pytest.mark.long)])
def test_every_page_is_read_at_both_widths_in_light_and_dark_by_eye_and_by_keys(
    site, chromium, pages
):
    whole = [path for path, _ in documents(site)]
    assert len(whole) > 40
    for path in whole if pages == "all" else [site / name for name in SOME]:
        page = chromium.open(path.as_uri())
        # A colour on its way from one theme to the other is none of either.
        page.add_style_tag(content="*, ::before, ::after { transition: none !important }")
        assert (path.name, read(page)) == (path.name, [])
        page.close()
    assert chromium.faults == []
    assert [url for url in chromium.requests if not url.startswith("file:")] == []


@pytest.mark.parametrize("way", ["disk", "server"])
def test_search_answers_from_the_disk_and_from_a_plain_server(site, served, chromium, way):
    start = (site / "docs/rules.html").as_uri() if way == "disk" else f"{served}docs/rules.html"
    page = chromium.open(start)
    page.get_by_role("button", name="Search").click()
    field = page.get_by_role("combobox")
    field.click()
    page.keyboard.type("learning rate")
    answers = page.get_by_role("option")
    expect(answers.first).to_contain_text("learning", ignore_case=True)
    expect(field).to_have_value("learning rate")
    hrefs = answers.evaluate_all("all => all.map(a => a.href)")
    assert any("/docs/train.html" in href for href in hrefs)
    answers.first.click()
    page.wait_for_url(lambda url: "rules.html" not in url)
    assert page.locator("article").is_visible()
    assert chromium.faults == []
    assert {urlsplit(url).netloc for url in chromium.requests} <= {"", urlsplit(served).netloc}


def test_dark_is_chosen_by_the_system_and_by_hand_and_stays(served, chromium):
    page = chromium.open(f"{served}docs/rules.html")
    dark = "document.body.dataset.mdColorScheme === 'slate'"
    assert not page.evaluate(dark)
    page.emulate_media(color_scheme="dark")
    until(page, dark)
    page.emulate_media(color_scheme="light")
    until(page, f"!({dark})")
    for name in ("Switch to light mode", "Switch to dark mode"):
        page.locator(f"label[title='{name}']:visible").click()
    until(page, dark)
    assert page.locator("img[src$='only-dark']").is_visible()
    assert not page.locator("img[src$='only-light']").is_visible()
    page.goto(f"{served}index.html")
    until(page, dark)
