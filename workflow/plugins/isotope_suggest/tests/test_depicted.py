"""Pictures and names that Wikidata has for a section's page and for the pages it links to."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from workflow.plugins.isotope_suggest.tests.aligned_pages import Entity, Pages, Section, depicted
from workflow.plugins.isotope_suggest.tests.test_candidates import ASKED, candidates_of

from isotope_suggest.reasons import CaptionWords, reasons
from isotope_suggest.wikidata import said_of, with_names

# Other pages show the pictures: what no page shows is in no collection.
SHOWN = {"Z": [Section(shows=["W", "X", "Y"])]}
A = [Section(), Section("One"), Section("Two", links=["B", "C", "Nowhere"])]
OTHER_PAGES = {"B": [Section(judged=["V"])], "C": [Section(judged=["V"])]}


def asking(entities: dict[str, Entity], **more: Any) -> Pages:
    return Pages({"en": {"A": A, **OTHER_PAGES, **SHOWN}}, entities={"en": entities}, **more)


class TestShares:
    def test_a_pages_picture_is_its_leads_and_of_the_other_sections_each_has_a_part(self, tmp_path):
        evidence = depicted(asking({"A": Entity("Q1", ["X"])}), tmp_path)
        assert evidence == {
            ("1-0", "x"): (1, ["Q1: A"]),
            ("1-1", "x"): (0.5, ["Q1: A"]),
            ("1-2", "x"): (0.5, ["Q1: A"]),
        }

    def test_several_pictures_of_an_item_divide_its_share(self, tmp_path):
        evidence = depicted(asking({"A": Entity("Q1", ["X", "Y"])}), tmp_path)
        assert evidence["1-0", "x"] == evidence["1-0", "y"] == (0.5, ["Q1: A"])

    def test_linked_pages_with_a_picture_have_a_share_each_and_agree(self, tmp_path):
        items = {"B": Entity("Q2", ["X"]), "C": Entity("Q3", ["X", "Y"]), "Z": Entity("Q4", ["W"])}
        evidence = depicted(asking(items), tmp_path)
        assert evidence == {
            ("1-2", "x"): (pytest.approx(1 - (1 - 1 / 2) * (1 - 1 / 4)), ["Q2: B", "Q3: C"]),
            ("1-2", "y"): (0.25, ["Q3: C"]),
        }

    def test_a_linked_page_without_a_picture_takes_no_share(self, tmp_path):
        items = {"B": Entity("Q2", ["X"]), "C": Entity("Q3", ["Unknown"])}
        assert depicted(asking(items), tmp_path) == {("1-2", "x"): (1, ["Q2: B"])}

    def test_a_link_to_a_redirect_leads_to_the_item_of_its_target(self, tmp_path):
        items = {"Z": Entity("Q4", ["W"])}
        evidence = depicted(asking(items, redirects={"Nowhere": "Z"}), tmp_path)
        assert evidence == {("1-2", "w"): (1, ["Q4: Z"])}

    def test_the_items_of_another_wiki_are_others(self, tmp_path):
        german = {"A": [Section()]}
        pages = Pages(
            {"en": {"A": [Section()], **SHOWN}, "de": german},
            entities={"de": {"A": Entity("Q1", ["X"])}},
        )
        assert depicted(pages, tmp_path) == {("de-1-0", "x"): (1, ["Q1: A"])}

    def test_only_the_likeliest_pictures_are_kept(self, tmp_path):
        items = {"A": Entity("Q1", ["X"]), "B": Entity("Q2", ["W"]), "C": Entity("Q3", ["W"])}
        evidence = depicted(asking(items), tmp_path, depth=1)
        assert [pair for pair in evidence if pair[0] == "1-2"] == [("1-2", "w")]


class TestCandidates:
    """All sources together, with the words of captions in an index."""

    def candidates(self, pages: Pages, folder: Path) -> pl.DataFrame:
        inputs = pages.write(folder)
        tables: dict[str, Any] = {
            name: getattr(inputs, name)
            for name in ("texts", "images", "qrels", "sections", "outlines", "placed")
        }
        ids = pl.read_parquet(tables["images"])["image_id"].to_list()
        texts = pl.read_parquet(tables["texts"])["text_id"].to_list()
        vectors = {}
        for side, side_ids in (("text", texts), ("image", ids)):
            shard = folder / f"{side}.npy"
            np.save(shard, np.eye(len(side_ids), 4, dtype=np.float32))
            pl.DataFrame({"id": side_ids}).write_parquet(shard.with_suffix(".ids.parquet"))
            vectors |= {f"{side}_vectors": [shard]}
            vectors |= {f"{side}_ids": [shard.with_suffix(".ids.parquet")]}
        entities = [path for _, path in inputs.entities]
        more = {"manifests": [], "associations": inputs.associations, "index": []}
        asked = {**ASKED, "origins": pages.origins}
        files = {**tables, **vectors, **more, "redirects": inputs.redirects}
        return candidates_of(folder / "out.parquet", files, **asked, entities=entities)

    def test_they_stand_beside_the_others_with_their_reason(self, tmp_path):
        items = {"A": Entity("Q1", ["X"], ["picture of X", "Xa"], "Y"), "B": Entity("Q2", ["W"])}
        rows = self.candidates(asking(items), tmp_path)
        named_rows = rows.filter(pl.col("wikidata").is_not_null())
        assert named_rows.select("text_id", "image_id", "wikidata_on").rows() == [
            ("1-0", "x", ["Q1: A"]),
            ("1-1", "x", ["Q1: A"]),
            ("1-2", "w", ["Q2: B"]),
            ("1-2", "x", ["Q1: A"]),
        ]
        (row,) = rows.filter(text_id="1-0", image_id="x").rows(named=True)
        assert "the picture of *A* (Q1) in Wikidata" in reasons(row, "", [], CaptionWords(0, {}))

    def test_names_are_looked_for_in_files_and_captions(self, tmp_path):
        items = {"A": Entity("Q1", ["X"], ["Picture of X", "Y"])}
        rows = self.candidates(asking(items), tmp_path)
        named = rows.filter(pl.col("is_named").fill_null(value=False))
        assert set(named["image_id"]) == {"x"}
        assert set(named["text_id"]) == {"1-0", "1-1", "1-2"}

    def test_without_wikidata_its_columns_are_null_and_the_others_the_same(self, tmp_path):
        without = self.candidates(asking({}), tmp_path / "a")
        with_it = self.candidates(asking({"A": Entity("Q1", ["X"], ["Name"])}), tmp_path / "b")
        columns = ["wikidata", "wikidata_on", "is_named"]
        assert all(without[name].null_count() == without.height for name in columns)
        both = with_it.join(without, on=["text_id", "image_id"], how="semi")
        assert both.drop(columns).equals(without.drop(columns))


IMAGES = pl.DataFrame(
    {
        "image_id": ["a", "b", "c"],
        "image_url": [
            *("https://u.org/a/ab/Ray_Charles_%28cropped%29.jpg", "https://u.org/Plan.svg"),
            "https://u.org/Stray_charlestown.jpg",
        ],
        "caption_reference_description": [[], ["The house of  RAY-Charles, 1969"], [None]],
        "caption_alt_text_description": [[], [], []],
        "caption_attribution_description": [[], [], []],
    },
    schema_overrides=dict.fromkeys(
        [f"caption_{n}_description" for n in ("reference", "alt_text", "attribution")],
        pl.List(pl.String),
    ),
)


@pytest.mark.parametrize(
    ("names", "named"),
    [
        (["Ray Charles"], [True, True, False]),
        (["Ray"], [None, None, None]),
        (["The High Priest", "plan"], [False, True, False]),
        ([], [None, None, None]),
    ],
)
def test_a_name_is_found_as_whole_words_whatever_stands_between(names, named, tmp_path):
    IMAGES.write_parquet(tmp_path / "images.parquet")
    words = said_of(tmp_path / "images.parquet", IMAGES["image_id"])
    rows = pl.DataFrame({"text_id": ["t"] * 3, "image_id": ["a", "b", "c"]})
    name_rows = pl.DataFrame(
        {"text_id": ["t"], "names": [names]}, schema_overrides={"names": pl.List(pl.String)}
    )
    assert with_names(rows, name_rows, words)["is_named"].to_list() == named
