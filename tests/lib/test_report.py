"""The page, from a collection drawn for the purpose, with everything that it can show."""

import io
import random
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from isotope import figures, report, sql, store, tables, tabulate
from isotope.errors import MissingFile
from isotope.report_templates import excerpt, symbol, web
from isotope.report_thumbnails import SIDE_PX, thumbnail

SQL = sql.SQL / "tabulate"
EVIL = "<script>alert('owned')</script>"
SHAPES = ("circle", "square")
COLOURS = ("crimson", "teal", "goldenrod", "slateblue", "olive")
MEASURES = ("MRR@10", "R@10", "R@1000", "Success@10", "nDCG@10", "MAP")
SYSTEMS = ("bm25", "random", "rrf")
PAIRS = 12


def drawing(n: int) -> bytes:
    """Draw a coloured shape, as WebP."""
    picture = Image.new("RGB", (300, 200 + 10 * n), "ivory")
    pen = ImageDraw.Draw(picture)
    shape = pen.ellipse if SHAPES[n % 2] == "circle" else pen.rectangle
    shape((40 + 5 * n, 40, 160 + 5 * n, 160), fill=COLOURS[n % 5])
    encoded = io.BytesIO()
    picture.save(encoded, "WEBP")
    return encoded.getvalue()


def lay_collection(root: Path) -> None:
    """Write texts, images, qrels, filters, pixels, ledger and projection of a dozen pairs."""
    names = [f"The {COLOURS[n % 5]} {SHAPES[n % 2]} of {n}" for n in range(PAIRS)]
    words = "It hangs in the long gallery, where the light comes from the left & falls on it. " * 5
    splits = ["test"] * 8 + ["validation", "train", "train", "other"]
    texts = [
        {"text_id": f"t{n:02}", "page_title": name, "section_title": EVIL if n == 0 else "History"}
        | {"page_url": f"https://en.wikipedia.org/wiki/{n}", "context_section_description": words}
        | {"split": splits[n]}
        for n, name in enumerate(names)
    ]  # fmt: skip
    images = [
        {"image_id": f"i{n:02}", "image_url": f"http://upload.wikimedia.org/{n}.png"}
        | {"caption_reference_description": [name, EVIL], "split": splits[n]}
        for n, name in enumerate(names)
    ]  # fmt: skip
    qrels = [
        {"text_id": f"t{n:02}", "image_id": f"i{n:02}", "relevance": 1, "split": splits[n]}
        for n in range(PAIRS - 1)
    ]
    filters = [
        {"step": s, "split": p, "before": 9, "dropped": 1, "after": 8}
        for s in ("alive", "canonical", "one_split")
        for p in ("train", "validation", "test")
    ]
    collect = root / "data/collect/toy"
    store.write_rows(texts, collect / "texts.parquet", tables.TEXTS)
    store.write_rows(images, collect / "images.parquet", tables.IMAGES)
    store.write_rows(qrels, collect / "qrels.parquet", tables.QRELS)
    store.write_rows(filters, collect / "filters.parquet", tables.FILTERS)
    pixels = [{"image_id": f"i{n:02}", "webp": drawing(n)} for n in range(PAIRS - 1)]
    crawl = root / "data/crawl/src"
    store.write_rows(pixels[:6], crawl / "shard-00000.parquet", tables.PIXELS)
    store.write_rows(pixels[6:], crawl / "shard-00001.parquet", tables.PIXELS)
    ledger = [{"image_url": str(n), "status": "success", "attempts": 1} for n in range(PAIRS)]
    store.write_rows(ledger, crawl / "ledger.parquet", tables.LEDGER)
    found = [
        {"source_text_id": f"s{n}", "text_id": f"t{n:02}", "method": "exact"} for n in range(9)
    ]
    store.write_rows(found, root / "data/project/src/projection.parquet", tables.PROJECTION)


def lay_runs(root: Path) -> None:
    """Write runs whose nth query finds its answer at rank n + 1, and scores that grow by system."""
    for task, (query, doc) in {"t2m": ("t", "i"), "m2t": ("i", "t")}.items():
        run = [
            {"query_id": f"{query}{q:02}", "doc_id": f"{doc}{(q - rank + q + 1) % 8:02}"}
            | {"rank": rank, "score": 10.0 - rank - q / 100}
            for q in range(8)
            for rank in range(1, 8)
        ]
        path = root / f"results/search/toy/small/test/{task}/rrf.parquet"
        store.write_rows(run, path, tables.RUN)
    chance = random.Random(7)
    scores = [
        {"collection": "toy", "setting": setting, "split": split, "task": task, "system": system}
        | {"query_id": f"q{q}", "measure": measure, "value": chance.random() * (s + 1) * ease / 3}
        for setting, ease in (("small", 1.0), ("base", 0.7), ("large", 0.4))
        for split in ("validation", "test")
        for task in ("t2m", "m2t")
        for s, system in enumerate(SYSTEMS)
        for measure in MEASURES
        for q in range(8)
    ]
    store.write_rows(scores, root / "results/score/toy.parquet", tables.SCORES)
    wins = [
        {"collection": "toy", "setting": "small", "split": "test", "task": "t2m", "measure": m}
        | {"system": "rrf", "other": o, "difference": 0.2, "p_bonferroni": 0.001}
        for m in MEASURES
        for o in ("bm25", "random")
    ]
    store.write_rows(wins, root / "results/score/toy.significance.parquet", tables.SIGNIFICANCE)


