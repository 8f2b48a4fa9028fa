"""A collection from its source: queries of one kind in order, then checks, then the tables."""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

import pyarrow as pa

from isotope.collect.inputs import expand
from isotope.collect.tables import FILTERS, IMAGES, OPTIONAL, QRELS, TEXTS
from isotope.core import sql, store
from isotope.core.errors import BadParams
from isotope.core.store import Part, gather
from isotope.parse.tables import REJECTED

SCHEMAS = {
    "texts": TEXTS,
    "images": IMAGES,
    "qrels": QRELS,
    "filters": FILTERS,
    "rejected": REJECTED,
}
# Parameters that a collection may go without.
CHOICES = {"source_splits": None}
BASE = ("texts", "images", "qrels")


def collect_tables(
    relations: Mapping[str, sql.Files], spec: Mapping[str, object], outputs: Mapping[str, Path]
) -> None:
    """Write the tables of SCHEMAS, side by side, as a collection's params say: see `collect`."""
    kind = sql.SQL / "collect" / str(spec["kind"])
    collect(kind, relations, spec, outputs["texts"].parent)


def collect(
    kind: Path, relations: Mapping[str, sql.Files], params: Mapping[str, object], out: Path
) -> None:
    """Run `kind`/NN_<name>.sql in order and place the tables of SCHEMAS in `out`.

    Each query sees the given relations (see `collect_inputs.expand`) and the tables of the queries
    before it. Texts and images may have columns of tables.OPTIONAL after their own; a kind without
    a query for `rejected` rejects nothing. Nothing is placed unless every query of sql/check holds.

    A kind with a folder `member` is made of other collections, whose tables its relations list in
    one order. The folder's queries run once a collection, with its place from 0 as `$nth`, and the
    kind's own see what they made, each the rows of all members.

    Raises:
        BadParams: no such kind.
        BrokenPromise: a check that returned rows.
    """
    steps = sorted(kind.glob("[0-9]*_*.sql"))
    if not steps:
        known = ", ".join(sorted(p.name for p in kind.parent.iterdir() if p.is_dir()))
        raise BadParams("params collect", f"unknown kind {kind.name!r}", f"known: {known}")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".staging-") as folder:
        given = _given(kind, relations, Path(folder))
        told = {**CHOICES, **params, **cast(Mapping[str, object], params.get("recognition", {}))}
        made = run_steps(steps, given, told, Path(folder))
        run_checks({name: made[name] for name in BASE})
        place(Path(folder), out)


def _given(kind: Path, relations: Mapping[str, sql.Files], folder: Path) -> dict[str, sql.Files]:
    steps = sorted((kind / "member").glob("[0-9]*_*.sql"))
    if not steps:
        return expand(relations, folder)
    listed = [cast(Sequence[Path], files) for files in relations.values()]
    members = [dict(zip(relations, own, strict=True)) for own in zip(*listed, strict=True)]
    made = [run_steps(steps, own, {"nth": n}, folder / str(n)) for n, own in enumerate(members)]
    return {table: [tables[table] for tables in made] for table in made[0]}


def place(folder: Path, out: Path) -> None:
    """Move the tables of SCHEMAS from one folder to another; nothing is rejected if none tells."""
    rejected = folder / "rejected.parquet"
    if not rejected.exists():
        store.write_rows([], rejected, REJECTED)
    for name in SCHEMAS:
        (folder / f"{name}.parquet").replace(out / f"{name}.parquet")


def run_steps(
    steps: Iterable[Path],
    relations: Mapping[str, sql.Files],
    params: Mapping[str, object],
    folder: Path,
) -> dict[str, Path]:
    """Run queries in order, as `sql.run_chain`; tables of SCHEMAS have its columns."""
    optional: dict[str, pa.Schema] = {"texts": OPTIONAL, "images": OPTIONAL}
    return sql.run_chain(
        steps, relations, folder, params=params, schemas=SCHEMAS, optional=optional
    )


def run_checks(relations: Mapping[str, sql.Files]) -> None:
    """Hold every claim of sql/check against texts, images and qrels.

    Raises:
        BrokenPromise: the first claim that does not hold.
    """
    for claim in sorted((sql.SQL / "check").glob("*.sql")):
        sql.check(claim, relations, {})


KIND = sql.SQL / "collect/wikipedia"
# Which part answers a query of the kind: filter (c) asks for a text's splits and for an image's.
BY_TEXT = (
    *("projected", "pages", "pairs", "alive", "canonical"),
    *("split_texts", "sources", "counted"),
)
BY_IMAGE = ("split_images", "one_split", "qrels", "captions", "images")
BY_GATHER = ("texts", "filters")


def collect_texts(
    relations: Mapping[str, sql.Files],
    spec: Mapping[str, object],
    part: Part,
    outputs: Mapping[str, Path],
) -> None:
    """Write what depends on the texts of a part; `outputs` names the tables of BY_TEXT to leave.

    The part's own rows of associations, sections, members and projection are the queries of the
    kind's folder `text`. A page has one title, and what has one title is in one part.
    """
    _part("text", BY_TEXT, relations, {**spec, **_numbers(part)}, outputs)


def collect_images(
    relations: Mapping[str, sql.Files], part: Part, outputs: Mapping[str, Path]
) -> None:
    """Write what depends on the images of a part; `outputs` names the tables of BY_IMAGE to leave.

    The relations are those of the source, and `canonical` and `split_texts` of all parts of the
    texts. `urls` names every image of the associations. The part's own rows are the queries of the
    kind's folder `image`.
    """
    _part("image", BY_IMAGE, relations, _numbers(part), outputs)


def collect_gather(pieces: Mapping[str, Sequence[Path]], outputs: Mapping[str, Path]) -> None:
    """Write the tables of SCHEMAS, byte for byte as `collect` makes them in one go.

    `pieces` are pages, sources and counted of all texts, one_split, qrels and images of all images,
    each in the order of the parts. Nothing is placed unless every query of sql/check holds.

    Raises:
        BrokenPromise: a check that returned rows.
    """
    out = outputs["texts"].parent
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".staging-") as folder:
        made = _answered("gather", BY_GATHER, pieces, {}, Path(folder))
        made["images"] = Path(folder) / "images.parquet"
        gather(pieces["images"], made["images"], IMAGES)
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
    of_kind = {sql.table_of(step): step for step in KIND.glob("[0-9]*_*.sql")}
    chain = [*sorted((KIND / by).glob("*.sql")), *(of_kind[name] for name in steps)]
    return run_steps(chain, given, params, folder)
