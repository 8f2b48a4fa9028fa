"""What has changed between two snapshots is told as a person who compares them would."""

from pathlib import Path

import polars as pl

from isotope.core import store
from isotope.schemas import collect as collect_tables
from isotope.tabulate import snapshot_diff

WORDS = "a section about bees with words of its own {} and nothing else to tell apart"


def text(page: int, number: int, path: str, words: str = "", title: str = "") -> dict[str, object]:
    name = title or f"Page {page}"
    return {
        "text_id": f"projected-{page:08d}-{number:03d}",
        "page_id": page,
        "page_title": name,
        "section_title": path.rpartition(" / ")[2] or "Introduction",
        "hierarchy": path or "Introduction",
        "context_section_description": words or f"said in {path}",
    }


def image(name: str, caption: str = "c", sha: str = "s") -> dict[str, object]:
    url, told = f"http://x/{name}", [caption]
    return {
        "image_id": name,
        "image_url": url,
        "caption_reference_description": told,
        "sha256": sha,
    }


def pair(page: int, number: int, name: str, split: str = "test") -> dict[str, object]:
    ids = {"text_id": f"projected-{page:08d}-{number:03d}", "image_id": name}
    return {**ids, "relevance": 1, "split": split}


Rows = dict[str, list[dict[str, object]]]


def changes(folder: Path, before: Rows, after: Rows) -> tuple[pl.DataFrame, pl.DataFrame]:
    out = folder / "changes.parquet", folder / "identities.parquet"
    given = [written(folder, "before", before), written(folder, "after", after)]
    snapshot_diff.write_changes(given[0], given[1], *out)
    return pl.read_parquet(out[0]), pl.read_parquet(out[1])


def written(folder: Path, when: str, rows: Rows) -> dict[str, Path]:
    files = {t: folder / f"{when}-{t}" for t in ("texts", "images", "qrels")}
    for name, path in files.items():
        store.write_rows(rows.get(name, []), path, getattr(collect_tables, name.upper()))
    return files


def told(found: pl.DataFrame, kind: str) -> dict[str, str]:
    own = found.filter(kind=kind).with_columns(pl.coalesce("before_id", "after_id").alias("id"))
    return dict(own.select("id", "change").rows())


def number(ident: str) -> int:
    return int(ident.rpartition("-")[2])


def test_a_section_keeps_its_identity_where_path_title_words_or_place_say_so(tmp_path):
    long = WORDS.format("one two three")
    before = [
        text(1, 0, ""),
        text(1, 1, "Life"),
        text(1, 2, "Life / Youth"),
        text(1, 3, "Works", long),
        text(1, 4, "Death", "short"),
        text(1, 5, "Notes"),
        text(1, 6, "Gone", "other things that were said only here and never again"),
    ]
    after = [
        text(1, 0, "", "new lead"),
        text(1, 1, "New", "something that no section had before, at all, ever"),
        text(1, 2, "Life"),
        text(1, 3, "Youth"),
        text(1, 4, "Compositions", long + " today"),
        text(1, 5, "Last years", "brief"),
        text(1, 6, "Notes"),
    ]
    found, identities = changes(tmp_path, {"texts": before}, {"texts": after})
    known = {number(b): (number(a), how) for b, a, how in identities.rows()}
    assert known == {
        0: (0, "same"),
        1: (2, "same"),
        2: (3, "moved"),
        3: (4, "renamed"),
        4: (5, "renamed"),
        5: (6, "same"),
    }
    texts = found.filter(kind="text")
    by_before = {
        number(b): c for b, c in texts.drop_nulls("before_id").select("before_id", "change").rows()
    }
    assert by_before == {
        0: "edited",
        1: "unchanged",
        2: "moved",
        3: "renamed",
        4: "renamed",
        5: "unchanged",
        6: "removed",
    }
    assert [number(a) for a in texts.filter(change="added")["after_id"]] == [1]


def test_a_lead_is_no_section_of_its_name(tmp_path):
    """A page may have a section that is called as a lead is."""
    before = [text(1, 0, ""), text(1, 1, "Introduction")]
    after = [text(1, 0, ""), text(1, 1, "Life", "another"), text(1, 2, "Introduction")]
    _, identities = changes(tmp_path, {"texts": before}, {"texts": after})
    same = identities.filter(method="same").select("before_id", "after_id").rows()
    assert [(b[-3:], a[-3:]) for b, a in same] == [("000", "000"), ("001", "002")]


def test_pages_are_new_gone_renamed_edited_or_untouched(tmp_path):
    before = [text(n, 0, "") for n in (1, 2, 3, 4)]
    after = [
        text(2, 0, "", words=str(before[1]["context_section_description"]), title="Other name"),
        text(3, 0, "", words="edited"),
        text(4, 0, ""),
        text(5, 0, ""),
    ]
    found, _ = changes(tmp_path, {"texts": before}, {"texts": after})
    classes = found.with_columns(
        pl.coalesce("after_id", "before_id").str.slice(10, 8).cast(int).alias("p")
    )
    assert dict(classes.select("p", "page_class").rows()) == {
        1: "gone",
        2: "renamed",
        3: "edited",
        4: "untouched",
        5: "new",
    }
    assert told(found, "text")["projected-00000002-000"] == "unchanged"


