"""The first picture of a page's infobox, as its file's name.

Format: https://en.wikipedia.org/wiki/Help:Infobox and Template:Infobox, whose parameters `image`,
`photo`, `cover`, `logo` ... hold a file's name, with or without `[[File:...]]`.
"""

import hashlib
import re
from urllib.parse import quote

from isotope.parse.files import file_name

# ASSUME these templates are what readers call an infobox; OVEN takes the first infobox image
# (section 3) and does not say which templates make one.
_INFOBOX = re.compile(
    r"\{\{\s*(?:[^{}|\n]*infobox|[^{}|\n]*taxobox|speciesbox|subspeciesbox|chembox|drugbox|geobox"
    r"|ficha|infoboîte|infoboks|карточка|基礎情報)",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_BRACES = re.compile(r"\{\{|\}\}")
_PICTURE = re.compile(
    r"=\s*(?:\[\[[^\[\]|:\n]{1,30}:\s*|[^\[\]|:=\n]{1,30}:\s*)?"
    r"([^\n=|\[\]{}<>:]{1,240}\.(?:jpe?g|png|gif|svg|tiff?|webp))(?=\s*[\n|\]}<])",
    re.IGNORECASE,
)
_LONGEST_BOX = 60_000
# ASSUME infoboxes show pictures of Wikimedia Commons, and the wiki's own are not found there; the
# paper does not say.
_UPLOADS = "https://upload.wikimedia.org/wikipedia/commons"


def infobox_picture(text: str) -> str | None:
    """Return the name of the first picture in the first infobox, such as `A b.jpg`, or None."""
    start = _INFOBOX.search(text)
    if start is None:
        return None
    found = _PICTURE.search(_COMMENT.sub("", _template(text, start.start())))
    return file_name(found[1]) if found else None


def upload_url(name: str) -> str:
    """Return the address of a file on Wikimedia Commons, as WIT writes it.

    Source: https://www.mediawiki.org/wiki/Manual:$wgHashedUploadDirectory.
    """
    file = name.replace(" ", "_")
    digest = hashlib.md5(file.encode(), usedforsecurity=False).hexdigest()
    return f"{_UPLOADS}/{digest[0]}/{digest[:2]}/{quote(file)}"


def _template(text: str, start: int) -> str:
    """Return a template with all that it encloses, or what there is of it."""
    depth = 0
    for brace in _BRACES.finditer(text, start, start + _LONGEST_BOX):
        depth += 1 if brace[0] == "{{" else -1
        if not depth:
            return text[start : brace.end()]
    return text[start : start + _LONGEST_BOX]
