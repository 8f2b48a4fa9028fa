"""The arguments of a call, and what the templates that are known by hand make of them."""

import re
from dataclasses import dataclass

_NUMBER = re.compile(r"[\s\d.,/+\u2212-]+")
_RANGE = re.compile(r"[-\u2013+\u00b1\u00d7x]|to|and|or|by|to\(-\)")
_MONTH = re.compile("0?[1-9]|1[0-2]", re.ASCII)
_YEAR = re.compile(r"\d{3,4}", re.ASCII)
_DAY = re.compile(r"(?:0?[1-9]|[12]\d|3[01])(?:er|º|\.|st|nd|rd|th)?", re.ASCII)
CURRENCIES = {
    **{
        "gbp": "£",
        "£": "£",
        "usd": "$",
        "us$": "US$",
        "eur": "€",
        "€": "€",
        "inr": "₹",
        "jpy": "¥",
    },
    **{"aud": "A$", "a$": "A$", "cad": "C$", "nzd": "NZ$", "php": "₱", "krw": "₩", "cny": "CN¥"},
    **{"indian rupee": "₹", "¥": "¥", "philippine peso": "₱", "pound sterling": "£", "ngn": "₦"},
}
_FRENCH = "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
_FRENCH_MONTHS = frozenset(_FRENCH.split())
_MONTHS = "January February March April May June July August September October November December"


@dataclass(frozen=True)
class Arguments:
    """A call as written: the name in lower case, and arguments without markup around them."""

    name: str
    positional: list[str]
    named: dict[str, str]

    def first(self) -> str:
        """Return the first argument, however it is named."""
        if self.positional:
            return self.positional[0]
        return next((self.named[key] for key in ("1", "text", "quote") if key in self.named), "")

    def second(self) -> str:
        """Return the second argument: `{{langx|fr|mot}}` reads `mot`, whatever follows."""
        text = self.positional[1] if len(self.positional) > 1 else self.named.get("2", "")
        return self.named.get("text", text)

    def last(self) -> str:
        """Return the last positional argument: `{{lang|fr|mot}}` reads `mot`."""
        return self.positional[-1] if self.positional else self.named.get("2", "")

    def items(self) -> str:
        """Return one item a line."""
        return "\n".join(self.positional) or self.first()

    def inline_items(self) -> str:
        """Return the items as an enumeration."""
        return ", ".join(self.positional)

    def joined(self) -> str:
        """Return the arguments run together: `{{chem|H|2|O}}` reads `H2O`."""
        return "".join(self.positional)

    def fraction(self) -> str:
        """Return `1/2`, or `3 1/2` for three arguments."""
        integers, parts = self.positional[:-2], self.positional[-2:]
        return " ".join([*integers, "/".join(parts)])

    def as_of(self) -> str:
        """Return `As of May 2010`, or what is to stand for it."""
        if "alt" in self.named:
            return self.named["alt"]
        return f"{'as' if 'lc' in self.named else 'As'} {self._since()} {date_of(self)}"

    def _since(self) -> str:
        return "since" if "since" in self.named else "of"

    def circa(self) -> str:
        """Return `c. 1900`, or both of two years."""
        return " \u2013 ".join(f"c. {year}" for year in self.positional[:2] if year) or "c."

    def gloss(self) -> str:
        """Return `Tokyo Tower (東京タワー, Tōkyō tawā)`."""
        inside = ", ".join(word for word in self.positional[1:3] if word)
        return f"{self.first()} ({inside})" if inside else self.first()

    def ship(self) -> str:
        """Return `USS Enterprise` for `{{USS|Enterprise|CV-6}}`."""
        return f"{self.name.upper()} {self.first()}"

    def any_ship(self) -> str:
        """Return `USS Enterprise (CV-6)`, less what the fourth argument leaves out.

        It is 1 for the ship's name alone, 2 for its number alone and 3 for the prefix and the name.
        """
        prefix, name, number, form = [*self.positional, "", "", "", ""][:4]
        full_name = f"{prefix} {name}".strip()
        forms = {"1": name, "2": number, "3": full_name, "5": f"{prefix} {number}".strip()}
        return forms.get(form, f"{full_name} ({number})" if number else full_name)

    def money(self) -> str:
        """Return `£25` for `{{GBP|25}}`."""
        return f"{CURRENCIES[self.name]}{self.first()}"

    def any_money(self) -> str:
        """Return `$25` for `{{currency|25|USD}}`."""
        code = self.second().lower()
        return f"{CURRENCIES.get(code, self.second())}{self.first()}"

    def unit(self) -> str:
        """Return `2000 m`, or `10 km/h` for `{{unité|10|km||h|-1}}`."""
        return " ".join(word for word in self.positional[:2] if word)


