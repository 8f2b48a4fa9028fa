"""A snapshot's collection made in parts: by text, then by image, then gathered."""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from isotope import tables
from isotope.collect.build import BASE, named, place, run_checks, run_step
from isotope.core import sql
from isotope.core.gathered import gather
from isotope.core.shards import Part

KIND = sql.SQL / "collect/wikipedia"
# Which part answers a query of the kind: filter (c) asks for a text's splits and for an image's.
BY_TEXT = (
    *("projected", "pages", "pairs", "alive", "canonical"),
    *("split_texts", "sources", "counted"),
)
BY_IMAGE = ("split_images", "one_split", "qrels", "captions", "images")
_BY_TEXT = ("texts", "filters")


def collect_texts(
    relations: Mapping[str, sql.Files],
    params: Mapping[str, object],
    part: Part,
    out: Mapping[str, Path],
) -> None:
    """Write what is known of the texts of a part; `out` names the tables of BY_TEXT to keep.

    The part's own rows of associations, sections, members and projection are the queries of the
    kind's folder `text`. A page has one title, and what has one title is in one part.
    """
    _part("text", BY_TEXT, relations, {**params, **_numbers(part)}, out)


def collect_images(relations: Mapping[str, sql.Files], part: Part, out: Mapping[str, Path]) -> None:
    """Write what is known of the images of a part; `out` names the tables of BY_IMAGE to keep.

    The relations are those of the source, and `canonical` and `split_texts` of all parts of the
    texts. `urls` names every image of the associations. The part's own rows are the queries of the
    kind's folder `image`.
    """
    _part("image", BY_IMAGE, relations, _numbers(part), out)


def collect_gather(pieces: Mapping[str, Sequence[Path]], out: Path) -> None:
    """Place the tables that `collect.collect` makes in one go in `out`, byte for byte.

    `pieces` are pages, sources and counted of all texts, one_split, qrels and images of all images,
    each in the order of the parts. Nothing is placed unless every query of sql/check holds.

    Raises:
        BrokenPromise: a check that returned rows.
    """
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".staging-") as folder:
        made = _answered("gather", _BY_TEXT, pieces, {}, Path(folder))
        made["images"] = Path(folder) / "images.parquet"
        gather(pieces["images"], made["images"], tables.IMAGES)
        run_checks({name: made[name] for name in BASE})
        place(Path(folder), out)


def _numbers(part: Part) -> dict[str, int]:
    return dict(zip(("nth", "shards"), part, strict=True))


def _part(
    by: str,
    steps: Iterable[str],
    relations: Mapping[str, sql.Files],
    params: Mapping[str, object],
    out: Mapping[str, Path],
) -> None:
    beside = next(iter(out.values())).parent
    beside.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=beside, prefix=f".{by}-") as folder:
        made = _answered(by, steps, relations, params, Path(folder))
        for name, path in out.items():
            made[name].replace(path)


def _answered(
    by: str,
    steps: Iterable[str],
    relations: Mapping[str, sql.Files],
    params: Mapping[str, object],
    folder: Path,
) -> dict[str, Path]:
    """Run the queries that select a part from relations named `all_...`, then those of the kind."""
    given = {**relations, **{f"all_{name}": files for name, files in relations.items()}}
    known = {named(step): step for step in KIND.glob("[0-9]*_*.sql")}
    made: dict[str, Path] = {}
    for step in [*sorted((KIND / by).glob("*.sql")), *(known[name] for name in steps)]:
        made[named(step)] = run_step(step, {**given, **made}, params, folder)
    return made
