"""What the page of `isotope suggest` shows of an answer: words, links and a verdict, as JSON."""

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from isotope.core.uploads import file_of
from isotope.report.site import web
from isotope_judge.suggestions import Suggestion, Verdict, verdict_json
from isotope_suggest.ask.answers import Answer, SectionAnswer

_Verdicts = Mapping[Suggestion, Verdict]
# The least per cent of each word.
_WORDS = {95: "very likely", 80: "likely", 60: "rather likely", 40: "uncertain", 0: "unlikely"}
# What means something within a thumbnail's brackets: tags, options, links, templates, entities,
# emphasis and signatures.
_MARKUP = re.compile(r"[<|\[\]{}]|&(?=#?\w+;)|'{2,}|~{3,}")
_NO_NAME = frozenset("<>[]|{}#\n")


def chance(probability: float | None, low: float | None = None, high: float | None = None) -> str:
    """Return a probability in per cent with a word for it; None is one that nobody calibrated.

    Where the ends of its interval have other words, it is said to be uncertain how likely it is.
    """
    if probability is None:
        return "not calibrated"
    number, word = _number(probability), _word(probability)
    if low is None or high is None:
        return f"{number}\u00a0%, {word}"
    within = f"{_number(low)} to {_number(high)}\u00a0%"
    sure = word if _word(low) == word == _word(high) else f"{_word(low)} to {_word(high)}"
    return f"{number}\u00a0%, {sure} ({within})"


def _number(probability: float) -> str:
    percent = round(100 * probability)
    return {0: "under 1", 100: "over 99"}.get(percent, str(percent))


def _word(probability: float) -> str:
    percent = round(100 * probability)
    return next(word for least, word in _WORDS.items() if percent >= least)


def wikitext(name: str, caption: str) -> str:
    """Return the wikitext of a thumbnail of the file `name`; the caption's markup is escaped.

    Source: https://www.mediawiki.org/wiki/Help:Images.
    """
    words = _MARKUP.sub(_escaped, " ".join(caption.split()))
    return f"[[File:{name}|thumb|{words}]]" if words else f"[[File:{name}|thumb]]"


def _escaped(markup: re.Match[str]) -> str:
    return "".join(f"&#{ord(sign)};" for sign in markup[0])


def file_name(image_url: str) -> str:
    """Return the name of the file at an address; empty if no wiki could have a file of it."""
    name = file_of(image_url) or ""
    return "" if _NO_NAME & set(name) else name


def answer_card(answer: Answer, text_id: str, verdicts: _Verdicts) -> dict[str, Any]:
    """Return what the page shows of a picture for the text `text_id`."""
    name = file_name(answer.image_url)
    return {
        **asdict(answer),
        "image_url": web(answer.image_url),
        "file_page": web(answer.file_page),
        "file": name or answer.image_id,
        "chance": chance(answer.probability, answer.low, answer.high),
        "thumbnail": f"/thumbnail/{quote(answer.image_id, safe='')}",
        # A picture of which nobody states a free licence is not for copying.
        "wikitext": wikitext(name, answer.caption) if name and answer.is_free else "",
        **_judged(text_id, answer.image_id, verdicts),
    }


def section_card(section: SectionAnswer, image_id: str, verdicts: _Verdicts) -> dict[str, Any]:
    """Return what the page shows of a section for the picture `image_id`, empty for none."""
    return {
        **asdict(section),
        "page_url": web(section.page_url),
        "chance": chance(section.probability, section.low, section.high),
        **_judged(section.text_id, image_id, verdicts),
    }


def _judged(text_id: str, image_id: str, verdicts: _Verdicts) -> dict[str, Any]:
    item = Suggestion(text_id, image_id)
    return {"item": item._asdict(), "grade": verdict_json(verdicts.get(item))}