def quantity(call: Arguments) -> str:
    """Return a converted or formatted number with the unit it is given in."""
    words = list[str]()
    for word in call.positional:
        words.append(word)
        if not _NUMBER.fullmatch(word) and not _RANGE.fullmatch(word):
            break
    return " ".join([*words, *(call.named[key] for key in ("u", "ul") if key in call.named)])


def date_of(call: Arguments) -> str:
    """Return `3 May 2010` for year, month and day, and a date that begins with its day as it is."""
    words = [word for word in call.positional[:3] if word]
    if len(words) > 1 and words[0] == "1" and words[1].lower() in _FRENCH_MONTHS:
        words[0] = "1er"
    if len(words) > 1 and (words[0].lower() in _FRENCH_MONTHS or _is_day(words[0])):
        return " ".join(words)
    if len(words) > 1 and _MONTH.fullmatch(words[1]):
        words[1] = _MONTHS.split()[int(words[1]) - 1]
    return " ".join(reversed(words))


def _is_day(word: str) -> bool:
    return bool(_DAY.fullmatch(word)) and not _YEAR.fullmatch(word)


def ordinal(number: str) -> str:
    """Return `21st` for 21."""
    number = number.strip()
    if not number.isdecimal():
        return number
    ends = {"1": "st", "2": "nd", "3": "rd"}
    return number + ("th" if number[-2:-1] == "1" else ends.get(number[-1], "th"))


def century(call: Arguments) -> str:
    """Return `XXe siècle` for `{{s|XX|e}}`."""
    return f"{call.first()}{call.second() or 'e'} siècle"


def centuries(call: Arguments) -> str:
    """Return `XIXe et XXe siècles` for `{{sp|XIX|e|et|XX|e}}`."""
    parts = [*call.positional, "", "", "", "", ""]
    return f"{parts[0]}{parts[1]} {parts[2]} {parts[3]}{parts[4]} siècles"


def biography(call: Arguments) -> str:
    """Return the first sentence of a life, as Template:Bio of the Italian Wikipedia writes it.

    Of a person who died the verb is in the past.
    """
    values = {key: value.strip() for key, value in call.named.items()}

    def words(*names: str) -> str:
        return " ".join(word for name in names if (word := values.get(name, "")))

    def event(kind_of_event: str) -> str:
        town = words(f"Luogo{kind_of_event}Alt") or words(f"Luogo{kind_of_event}")
        return ", ".join(
            filter(None, (town, words(f"GiornoMese{kind_of_event}", f"Anno{kind_of_event}")))
        )

    name = words("Titolo", "Nome", "Cognome", "PostCognome")
    life = " \u2013 ".join(filter(None, (event("Nascita"), event("Morte"))))
    begin = f"{name} ({life})" if life else name
    if "FineIncipit" in values:
        return f"{begin} {values['FineIncipit']}."
    work = [word for n in ("", "2", "3") if (word := values.get(f"Attività{n}", ""))]
    joined = " e ".join(filter(None, (", ".join(work[:-1]), *work[-1:])))
    predicate = f"{_italian_verb(values)}{joined} {words('Nazionalità')}".rstrip()
    after = values.get("PostNazionalità", "")
    return f"{begin} {predicate}{after if after[:1] in ',.' else f' {after}'}" + "." * (
        after[-1:] != "."
    )


def _italian_verb(values: dict[str, str]) -> str:
    is_woman = values.get("Sesso", "").upper() == "F"
    work = values.get("Attività", "").lower()
    is_past = bool(values.get("AnnoMorte"))
    verb = ("è stata " if is_woman else "è stato ") if is_past else "è "
    if is_woman:
        return verb + ("un'" if work[:1] in tuple("aeiou") else "una ")
    return verb + ("uno " if re.match(r"z|gn|ps|s[^aeiou]", work) else "un ")
