"""The embedded snapshot keeps the promises of the formats that it imitates."""

import bz2
import csv
import gzip
import hashlib
import io
import random
import re
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from pathlib import Path
from urllib.parse import unquote, urlparse

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from isotope.core.errors import BadParams
from isotope.core.schemas import CAPTION_FIELDS
from isotope.schemas.acquire import WIT_COLUMNS
from isotope_toy import gaps, scenes, words
from isotope_toy import pages as toy_pages
from isotope_toy import scenes as draw
from isotope_toy import snapshot as toy

PAGES = 400
SEED = 0
RECORD = re.compile(r"\n(?=[a-z-]+\thttps?://)")
XMLNS = "{http://www.mediawiki.org/xml/export-0.10/}"
WORDNET = Path("/usr/share/wordnet")


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("toy")
    toy.generate(out)
    return out


@pytest.fixture(scope="module")
def rows(snapshot) -> list[dict[str, str]]:
    """Every WIT row, records cut where a line starts with a language and an address."""
    table = []
    for path in sorted((snapshot / "wit").iterdir()):
        text = gzip.decompress(path.read_bytes()).decode().rstrip("\n")
        for record in RECORD.split(text)[1:]:
            fields = next(csv.reader(io.StringIO(record, newline=""), delimiter="\t"))
            split = path.name.split(".")[1]
            table.append({**dict(zip(WIT_COLUMNS, fields, strict=True)), "split": split})
    return table


@pytest.fixture(scope="module")
def english(rows) -> list[dict[str, str]]:
    return [row for row in rows if row["language"] == "en"]


@pytest.fixture(scope="module")
def truth(snapshot) -> pl.DataFrame:
    return pl.read_parquet(snapshot / "objects.parquet")


