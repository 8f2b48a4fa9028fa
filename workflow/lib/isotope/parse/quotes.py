"""Bold and italic quotes of wikitext, balanced line by line as MediaWiki does it."""

import re

_RUN = re.compile(r"'{2,}")
_ITALIC, _BOLD, _BOTH = 2, 3, 5


def strip_quotes(line: str) -> str:
    """Drop runs of two, three and five quotes; of four or more than five, the surplus is text.

    When bold and italic are both unbalanced, one bold run is an apostrophe before italics
    (`l'''amour''` reads `l'amour`), chosen as `Parser::doQuotes` of MediaWiki chooses it.
    """
    runs = list(_RUN.finditer(line))
    markup = [_BOLD if len(run[0]) == _BOLD + 1 else min(len(run[0]), _BOTH) for run in runs]
    bolds = sum(marks != _ITALIC for marks in markup)
    italics = sum(marks != _BOLD for marks in markup)
    if bolds % 2 and italics % 2:
        candidates = [i for i, marks in enumerate(markup) if marks == _BOLD]
        if candidates:
            markup[min(candidates, key=lambda i: _rank(line, runs[i]))] = _ITALIC
    kept: list[str] = []
    at = 0
    for run, marks in zip(runs, markup, strict=True):
        kept.append(line[at : run.end() - marks])
        at = run.end()
    return "".join(kept) + line[at:]


def _rank(line: str, run: re.Match[str]) -> int:
    """Rank an apostrophe's likelihood: after a one-letter word, a longer word, a space."""
    before = line[: run.end() - _BOLD][-2:]
    if before.endswith(" "):
        return 2
    return 0 if before[:1] == " " and len(before) == len("l'") else 1
