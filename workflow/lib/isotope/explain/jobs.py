"""What the rules on failures call: inputs and params of a rule become those of a function.

One job explains the failures of a collection and draws the sheet for people, and exchanges words in
its queries; a job a system ranks these; one writes the page.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from isotope.core import store
from isotope.explain import failures as failing
from isotope.explain.failures import explain_failures, ranks_of
from isotope.explain.objects import detect_objects, load
from isotope.explain.page import Sources, failures_page
from isotope.explain.perturb import Settings
from isotope.explain.ranks import Queries, Tower, perturb_texts, perturbed_bm25, perturbed_dense
from isotope.explain.tables import RANKS
from isotope.judge.study import write_sheet, write_study


def explain_collection(  # noqa: PLR0913
    collected: Mapping[str, Path],
    runs: Sequence[Path],
    *,
    split: str,
    settings: Mapping[str, Any],
    objects: Path | None,
    failures: Path,
    ranks: Path,
    concepts: Path,
    rejected: Path,
    sample: Path,
    sheet: Path,
    perturbations: Path,
) -> None:
    """Write explained failures, the sheet of the study, and the perturbed queries of `split`.

    `collected` are texts, images and qrels, `objects` the file of objects if they are not those of
    the images. `settings` are the collection's entry of `tabulate.explain`.

    Raises:
        As `explain_failures` and `perturb_texts`.
    """
    wordnet = settings.get("wordnet")
    explain_failures(
        failing.Sources(collected["images"], collected["qrels"], objects, wordnet),
        runs,
        threshold=settings["threshold"],
        failures=failures,
        ranks=ranks,
        known=concepts,
        rejected=rejected,
    )
    write_sheet(
        {**collected, "failures": failures},
        seed=settings["seed"],
        failures=settings["study"]["failures"],
        common_words=settings["study"].get("common_words", 0),
        sample=sample,
        sheet=sheet,
    )
    perturb_texts(
        *(collected[name] for name in ("texts", "images", "qrels")),
        split=split,
        wordnet=wordnet,
        settings=Settings(settings["seed"], settings["colour_distance"]),
        out=perturbations,
    )


def rank_answers(runs: Sequence[Path], qrels: Path, out: Path) -> None:
    """Write tables.RANKS of a collection whose failures are not explained.

    Raises:
        IsotopeError: a run or qrels that can't be read.
    """
    with store.writer(out, RANKS) as writer:
        for path in runs:
            writer.write_table(ranks_of(path, qrels))


def rank_perturbed_dense(  # noqa: PLR0913
    perturbed: Path,
    qrels: Path,
    run: Path,
    *,
    encoded: Mapping[str, Sequence[Path]],
    index: Path,
    model: Mapping[str, Any],
    weights: Path | None,
    fields: Sequence[str],
    batch: int,
    out: Path,
) -> None:
    """Write what `perturbed_dense` does.

    Raises:
        As `perturbed_dense`.
    """
    tower = Tower(model, weights, fields, batch)
    perturbed_dense(Queries(perturbed, qrels, run), encoded, index, tower, out)


def rank_perturbed_bm25(  # noqa: PLR0913
    perturbed: Path,
    qrels: Path,
    run: Path,
    *,
    index: Path,
    spec: Mapping[str, Any],
    language: str,
    threads: int,
    out: Path,
) -> None:
    """Write what `perturbed_bm25` does.

    Raises:
        As `perturbed_bm25`.
    """
    queries = Queries(perturbed, qrels, run)
    perturbed_bm25(queries, index, spec, out, threads=threads, language=language)


def find_objects(pixels: Sequence[Path], *, detector: Mapping[str, Any], out: Path) -> None:
    """Write what `detect_objects` does; `detector` is the entry `tabulate.detector`.

    Raises:
        As `load`.
    """
    finder = load(detector)
    threshold, batch = detector["threshold"], detector["batch"]
    detect_objects(pixels, detector=finder, threshold=threshold, batch=batch, out=out)


def read_study(
    sheets: Sequence[Path], sample: Path, *, study: Mapping[str, Any], out: Path
) -> None:
    """Write tables.STUDIED from the sheets that came back; `study` is the study's entry.

    Raises:
        As `write_study`.
    """
    write_study(sheets, sample, study["classes"], out, study.get("alternative", ""))


def write_failures_page(  # noqa: PLR0913
    collection: str,
    texts: Path,
    images: Path,
    *,
    failures: Path,
    concepts: Path,
    pixels: Sequence[Path],
    tables: Sequence[Path],
    shown: int,
    page: Path,
) -> None:
    """Write what `failures_page` does.

    Raises:
        As `failures_page`.
    """
    sources = Sources(texts, images, failures, concepts, pixels)
    failures_page(collection, sources, tables, shown=shown, out=page)
