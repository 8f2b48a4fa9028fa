"""Two systems, query by query: which queries, in which order, with which words."""

import math
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report_project import EVIL, QUERIES, SCORED, cell

from isotope.bm25.postings import write_index
from isotope.core import lucene
from isotope.core.lucene import Terms
from isotope.report import queries
from isotope.report.content import MarkedTerm, Scope, TextPiece, marked_excerpt
from isotope.report.queries import Lists, choose, lists, matches
from isotope.report.site import environment, pages
from isotope.report.words import WORDS

RANKS = [1, 2, 3, 4, 5, 6, 7, None]


@pytest.fixture(scope="module")
def root(report_root) -> Path:
    """A project in which `rrf` has its answers at ranks 1 to 8, and `bm25` at 8 to 1."""
    return report_root


@pytest.fixture(scope="module")
def html(report_site) -> str:
    return (report_site / "toy/queries.html").read_text()


def pool(root: Path) -> Scope:
    return cell(root, setting="large")


def own(root: Path, **changes: object) -> Lists:
    return lists(pool(root), "t2m", QUERIES._replace(**changes), root / "results/score/toy.parquet")


def test_queries_are_sorted_from_the_first_systems_greatest_gain_to_the_others(root):
    found = own(root)
    values = [1 / (q + 1) if q < 7 else 0 for q in range(8)]
    others = [1 / (8 - q) if q > 0 else 0 for q in range(8)]
    assert found.all_queries["query_id"].to_list() == [f"t{q:02}" for q in range(8)]
    assert found.all_queries["value"].to_list() == pytest.approx(values)
    assert found.all_queries["other_value"].to_list() == pytest.approx(others)
    assert found.all_queries["sign"].to_list() == [1] * 4 + [-1] * 4
    assert found.shown.equals(found.all_queries)


def test_right_answers_have_the_ranks_of_both_runs_and_hits_those_of_the_other(root):
    found = own(root)
    assert found.answers.select("query_id", "rank", "other_rank").rows() == [
        (f"t{q:02}", RANKS[q], RANKS[7 - q]) for q in range(8)
    ]
    runs = {
        s: pl.read_parquet(root / f"results/search/toy/large/test/t2m/{s}.parquet")
        for s in QUERIES.systems
    }
    for n, (system, other) in enumerate((("rrf", "bm25"), ("bm25", "rrf"))):
        hits = found.hits.filter(side=n, query_id="t02")
        first = runs[system].filter(pl.col("rank") <= 3, query_id="t02").sort("rank")
        assert hits["doc_id"].to_list() == first["doc_id"].to_list()
        ranks = dict(runs[other].filter(query_id="t02").select("doc_id", "rank").iter_rows())
        assert hits["other_rank"].to_list() == [ranks.get(doc) for doc in hits["doc_id"]]
        assert hits["grade"].to_list() == [1 if doc == "i02" else None for doc in hits["doc_id"]]


def test_the_summary_counts_wins_ties_and_losses_and_has_the_interval(html):
    heads = re.findall(r'<section class="wide task-queries".*?</header>', html, re.DOTALL)
    assert len(heads) == 2
    for head in heads:
        assert "8 queries: rrf is better on 4, bm25 on 4, 0 are equal" in head
        # The values are the same ones in the opposite order.
        assert "mean difference ±0.000 (95% bootstrap interval \u2212" in head
        assert "All are shown." in head


def test_words_match_as_the_analyzer_sees_them_and_the_rarest_come_first(root):
    found = own(root)
    [words] = queries.words_of(pool(root), [found], QUERIES.words)
    # Each number is in one caption, a colour in two, a shape in half of them.
    assert [term for term, _ in words.shared["t01", "i01"]] == ["1", "teal", "squar"]
    assert [term for term, _ in words.shared["t01", "i05"]] == ["squar"]
    assert [term for term, _ in words.shared["t01", "i06"]] == ["teal"]
    assert ("t01", "i02") not in words.shared
    assert {"script", "alert", "own"} <= {term for term, _ in words.shared["t00", "i00"]}
    text = words.contents["i01"]
    assert [text[a:b] for a, b in words.places["i01", "squar"]] == ["square", "square"]


