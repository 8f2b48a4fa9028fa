"""A collection from its source: queries of one kind in order, then checks, then the tables."""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core import sql, store
from isotope.core.errors import BadParams, EmptyTable
from isotope.core.rejections import summary
from isotope.core.store import Part, gather
from isotope.intake.relations import blank, expand
from isotope.params.collect import CollectionKind, folders
from isotope.schemas.collect import FILTERS, IMAGES, OPTIONAL, QRELS, TEXTS
from isotope.schemas.crawl import LEDGER, URLS
from isotope.schemas.parse import REJECTED

SCHEMAS = {
    "texts": TEXTS,
    "images": IMAGES,
    "qrels": QRELS,
    "filters": FILTERS,
    "rejected": REJECTED,
}
BASE = ("texts", "images", "qrels")
# What a data set lacks whose pictures nobody reads.
_CRAWLED = {"urls": URLS, "ledger": LEDGER}
KIND = sql.SQL / "collect/wikipedia"
# The queries of the kind that run in the jobs of the texts, in those of the images, and at the end:
# filter (c) needs the splits of a text and those of an image.
BY_TEXT = ("projected", "pages", "pairs", "counted")
BY_IMAGE = ("qrels", "images")
BY_GATHER = ("texts", "filters", "rejected")


def collect_tables(
    relations: Mapping[str, sql.Files], spec: CollectionKind, outputs: Mapping[str, Path]
) -> None:
    """Write the tables of SCHEMAS, side by side, as a collection's params say: see `collect`."""
    kind = folders()[spec.kind]
    collect(kind, relations, spec.asked(), outputs["texts"].parent)


def collect(
    kind: Path, relations: Mapping[str, sql.Files], asked: Mapping[str, object], out: Path
) -> None:
    """Run `kind`/NN_<name>.sql in order and place the tables of SCHEMAS in `out`.

    Each query reads `relations`, in which a manifest stands for its parts
    (`intake.relations.expand`), and the tables of the queries before it, and gets those of the
    values `asked` that it names.
    Texts and images may have columns of schemas.OPTIONAL after their own; a kind without a query
    for `rejected` rejects nothing. Nothing is placed unless every query of sql/check holds.

    A kind with a folder `member` puts other collections together, whose tables its relations list
    in one order. The folder's queries run once a collection, with its place from 0 as `$nth`; the
    queries of the kind read what they return, each table with the rows of all members.

    Raises:
        BadParams: no such kind.
        EmptyTable: no pair of a collection of kind pairs can be used, and why.
        IntegrityError: a check that returned rows.
    """
    steps = sorted(kind.glob("[0-9]*_*.sql"))
    if not steps:
        names = ", ".join(sorted(p.name for p in kind.parent.iterdir() if p.is_dir()))
        raise BadParams("params collect", f"unknown kind {kind.name!r}", f"known: {names}")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".staging-") as folder:
        inputs = _inputs(kind, relations, Path(folder))
        further = further_columns(inputs)
        tables = run_steps(steps, inputs, asked, Path(folder), further)
        if further:
            _demand_pairs(tables, kind.name)
        run_checks({name: tables[name] for name in BASE}, shared=is_shared(tables))
        put(Path(folder), out)


def is_shared(tables: Mapping[str, Path]) -> bool:
    """Tell whether the splits share one corpus, as the kind's query `corpus` says, if it has one.

    Judgement lists, as BEIR and TREC publish them, judge any items of one corpus in every split. A
    collection that is split by picture has each item, and each judgement, in one split.
    """
    return "corpus" in tables and _corpus_of(tables["corpus"]) == "shared"


def _corpus_of(table: Path) -> str:
    return str(pq.read_table(table)["corpus"][0].as_py())


def _demand_pairs(tables: Mapping[str, Path], kind: str) -> None:
    if not store.rows_in(tables["qrels"]):
        problem = f"no pair can be used: {summary(tables['rejected'])}"
        remedy = "check `pictures`, `columns` and `splits` of the collection"
        raise EmptyTable(f"collection of kind {kind}", problem, remedy)


def _inputs(kind: Path, relations: Mapping[str, sql.Files], folder: Path) -> dict[str, sql.Files]:
    """Return what queries read: a manifest stands for its parts, what no crawl left is empty."""
    steps = sorted((kind / "member").glob("[0-9]*_*.sql"))
    if not steps:
        present = dict(relations)
        manifest = present.pop("manifest", None)
        if manifest:
            present = expand(Path(cast(str, manifest)), folder) | present
        if manifest or "pairs" in present:
            present |= blank(_CRAWLED, present, folder)
        return present
    listed = [cast(Sequence[Path], files) for files in relations.values()]
    members = [
        dict(zip(relations, files_of_member, strict=True))
        for files_of_member in zip(*listed, strict=True)
    ]
    pieces = [
        run_steps(steps, files_of_member, {"nth": n}, folder / str(n))
        for n, files_of_member in enumerate(members)
    ]
    return {table: [tables[table] for tables in pieces] for table in pieces[0]}