def lay_tables(root: Path) -> None:
    """Tabulate and draw what the page reads."""
    collect, out = root / "data/collect/toy", root / "results/tables/toy"
    three = {n: collect / f"{n}.parquet" for n in ("texts", "images", "qrels")}
    scores = root / "results/score/toy.parquet"
    tests = root / "results/score/toy.significance.parquet"
    for name, relations, params in (
        ("table1", three, {}),
        ("table3", {"scores": scores, "significance": tests}, {"alpha": 0.05}),
        ("account", {"filters": collect / "filters.parquet"}, {}),
        ("crawl", {"ledger": root / "data/crawl/src/ledger.parquet"}, {}),
        ("projection", {"projection": root / "data/project/src/projection.parquet"}, {}),
    ):
        tabulate.tabulate(SQL / f"{name}.sql", relations, params, out / name)
    drawn = root / "results/figures/toy"
    relations = {"scores": scores, "texts": three["texts"], "images": three["images"]}
    params = {"split": "test", "measure": "MRR@10"}
    figures.corpus_size(SQL / "corpus_size.sql", relations, params, drawn / "corpus_size.svg")
    curve = root / "curve.csv"
    lines = "".join(f"{e},{e * 9},{3 - e / 4},{e / 10},{e / 12}\n" for e in range(6))
    curve.write_text("epoch,step,loss,mrr10_t2m,mrr10_m2t\n" + lines)
    figures.learning_curve(curve, drawn / "curve-clip.svg")


def page(root: Path, **changes: object) -> str:
    """Build the page and return it."""
    out = root / "results/report/toy/index.html"
    chosen = {"collection": "toy", "source": "src", "system": "rrf", "setting": "small"}
    report.build(**(chosen | {"root": root, "split": "test", "out": out} | changes))  # pyright: ignore
    return out.read_text()


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """A project's root with all that the page reads."""
    folder = tmp_path_factory.mktemp("project")
    lay_collection(folder)
    lay_runs(folder)
    lay_tables(folder)
    return folder


@pytest.fixture(scope="module")
def html(root) -> str:
    """The page about the system `rrf`."""
    return page(root)


class Elements(HTMLParser):
    """Collect the attributes of every element, and complain of tags that do not nest."""

    VOID = ("meta", "img", "br", "link")

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


def test_the_page_is_well_formed(html):
    assert Elements(html).open == []


def test_the_page_asks_nothing_of_the_network(html):
    for tag, attributes in Elements(html).found:
        assert tag not in {"script", "link", "iframe", "object"}
        assert str(attributes.get("src", "data:")).startswith("data:")
        if tag != "a":
            assert not str(attributes.get("href", "#")).startswith("http")
    assert "url(http" not in html
    assert "@import" not in html


def test_words_of_the_collection_cannot_become_markup(html):
    assert EVIL not in html
    assert "&lt;script&gt;alert" in html


def test_pictures_are_in_the_page_and_small(html):
    uris = re.findall(r'src="(data:image/webp;base64,[^"]+)"', html)
    assert len(set(uris)) >= 8


def test_every_curve_is_shown_under_the_name_of_its_model(html):
    assert "<h2>How clip learned</h2>" in html
    assert html.count("<svg") == 2


def test_every_system_has_its_row_in_every_pool(html):
    assert html.count('<th scope="row">rrf</th>') == 6
    assert len(re.findall(r'<td class="number best"[^>]*>[\d.]+<sup>ab</sup>', html)) == 6


def test_best_queries_come_first_and_the_worst_show_where_the_answer_was(html):
    outcomes = re.findall(
        r"(First right answer at rank \d+|The right answer was not returned)", html
    )
    best, worst = outcomes[:3], outcomes[3:6]
    assert best == [f"First right answer at rank {n}" for n in (1, 2, 3)]
    assert worst[0] == "The right answer was not returned" or worst[0].endswith("7")


def test_the_same_input_gives_the_same_bytes(root, html):
    assert page(root) == html


def test_a_collection_without_crawl_and_figures_leaves_their_sections_out(root, html, tmp_path):
    for part in ("data/collect", "results/search", "results/tables/toy/table"):
        for file in root.rglob("*"):
            inside = str(file.relative_to(root))
            if file.is_file() and inside.startswith(part):
                (tmp_path / inside).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / inside).write_bytes(file.read_bytes())
    bare = page(tmp_path, source=None)
    assert "<h2>The systems</h2>" in bare
    for part in (
        "What became of the image URLs",
        "How texts found",
        "<svg",
        "data:image",
        "<code>src",
    ):
        assert part in html
        assert part not in bare


def test_a_page_about_a_system_without_runs_is_refused(root):
    with pytest.raises(MissingFile, match="no run of this system"):
        page(root, system="unheard-of")


def test_a_page_without_table_1_is_refused(tmp_path):
    with pytest.raises(MissingFile, match=r"table1\.csv"):
        page(tmp_path)


def test_the_headline_puts_the_best_system_on_top(root):
    text = report.headline(root / "results/score/toy.parquet", setting="small", split="test")
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


def test_a_measure_that_was_not_taken_is_a_dash_in_the_headline(root):
    text = report.headline(
        root / "results/score/toy.parquet", setting="small", split="test", measures=("MAP", "P@7")
    )
    assert text.splitlines()[1].split()[2] == "—"


def test_a_thumbnail_fits_its_frame_and_bytes_that_are_no_picture_have_none():
    uri = thumbnail(drawing(3))
    assert uri is not None
    import base64  # noqa: PLC0415

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
