"""Header fields of a server become text that tables, databases and later requests can take."""

import json
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotope.intake import headers

NOW = datetime(2026, 5, 4, 12, 0, 0, tzinfo=UTC)
# As HTTP libraries hand over any bytes: UTF-8, and a lone surrogate for what is none.
SENT = st.binary(max_size=60).map(lambda data: data.decode("utf-8", "surrogateescape"))
ANY = st.one_of(SENT, st.text(st.characters(exclude_categories=()), max_size=60))


@given(ANY)
def test_any_value_is_one_line_that_arrow_json_and_a_terminal_take(value):
    text = headers.clean(value)
    assert text is not None
    assert text.splitlines() in ([text], [])
    assert json.loads(json.dumps(text)) == text
    assert pa.array([text]).to_pylist() == [text]
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in text)
    assert headers.clean(text) == text


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (b"image/jpeg", "image/jpeg"),
        ("image/jpéğ".encode(), "image/jpéğ"),
        (b"image/jp\xe9g", "image/jpég"),
        (b"image/\x80", r"image/\x80"),
        (b"\x1b[2J\x7f\x00", r"\x1b[2J\x7f\x00"),
        ("a\u202eb\u2028".encode(), r"a\u202eb\u2028"),
        (b"x" * 5000, "x" * 999 + "…"),
    ],
)
def test_bytes_that_are_no_utf_8_are_latin_1_and_what_is_unseen_is_written_out(sent, kept):
    assert headers.clean(sent.decode("utf-8", "surrogateescape")) == kept


def test_no_value_is_none():
    assert headers.clean(None) is None
    assert headers.returnable(None) is None
    assert headers.retry_after_s(None) is None


@given(ANY)
def test_only_what_arrives_as_it_was_sent_is_sent_back(value):
    kept = headers.returnable(value)
    assert kept is None or (kept == value and kept.isascii() and kept.isprintable())


@pytest.mark.parametrize(
    "value", ['"abc"', 'W/"x-1"', '""', "0cc175b9c0f1", "Mon, 04 May 2026 12:01:30 GMT"]
)
def test_tags_and_dates_are_sent_back(value):
    assert headers.returnable(value) == value


@pytest.mark.parametrize("value", ["", '"é"', '"a\nb"', '"a"\r\nX: y', "x" * 1000])
def test_what_no_request_may_hold_is_not_sent_back(value):
    assert headers.returnable(value) is None


@given(ANY)
def test_any_location_is_text_without_surrogates(value):
    headers.location(value).encode()


def test_a_location_in_another_encoding_is_percent_encoded():
    sent = b"/wiki/Caf\xe9.jpg".decode("utf-8", "surrogateescape")
    assert headers.location(sent) == "/wiki/Caf%E9.jpg"
    assert headers.location("/wiki/Café.jpg") == "/wiki/Café.jpg"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        (" 0 ", 0),
        ("Mon, 04 May 2026 12:01:30 GMT", 90),
        ("Mon, 04 May 2026 11:00:00 GMT", 0),
        ("Monday, 04-May-26 12:00:05 GMT", 5),
        ("soon", None),
        ("-1", None),
        ("1.5", None),
        ("", None),
        (None, None),
        ("Mon, 04 May 2026 12:01:30 +9999", None),
        ("Mon, 04 May 99999999999 12:01:30 GMT", None),
        ("9" * 4000, headers.LONGEST_PAUSE_S),
        ("Fri, 31 Dec 9999 23:59:59 GMT", headers.LONGEST_PAUSE_S),
        ("Fri, 31 Dec 9999 23:59:59 -0100", None),
    ],
)
def test_retry_after_is_read_in_seconds_and_as_a_date(value, seconds):
    assert headers.retry_after_s(value, now=lambda: NOW) == seconds


@pytest.mark.parametrize("year", [1970, 2026, 2038])
def test_a_date_is_that_of_the_servers_clock_whatever_this_one_says(year):
    sent, until = "Mon, 04 May 2026 12:00:00 GMT", "Mon, 04 May 2026 12:01:30 GMT"
    wrong = NOW.replace(year=year)
    assert headers.retry_after_s(until, sent, lambda: wrong) == 90
    assert headers.retry_after_s(until, "soon", lambda: NOW) == 90


DATES = st.text(alphabet="MonTueJanFeb0123456789,:+- GMT", max_size=40)


@given(st.one_of(ANY, DATES), st.one_of(st.none(), ANY, DATES))
def test_no_text_makes_the_reading_of_retry_after_fail(value, sent):
    seconds = headers.retry_after_s(value, sent)
    assert seconds is None or 0 <= seconds <= headers.LONGEST_PAUSE_S