def run_steps(
    steps: Iterable[Path],
    relations: Mapping[str, sql.Files],
    asked: Mapping[str, object],
    folder: Path,
    further: Mapping[str, Sequence[pa.Field]] = MappingProxyType({}),
) -> dict[str, Path]:
    """Run queries in order, as `sql.run_chain`; tables of SCHEMAS have its columns.

    Texts and images may have those of OPTIONAL as well, and `further` ones.
    """
    optional = {name: [*OPTIONAL, *further.get(name, ())] for name in ("texts", "images")}
    return sql.run_chain(steps, relations, folder, params=asked, schemas=SCHEMAS, optional=optional)


def further_columns(relations: Mapping[str, sql.Files]) -> dict[str, list[pa.Field]]:
    """Return the columns of the data that travel along to texts and images, by table.

    They are the fields of two records of the relation `pairs` (`schemas.parse.PAIRS`), if any, but
    for columns of the tables themselves.
    """
    pairs = relations.get("pairs")
    if not isinstance(pairs, str | Path):
        return {}
    columns = pq.read_schema(pairs)
    sides = {"texts": "text_own", "images": "image_own"}
    return {
        t: [f for f in columns.field(n).type if f.name not in SCHEMAS[t].names]
        for t, n in sides.items()
        if n in columns.names
    }


def run_checks(relations: Mapping[str, sql.Files], *, shared: bool = False) -> None:
    """Hold every claim of sql/check against texts, images and qrels.

    Of a corpus that splits share, what sql/check/shared has by the same name is held instead.

    Raises:
        IntegrityError: the first claim that does not hold.
    """
    claims = {path.name: path for path in sorted((sql.SQL / "check").glob("*.sql"))}
    if shared:
        claims |= {path.name: path for path in (sql.SQL / "check/shared").glob("*.sql")}
    sql.check(claims.values(), relations)


def put(folder: Path, out: Path) -> None:
    """Move the tables of SCHEMAS from one folder to another; absent rejections are no rows."""
    rejected = folder / "rejected.parquet"
    if not rejected.exists():
        store.write_rows([], rejected, REJECTED)
    for name in SCHEMAS:
        (folder / f"{name}.parquet").replace(out / f"{name}.parquet")


def collect_texts(
    relations: Mapping[str, sql.Files],
    language: str,
    part: Part,
    outputs: Mapping[str, Path],
) -> None:
    """Write what depends on the texts of a part; `outputs` names the tables of BY_TEXT to leave.

    The queries of the kind's folder `text` select the part's own rows of associations, sections,
    members and projection. All rows of one title, and so of one page, are in one part.
    """
    _write_part(
        KIND / "text", BY_TEXT, relations, {"language": language, **_numbers(part)}, outputs
    )


def collect_images(
    relations: Mapping[str, sql.Files], part: Part, outputs: Mapping[str, Path]
) -> None:
    """Write what depends on the images of a part; `outputs` names the tables of BY_IMAGE to leave.

    The relations are those of the source, and `pairs` of all parts of the texts. `urls` has every
    image of the associations. The queries of the kind's folder `image` select the part's own rows.
    """
    _write_part(KIND / "image", BY_IMAGE, relations, _numbers(part), outputs)


def collect_gather(pieces: Mapping[str, Sequence[Path]], outputs: Mapping[str, Path]) -> None:
    """Write the tables of SCHEMAS, byte for byte as `collect` makes them in one go.

    `pieces` are pages and counted of all texts, qrels and images of all images, each in the order
    of the parts. Nothing is placed unless every query of sql/check holds.

    Raises:
        IntegrityError: a check that returned rows.
    """
    out = outputs["texts"].parent
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".staging-") as folder:
        tables = _run_part(KIND / "gather", BY_GATHER, pieces, {}, Path(folder))
        tables["images"] = Path(folder) / "images.parquet"
        gather(pieces["images"], tables["images"], IMAGES)
        run_checks({name: tables[name] for name in BASE})
        put(Path(folder), out)


def _numbers(part: Part) -> dict[str, int]:
    return dict(zip(("nth", "shards"), part, strict=True))


def _write_part(
    selecting: Path,
    steps: Iterable[str],
    relations: Mapping[str, sql.Files],
    asked: Mapping[str, object],
    out: Mapping[str, Path],
) -> None:
    parent = next(iter(out.values())).parent
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent, prefix=f".{selecting.name}-") as folder:
        tables = _run_part(selecting, steps, relations, asked, Path(folder))
        for name, path in out.items():
            tables[name].replace(path)


def _run_part(
    selecting: Path,
    steps: Iterable[str],
    relations: Mapping[str, sql.Files],
    asked: Mapping[str, object],
    folder: Path,
) -> dict[str, Path]:
    """Run the queries of a folder, which select a part from relations named `all_...`, then the
    kind's steps.
    """
    inputs = {**relations, **{f"all_{name}": files for name, files in relations.items()}}
    of_kind = {sql.table_of(step): step for step in KIND.glob("[0-9]*_*.sql")}
    chain = [*sorted(selecting.glob("*.sql")), *(of_kind[name] for name in steps)]
    return run_steps(chain, inputs, asked, folder)
