"""What columns of a user's table are likely to be: by their names, types and values.

A role is sought in the order of `ROLES`, and takes no column that another has. A guess is a
proposal: `isotope init` shows ten rows as it understands them, and `--columns` mends it.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa

from isotope.core.languages import two_letters
from isotope.parse.forms.texts import SPLIT_NAMES, is_picture
from isotope.parse.pair_rows import WORDS, day, grade

# The word for a language in languages that name columns of tables, in lower case.
_LANGUAGE = "|".join(
    (
        *("idiomas?", "sprache", "langue", "lingua", "língua", "llengua", "taal", "bahasa", "dil"),
        *("språk", "sprog", "kieli", "keel", "język", "jazyk", "jezik", "nyelv", "limb[aă]"),
        *("γλώσσα", "язык", "мова", "език", "језик", "שפה", "اللغة", "لغة", "زبان"),
        *("भाषा", "ভাষা", "ภาษา", "ngôn ngữ", "语言", "語言", "言語", "언어"),
    )
)
_NAMED = {
    "image": r"(image|img|picture|photo|file)(_?(name|file|path|url|uri))?|(file)?path|ur[il]|key",
    "image_id": r"(image|img|picture|photo|coco)_?ids?",
    "text_id": r"(text|caption|sent|sentence|query|annotation)_?id|_?id|qid",
    "title": r"(page_?|article_?)?title|headline|heading",
    "caption": r"alt(_?text)?|(image|picture)_(caption|description|text)",
    "split": r"split|fold|set|subset|partition",
    "relevance": r"relevance|grade|score|rel|judge?ment|rating",
    "language": rf"lang(uage)?|locale|lng|{_LANGUAGE}",
    "date": r"date(_.*)?|.*_date|day|year|taken|published|created(_at)?",
    "licen[cs]e": r"licen[cs]es?|rights?|copyright",
    "objects": r"objects?|tags?|labels?|classes|categor(y|ies)|synsets?|keywords?",
}
# Names of texts, the likeliest first; a number or a word before it comes after all of them.
_TEXTS = (
    *("captions?", "sentences?", "texts?", "raw", "(full_?)?descriptions?", "quer(y|ies)"),
    *("questions?", "comments?", "alt(_?text)?", "title", "annotations?"),
    "(short_?)?labels?|names?",
)
_LAST = ("title", _TEXTS[-1])
_KEYWORDS = re.compile(r"(.*[ ._-])?(tags?|keywords?)", re.IGNORECASE)
_SERIES = re.compile(r"(.*?)[ _-]?(\d+)")
# A text's column with its language: en, caption_de, fr_2, titleFR is none.
_SPOKEN = re.compile(
    r"(?P<stem>(?:.*?[ ._-])??)(?P<code>[A-Za-z]{2,3})(?:[-_](?P<region>[A-Z]{2}))?(?:[ ._-]?\d+)?"
)
_ID = re.compile(r"(.*[ ._-])?id", re.IGNORECASE)
_URL = re.compile(r"https?://", re.IGNORECASE)
_CODE = re.compile(r"[a-z]{2,3}([-_][A-Za-z0-9]{2,12})*")
_WORDS_OF_A_TEXT = 2.0
_SHARE = 0.5


@dataclass(frozen=True)
class GuessedColumn:
    """A column: its name, its type, and the values of some rows, None among them."""

    name: str
    kind: pa.DataType
    values: Sequence[Any]

    @property
    def filled(self) -> list[Any]:
        """The values that are there."""
        return [value for value in self.values if value is not None]

    @property
    def texts(self) -> list[str]:
        """The values as texts; those of lists one by one."""
        flat = (v if isinstance(v, list) else [v] for v in self.filled)
        return [str(item) for items in flat for item in items if item is not None]


IsPicture = Callable[[str], bool]


def guess(
    columns: Sequence[GuessedColumn],
    is_there: IsPicture | None = None,
    settled: Collection[str] = (),
) -> dict[str, list[str]]:
    """Return the columns of each role but those `settled`.

    `is_there` tells whether a picture of a name is there. Columns without a value are of no role.
    Of several columns that could be one the name decides, then their order.
    """
    left = [column for column in columns if column.filled]
    roles: dict[str, list[str]] = {}
    for role, chosen in _steps(is_there):
        names = chosen(left) if role not in settled and role not in roles else []
        if names:
            roles[role] = names
            left = [column for column in left if column.name not in names]
    return roles


def _steps(
    is_there: IsPicture | None,
) -> list[tuple[str, Callable[[Sequence[GuessedColumn]], list[str]]]]:
    def named(role: str, fits: Callable[[GuessedColumn], bool]) -> Callable[..., list[str]]:
        return lambda left: _first(c.name for c in left if _is_named(role, c) and fits(c))

    return [
        ("image", lambda left: _image(left, is_there)),
        ("image_id", named("image_id", _is_scalar)),
        ("split", named("split", _has_splits)),
        ("split", lambda left: _first(c.name for c in left if _are_splits(c))),
        ("text", _text),
        ("text_id", named("text_id", _is_key)),
        ("title", named("title", _is_words)),
        ("caption", named("caption", _is_words)),
        ("relevance", named("relevance", _has_grades)),
        ("language", named("language", _has_codes)),
        ("date", named("date", _has_days)),
        ("licence", named("licen[cs]e", _is_scalar)),
        ("objects", named("objects", _has_words)),
    ]


def _first(names: Iterable[str]) -> list[str]:
    return list(names)[:1]


def _is_named(role: str, column: GuessedColumn) -> bool:
    return re.fullmatch(_NAMED[role], column.name.strip().lower()) is not None


def _share(column: GuessedColumn, fits: Callable[[str], bool]) -> float:
    texts = column.texts
    return sum(map(fits, texts)) / len(texts) if texts else 0.0


def _is_scalar(column: GuessedColumn) -> bool:
    return not isinstance(column.filled[0], list | dict | bytes)


def _is_words(column: GuessedColumn) -> bool:
    return pa.types.is_string(column.kind) or pa.types.is_large_string(column.kind)


def _is_list_of_words(column: GuessedColumn) -> bool:
    return pa.types.is_list(column.kind) and pa.types.is_string(column.kind.value_type)


def _has_words(column: GuessedColumn) -> bool:
    """Tell whether values are words, or lists of words, and not records of JSON."""
    if not (_is_words(column) or _is_list_of_words(column)):
        return False
    return not any(text.startswith(("{", "[")) for text in column.texts)


def _is_key(column: GuessedColumn) -> bool:
    return _is_scalar(column) and len(set(column.filled)) == len(column.filled)


def _has_splits(column: GuessedColumn) -> bool:
    """Tell whether most values are splits: of others the pairs are set aside, and counted."""
    return _share(column, lambda text: text.lower() in SPLIT_NAMES) > _SHARE


def _are_splits(column: GuessedColumn) -> bool:
    """Tell whether the values, whatever their column is called, are splits, and of two at least."""
    texts = {text.lower() for text in column.texts}
    return texts <= SPLIT_NAMES.keys() and len({SPLIT_NAMES[text] for text in texts}) > 1


def _has_grades(column: GuessedColumn) -> bool:
    filled = [value for value in column.filled if not isinstance(value, bool)]
    return sum(grade(value) is not None for value in filled) > _SHARE * len(column.filled)


def _has_codes(column: GuessedColumn) -> bool:
    return all(_CODE.fullmatch(text) for text in column.texts)


def _has_days(column: GuessedColumn) -> bool:
    return sum(day(value) is not None for value in column.filled) > _SHARE * len(column.filled)


def refused(columns: Sequence[GuessedColumn], roles: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the columns whose names are those of a role that their values refuse, with the role.

    Of roles that some column has already nothing is said.
    """
    fits = {"split": _has_splits, "relevance": _has_grades, "date": _has_days}
    fits |= {"language": _has_codes, "objects": _has_words}
    taken = {name for names in roles.values() for name in names}
    return {
        column.name: role
        for role, fit in fits.items()
        for column in columns
        if role not in roles and column.name not in taken and column.filled
        if _is_named(role, column) and not fit(column)
    }