@pytest.fixture(scope="module")
def faults(snapshot) -> dict[str, str]:
    with (snapshot / "faults.csv").open(encoding="utf-8", newline="") as file:
        return {row["path"]: row["fault"] for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def streams(snapshot) -> dict[int, str]:
    """The dump's bz2 streams by their offset."""
    raw = next((snapshot / "dump").glob("*multistream.xml.bz2")).read_bytes()
    members, remaining = {}, raw
    while remaining:
        unpacker = bz2.BZ2Decompressor()
        members[len(raw) - len(remaining)] = unpacker.decompress(remaining).decode()
        remaining = unpacker.unused_data
    return members


@pytest.fixture(scope="module")
def wiki(streams) -> list[ET.Element]:
    return list(ET.fromstring("".join(streams.values())).iter(f"{XMLNS}page"))


def _text(page: ET.Element) -> str:
    return page.findtext(f"{XMLNS}revision/{XMLNS}text") or ""


def _articles(wiki: list[ET.Element]) -> dict[str, str]:
    content_pages = [p for p in wiki if p.findtext(f"{XMLNS}ns") == "0"]
    content_pages = [p for p in content_pages if p.find(f"{XMLNS}redirect") is None]
    texts = {p.findtext(f"{XMLNS}title") or "": _text(p) for p in content_pages}
    return {title: text for title, text in texts.items() if "{{disambiguation}}" not in text}


def _file(snapshot: Path, url: str) -> Path:
    return snapshot / "images" / unquote(urlparse(url).path).lstrip("/")


def _digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    for name in ("first", "second"):
        toy.generate(tmp_path / name, pages=12, seed=7)
    assert _digests(tmp_path / "first") == _digests(tmp_path / "second")


def test_another_seed_gives_other_bytes_in_every_table(tmp_path):
    for seed in (1, 2):
        toy.generate(tmp_path / str(seed), pages=24, seed=seed, draw=False)
    first, second = (_digests(tmp_path / str(seed)) for seed in (1, 2))
    assert first.keys() == second.keys()
    tables = [name for name in first if not name.startswith("wordnet/")]
    assert all(first[name] != second[name] for name in tables)
    assert len(first) - len(tables) == 1


def test_without_drawing_only_the_pictures_are_missing(tmp_path):
    toy.generate(tmp_path / "drawn", pages=24)
    toy.generate(tmp_path / "undrawn", pages=24, draw=False)
    drawn, undrawn = (_digests(tmp_path / name) for name in ("drawn", "undrawn"))
    assert undrawn == {name: d for name, d in drawn.items() if not name.startswith("images/")}
    assert len(drawn) > len(undrawn)


def test_shards_and_date_are_parameters(tmp_path):
    toy.generate(tmp_path, pages=40, shards={"train": 3}, date="20240501", draw=False)
    names = {path.name for path in (tmp_path / "wit").iterdir()}
    assert names == {
        *(f"wit_v1.train.all-{i:05}-of-00003.tsv.gz" for i in range(3)),
        "wit_v1.val.all-00000-of-00001.tsv.gz",
        "wit_v1.test.all-00000-of-00001.tsv.gz",
    }
    assert len(list((tmp_path / "dump").glob("toywiki-20240501-*"))) == 2


@pytest.mark.parametrize("wrong", [{"shards": {"dev": 1}}, {"shards": {"val": 0}}, {"date": "May"}])
def test_a_wrong_parameter_is_named_and_nothing_is_left(tmp_path, wrong):
    with pytest.raises(BadParams, match="the toy"):
        toy.generate(tmp_path, pages=1, **wrong)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_no_partial_file_is_left(snapshot):
    assert not [path for path in snapshot.rglob("*") if path.name.endswith(".part")]


def test_every_shard_starts_with_the_seventeen_columns(snapshot):
    for path in (snapshot / "wit").iterdir():
        with gzip.open(path, "rt", encoding="utf-8") as file:
            assert file.readline().rstrip("\n").split("\t") == WIT_COLUMNS


def test_the_counts_are_near_the_targets(rows, english, wiki):
    articles = _articles(wiki)
    sections = sum(1 + len(re.findall(r"^==", text, re.MULTILINE)) for text in articles.values())
    assert len(articles) == PAGES + PAGES / 40
    assert sections == pytest.approx(1600, rel=0.1)
    assert len({row["image_url"] for row in rows}) == pytest.approx(600, rel=0.1)
    illustrated = {(row["page_url"], row["hierarchical_section_title"]) for row in english}
    assert len(illustrated) / sections == pytest.approx(0.4, abs=0.05)


def test_splits_are_about_seventy_fifteen_fifteen(english):
    share = {split: n / len(english) for split, n in Counter(r["split"] for r in english).items()}
    assert share == pytest.approx({"train": 0.7, "val": 0.15, "test": 0.15}, abs=0.03)


def test_contexts_have_quoted_newlines_and_inner_quotes(rows):
    contexts = [row["context_section_description"] for row in rows]
    assert sum("\n" in text for text in contexts) > 100
    assert sum('"' in text for text in contexts) > 10


def test_exactly_one_quote_is_never_closed(snapshot):
    open_records = []
    for path in (snapshot / "wit").iterdir():
        for record in RECORD.split(gzip.decompress(path.read_bytes()).decode()):
            if record.count('"') % 2:
                open_records.append(record)
    assert len(open_records) == 1
    fields = open_records[0].rstrip("\n").split("\t")
    assert len(fields) == 17
    assert [i for i, field in enumerate(fields) if '"' in field] == [16]
    assert fields[16].startswith('"')


def test_the_open_quote_breaks_rows_for_a_reader_that_trusts_quotes(snapshot):
    widths = Counter()
    for path in (snapshot / "wit").iterdir():
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            widths.update(len(row) for row in csv.reader(file, delimiter="\t"))
    assert set(widths) > {17}


def test_other_languages_show_the_same_pictures_and_some_of_their_own(rows, english):
    foreign = [row for row in rows if row["language"] != "en"]
    assert {row["language"] for row in foreign} == set(words.LANGUAGES)
    for row in foreign:
        assert row["page_url"].startswith(f"https://{row['language']}.wikipedia.org/wiki/")
    english_urls = {row["image_url"] for row in english}
    alone = {row["image_url"] for row in foreign} - english_urls
    assert 5 < len(alone) < 40


def test_some_pictures_and_some_texts_are_in_two_splits(english):
    pictures, texts = defaultdict(set), defaultdict(set)
    for row in english:
        pictures[row["image_url"]].add(row["split"])
        texts[row["page_url"], row["hierarchical_section_title"]].add(row["split"])
    assert 4 <= sum(len(splits) > 1 for splits in pictures.values()) <= 30
    assert 4 <= sum(len(splits) > 1 for splits in texts.values()) <= 30


def test_some_sections_are_twins_under_different_parents(english):
    twins = defaultdict(set)
    fields = ("page_title", "section_title", *WIT_COLUMNS[-2:])
    for row in english:
        twins[tuple(row[f] for f in fields)].add(row["hierarchical_section_title"])
    assert sum(len(parents) > 1 for parents in twins.values()) >= 5


def test_a_section_may_have_two_pictures_and_a_picture_two_sections(english):
    pictures, sections = defaultdict(set), defaultdict(set)
    for row in english:
        section = (row["page_url"], row["hierarchical_section_title"])
        pictures[section].add(row["image_url"])
        sections[row["image_url"]].add(section)
    assert sum(len(uses) > 1 for uses in pictures.values()) > 10
    assert sum(len(uses) > 1 for uses in sections.values()) > 10


# Shares of empty captions in AToMiC: Yang et al., SIGIR 2023, Table 2.
EMPTY = {"reference": 0.4228, "alt_text": 0.7479, "attribution": 0.0257}


@pytest.mark.parametrize("field", EMPTY)
def test_captions_are_missing_as_often_as_in_atomic(english, field):
    column = next(name for name in CAPTION_FIELDS if field in name)
    empty = {row["image_url"]: not row[column] for row in english}
    assert sum(empty.values()) / len(empty) == pytest.approx(EMPTY[field], abs=0.05)


def test_most_captions_do_not_name_the_page(english):
    captions = {row["image_url"]: [row[c] for c in CAPTION_FIELDS] for row in english}
    owners = {row["image_url"]: row["page_title"] for row in english}
    named = sum(
        owners[url] in " ".join(picture_captions) for url, picture_captions in captions.items()
    )
    assert 0.1 < named / len(captions) < 0.3


def test_a_picture_has_the_same_captions_wherever_it_is_shown(english, wiki):
    captions, articles, uses = defaultdict(set), _articles(wiki), 0
    for row in english:
        captions[row["image_url"]].add(tuple(row[c] for c in CAPTION_FIELDS))
        # A page that was renamed is under its later name.
        shown = articles.get(row["page_title"], "")
        name = unquote(row["image_url"].rsplit("/", 1)[-1]).replace("_", " ")
        reference, alternative, _ = (row[c] for c in CAPTION_FIELDS)
        parts = ["|thumb|upright=1.1", f"alt={alternative}" * bool(alternative), reference]
        for use in re.findall(rf"\[\[File:{re.escape(name)}(\|thumb.*)\]\]", shown):
            uses += 1
            assert words.plain(use) == "|".join(filter(None, parts))
    assert uses > PAGES / 2
    assert max(len(picture_captions) for picture_captions in captions.values()) == 1


def test_image_urls_follow_the_upload_layout(rows):
    for row in rows:
        path = unquote(urlparse(row["image_url"]).path)
        *_, first, second, name = path.split("/")
        digest = hashlib.md5(name.encode()).hexdigest()
        assert (first, second) == (digest[0], digest[:2])
        assert " " not in name
    names = " ".join(row["image_url"] for row in rows)
    assert all(code in names for code in ("%26", "%28", "%C3%A4"))


@pytest.fixture(scope="module")
def open_sections() -> list[tuple[toy_pages.Page, toy_pages.ToySection]]:
    """The sections that describe a picture and do not show it, each with its page."""
    pages = [gaps.with_gaps(toy_pages.page(SEED, n, PAGES), SEED, PAGES) for n in range(PAGES)]
    return [(page, section) for page in pages for section in page.sections if section.subject]


def test_one_page_in_seven_describes_a_picture_that_it_does_not_show(open_sections, wiki, english):
    articles = _articles(wiki)
    shown = {(row["page_title"], row["section_title"]) for row in english}
    in_dump = [
        (page, section)
        for page, section in open_sections
        if f"\n== {section.title} ==\n{section.sentences[0]}" in articles[page.later_title]
    ]
    # A page that is to be revised in the second edition has none.
    assert PAGES / 8 < len(in_dump) <= len(open_sections) < PAGES / 6
    assert not shown & {(page.title, section.title) for page, section in in_dump}


def test_what_they_describe_is_a_picture_of_their_split_or_of_other_languages_or_none(
    open_sections, rows
):
    splits, languages = defaultdict(set), defaultdict(set)
    for row in rows:
        splits[row["image_url"]].add(row["split"])
        languages[row["image_url"]].add(row["language"])
    kinds = Counter()
    for page, section in open_sections:
        url = section.subject.url
        assert section.sentences[0] == section.subject.sentence
        if not section.subject.name:
            kinds["unseen"] += 1
        elif "en" in languages[url]:
            kinds["elsewhere"] += 1
            assert page.split in splits[url]
            assert f"[[{section.subject.owner}]]" in section.sentences[-1]
        else:
            kinds["abroad"] += 1
            assert section.subject.owner == page.title
            assert languages[url] <= set(words.LANGUAGES)
    assert kinds["unseen"] >= 4
    assert kinds["abroad"] == PAGES / 25
    assert kinds["elsewhere"] > PAGES / 15


def test_pages_link_to_the_languages_that_wit_has_and_now_and_then_to_others(rows, wiki):
    foreign = defaultdict(set)
    for row in rows:
        if row["language"] != "en":
            foreign[row["page_title"]].add(f"[[{row['language']}:{row['page_title']}]]")
    elsewhere = 0
    for text in _articles(wiki).values():
        links = set(re.findall(r"^\[\[[a-z]{2}:[^\]|]+\]\]$", text, re.MULTILINE))
        titles = {link[5:-2] for link in links}
        elsewhere += bool(links - set().union(*(foreign[title] for title in titles)))
    for title, links in foreign.items():
        text = _text(next(p for p in wiki if _title(p, title)))
        assert all(link in text for link in links)
    assert PAGES / 20 < elsewhere < PAGES / 7


def _title(page: ET.Element, title: str) -> bool:
    """Tell whether a page is the article of that name, renamed since or not."""
    named = page.findtext(f"{XMLNS}title") in (title, f"{title} Museum")
    return named and page.find(f"{XMLNS}redirect") is None


def test_icons_are_small_files_of_few_colours_on_very_many_pages(snapshot, rows, wiki):
    texts = list(_articles(wiki).values())
    for icon in toy_pages.ICONS:
        assert sum(icon.name in text for text in texts) > PAGES / 5
        (language,) = {r["language"] for r in rows if r["image_url"] == icon.url}
        assert language in words.LANGUAGES
        with Image.open(_file(snapshot, icon.url)) as image:
            assert image.size == (40, 40)
            assert len(image.getcolors() or ()) in (2, 3)


def test_some_pages_are_lists_or_years_which_show_no_picture(wiki):
    lists = {t: x for t, x in _articles(wiki).items() if t.startswith("List of ")}
    years = {t: x for t, x in _articles(wiki).items() if t.endswith(" in architecture")}
    assert (len(lists), len(years)) == (PAGES / 80, PAGES / 80)
    for text in [*lists.values(), *years.values()]:
        assert len(re.findall(r"^\* ", text, re.MULTILINE)) > 10
        assert "[[File:" not in text


def test_every_stream_is_well_formed_and_ends_the_document_apart(streams):
    texts = list(streams.values())
    assert texts[0].startswith("<mediawiki ")
    assert texts[-1] == "</mediawiki>"
    assert len(texts) > 10
    ET.fromstring(texts[0] + texts[-1])
    for text in texts[1:-1]:
        assert 1 <= len(ET.fromstring(f"<pages>{text}</pages>")) <= 25


def test_every_line_of_the_index_points_at_its_page(snapshot, streams, wiki):
    packed = next((snapshot / "dump").glob("*index.txt.bz2")).read_bytes()
    lines = bz2.decompress(packed).decode().splitlines()
    assert len(lines) == len(wiki)
    for line in lines:
        offset, page_id, title = line.split(":", 2)
        head = f"<title>{title}</title>\n    <ns>"
        assert head in streams[int(offset)]
        assert f"<id>{page_id}</id>" in streams[int(offset)]


def test_pages_are_in_the_order_of_their_ids_and_titles_are_unique(wiki):
    ids = [int(page.findtext(f"{XMLNS}id") or 0) for page in wiki]
    assert ids == sorted(set(ids))
    assert max(Counter(page.findtext(f"{XMLNS}title") for page in wiki).values()) == 1


def test_the_dump_has_redirects_disambiguations_and_other_namespaces(wiki):
    spaces = Counter(page.findtext(f"{XMLNS}ns") for page in wiki)
    assert {"0", "1", "6", "10", "14"} <= spaces.keys()
    redirects = [page for page in wiki if page.find(f"{XMLNS}redirect") is not None]
    assert len(redirects) > 20
    assert all(_text(page).lower().startswith("#redirect [[") for page in redirects)
    assert sum("{{disambiguation}}" in _text(page) for page in wiki) > 5


def test_the_dump_has_the_template_of_every_call_in_its_articles(wiki):
    titles = {page.findtext(f"{XMLNS}title"): page for page in wiki}
    articles = [_text(page) for page in wiki if page.findtext(f"{XMLNS}ns") == "0"]
    called = {name for text in articles for name in re.findall(r"\{\{([^|{}\n]+)", text)}
    names = {f"Template:{name.strip()[0].upper()}{name.strip()[1:]}" for name in called}
    assert len(names) > 5
    assert sorted(names - titles.keys()) == []


@pytest.mark.parametrize(
    "markup",
    [
        r"\{\{Infobox",
        r"<ref>\{\{cite book",
        r'<ref name="[^"]+" />',
        r"\{\| class=\"wikitable",
        r"\[\[File:[^\]]*\|thumb\|[^\]]*\[\[",
        r"(?m)^\* ",
        r"(?m)^# ",
        r"\[\[[^|\]]+\]\]",
        r"\[\[[^|\]:]+\|[^\]]+\]\]",
        r"\[https://\S+ [^\]]+\]",
        r"'''[^']+'''",
        r"''[^']+''",
        r"<!-- .* -->",
        r"\[\[Category:",
        r"(?m)^== [^=]+ ==$",
        r"(?m)^=== [^=]+ ===$",
    ],
)
def test_articles_use_the_markup(wiki, markup):
    assert sum(bool(re.search(markup, text)) for text in _articles(wiki).values()) >= 3


def test_the_dump_is_later_than_wit_in_about_a_tenth_of_the_sections(english, wiki):
    articles = _articles(wiki)
    titled = [row for row in english if row["section_title"] not in ("", "Plates")]
    gone = [
        row
        for row in titled
        if f"= {row['section_title']} =" not in articles.get(row["page_title"], "")
    ]
    edited = sum(any(edit in text for edit in words.EDITS) for text in articles.values())
    assert 0.02 < len(gone) / len(titled) < 0.12
    assert edited > PAGES / 20


def _named(sentence: str) -> list[tuple[str, str]]:
    """Return the shapes and colours of a sentence: the word there, and the name of the thing."""
    names = {*scenes.SYNSETS, *scenes.COLOURS}
    names_by_word = {word: name for name in names for word in (name, scenes.OTHER_NAMES[name])}
    plurals = {scenes.PLURALS.get(word, f"{word}s"): word for word in names_by_word}
    mentioned = [plurals.get(word, word) for word in re.findall(r"[a-z]+", sentence)]
    return [(word, names_by_word[word]) for word in mentioned if word in names_by_word]


@given(st.randoms(use_true_random=False))
def test_what_prose_says_of_a_scene_is_true(rng):
    scene = scenes.scene(rng)
    mentioned = {name for _, name in _named(scenes.sentence(scene, "It").removesuffix(" ground."))}
    assert mentioned <= {word for group in scene.groups for word in (group.shape, group.colour)}
    assert scenes.sentence(scene, "It") == scenes.sentence(scene, "It")


def test_prose_names_two_things_in_three_by_other_words_than_captions_do():
    rng, other = random.Random(0), Counter[bool]()
    for _ in range(1000):
        scene = scenes.scene(rng)
        other.update(word != name for word, name in _named(scenes.sentence(scene, "It")))
        listed = _named(scenes.listing(scene))
        assert all(word == name for word, name in listed)
        assert len(listed) == 2 * len(scene.groups)
    assert 0.55 < other[True] / other.total() < 0.7


def test_nearly_every_illustrated_section_says_what_is_shown(english):
    first = [row["context_section_description"].split(". ")[0] for row in english]
    assert sum(" shows " in text for text in first) >= len(first) - 1


def test_one_section_in_five_tells_a_legend_and_not_what_is_seen(english):
    first = [row["context_section_description"].split(". ")[0] for row in english]
    counted = re.compile(rf" shows ({'|'.join(scenes.NUMBERS[1:])}) ")
    legends = sum(" shows " in text and not counted.search(text) for text in first)
    assert legends / len(first) == pytest.approx(1 / 5, abs=0.05)


def test_one_picture_in_four_shows_the_same_things_as_another_of_its_split(english, truth):
    splits = pl.DataFrame(list({(r["image_url"], r["split"]) for r in english}), orient="row")
    columns = ("synset", "colour", "size")
    things = truth.group_by("image_url").agg(pl.concat_str(columns, separator=" ").sort())
    shown = things.join(
        splits.rename({"column_0": "image_url", "column_1": "split"}), on="image_url"
    )
    alike = shown.filter(pl.struct("split", pl.col("synset").list.join(",")).is_duplicated())
    assert 0.12 < alike.height / shown.height < 0.35


def test_every_picture_decodes_at_the_size_that_wit_says(snapshot, rows, faults):
    absent = 0
    for url, row in {row["image_url"]: row for row in rows}.items():
        path = _file(snapshot, url)
        if not path.exists():
            absent += 1
            assert faults[unquote(urlparse(url).path)] in {"not_found", "gone"}
            continue
        with Image.open(path) as image:
            image.load()
            size = (int(row["original_width"]), int(row["original_height"]))
            assert (image.size, image.get_format_mimetype()) == (size, row["mime_type"])
    assert absent == sum(fault in {"not_found", "gone"} for fault in faults.values())


def test_boxes_lie_within_their_pictures_and_know_every_picture(rows, truth):
    sizes = pl.DataFrame(
        {
            row["image_url"]: (int(row["original_width"]), int(row["original_height"]))
            for row in rows
        }
    ).transpose(include_header=True, column_names=["wide", "high"], header_name="image_url")
    joined = truth.join(sizes, on="image_url", how="full", coalesce=True)
    assert joined.null_count().sum_horizontal().item() == 0
    inside = (
        (pl.col("x_min") >= 0)
        & (pl.col("y_min") >= 0)
        & (pl.col("x_min") < pl.col("x_max"))
        & (pl.col("y_min") < pl.col("y_max"))
        & (pl.col("x_max") <= pl.col("wide"))
        & (pl.col("y_max") <= pl.col("high"))
    )
    assert joined.filter(~inside).is_empty()


def test_one_picture_in_thirty_has_a_fault_and_each_kind_comes_twice(rows, faults):
    kinds = Counter(faults.values())
    assert set(kinds) == set(toy.FAULTS)
    assert min(kinds.values()) >= 2
    paths = {unquote(urlparse(row["image_url"]).path) for row in rows}
    assert faults.keys() <= paths
    assert len(faults) / len(paths) == pytest.approx(0.03, abs=0.01)


@pytest.mark.parametrize("pages", [12, 24, 47])
def test_small_snapshots_have_every_fault_twice(tmp_path, pages):
    toy.generate(tmp_path, pages=pages, draw=False)
    kinds = Counter(line.split(",")[-1] for line in (tmp_path / "faults.csv").read_text().split())
    assert all(kinds[kind] >= 2 for kind in toy.FAULTS)


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_drawn_object_fills_its_box_with_its_colour(rng):
    scene = scenes.scene(rng)
    image = draw.paint(scene)
    for group, (x0, y0, x1, y1) in scenes.objects(scene):
        raw = image.crop((x0, y0, x1, y1)).tobytes()
        pixels = zip(raw[::3], raw[1::3], raw[2::3], strict=True)
        colour = scenes.COLOURS[group.colour]
        near = [max(abs(a - b) for a, b in zip(p, colour, strict=True)) < 40 for p in pixels]
        width = x1 - x0
        columns = {i % width for i, hit in enumerate(near) if hit}
        lines = {i // width for i, hit in enumerate(near) if hit}
        assert sum(near) > 0.2 * len(near)
        assert len(columns) > 0.8 * width
        assert len(lines) > 0.8 * (y1 - y0)


@given(st.lists(st.integers(0, 10**7), unique=True, max_size=200))
def test_titles_never_meet(numbers):
    assert len({words.title(number) for number in numbers}) == len(numbers)


def test_the_first_fifty_thousand_titles_are_all_different():
    assert len({words.title(number) for number in range(50_000)}) == 50_000


def test_a_page_does_not_depend_on_those_before_it():
    assert toy_pages.page(SEED, 123, PAGES) == toy_pages.page(SEED, 123, PAGES)
    assert toy_pages.page(SEED, 123, PAGES) != toy_pages.page(SEED + 1, 123, PAGES)


def test_plain_text_keeps_the_anchors_of_links():
    markup = "A [[Oak Mill|path]] leads to [[Elm Inn]], ''The Inn''; see '''it''', Nora O'Dell."
    assert words.plain(markup) == "A path leads to Elm Inn, The Inn; see it, Nora O'Dell."


@pytest.mark.skipif(not WORDNET.is_dir(), reason="no wordnet-base at /usr/share/wordnet")
def test_synsets_are_noun_senses_of_wordnet(truth):
    index = (WORDNET / "index.noun").read_text()
    for synset in truth["synset"].unique():
        lemma, part, sense = synset.split(".")
        line = re.search(rf"^{lemma} n (\d+) ", index, re.MULTILINE)
        assert line is not None
        assert part == "n"
        assert 1 <= int(sense) <= int(line[1])