def test_judgements_hold_move_are_replaced_or_go(tmp_path):
    texts = [text(1, 0, ""), text(1, 1, "A"), text(1, 2, "B"), text(2, 0, "")]
    later = [text(1, 0, ""), text(1, 1, "New"), text(1, 2, "A"), text(1, 3, "B"), text(2, 0, "")]
    before = {
        "texts": texts,
        "images": [image("keeps"), image("moves"), image("old"), image("goes"), image("sha")],
        "qrels": [
            pair(1, 1, "keeps"),
            pair(1, 1, "moves"),
            pair(1, 2, "old"),
            pair(2, 0, "goes", "train"),
        ],
    }
    after = {
        "texts": later,
        "images": [
            image("keeps", "another caption"),
            image("moves"),
            image("new"),
            image("sha", sha="t"),
        ],
        "qrels": [pair(1, 2, "keeps"), pair(1, 0, "moves"), pair(1, 3, "new")],
    }
    found, _ = changes(tmp_path, before, after)
    assert told(found, "pair") == {
        "projected-00000001-001 keeps": "unchanged",
        "projected-00000001-001 moves": "moved",
        "projected-00000001-002 old": "replaced",
        "projected-00000002-000 goes": "removed",
        "projected-00000001-000 moves": "added",
        "projected-00000001-003 new": "added",
    }
    assert told(found, "image") == {
        "keeps": "edited",
        "moves": "unchanged",
        "old": "removed",
        "goes": "removed",
        "new": "added",
        "sha": "replaced",
    }
    summed, survived = tabulated(tmp_path)
    assert survived.select("split", "judgements", "held").rows() == [
        ("all", 4, 1),
        ("train", 1, 0),
        ("test", 3, 1),
    ]
    assert summed.group_by("kind").agg(pl.col("every").sum()).sort("kind").rows() == [
        ("image", 6),
        ("pair", 6),
        ("text", 5),
    ]


def test_pairs_that_moved_are_the_pictures_that_stand_in_another_section(tmp_path):
    """Where a section is moved or renamed itself and keeps its picture, the pair is unchanged."""
    long = WORDS.format("one two three")
    before = {
        "texts": [text(1, 0, ""), text(1, 1, "A"), text(1, 2, "A / Youth"), text(1, 3, "B", long)],
        "images": [image("in lead"), image("in moved"), image("in renamed")],
        "qrels": [pair(1, 0, "in lead"), pair(1, 2, "in moved"), pair(1, 3, "in renamed")],
    }
    after = {
        "texts": [text(1, 0, ""), text(1, 1, "A"), text(1, 2, "Youth"), text(1, 3, "C", long)],
        "images": before["images"],
        "qrels": [pair(1, 1, "in lead"), pair(1, 2, "in moved"), pair(1, 3, "in renamed")],
    }
    found, identities = changes(tmp_path, before, after)
    assert identities["method"].to_list() == ["same", "same", "moved", "renamed"]
    assert told(found, "pair") == {
        "projected-00000001-000 in lead": "moved",
        "projected-00000001-001 in lead": "added",
        "projected-00000001-002 in moved": "unchanged",
        "projected-00000001-003 in renamed": "unchanged",
    }
    diff, survival = tabulated(tmp_path)
    counts = dict(diff.filter(kind="pair").select("change", "every").rows())
    row = survival.row(0, named=True)
    assert counts["moved"] == row["picture_in_another_section"] == 1
    assert counts["unchanged"] == row["held"] == 2


def test_images_are_not_counted_by_page(tmp_path):
    rows = {"texts": [text(1, 0, "")], "images": [image("i")], "qrels": [pair(1, 0, "i")]}
    changes(tmp_path, rows, rows)
    diff, _ = tabulated(tmp_path)
    on_pages = [c for c in diff.columns if c.startswith("on_")]
    assert set(diff.filter(kind="image").select(on_pages).row(0)) == {None}
    assert diff.filter(kind="pair").row(0) == ("pair", "unchanged", 1, 0, 0, 0, 0, 1)


def tabulated(folder: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    stems = [folder / name for name in ("snapshot_diff", "snapshot_survival")]
    snapshot_diff.tabulate_changes(folder / "changes.parquet", stems)
    return pl.read_csv(stems[0].with_suffix(".csv")), pl.read_csv(stems[1].with_suffix(".csv"))


def test_a_snapshot_has_not_changed_since_itself(tmp_path):
    rows = {
        "texts": [text(1, 0, ""), text(1, 1, "A")],
        "images": [image("i")],
        "qrels": [pair(1, 1, "i")],
    }
    found, identities = changes(tmp_path, rows, rows)
    assert set(found["change"]) == {"unchanged"}
    assert (found["before_id"] == found["after_id"]).all()
    assert set(identities["method"]) == {"same"}