def _image(columns: Sequence[GuessedColumn], is_there: IsPicture | None) -> list[str]:
    """Return the column whose values are pictures that are there, names of pictures, or URLs.

    A name that ends as no picture's does counts where a picture of this name is there.
    """
    ranked: list[tuple[float, bool, bool, int, str]] = []
    for n, column in enumerate(columns):
        if not _is_scalar(column):
            continue
        share_there = _share(column, is_there) if is_there else 0.0
        looks = _share(column, _looks_like_picture)
        if max(share_there, looks) >= _SHARE or (_is_url(column) and _is_named("image", column)):
            is_named = _is_named("image", column) or _is_named("image_id", column)
            ranked.append((-share_there, looks < _SHARE, not is_named, n, column.name))
    return [min(ranked)[-1]] if ranked else []


def _looks_like_picture(text: str) -> bool:
    path = text.partition("?")[0] if _URL.match(text) else text
    return is_picture(path) and bool(PurePosixPath(path).stem)


def _is_url(column: GuessedColumn) -> bool:
    return _share(column, lambda text: _URL.match(text) is not None) >= _SHARE


def is_url(text: str) -> bool:
    """Tell whether a text is the address of something on a server."""
    return _URL.match(text) is not None


def _text(columns: Sequence[GuessedColumn]) -> list[str]:
    """Return the column of texts, or several that differ by a number or by a language."""
    texts = [c for c in columns if (_is_words(c) or _is_list_of_words(c)) and not _is_url(c)]
    stems = _stems(texts)
    ranks = {c.name: _rank(c, stems.get(c.name)) for c in texts}
    fit = [
        c
        for c in texts
        if c.name in stems or ranks[c.name] < len(_TEXTS) * 3 or _length(c) >= _WORDS_OF_A_TEXT
    ]
    if not fit:
        return []
    order = {c.name: (_is_keywords(c), ranks[c.name], _is_repeated(c), -_length(c)) for c in fit}
    best = min(order, key=lambda name: order[name])
    if best in stems:
        return [c.name for c in texts if stems.get(c.name) == stems[best]]
    series = _SERIES.fullmatch(best)
    stem = series[1] if series else best
    numbered = {c.name: _number(c.name, stem) for c in texts}
    family = sorted((n, name) for name, n in numbered.items() if n is not None)
    return [name for _, name in family]


