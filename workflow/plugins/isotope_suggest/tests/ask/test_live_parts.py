"""What live answers are made of: words by Lucene, ids, languages, pictures from outside."""

import io
import os
import signal
import threading

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from isotope.bm25.words import counted
from isotope.core.errors import BadQuery
from isotope_suggest.ask import language
from isotope_suggest.ask.analyst import Analyst
from isotope_suggest.ask.ids import ABSENT, Ids
from isotope_suggest.ask.lookup import count_words
from isotope_suggest.ask.uploads import MOST_BYTES, Uploads
from isotope_suggest.reasons import CaptionWords


@pytest.fixture(scope="module")
def analyst():
    started = Analyst("default")
    yield started
    started.close()


def terms(counts) -> list[tuple[str, int]]:
    places, times = counts.numbers[2::2], counts.numbers[3::2]
    return [(counts.terms[int(p)], int(n)) for p, n in zip(places, times, strict=True)]


@pytest.mark.parametrize(
    "text",
    ["The lighthouses, lighthouse's light", "Ærø — 港の灯台 Ελλάδα", "a\tb\nc 12 'tis", ""],
)
def test_a_java_that_stays_counts_what_one_that_is_started_counts(analyst, tmp_path, text):
    once = analyst.counts(text)
    with counted([text], tmp_path / "counts", words="default", threads=1) as expected:
        assert terms(once) == terms(expected._replace(numbers=np.array(expected.numbers)))
        assert once.starts.tolist() == expected.starts.tolist()


def test_a_java_that_has_died_is_started_again(analyst):
    analyst.counts("red")
    os.kill(analyst._process.pid, signal.SIGKILL)
    assert terms(analyst.counts("red boats")) == [("red", 1), ("boat", 1)]


def test_threads_that_ask_at_once_get_their_own_words(analyst):
    counted = dict[int, list[tuple[str, int]]]()

    def ask(n: int) -> None:
        counted[n] = terms(analyst.counts(f"word{n} word{n}"))

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counted == {n: [(f"word{n}", 2)] for n in range(8)}


@given(ids=st.lists(st.text(max_size=4), unique=True), asked=st.lists(st.text(max_size=4)))
def test_the_row_of_an_id_is_where_it_stands_in_any_order(ids, asked):
    rows = {ident: row for row, ident in enumerate(ids)}
    numbers = Ids(pl.Series(ids, dtype=pl.String)).rows(asked + ids)
    assert numbers.tolist() == [rows.get(ident, ABSENT) for ident in asked + ids]


@given(st.lists(st.lists(st.text(alphabet="Boats' ies\u3042\u3044,\n.", max_size=12))))
def test_words_of_captions_are_counted_as_one_by_one(captions):
    series = pl.Series("captions", captions, pl.List(pl.String))
    expected = dict(CaptionWords.from_captions(captions).counts)
    assert dict(count_words(series).iter_rows()) == expected


LATIN = frozenset({"LATIN"})


def test_a_text_in_another_script_is_said_to_be_so():
    sentence = language.mismatch("Маяк стоит", 0, 2, LATIN, "English")
    assert sentence == "the text is written in Cyrillic letters, the captions (English) in Latin"


def test_a_text_whose_words_captions_do_not_have_is_asked_about():
    sentence = language.mismatch("Der Leuchtturm steht am Meer", 0, 5, LATIN, "English")
    assert sentence == (
        "captions have 0 of the 5 different words of this text: is it written in English, as they "
        "are?"
    )


@pytest.mark.parametrize(("matched", "different"), [(1, 5), (0, 4), (3, 3)])
def test_a_text_of_which_captions_have_words_or_that_is_short_is_not(matched, different):
    assert not language.mismatch("An old lighthouse", matched, different, LATIN, "English")


def test_the_scripts_of_captions_are_those_of_many_letters():
    terms = pl.Series(["boat"] * 30 + ["маяк"] * 30 + ["港"])
    assert language.caption_scripts(terms) == {"LATIN", "CYRILLIC"}


@pytest.fixture(scope="module")
def uploads():
    started = Uploads()
    yield started
    started.close()


def encoded(form: str, size: tuple[int, int] = (20, 10)) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, "red").save(file, form)
    return file.getvalue()


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "BMP"])
def test_a_picture_of_any_usual_form_becomes_webp_of_our_own(uploads, form):
    with Image.open(io.BytesIO(uploads.webp(encoded(form)))) as picture:
        assert (picture.format, picture.size) == ("WEBP", (20, 10))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "an empty file"),
        (b"no picture at all", "not a picture"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "a drawing in SVG"),
        (b"%PDF-1.7", "a PDF document"),
        (encoded("PNG")[:40], "not a picture"),
        (encoded("JPEG") + b"<script>alert(1)</script>" + b"PK\x05\x06" + bytes(18), "something"),
        (bytes(MOST_BYTES + 1), "at most 20,971,520 are decoded"),
    ],
)
def test_what_is_no_picture_gets_a_sentence(uploads, data, message):
    with pytest.raises(BadQuery, match=message) as error:
        uploads.webp(data)
    assert error.value.where == "the picture"


def test_a_picture_that_would_fill_memory_is_refused_before_it_is_decoded(uploads):
    bomb = encoded("PNG", (9_000, 9_000))
    assert len(bomb) < 1_000_000
    with pytest.raises(BadQuery, match=r"more than 64,000,000 pixels \(9000 x 9000 pixels\)"):
        uploads.webp(bomb)
