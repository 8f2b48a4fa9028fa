"""What the Lua modules that wikis copy from each other under one name make of their arguments.

No Lua is run. ASSUME a module of one of these names does what the one of the English Wikipedia
does; a dump's module could be another, and no paper says.
"""

import re
from collections.abc import Callable, Iterable, Mapping

from isotope.parse.transclusion import arguments, naming
from isotope.parse.transclusion.arguments import Arguments
from isotope.parse.transclusion.convert import converted
from isotope.parse.transclusion.functions import formatted
from isotope.parse.transclusion.tree import Nodes, PictureNode
from isotope.parse.transclusion.vocabulary import vocabulary

SILENT, PICTURE, BOX, GALLERY, INFOBOX, WORDS, UNKNOWN = (
    "silent",
    "picture",
    "box",
    "gallery",
    "infobox",
    "words",
    "unknown",
)


def _all(names: str) -> frozenset[str]:
    return frozenset(name.strip() for name in names.split(","))


_KINDS = {name: kind for kind, names in vocabulary()["modules"].items() for name in names}


def _by_name(names: str, read: Callable[[Arguments], str]) -> dict[str, Callable[[Arguments], str]]:
    return dict.fromkeys((name.strip() for name in names.split(",")), read)


def _langx(call: Arguments) -> str:
    return call.named.get("text", "") or (call.positional[1] if len(call.positional) > 1 else "")


def _lang(call: Arguments) -> str:
    return call.named.get("text", "") or call.last()


def _text_argument(call: Arguments, *names: str) -> str:
    return next(
        (call.named[n] for n in names if n in call.named),
        call.positional[0] if call.positional else "",
    )


def _string(call: Arguments) -> str:
    """Read Module:String, whose functions take their arguments by name or by place."""
    source = _text_argument(call, "s", "source", "target", "str")
    positional = call.positional
    match call.name:
        case "sub":
            first, last = (
                _number(call, name, at, to) for name, at, to in (("i", 1, 1), ("j", 2, -1))
            )
            begin = first - 1 if first > 0 else max(len(source) + first, 0)
            return source[begin : last if last >= 0 else len(source) + last + 1]
        case "len":
            return str(len(source))
        case "replace":
            old, new = _other(call, "pattern", 1), _other(call, "replace", 2)
            plain = call.named.get("plain", positional[4] if len(positional) > 4 else "true")  # noqa: PLR2004
            is_plain = plain != "false"
            return source.replace(old, new) if is_plain and old else source
        case "rep":
            return source * min(max(_number(call, "", 1, 0), 0), 50)
        case "match" | "pos" | "find" | "str find":
            return ""
        case _:
            return source


def _other(call: Arguments, name: str, position: int) -> str:
    return call.named.get(
        name, call.positional[position] if len(call.positional) > position else ""
    )


def _number(call: Arguments, name: str, position: int, default: int) -> int:
    text = _other(call, name, position).strip()
    return int(text) if re.fullmatch(r"-?\d{1,6}", text) else default


_RULES: dict[str, Callable[[Arguments], str]] = {
    **_by_name("lang,lang-zh,language,язык,llengua", _lang),
    **_by_name("transl,transliteration", Arguments.last),
    **_by_name("convert,convert/sandbox", converted),
    **_by_name("string,string2,ustring,su,строка", _string),
    **_by_name(
        "date,date modèle,start date,startdate,birth date,date de naissance", arguments.date_of
    ),
    **_by_name("list,unbulleted list,liste", Arguments.items),
    **_by_name("trim,text,texte", Arguments.first),
    **_by_name("formatnum,formatage de nombres,unités,gapnum,val,nombre", arguments.quantity),
    **_by_name(
        "yesno", lambda call: "yes" if call.first().lower() in ("yes", "y", "1", "true") else ""
    ),
    **_by_name(
        "if empty", lambda call: next((word for word in call.positional if word.strip()), "")
    ),
    **_by_name("ordinal", lambda call: arguments.ordinal(call.first())),
    **_by_name("nihongo,japonais", Arguments.gloss),
    **_by_name("siècle,siecle", arguments.century),
    **_by_name("bio", arguments.biography),
    **_by_name("abbr,abréviation,small,nowrap,delink,plain text", Arguments.first),
}
# Of these, a template's arguments count only where it hands them on.
_ALONE = _all("string,string2,ustring,if empty,trim,yesno,ordinal,delink,plain text,math")
_LANGX = ("langx", "lang xx inherit", "lang xx italic", "lang_xx_inherit", "lang_xx_italic")


def _normal(name: str) -> str:
    return " ".join(name.replace("_", " ").split()).lower()


def kind_of(module: str, function: str) -> str:
    """Return what a module leaves: SILENT, PICTURE, BOX, GALLERY, INFOBOX, WORDS or UNKNOWN."""
    name = _normal(module)
    if name in _KINDS:
        return _KINDS[name]
    if name == "math":
        return WORDS if _normal(function) in ("round", "precision format") else UNKNOWN
    return WORDS if name in _RULES else UNKNOWN


def has_own_arguments(module: str) -> bool:
    """Tell whether a module reads no arguments but those of its own call, if it has any."""
    return _normal(module) in _ALONE


def read(module: str, function: str, call: Arguments) -> str:
    """Return the words that a module of kind WORDS makes of its arguments."""
    name = _normal(module)
    if name == "lang" and function in _LANGX:
        return _langx(call)
    if name == "math":
        return formatted(call.first(), "en").replace(",", "")
    return _RULES[name](call)


def picture(get: Callable[[str], Nodes | None]) -> tuple[PictureNode, ...]:
    """Return what Module:InfoboxImage shows."""
    file, alt, size, title = (get(name) or () for name in ("image", "alt", "size", "title"))
    file = file or get("1") or ()
    # A title that is made of words and a parameter is no parameter's text.
    alt = (*alt, *title) if len(title) == 1 else alt
    return (PictureNode(file, (), alt, size, is_framed=True),) if file else ()


# Those that have pictures within.
BOXES = (BOX, GALLERY, INFOBOX)


def picture_arguments(keys: Iterable[str], kind: str) -> list[tuple[str, list[str], list[str]]]:
    """Return the arguments of a box that are pictures, each with its captions and texts."""
    keys = list(keys)
    if kind == GALLERY:
        return [
            (file, [caption], [alt])
            for file, (caption, alt) in STANDARD[kind].items()
            if file in keys
        ]
    return [
        (key, naming.beside(key, keys, naming.CAPTION), naming.beside(key, keys, naming.ALT))
        for key in keys
        if naming.name_of(key).kind == naming.PICTURE
    ]


# The pictures of a module for boxes that is given a template's own arguments, with what stands
# beside them.
STANDARD: Mapping[str, Mapping[str, tuple[str, str]]] = {
    # A file, its caption, the next file and so on.
    GALLERY: {str(2 * n - 1): (str(2 * n), f"alt{n}") for n in range(1, 21)},
    BOX: {f"image{number}": (f"caption{number}", f"alt{number}") for number in range(1, 11)},
    INFOBOX: {
        **{f"image{number}": (f"caption{number}", f"alt{number}") for number in ("", 1, 2, 3)},
        **{"изображение": ("подпись", "альт"), "зображення": ("підпис", "альт")},
    },
}
