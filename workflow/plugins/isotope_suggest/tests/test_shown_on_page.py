"""What a page shows anywhere is not suggested for its sections."""

import polars as pl
from tests.sql.test_collect_form import built

from isotope.collect.build import collect
from isotope.core import sql
from isotope_suggest.filters import shown
from isotope_suggest.origins import Origins


def test_the_gallery_of_a_section_without_text_is_on_the_page_all_the_same(tmp_path):
    """What the page shows is parsed from every section, so it is not suggested there."""
    source, names = built(tmp_path), ("associations", "sections", "members", "projection")
    relations = {name: source[name] for name in (*names, "urls", "ledger")}
    collect(sql.SQL / "collect/wikipedia", relations, {"language": "en"}, tmp_path / "made")
    pictures = pl.read_parquet(source["pictures"]).filter(file="EC-135 on ground.jpg")
    assert pictures["text_id"].to_list() == ["projected-08555460-003"]
    images = pl.read_parquet(tmp_path / "made/images.parquet").select("image_id", "image_url")
    named = images.with_columns(
        file=pl.col("image_url").str.extract("([^/]+)$").str.replace_all("_", " ")
    )
    on_page = shown([source["pictures"]], named, Origins(languages={"enwiki": "en"}))
    ground = named.filter(file="EC-135 on ground.jpg")["image_id"].implode()
    assert on_page.filter(pl.col("image_id").is_in(ground))["page_id"].unique().to_list() == [
        8555460
    ]
