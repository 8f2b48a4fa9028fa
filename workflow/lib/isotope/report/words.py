"""What pages call things, by where a collection comes from, and which exhibits tell something."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from isotope.core.grid import TASKS, Task

# Plans read the words and draw nothing.
if TYPE_CHECKING:
    from isotope.report.content import Display


class PageWords(NamedTuple):
    """The words of a collection's pages.

    `label` stands above its name, `splits` says what texts and judgements are, `query` what a text
    as a query shows, `authors` where author and licence are told, `outcome` and `outcomes` are
    title and caption of what became of pictures that were fetched; `purposes` are those of the
    tasks, `fields` the names of fields whose columns are called otherwise.
    """

    label: str
    splits: str
    query: str
    authors: str
    outcome: str
    outcomes: str
    purposes: Mapping[str, str]
    is_of_wikipedia: bool = False
    fields: Mapping[str, str] = MappingProxyType({})

    def tasks(self) -> dict[str, Task]:
        """Return the tasks as these pages describe them."""
        return {name: t._replace(purpose=self.purposes[name]) for name, t in TASKS.items()}


_OF_TEXTS = MappingProxyType(
    {
        "t2m": "Given a text, find the picture that goes with it.",
        "m2t": "Given a picture, find the text that goes with it.",
    }
)
_PLAIN = PageWords(
    label="A test collection",
    splits="A judgement says that a text and a picture go together.",
    query="A text with the fields that systems read.",
    authors="those who published them say under which licence.",
    outcome="What became of the pictures",
    outcomes="URLs by what came of fetching them, with the attempts that it took.",
    purposes=_OF_TEXTS,
)
# By `CollectionKind.origin`.
WORDS: Mapping[str, PageWords] = {
    "wikipedia": PageWords(
        label="An isotope of AToMiC",
        splits="Texts are sections of articles; a judgement says that a section carries a picture.",
        query="A section with the five fields that systems read.",
        authors="follow a title to its page for author and licence.",
        outcome="What became of the image URLs",
        outcomes="URLs by the outcome of the crawl, with the attempts that it took.",
        purposes={name: task.purpose for name, task in TASKS.items()},
        is_of_wikipedia=True,
    ),
    "published": _PLAIN,
    "own": _PLAIN._replace(
        label="A collection of your own pictures and texts",
        authors="their licences are those of the data.",
        # As `columns` of the params calls them.
        fields=MappingProxyType(
            {
                "page_title": "title",
                "section_title": "section",
                "context_section_description": "text",
                "caption_reference_description": "caption",
            }
        ),
    ),
}


def telling(displays: "Mapping[str, Display]", settings: int) -> "dict[str, Display]":
    """Leave out exhibits that say nothing: a curve of one point, kinds of a single stratum.

    `settings` is the number of settings that were measured.
    """
    return {s: display for s, display in displays.items() if _tells(s, display, settings)}


def _tells(stem: str, display: "Display", settings: int) -> bool:
    if stem == "corpus_size":
        return settings > 1
    if stem == "subsets":
        sizes = {*zip(_column(display, "task"), _column(display, "documents"), strict=True)}
        return len(sizes) > len({task for task, _ in sizes})
    if stem == "strata":
        kinds = zip(_column(display, "kind"), _column(display, "stratum"), strict=True)
        strata = {(kind, stratum) for kind, stratum in kinds if stratum != "macro"}
        return len(strata) > len({kind for kind, _ in strata})
    return True


def _column(display: "Display", name: str) -> list[str]:
    """Return the texts of a column; nothing where there is no table."""
    if display.table is None:
        return []
    places = [n for n, column in enumerate(display.table.columns) if column.name == name]
    return [row[n].text for n in places for row in display.table.rows]
