"""Words that a wiki has in several variants of its language, such as `-{zh-cn:甲;zh-tw:乙}-`.

What MediaWiki shows in one variant is chosen: by its `includes/Language/ConverterRule.php`, the
variants and fallbacks of `includes/Language/Converters/*.php` (those of Kazakh are of older
versions, newer ones have none), and for HTML by Parsoid's `data-mw-variant`. Text outside of such
markup is not converted from one script to another, neither as a whole nor by a page's own rules.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import cast

from isotope.core.errors import BadParams

# By language: each variant, the one that readers see who chose none first, with its fallbacks.
_VARIANTS: dict[str, dict[str, str]] = {
    "ban": {
        "ban": "",
        **dict.fromkeys(("ban-bali", "ban-x-dharma", "ban-x-palmleaf", "ban-x-pku"), "ban"),
    },
    "crh": {"crh": "crh-latn", "crh-cyrl": "crh-latn", "crh-latn": "crh-cyrl"},
    "gan": {"gan": "gan-hans gan-hant", "gan-hans": "gan", "gan-hant": "gan"},
    "iu": {"iu": "ike-cans", "ike-cans": "iu", "ike-latn": "iu"},
    "kk": {
        **{"kk": "kk-cyrl", "kk-cyrl": "kk", "kk-latn": "kk", "kk-arab": "kk"},
        **{"kk-kz": "kk-cyrl", "kk-tr": "kk-latn", "kk-cn": "kk-arab"},
    },
    "ku": {"ku": "ku-latn", "ku-arab": "ku-latn", "ku-latn": "ku-arab"},
    "mni": {"mni": "", "mni-beng": "mni"},
    "sh": {"sh-latn": "", "sh-cyrl": "sh-latn"},
    "shi": {"shi": "shi-latn shi-tfng", "shi-tfng": "shi", "shi-latn": "shi"},
    "sr": {"sr": "sr-ec", "sr-ec": "sr", "sr-el": "sr"},
    "tg": {"tg": "", "tg-latn": "tg"},
    "tly": {"tly": "", "tly-cyrl": "tly"},
    "uz": {"uz": "uz-latn", "uz-latn": "uz", "uz-cyrl": "uz"},
    "wuu": {"wuu": "wuu-hans wuu-hant", "wuu-hans": "wuu", "wuu-hant": "wuu"},
    "zgh": {"zgh": "", "zgh-latn": "zgh"},
    "zh": {
        "zh": "zh-hans zh-hant zh-cn zh-tw zh-hk zh-sg zh-mo zh-my",
        "zh-hans": "zh-cn zh-sg zh-my",
        "zh-hant": "zh-tw zh-hk zh-mo",
        "zh-cn": "zh-hans zh-sg zh-my",
        "zh-sg": "zh-my zh-hans zh-cn",
        "zh-my": "zh-sg zh-hans zh-cn",
        "zh-tw": "zh-hant zh-hk zh-mo",
        "zh-hk": "zh-mo zh-hant zh-tw",
        "zh-mo": "zh-hk zh-hant zh-tw",
    },
}
# The standard's names (BCP 47) of variants that MediaWiki calls otherwise.
_STANDARD = {
    **{"sr-cyrl": "sr-ec", "sr-latn": "sr-el", "zh-hans-cn": "zh-cn", "zh-hans-sg": "zh-sg"},
    **{"zh-hans-my": "zh-my", "zh-hant-tw": "zh-tw", "zh-hant-hk": "zh-hk", "zh-hant-mo": "zh-mo"},
    **{"kk-cyrl-kz": "kk-kz", "kk-latn-tr": "kk-tr", "kk-arab-cn": "kk-cn"},
}
_OPENING, _DEEP = "-{", "rule too deep"
_FLAGS, _TITLE = frozenset("ATRD-HNS"), frozenset("T")
_TOKEN = re.compile(r"-\{(?!\{)|\}-|\{\{|\}\}")
_ENTITY = re.compile(r"(&[#a-zA-Z0-9]+);")
_SEMICOLON = "\3"
# What MediaWiki reads of rules within rules.
_DEEPEST = 10
_ANY_VARIANT = "*"


@dataclass(frozen=True)
class Variant:
    """A variant of a wiki's language: what is shown in it.

    `chain` is the variant itself and those whose words are shown where it has none, best first;
    `codes` are those of all variants; `separator` ends a variant's words.
    """

    chain: tuple[str, ...]
    codes: frozenset[str]
    separator: re.Pattern[str]

    @staticmethod
    @cache
    def of_language(language: str, code: str | None = None) -> "Variant | None":
        """Return a variant by its code, or the one of readers who chose none; None without any.

        Raises:
            BadParams: the wiki's language has no such variant.
        """
        variants = _VARIANTS.get(language, {})
        wanted = (code or next(iter(variants), "")).lower()
        wanted = _STANDARD.get(wanted, wanted)
        if code and wanted not in variants:
            choices = ", ".join(variants) or "none: leave the key out"
            raise BadParams(
                "parse.<source>.variant",
                f"{code!r}, which is no variant of the language {language!r} of this wiki",
                f"choose one of the variants that it has: {choices}",
            )
        if not variants:
            return None
        names = [*variants, *(name for name, standard in _STANDARD.items() if standard in variants)]
        begin = rf"(?:{'|'.join(sorted(names, key=len, reverse=True))})\s*:"
        return Variant(
            (wanted, *variants[wanted].split()),
            frozenset(variants),
            re.compile(rf";\s*(?={begin}|[^;]*?=>\s*{begin}|\s*$)", re.IGNORECASE),
        )

    def chosen(self, text: str) -> str:
        """Return wikitext with every `-{...}-` replaced by the words of this variant.

        What is not closed stays as it is. Time is linear in the length of the text.
        """
        if _OPENING not in text:
            return text
        return _Reading(self, text).run()

    def shown(self, rule: str) -> str:
        """Return what stands in a `-{...}-` in this variant, without markup of the kind in it."""
        flags, words = self._flags(rule)
        is_hidden = "-" in flags or flags == _TITLE or flags >= {"A", "D"}
        if flags & {"R", "N"}:
            return words
        if is_hidden or ("H" in flags and "D" not in flags):
            return ""
        both, ways = ({}, {}) if flags & self.codes else self._rules(words)
        if not both and not ways:
            return words
        return _described(both, ways) if "D" in flags else self.pick(both, ways)

    def pick(self, both: Mapping[str, str], ways: Mapping[str, str]) -> str:
        """Return the words of two-way rules in this variant, or of one-way rules; else any.

        Where MediaWiki shows an error, since a rule has no words for the variant, the first ones
        are returned.
        """
        first = next(iter([*both.values(), *ways.values()]), "")
        words = next((both[code] for code in self.chain if code in both), None)
        return ways.get(self.chain[0], first) if words is None else words

    def code(self, name: str) -> str | None:
        """Return the code of a variant of this language by any of its names, or None."""
        name = name.strip().lower()
        code = _STANDARD.get(name, name)
        return code if code in self.codes else None

    def _flags(self, rule: str) -> tuple[frozenset[str], str]:
        flag_text, bar, words = rule.partition("|")
        if not bar or "[[" in flag_text or "{{" in flag_text or "{|" in flag_text:
            return frozenset(), rule
        flags = frozenset(flag.strip() for flag in flag_text.split(";"))
        return flags & (_FLAGS | self.codes), words

    def _rules(self, words: str) -> tuple[dict[str, str], dict[str, str]]:
        """Return words by variant of two-way and of one-way rules; none if a variant is unknown."""
        both, ways = dict[str, str](), dict[str, str]()
        for choice in self.separator.split(_ENTITY.sub(rf"\1{_SEMICOLON}", words)):
            name, colon, to = choice.replace(_SEMICOLON, ";").partition(":")
            if not colon:
                continue
            source, arrow, target = name.rpartition("=>")
            code = self.code(target)
            if code is None:
                return {}, {}
            if not arrow and to.strip():
                both[code] = to.strip()
            elif arrow and source.strip():
                ways.setdefault(code, to.strip())
        return both, ways


class _Reading:
    """A walk over wikitext with the rules that are open, and the templates in them."""

    def __init__(self, variant: Variant, text: str) -> None:
        self.variant, self.text = variant, text
        # What stands in each open rule, the page first; and all that is open.
        self._words, self._open = [list[str]()], list[str]()
        self._begin = self._rules = 0

    def run(self) -> str:
        at = 0
        while token := _TOKEN.search(self.text, at):
            at = self._step(token)
        self._words[-1].append(self.text[self._begin :])
        while len(self._words) > 1:
            unclosed = self._words.pop()
            self._words[-1] += [_OPENING, *unclosed]
        return "".join(self._words[0])

    def _step(self, token: re.Match[str]) -> int:
        """Read a mark; return where the next one may begin."""
        mark = token[0]
        if mark == _OPENING:
            self._begin_rule(token)
        elif not self._rules:
            # The end of `}-{` may begin a rule.
            return token.end() - (mark == "}-")
        elif mark == "{{":
            self._open.append(mark)
        elif mark == "}-":
            self._end_rule(token)
        elif self._open[-1] == "{{":
            self._open.pop()
        else:
            # The end of `}}-` may end a rule.
            return token.start() + 1
        return token.end()

    def _begin_rule(self, token: re.Match[str]) -> None:
        is_deep = self._rules >= _DEEPEST
        self._open.append(_DEEP if is_deep else _OPENING)
        self._rules += 1
        if not is_deep:
            self._words[-1].append(self.text[self._begin : token.start()])
            self._words.append([])
            self._begin = token.end()

    def _end_rule(self, token: re.Match[str]) -> None:
        while self._open[-1] == "{{":
            self._open.pop()
        self._rules -= 1
        if self._open.pop() == _OPENING:
            rule = "".join([*self._words.pop(), self.text[self._begin : token.start()]])
            self._words[-1].append(self.variant.shown(rule))
            self._begin = token.end()


def _described(both: Mapping[str, str], ways: Mapping[str, str]) -> str:
    return "; ".join([*both.values(), *ways.values()])


def rules_of(rules: Mapping[str, object], variant: Variant) -> str | None:
    """Return the HTML of Parsoid's `data-mw-variant` in a variant; None where it has no rule."""
    for key in ("disabled", "name", "filter"):
        if (words := _text(rules.get(key))) is not None:
            return words
    both, ways = (_by_code(rules.get(key), variant) for key in ("twoway", "oneway"))
    if not both and not ways:
        return None
    return _described(both, ways) if rules.get("describe") else variant.pick(both, ways)


def _by_code(rules: object, variant: Variant) -> dict[str, str]:
    words_by_code = dict[str, str]()
    for rule in cast(list[object], rules) if isinstance(rules, list) else []:
        words, name = _text(rule), _field(rule, "l")
        if words and isinstance(name, str):
            code = variant.chain[0] if name.strip() == _ANY_VARIANT else variant.code(name)
            if code is not None:
                words_by_code.setdefault(code, words)
    return words_by_code


def _field(record: object, name: str) -> object:
    return cast(dict[str, object], record).get(name) if isinstance(record, dict) else None


def _text(record: object) -> str | None:
    text = _field(record, "t")
    return text if isinstance(text, str) else None