def languages(names: Sequence[str]) -> dict[str, str]:
    """Return the languages of columns side by side by their names: en, caption_de_2, title.pt-BR.

    Columns of one language are no such: en_1 and en_2.
    """
    matches = {name: match for name in names if (match := _SPOKEN.fullmatch(name.strip()))}
    matches = {n: match for n, match in matches.items() if match["code"].lower() in two_letters()}
    spoken_stems = {(match["stem"].lower(), match["code"].lower()) for match in matches.values()}
    spoken_stems |= {
        (match["stem"].lower(), match[0]) for match in matches.values() if match["region"]
    }
    stems = Counter(stem for stem, _ in spoken_stems)
    return {
        name: match["code"].lower() + (f"-{match['region']}" if match["region"] else "")
        for name, match in matches.items()
        if stems[match["stem"].lower()] > 1
    }


def _stems(columns: Sequence[GuessedColumn]) -> dict[str, str]:
    """Return what the names of columns side by side have before their language."""
    # A column `id` has ids unless it has sentences, which are Indonesian.
    names = [c.name for c in columns if not _ID.fullmatch(c.name) or _length(c) > 1]
    matches = {name: _SPOKEN.fullmatch(name.strip()) for name in languages(names)}
    return {name: match["stem"].lower() for name, match in matches.items() if match}


def _is_repeated(column: GuessedColumn) -> bool:
    """Tell whether most values come again, as those of a group do."""
    return len(set(column.texts)) <= _SHARE * len(column.texts)


def _is_keywords(column: GuessedColumn) -> bool:
    """Tell whether a column has lists of words rather than texts: tags, keywords."""
    if _KEYWORDS.fullmatch(column.name.strip()):
        return True
    if not _is_named("objects", column) or re.fullmatch("labels?", column.name.strip().lower()):
        return False
    return _is_list_of_words(column) or _share(column, lambda t: bool(WORDS.search(t))) >= _SHARE


def _rank(column: GuessedColumn, stem: str | None) -> int:
    """Return how likely a name is that of the text; 0 is the likeliest.

    `stem` is what stands before its language, None where it has none.
    """
    if stem == "":
        return _TEXTS.index("title") - 1
    name = (stem or column.name).strip(" ._-").lower()
    for n, pattern in enumerate(_TEXTS):
        if pattern == _TEXTS[-1] and _is_repeated(column):
            continue
        if re.fullmatch(pattern, name):
            return n
        if re.fullmatch(rf"({pattern})[ _-]?\d+", name):
            return n + len(_TEXTS)
    for n, pattern in enumerate(_TEXTS):
        if re.fullmatch(rf".*[ _-]({pattern})", name) and pattern not in _LAST:
            return n + 2 * len(_TEXTS)
    return 3 * len(_TEXTS)


def _length(column: GuessedColumn) -> float:
    """Return the mean number of words of a column's texts."""
    texts = column.texts
    return sum(len(text.split()) for text in texts) / len(texts) if texts else 0.0


def _number(name: str, stem: str) -> int | None:
    """Return the number of a column of a series: 0 for the stem itself, None for another name."""
    if name == stem:
        return 0
    series = _SERIES.fullmatch(name)
    return int(series[2]) if series and series[1] == stem else None
