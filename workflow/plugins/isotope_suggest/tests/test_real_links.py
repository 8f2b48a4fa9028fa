"""Pictures of linked pages on real pages, held against a plain walk over pages and links."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from isotope.core import store
from isotope.core.uploads import upload_url
from isotope.parse.dump import parse_dump
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope_suggest.linked import link
from isotope_suggest.origins import Origins
from isotope_suggest.relations import Inputs, asked_sections, write_relations
from isotope_suggest.schemas import SECTION_ROLES

DEPTH = 10_000
ORIGINS = Origins(languages={"raycharles": "en"})
FILES = {"outlines": "outline", "placed": "pictures", "redirects": "rejected"}
PARSED = ("sections", "links", "outline", "rejected", "infoboxes", "pictures", "counts")


@pytest.fixture(scope="module")
def parsed(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A real dump of one topic."""
    folder = tmp_path_factory.mktemp("raycharles")
    tables: dict[str, Any] = {name: folder / f"{name}.parquet" for name in PARSED}
    dump = sorted((shared / "snapshots/raycharles/dump").glob("*.bz2"))
    parse_dump(dump, out=tables["sections"], **{n: tables[n] for n in PARSED[1:]}, workers=1)
    return tables


def collected(parsed: dict[str, Path], folder: Path) -> Inputs:
    """All its sections, none of them judged, and every file that it shows."""
    sections = pl.read_parquet(parsed["sections"]).with_columns(
        split=pl.lit("other"), role=pl.lit("open"), probability=pl.lit(1.0)
    )
    files = pl.read_parquet(parsed["pictures"])["file"].unique().sort().to_list()
    images = [{"image_id": file, "image_url": upload_url(file)} for file in files]
    schemas = {"texts": TEXTS, "images": IMAGES, "qrels": QRELS, "sections": SECTION_ROLES}
    paths: dict[str, Any] = {name: folder / f"{name}.parquet" for name in schemas}
    rows = {"texts": sections.to_dicts(), "images": images, "qrels": []}
    for name, table in (rows | {"sections": sections.to_dicts()}).items():
        filled = [{key: row.get(key) for key in schemas[name].names} for row in table]
        store.write_rows(filled, paths[name], schemas[name])
    one_each: dict[str, Any] = {n: [parsed[m]] for n, m in FILES.items()}
    return Inputs(**paths, **one_each)


def walked(parsed: dict[str, Path]) -> dict[tuple[str, str], tuple[float, set[str]]]:
    """Share and pages of each picture of a section, by following its links one by one."""
    sections = pl.read_parquet(parsed["sections"]).unique("page_id").sort("page_id")
    pages = {row["page_title"]: row["page_id"] for row in reversed(sections.to_dicts())}
    rejected = pl.read_parquet(parsed["rejected"]).filter(pl.col("reason") == "redirect")
    redirects = dict(rejected.select("detail", "raw").rows())
    weights: dict[int, dict[str, int]] = defaultdict(dict)
    for row in pl.read_parquet(parsed["pictures"]).to_dicts():
        weight = 2 if row["origin"] == "infobox" or row["text_id"].endswith("-000") else 1
        page_weights = weights[row["page_id"]]
        page_weights[row["file"]] = max(page_weights.get(row["file"], 0), weight)
    evidence: dict[tuple[str, str], tuple[float, set[str]]] = {}
    for row in pl.read_parquet(parsed["outline"]).to_dicts():
        targets = {t if t in pages else redirects.get(t, t) for t in row["links"]}
        linked = {t for t in targets if weights.get(pages.get(t, 0)) and pages[t] != row["page_id"]}
        for title in linked:
            shown = weights[pages[title]]
            for file, weight in shown.items():
                share, on = evidence.get((row["text_id"], file), (0.0, set[str]()))
                file_share = weight / sum(shown.values()) / len(linked)
                evidence[row["text_id"], file] = 1 - (1 - share) * (1 - file_share), on | {title}
    return evidence


def test_linked_pictures_of_real_pages_are_those_of_a_walk(parsed, tmp_path):
    inputs = collected(parsed, tmp_path)
    folder = tmp_path / "made"
    folder.mkdir()
    relations = write_relations(inputs, asked_sections(inputs.sections, 0.5), folder, ORIGINS)
    rows = pl.read_parquet(link(relations, folder, DEPTH))
    expected = walked(parsed)
    assert len(expected) > 1_000
    evidence = {(text, image): (share, set(on)) for text, image, share, on in rows.iter_rows()}
    assert {key: on for key, (_, on) in evidence.items()} == {
        key: on for key, (_, on) in expected.items()
    }
    shares = {key: share for key, (share, _) in evidence.items()}
    assert shares == pytest.approx({key: share for key, (share, _) in expected.items()}, rel=1e-5)
    names = set(pl.read_parquet(parsed["rejected"]).filter(reason="redirect")["detail"])
    linked = pl.read_parquet(parsed["outline"])["links"].explode()
    assert names & set(linked), "the pages link to redirects"