def test_words_that_match_are_marked_in_query_and_hits_and_listed(html):
    [item] = re.findall(r'<li class="gain" id="t2m-2">.*?</details></li>', html, re.DOTALL)
    query, right, *sides = item.split("<h4>")[1:]
    for word in ("teal", "square", "1"):
        assert f'<mark class="r">{word}</mark>' in query
        assert f'<mark class="r">{word}</mark>' in right
    assert "<b>1</b>, <b>teal</b>, <b>square</b>" in right
    assert "rrf <b>2</b> · bm25 <b>7</b>" in right
    assert [side.partition("<")[0] for side in sides] == [
        "rrf · MRR@10 0.500",
        "bm25 · MRR@10 0.143",
    ]
    assert "no word in common" in sides[0]


def test_words_of_a_wiki_cannot_become_markup(html):
    assert EVIL not in html
    assert '&lt;<mark class="r">script</mark>&gt;' in html


def test_a_picture_is_in_the_page_once(html):
    uris = re.findall(r"url\((data:image/webp;base64,[^)]+)\)", html)
    assert len(uris) == len(set(uris)) == 8
    assert html.count("data:image") == 8
    used = set(re.findall(r"\bp(\d+)\"", html))
    assert used == {str(n) for n in range(8)}


def test_what_the_page_shows_is_bounded_and_it_says_what_is_left_out(root, tmp_path):
    pair = QUERIES._replace(shown=4, hits=1)
    tables = {n: root / f"results/score/toy{s}.parquet" for n, s in SCORED.items()}
    queries.build(cell(root), pair, tables, tmp_path / "queries.html")
    html = (tmp_path / "queries.html").read_text()
    assert re.findall(r'<li class="(\w+)" id="t2m-\d+">', html) == ["gain", "gain", "loss", "loss"]
    assert html.count("2 smaller gains, 2 smaller losses and 0 equal ones are left out") == 2
    assert html.count('<span class="left"') == 2


def test_a_collection_without_pictures_is_compared_in_words(root, tmp_path):
    tables = {n: root / f"results/score/toy{s}.parquet" for n, s in SCORED.items()}
    bare = cell(root, sources=list[str]())
    queries.build(bare, QUERIES, tables, tmp_path / "queries.html")
    html = (tmp_path / "queries.html").read_text()
    assert "data:image" not in html
    assert 'class="pic' not in html
    assert html.count('<mark class="r">teal</mark>') > 2


def test_a_task_without_runs_of_both_systems_is_left_out(root, tmp_path):
    tables = {n: root / f"results/score/toy{s}.parquet" for n, s in SCORED.items()}
    pair = QUERIES._replace(systems=["rrf", "none"])
    queries.build(cell(root), pair, tables, tmp_path / "queries.html")
    assert "No task has runs of both systems" in (tmp_path / "queries.html").read_text()


def test_the_page_of_one_system_is_not_in_the_navigation(root):
    base = environment().get_template("base.html.j2")
    about = {"here": "index", "up": "", "scripts": [], "vocabulary": WORDS["own"]}
    for compared in (True, False):
        scope = replace(cell(root), compared=compared)
        html = base.render(scope=scope, pages=pages(scope), **about)
        assert ('href="queries.html"' in html) == compared


