"""What isotope prints stands alone: an installed package has no pages beside it."""

import ast
import re
from collections.abc import Iterator

import pytest
from tests import library

PAGE = re.compile(r"(?<![/\w.])docs/\w+\.(?:md|py)")
# What is written or asked for in a checkout alone, and says so.
OF_A_CHECKOUT = {"cli/schema.py", "parse/dump.py"}


def said(source: str) -> Iterator[str]:
    """The texts of a module that are no docstrings."""
    tree = ast.parse(source)
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


def pages(source: str) -> list[str]:
    return [page for text in said(source) for page in PAGE.findall(text)]


def test_no_message_sends_a_reader_to_a_page_that_only_a_checkout_has():
    sources = {name: path.read_text("utf-8") for name, path in library.modules().items()}
    assert {name for name, source in sources.items() if pages(source)} == OF_A_CHECKOUT


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('raise Error(f"{x} is unknown; see docs/queries.md")', ["docs/queries.md"]),
        ('URL = "https://example.org/docs/queries.md"', []),
        ('"""See docs/queries.md."""', []),
    ],
)
def test_a_page_in_a_message_is_noticed(line, found):
    assert pages(line) == found
