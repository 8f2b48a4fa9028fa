"""A call of a template: which of its arguments are the caption and the text of a picture.

What the template's own page says comes first (`transclusion`), and then what the names say.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from isotope.parse.templates import show_bars
from isotope.parse.transclusion import modules, naming
from isotope.parse.transclusion.known import Slots

_KEY = re.compile(r"\s*([^=|\[\]{}<>]{1,60}?)\s*=(.*)", re.DOTALL)
# A template's only caption belongs to the picture that is called so.
_MAIN = frozenset(("image", "image_name", "image name", "img", "picture", "photo", "cover", "bild"))
_NUMBER = re.compile(r"\d*$")


@dataclass(frozen=True)
class Options:
    """How a file is shown: wikitext of caption and alternative text, width in px if it is known.

    It is known where it is told, and of pictures that are `frameless`, which are as wide as
    thumbnails. `unread` are the parts that are neither an option that the wiki has a word for nor
    the caption.
    """

    caption: str = ""
    alt: str = ""
    width: int | None = None
    is_framed: bool = False
    unread: tuple[str, ...] = ()


def slots_by_hand(name: str) -> Mapping[str, Slots]:
    """Return the pictures of a template whose page is not known, by its name, each by its key."""
    if modules.kind_of(name, "") != modules.GALLERY:
        return {}
    standard = modules.STANDARD[modules.GALLERY].items()
    return {file: Slots((file,), (caption,), (alt,)) for file, (caption, alt) in standard}


class CallArguments:
    """The arguments of a call, and which of them belong together."""

    def __init__(self, arguments: Sequence[str], slots: Mapping[str, Slots]) -> None:
        """Read arguments as written, of a template of which these pictures are known."""
        self._slots = slots
        self.arguments = list[tuple[str, str]]()
        self._by_key: dict[str, str] = {}
        self.named: dict[str, str] = {}
        count = 0
        for argument in arguments:
            match = _KEY.fullmatch(argument)
            count += match is None
            key, value = (match[1], match[2]) if match else (str(count), argument)
            self.arguments.append((key, value))
            self._by_key[key] = value
            if match:
                self.named[key.lower()] = value

    def is_picture(self, key: str) -> bool:
        """Tell whether an argument is a picture, by the template or by its name."""
        return key in self._slots or naming.name_of(key).kind == naming.PICTURE

    def options(self, key: str) -> Options:
        """Return caption and alternative text of the picture in this argument."""
        slot = self._slots.get(key, _NO_SLOTS)
        caption, alt = (
            self._first(names) or self._by_name(key, purpose)
            for names, purpose in ((slot.caption, naming.CAPTION), (slot.alt, naming.ALT))
        )
        return Options(show_bars(caption), show_bars(alt), is_framed=True)

    def _first(self, names: Sequence[str]) -> str:
        return next((v for name in names if (v := self._by_key.get(name, "").strip())), "")

    def _by_name(self, key: str, purpose: str) -> str:
        """Return the argument whose name says that it stands beside this one.

        For `image2` these are caption2, image2_caption, caption 2 ... and, without these, caption.
        """
        key = "" if key.isdecimal() else key.lower()
        number = _NUMBER.search(key)
        end = number[0] if number else ""
        stem = key.removesuffix(end).rstrip("_ ")
        usual = _first(self.named, purpose, key, stem, end)
        if usual or not key:
            return usual
        neighbours = naming.beside(key, [k for k, v in self.named.items() if v.strip()], purpose)
        return self.named[neighbours[0]].strip() if neighbours else ""


_NO_SLOTS = Slots(())
_LETTER = re.compile(r"[^\W\d_]")
_SIZE = re.compile(r"\s*[\d.]*\s*(?:x\s*\d+)?\s*(?:px|em|%)?\s*|auto", re.IGNORECASE)


def by_place(
    call: CallArguments, files: Sequence[str], flags: Collection[str]
) -> Mapping[str, Options]:
    """Return captions and alternative texts of files that a call names by their places alone.

    Behind the last of `files`, which are keys of arguments, come as many captions and then as many
    alternative texts; sizes and `flags`, such as `right`, are neither.
    ASSUME templates whose pages the dump lacks have their arguments in this order, as Wide image
    and Double image of the English Wikipedia do; no file says.
    """
    keys = [key for key in files if key.isdecimal()]
    if not keys:
        return {}
    last = max(map(int, keys))
    behind = ((int(key), value) for key, value in call.arguments if key.isdecimal())
    unnamed = [value.strip() for number, value in sorted(behind) if number > last]
    words = [w for w in unnamed if _LETTER.search(w) and not _SIZE.fullmatch(w) and w not in flags]
    alts = [*words[len(keys) :], *[""] * len(keys)]
    pairs = zip(words, alts, strict=False)
    return {
        key: Options(show_bars(caption), show_bars(alt), is_framed=True)
        for key, (caption, alt) in zip(keys, pairs, strict=False)
    }


def _first(named: dict[str, str], purpose: str, key: str, stem: str, end: str) -> str:
    keys = [
        f"{key}_{purpose}",
        f"{key} {purpose}",
        f"{purpose}_{key}",
        f"{key}{purpose}",
        f"{stem}_{purpose}{end}",
    ]
    if end:
        keys += [f"{purpose}{end}", f"{purpose} {end}", f"{purpose}_{end}"]
    if not stem or stem in _MAIN:
        keys.append(purpose)
    return next((named[name].strip() for name in keys if named.get(name, "").strip()), "")
