"""What the page of `isotope suggest` shows of an answer: words, links and a verdict, as JSON."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from urllib.parse import quote, urlsplit

from isotope.core.wikimedia import decoded_name
from isotope.judge.suggestions import Suggestion, Verdict, verdict_json
from isotope.report.site import web
from isotope.suggest.answers import Answer, Place

_Verdicts = Mapping[Suggestion, Verdict]
# The least probability of each word.
_WORDS = {0.95: "very likely", 0.8: "likely", 0.6: "rather likely", 0.4: "uncertain"}
_LEAST = "unlikely"
_CERTAIN = 0.995
# Characters with which wikitext begins or ends something, as a caption has them.
_ESCAPED = {"&": "&amp;", "<": "&lt;", "|": "&#124;", "[": "&#91;", "]": "&#93;", "{": "&#123;"}
_ESCAPED |= {"}": "&#125;", "'": "&#39;", "~": "&#126;"}


def chance(probability: float | None) -> str:
    """Return a probability in per cent with a word for it; None is one that nobody calibrated."""
    if probability is None:
        return "not calibrated"
    word = next((word for least, word in _WORDS.items() if probability >= least), _LEAST)
    if probability >= _CERTAIN:
        return f"over 99\u00a0%, {word}"
    return f"{probability:.0%}, {word}".replace("%", "\u00a0%")


def wikitext(image_url: str, caption: str) -> str:
    """Return what a section shows the picture by, as a thumbnail with its caption.

    Source: https://www.mediawiki.org/wiki/Help:Images. The caption's markup is escaped.
    """
    words = " ".join(caption.split()).translate(str.maketrans(_ESCAPED))
    return f"[[File:{file_name(image_url)}|thumb|{words}]]" if words else _bare(image_url)


def _bare(image_url: str) -> str:
    return f"[[File:{file_name(image_url)}|thumb]]"


def file_name(image_url: str) -> str:
    """Return the name of the file at an address; empty if it could not be one on a wiki."""
    name = decoded_name(urlsplit(image_url).path.rpartition("/")[2])
    return "" if set(name) & set("<>[]|{}#\n") else name


def answer_card(answer: Answer, text_id: str, verdicts: _Verdicts) -> dict[str, Any]:
    """Return what the page shows of a picture for the text `text_id`."""
    name = file_name(answer.image_url)
    return {
        **asdict(answer),
        "image_url": web(answer.image_url),
        "file_page": web(answer.file_page),
        "file": name or answer.image_id,
        "chance": chance(answer.probability),
        "thumbnail": f"/thumbnail/{quote(answer.image_id, safe='')}",
        "wikitext": wikitext(answer.image_url, answer.caption) if name else "",
        **_judged(text_id, answer.image_id, verdicts),
    }


def place_card(place: Place, image_id: str, verdicts: _Verdicts) -> dict[str, Any]:
    """Return what the page shows of a section for the picture `image_id`, empty for none."""
    return {
        **asdict(place),
        "page_url": web(place.page_url),
        "chance": chance(place.probability),
        **_judged(place.text_id, image_id, verdicts),
    }


def _judged(text_id: str, image_id: str, verdicts: _Verdicts) -> dict[str, Any]:
    item = Suggestion(text_id, image_id)
    return {"item": item._asdict(), "grade": verdict_json(verdicts.get(item))}
