"""The table `wiki_words.json`, made of what wikis say of themselves.

A wiki's siteinfo is the answer to
`api.php?action=query&meta=siteinfo&siprop=general|namespaces|namespacealiases|magicwords&format=json`
(https://www.mediawiki.org/wiki/API:Siteinfo). Its magic words come with those of the languages
that its own falls back to. The table has a line for each wiki, by the name of its database, with
what English lacks:
names of File, Category and Template, words of pictures without `img_`, of redirects, and marks of
disambiguation pages.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

# A wiki's names of namespaces, and its words, each by its English name, as MediaWiki lists them.
Wiki = Mapping[str, Mapping[str, Sequence[str]]]

NAMESPACES = {6: "File", 10: "Template", 14: "Category"}
_OTHERS = ("redirect", "disambiguation")
ENGLISH = "enwiki"
# What MediaWiki calls these namespaces in every wiki.
CANONICAL = {"File": ("File", "Image"), "Template": ("Template",), "Category": ("Category",)}


def wiki_of(siteinfo: Mapping[str, Any]) -> tuple[str, Wiki]:
    """Return a wiki's database name and `{"namespaces": ..., "words": ...}` from its siteinfo.

    Both versions of the JSON format are read.

    Raises:
        KeyError: the answer lacks one of the four properties.
    """
    query = siteinfo["query"]
    names: dict[str, list[str]] = {name: [] for name in NAMESPACES.values()}
    for told in (*query["namespaces"].values(), *query["namespacealiases"]):
        if (number := int(told["id"])) in NAMESPACES:
            every = (told.get(key, "") for key in ("*", "name", "canonical", "alias"))
            names[NAMESPACES[number]] += [name for name in every if name]
    words = {
        word["name"]: list(word["aliases"])
        for word in query["magicwords"]
        if word["name"].startswith("img_") or word["name"] in _OTHERS
    }
    unique = {kind: list(dict.fromkeys(given)) for kind, given in names.items()}
    return query["general"]["wikiid"], {"namespaces": unique, "words": words}


def table(wikis: Mapping[str, Wiki]) -> str:
    """Return the table as text, a line a wiki; `wikis` are by their names and have `enwiki`."""
    everywhere = {**_flat(wikis[ENGLISH]), **CANONICAL}
    lines = []
    for name in sorted(wikis):
        own = {
            kind: kept
            for kind, words in _flat(wikis[name]).items()
            if (kept := [w for w in words if name == ENGLISH or w not in everywhere.get(kind, ())])
        }
        told = json.dumps(own, ensure_ascii=False, separators=(",", ":"))
        lines.append(f"{json.dumps(name)}:{told}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _flat(wiki: Wiki) -> dict[str, Sequence[str]]:
    words = {name.removeprefix("img_"): given for name, given in wiki["words"].items()}
    return {**wiki["namespaces"], **words}
