"""Which pictures illustrate: drawn ones of every kind, and real ones."""

import numpy as np
import polars as pl
import pytest
from PIL import Image
from workflow.plugins.isotope_suggest.tests.suggest_pictures import drawn

from isotope_suggest.looks import measured
from isotope_suggest.pictures import (
    BLANK,
    FEATURES,
    KINDS,
    SIGNS,
    features,
    learn,
    may_be,
    most_probable,
    named,
    prior,
    probabilities,
)


def table(pictures):
    rows = [
        {"kind": d.kind, "file": d.file, "mime_type": d.mime_type, "pages": 1, **measured(d.rgb)}
        for d in pictures
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def classified(rows, kinds):
    names, illustrates = most_probable(probabilities(kinds, features(rows)))
    return rows.with_columns(pl.Series("found", names), pl.Series("illustrates", illustrates))


@pytest.fixture(scope="module")
def drawings():
    return table(drawn(12, seed=1))


def share(rows, condition):
    return rows.select(condition.mean()).item()


def test_icons_flags_logos_and_placeholders_are_told_from_pictures_by_the_priors(drawings):
    labelled = classified(drawings, prior())
    blank = labelled.filter(pl.col("kind").is_in(BLANK))
    illustrations = labelled.filter(pl.col("kind").is_in(["photograph", "drawing"]))
    assert share(blank, pl.col("illustrates") < 0.5) >= 0.95
    assert share(illustrations, pl.col("illustrates") > 0.5) >= 0.95
    right = labelled.group_by("kind").agg((pl.col("kind") == pl.col("found")).mean().alias("share"))
    shares = dict(right.iter_rows())
    assert all(shares[kind] >= 0.8 for kind in (*BLANK, "photograph")), shares


def test_names_help_and_do_not_decide(drawings):
    unnamed = classified(drawings.filter(pl.col("file").str.starts_with("Item")), prior())
    blank = unnamed.filter(pl.col("kind").is_in(BLANK))
    assert share(blank, pl.col("illustrates") < 0.5) >= 0.9
    photographs = drawings.filter(pl.col("kind") == "photograph")
    by_name = photographs.with_columns(file=pl.lit("Flag raised over the harbour.jpg"))
    assert share(classified(by_name, prior()), pl.col("illustrates") > 0.5) == 1
    maps = drawings.filter(kind="map")
    telling = maps.filter(pl.col("file").str.starts_with("Locator"))
    assert share(classified(telling, prior()), pl.col("found") == "map") == 1


@pytest.mark.parametrize(
    ("file", "kinds"),
    [
        ("Flag of France.svg", ["flag"]),
        ("Drapeau_de_la_France.png", ["flag"]),
        ("Флаг России.svg", ["flag"]),
        ("DEU Musterstadt COA.svg", ["logo"]),
        ("Stadtwappen.png", []),
        ("Wappen_Berlin.svg", ["logo"]),
        ("LocatorMapOfLand.png", ["map"]),
        ("地図 01.png", ["map"]),
        ("NoImage2.png", ["placeholder"]),
        ("Commons-logo.svg", ["logo"]),
        ("Eddystone lighthouse.jpg", []),
        ("Mapungubwe hill.jpg", []),
        ("Flagstaff.jpg", []),
        ("Iconic view.jpg", []),
    ],
)
def test_names_speak_of_kinds_in_many_languages_by_whole_words(file, kinds):
    assert named(file) == kinds


def test_few_pages_say_nothing_so_a_judged_picture_is_not_known_by_its_page(drawings):
    once, never = (features(drawings.with_columns(pages=pl.lit(n))) for n in (1, 0))
    assert (once == never).all()
    often = features(drawings.with_columns(pages=pl.lit(400)))[:, FEATURES.index("many")]
    assert (often > 6).all()


def test_what_editors_chose_overrules_the_priors(drawings):
    flat = drawings.filter(kind="flag").with_columns(file=pl.lit("Item.svg"))
    assert share(classified(flat, prior()), pl.col("illustrates") < 0.5) == 1
    many = pl.concat([flat] * 40)
    learned = learn(features(many), may_be(pl.Series(["chosen"] * len(many))))
    assert (learned.chosen, learned.blank) == (len(many), 0)
    assert share(classified(flat, learned), pl.col("illustrates") > 0.5) == 1


def test_few_wrong_choices_change_little(drawings):
    photographs = drawings.filter(kind="photograph")
    flags = drawings.filter(kind="flag")
    some = pl.concat([photographs] * 10 + [flags[:2]])
    learned = learn(features(some), may_be(pl.Series(["chosen"] * len(some))))
    assert share(classified(flags, learned), pl.col("illustrates") < 0.5) >= 0.9


def test_what_is_on_very_many_pages_teaches_what_must_go(drawings):
    drawn_ones = drawings.filter(kind="drawing")
    signs = pl.Series(["used up"] * 400 + ["chosen"] * 12)
    some = pl.concat([pl.concat([drawn_ones] * 34)[:400], drawings.filter(kind="photograph")])
    learned = learn(features(some), may_be(signs))
    assert (learned.chosen, learned.blank) == (12, 400)
    shown = pl.col("found").is_in(["photograph", "drawing"])
    assert share(classified(drawn_ones, prior()), shown) == 1
    assert share(classified(drawn_ones, learned), shown) == 0


def test_learning_twice_gives_the_same_weights_and_of_nothing_the_priors(drawings):
    x, sets = features(drawings), may_be(pl.Series(["chosen"] * len(drawings)))
    assert (learn(x, sets).weights == learn(x, sets).weights).all()
    assert (learn(x[:0], sets[:0]).weights == prior().weights).all()


def test_kind_and_probability_never_disagree():
    p = np.random.default_rng(0).dirichlet(np.ones(len(KINDS)), 500)
    kinds, illustrates = most_probable(p)
    is_blank = np.isin(kinds, BLANK)
    assert (is_blank == (illustrates < 0.5)).all()
    assert illustrates == pytest.approx(1 - p[:, np.isin(KINDS, BLANK)].sum(axis=1))


def test_every_sign_leaves_kinds_open():
    assert set(SIGNS) == {"chosen", "used up", "tiny"}
    assert all(1 < len(kinds) < len(KINDS) for kinds in SIGNS.values())
    assert may_be(pl.Series(["tiny"])).sum() == len(BLANK)


def real(files):
    rows = [
        {
            "file": file.name,
            "mime_type": "image/jpeg" if file.suffix.lower() in (".jpg", ".jpeg") else "image/png",
            "pages": 1,
            **measured(np.asarray(Image.open(file).convert("RGB"))),
        }
        for file in files
    ]
    return classified(pl.DataFrame(rows, infer_schema_length=None), prior())


def test_real_photographs_illustrate(shared):
    labelled = real(sorted((shared / "collections/coco-mini/images").glob("*.jpg")))
    assert share(labelled, pl.col("illustrates") > 0.5) >= 0.98
    assert share(labelled, pl.col("found") == "photograph") >= 0.95


def test_nearly_all_pictures_of_real_wikipedia_pages_illustrate(shared):
    images = shared / "snapshots/raycharles/images"
    labelled = real(sorted(path for path in images.rglob("*.*") if path.is_file()))
    assert len(labelled) == 93
    blank = labelled.filter(pl.col("illustrates") < 0.5)["file"].to_list()
    # A map of the world in two colours, and a cover of one.
    assert set(blank) <= {"The_Nanny_adaptations_world.PNG", "5_America,_the_Beautiful.png"}
