"""The words of links by another parser, for tests that none is lost."""

import html
import re

from mwparserfromhell.nodes import ExternalLink, Heading, Tag, Wikilink
from mwparserfromhell.wikicode import Wikicode

from isotope.parse.site import ENGLISH_NAMESPACES


def letters(text: str) -> str:
    """The letters and digits of a text."""
    return re.sub(r"\W+", "", html.unescape(text))


def anchors_of(code: Wikicode) -> list[str]:
    """List the anchors outside templates, references, pictures and categories."""
    found: list[str] = []
    for node in code.nodes:
        if isinstance(node, Wikilink):
            prefix, colon, _ = str(node.title).partition(":")
            if colon and ENGLISH_NAMESPACES.is_hidden(prefix):
                continue
            label = node.text if node.text and node.text.strip() else None
            pipe_trick = node.text is not None and label is None
            target = re.sub(r"\(.*", "", str(node.title)) if pipe_trick else str(node.title)
            found.append(label.strip_code() if label else target)
            found += anchors_of(label) if label else []
        elif isinstance(node, Tag):
            content = node.contents
            if node.tag not in ("ref", "references", "gallery", "math") and content:
                found += anchors_of(content)
        elif isinstance(node, ExternalLink | Heading) and node.title:
            found += anchors_of(node.title)
    return found
