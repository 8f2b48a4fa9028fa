"""Write workflow/lib/isotope/parse/wiki_words.json anew: `python docs/wiki_words.py FILE...`.

Each FILE is the JSON of a wiki's siteinfo (see `isotope.parse.site`), or an object of wikis
by the names of their databases, each with its `namespaces` and `words`.
"""

import json
import sys
from pathlib import Path

from isotope.parse.site import Wiki, wiki_of_siteinfo, words_table

OUT = Path(__file__).resolve().parents[1] / "workflow/lib/isotope/parse/wiki_words.json"


def main(files: list[str]) -> None:
    """Read every file, then write the table."""
    wikis: dict[str, Wiki] = {}
    for file in files:
        siteinfo = json.loads(Path(file).read_text(encoding="utf-8"))
        wikis.update([wiki_of_siteinfo(siteinfo)] if "query" in siteinfo else siteinfo)
    OUT.write_text(words_table(wikis), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