def test_the_weights_of_words_add_up_to_the_score_of_bm25(tmp_path):
    documents = {
        "a": "a red star over the red barn",
        "b": "a barn owl",
        "c": "stars and stripes",
        "d": "nothing of it",
    }
    place, index = tmp_path / "lucene", tmp_path / "native"
    lucene.build_index(documents.items(), place, threads=1, memory_mb=512)
    write_index(documents.items(), index, analyzer="default", threads=1)
    query = ("q", "Red stars, red barns")
    hits = lucene.search(place, [query], lucene.Bm25Parameters(0.9, 0.4, 512), hits=9, threads=1)
    texts = lucene.LuceneTexts([query, *documents.items()])
    [theirs] = queries._analysed([texts._replace(folder=place)], "lucene")
    [terms] = queries._analysed([texts._replace(folder=index)], "native")
    assert terms.rows.equals(theirs.rows)
    assert (terms.size, terms.length) == (theirs.size, theirs.length)
    pairs = pl.DataFrame({"query_id": ["q"] * 4, "doc_id": sorted(documents)})
    sums = matches(pairs, terms, 0.9, 0.4).group_by("doc_id").agg(pl.col("weight").sum())
    scores = dict(hits.select("doc_id", "score").iter_rows())
    assert scores.keys() == {"a", "b", "c"}
    assert dict(sums.iter_rows()) == pytest.approx(scores, abs=2e-4)


def test_without_an_index_the_documents_of_the_page_are_the_pool():
    schema = ["id", "term", "documents", "start", "end"]
    rows = [
        (i, t, 0, 0, 1) for i, t in (("q", "x"), ("q", "y"), ("a", "x"), ("b", "x"), ("b", "y"))
    ]
    terms = Terms(pl.DataFrame(rows, schema=schema, orient="row"), 0, 0)
    pairs = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"]})
    found = matches(pairs, terms, 1.0, 0.0)
    assert found.select("doc_id", "term").rows() == [("a", "x"), ("b", "y"), ("b", "x")]
    common, rare = math.log(1 + 0.5 / 2.5), math.log(1 + 1.5 / 1.5)
    assert found["weight"].to_list() == pytest.approx([common / 2, rare / 2, common / 2])


counts = st.integers(0, 30)


@given(counts, counts, counts, st.integers(1, 40))
def test_places_are_shared_evenly_by_sign_and_none_is_left_free(better, equal, worse, most):
    signs = [1] * better + [0] * equal + [-1] * worse
    every = pl.DataFrame({"query_id": [f"{n:03}" for n in range(len(signs))], "sign": signs})
    every = every.cast({"query_id": pl.String, "sign": pl.Int8})
    shown = choose(every, most)
    assert shown.height == min(most, every.height)
    assert shown["query_id"].is_sorted()
    of = {sign: shown.filter(sign=sign)["query_id"].to_list() for sign in (1, 0, -1)}
    assert of[1] == every["query_id"].to_list()[: len(of[1])]
    assert of[-1] == every["query_id"].to_list()[every.height - len(of[-1]) :]
    assert len(of[0]) >= min(equal, most // 10)
    if len(of[1]) < better and len(of[-1]) < worse:
        assert abs(len(of[1]) - len(of[-1])) <= 1


words = st.lists(st.text("ab ü𝛼", min_size=1, max_size=6), max_size=60).map(" ".join)


@given(words, st.data(), st.integers(40, 200))
def test_an_excerpt_is_of_the_text_bounded_and_marks_only_places(text, data, characters):
    starts = data.draw(st.lists(st.integers(0, max(0, len(text) - 1)), max_size=8))
    places = [
        MarkedTerm(start, min(start + 3, len(text)), float(n), "hit")
        for n, start in enumerate(starts)
        if start < len(text)
    ]
    pieces = marked_excerpt(text, places, characters)
    shown = "".join(piece.text for piece in pieces)
    assert all(part.strip(" …") in text for part in shown.split(" … "))
    assert len(shown) <= characters + 3 * len(" … ")
    if len(text) <= characters:
        assert shown == text
    marked = "".join(piece.text for piece in pieces if piece.mark)
    assert len(marked) <= 3 * len(places)


def test_an_excerpt_is_cut_around_its_heaviest_words():
    text = "one " * 100 + "saxophone " + "two " * 100
    place = MarkedTerm(400, 409, 5.0, "right")
    pieces = marked_excerpt(text, [MarkedTerm(0, 3, 0.1, "hit"), place], 120)
    assert TextPiece("saxophone", "right") in pieces
    assert TextPiece("one", "hit") in pieces
    assert pieces[-1].text.endswith("…")
