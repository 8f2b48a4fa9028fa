"""What plug-ins do behind names of the API: the core imports none of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Literal, TypeAlias

import polars as pl

from isotope.core import plugins
from isotope.core.errors import BadArgument, BadPlugin
from isotope.core.extras import named
from isotope.tabulate.table import plain

System: TypeAlias = Literal["suggest", "wikimedia", "bm25", "dense"]
_MOST = 10
# What a plug-in may answer.
_FUNCTIONS = ("suggest", "verify")


@dataclass(frozen=True, eq=False)
class Suggestions:
    """Pictures for a text, or sections for a picture.

    Attributes:
        answers: A row an answer, best first. Of pictures: image_id, image_url, file_page, caption,
            pages (titles that show it), probability (that it fits; null where nothing was
            calibrated) with the ends of its interval of 95 %, low and high, kind, reasons, credit,
            width and height (px, 0 where unknown), is_free. Of sections: text_id, page_title,
            section_title, page_url, text, probability, low, high, reasons, is_open (it shows none).
        notes: Sentences on how far they can be trusted.

    Source: docs/suggest.md.

    Examples:
        >>> import isotope, polars
        >>> answers = polars.DataFrame({"image_id": ["a", "b"], "probability": [0.75, 0.25]})
        >>> found = isotope.Suggestions(answers, notes=["Calibrated on 3,000 sections."])
        >>> found.answers.filter(polars.col("probability") > 0.5)["image_id"].to_list()
        ['a']
    """

    answers: pl.DataFrame
    notes: Sequence[str]

    def _repr_html_(self) -> str:
        """Return notes and table for notebooks."""
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return notes + _html(self.answers)

    def __str__(self) -> str:
        """Return notes and table as text."""
        return "\n".join([*self.notes, str(self.answers)])


@dataclass(frozen=True, eq=False)
class Verification:
    """What other people's tools say of published numbers.

    Attributes:
        collection: Whose numbers they are.
        confirmed: Whether nothing differs.
        checks: A row a check: name, tool, unit, total, compared, different, largest (difference; of
            numbers above 1 a relative one), tolerance.
        differences: A row a difference that is kept: name, cell, published, recomputed.
        skipped: A row a reason why something was not compared: name, reason, count.

    Source: docs/verify.md.

    Examples:
        >>> import isotope, polars
        >>> checks = polars.DataFrame({"name": ["means"], "compared": [40], "different": [0]})
        >>> done = isotope.Verification("toy", True, checks, polars.DataFrame(), polars.DataFrame())
        >>> print(done, end="")
        toy: confirmed
        name   compared  different
        means        40          0
    """

    collection: str
    confirmed: bool
    checks: pl.DataFrame
    differences: pl.DataFrame
    skipped: pl.DataFrame

    def _repr_html_(self) -> str:
        """Return the tables for notebooks."""
        tables = (self.checks, self.differences, self.skipped)
        shown = "".join(_html(table) for table in tables if table.height)
        return f"<p>{escape(self._word())}</p>{shown}"

    def __str__(self) -> str:
        """Return the checks as text."""
        return f"{self._word()}\n" + plain(self.checks.rows(), self.checks.columns)

    def _word(self) -> str:
        return f"{self.collection}: {'confirmed' if self.confirmed else 'not confirmed'}"


def _html(table: pl.DataFrame) -> str:
    return table._repr_html_()  # pyright: ignore[reportPrivateUsage] (notebooks ask for it)


def suggest(  # noqa: PLR0913 (one each for what can be asked)
    collection: str,
    text: str | None = None,
    *,
    section: str | None = None,
    image: str | Path | bytes | None = None,
    top: int = _MOST,
    system: System = "suggest",
    root: str | Path = ".",
) -> Suggestions:
    """Suggest pictures for a text or a section, or sections for a picture.

    The plug-in `suggest` answers from a collection that is built. It is opened anew with each call:
    `isotope suggest --serve` stays open.

    Args:
        collection: The name of a built collection.
        text: A text: pictures for it.
        section: The text_id of a section of the collection: pictures for it.
        image: The bytes or the file of a picture, or an image_id or address of the collection:
            sections for it.
        top: Most answers, 1 to 10.
        system: Who answers: the ranking that was learnt, Wikimedia's, BM25 or dense vectors.
        root: The folder of the project.

    Returns:
        `Suggestions`; a note says so where nothing fits.

    Raises:
        BadArgument: not one of text, section and image; top out of its range; another system.
        BadParams, MissingFile: a collection that the params lack, or that is not built.
        UnknownId: no such section or image.
        BadQuery: an empty text.
        MissingExtra: it needs `build` and `lucene`, and the model's extra.
        BadPlugin: the plug-in is not installed.

    Source: docs/suggest.md.

    Examples:
        >>> import isotope
        >>> found = isotope.suggest("toy", "Two green balls on lilac.", system="bm25", root=toy)
        >>> found.answers.columns[:4]
        ['image_id', 'image_url', 'file_page', 'caption']
        >>> 0 < found.answers.height <= 10
        True
    """
    asked = {"text": text, "section": section, "image": image}
    questions = [name for name, value in asked.items() if value is not None]
    if len(questions) != 1:
        problem = " and ".join(questions) or "nothing to answer"
        raise BadArgument("suggest", problem, f"give one of {', '.join(asked)}")
    if not 1 <= top <= _MOST:
        raise BadArgument("suggest", f"top = {top}", f"give 1 to {_MOST}")
    with named():
        answer = _behind("suggest")
        return answer(collection, **asked, top=top, system=system, root=Path(root))


def verify(
    source: str | Path, *, share: float = 0.01, checks: str | Sequence[str] = ()
) -> Verification:
    """Recompute published numbers by other people's tools: trec_eval, ranx, SciPy.

    The plug-in `verify` does it. A difference is no error here: look at `confirmed`.

    Args:
        source: The folder of a release, or that of a collection's report below results/report.
        share: Of the scores, rankings and vectors that are recomputed, above 0, 1 for all; digests,
            means and tests always are.
        checks: Only some: digests, files, means, significance, printed, measures, rankings,
            vectors. Without any all, and of a collection of a project a record is kept.

    Returns:
        A `Verification`.

    Raises:
        UnknownId, MissingFile: no such release or report; an incomplete one.
        CorruptFile, IntegrityError, TruncatedFile: a damaged run or table, with its row.
        BadArgument: a share out of its range, or another check.
        MissingExtra: a tool that an extra has.
        BadPlugin: the plug-in is not installed.

    Source: docs/verify.md; trec_eval 9.0.8, ranx and `scipy.stats.ttest_rel`.

    Examples:
        >>> import isotope
        >>> done = isotope.verify(release, checks=["digests", "means"])
        >>> done.confirmed, done.checks["name"].to_list()
        (True, ['digests', 'means'])
    """
    if not 0 < share <= 1:
        raise BadArgument("verify", f"share = {share}", "give more than 0, at most 1")
    only = [checks] if isinstance(checks, str) else [*checks]
    with named():
        return _behind("verify")(source, share=share, only=only)


def _behind(name: str) -> Any:  # noqa: ANN401 (a function of a plug-in)
    """Return the function of the plug-in that bears a name of the API.

    Raises:
        BadPlugin: no plug-in has it, two have it, or one has what the API has not.
    """
    functions = dict[str, tuple[plugins.Plugin, str]]()
    for plugin in plugins.registered().values():
        plugins.demand_new(plugin, "the function", plugin.functions, functions)
        unknown = sorted({*plugin.functions} - {*_FUNCTIONS})
        if unknown:
            remedy = f"name {' or '.join(_FUNCTIONS)} in `functions`"
            raise BadPlugin(plugin.name, f"isotope has no function {unknown[0]!r}", remedy)
        functions |= {function: (plugin, path) for function, path in plugin.functions.items()}
    if name not in functions:
        problem = f"no plug-in is installed that has isotope.{name}"
        raise BadPlugin(name, problem, f"install isotope-ir whole: it has isotope_{name}")
    plugin, path = functions[name]
    return plugin.load(path)
