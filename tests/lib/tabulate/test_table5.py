"""Table 5 tells zero-shot, trained, fine-tuned and fused systems apart, with what was chosen."""

import numpy as np
import polars as pl
import pytest
import yaml
from scipy import stats
from tests.entries import system_of

from isotope.core import store
from isotope.core.errors import BadParams
from isotope.params import files as params_files
from isotope.params.resolve import resolve
from isotope.params.sections import ModelKind, SystemKind
from isotope.schemas.score import SCORES
from isotope.score import score
from isotope.tabulate.exhibits import system_rows, table5

SYSTEMS = {
    "bm25": {"kind": "bm25"},
    "tuned": {"kind": "wsum", "of": ["bm25", "text"], "tune": {"grid": {"step": 0.5}}},
    "text": {"kind": "dense", "model": "text"},
    "zero": {"kind": "dense", "model": "zero"},
    "rrf": {"kind": "rrf", "of": ["bm25", "zero"], "k": 60},
}
RECIPE = {"batch": 2, "steps": 1, "learning_rate": 0.1}
MODELS = {
    "zero": {"kind": "open_clip", "name": "ViT-B-32"},
    "text": {"kind": "trained", "name": "ViT-B-32", "train": {**RECIPE, "tune": "text"}},
    "scratch": {"kind": "trained", "config": "tiny-clip", "train": RECIPE},
    "on": {"kind": "trained", "config": "tiny-clip", "from": "scratch", "train": RECIPE},
    "heads": {"kind": "lit"},
    "titles": {"kind": "reuse", "weights_of": "text", "fields": ["page_title"]},
}


def typed_models() -> dict[str, ModelKind]:
    return {name: ModelKind.of_spec(entry) for name, entry in MODELS.items()}


HEAD = "collection,system,setting,task,split,measure,parameters,value,chosen\n"


@pytest.mark.parametrize(
    ("model", "stage", "made_of"),
    [
        ("zero", "zero-shot", ""),
        ("text", "fine-tuned", "text tower"),
        ("scratch", "trained", "both towers"),
        ("on", "fine-tuned", "both towers"),
        ("heads", "fine-tuned", "heads on frozen towers"),
        ("titles", "fine-tuned", "text tower"),
    ],
)
def test_a_models_stage_follows_from_where_its_weights_come_from(model, stage, made_of):
    (row,) = system_rows({"s": system_of("dense", model=model)}, typed_models())
    assert (row["stage"], row["made_of"]) == (stage, made_of)


# AToMiC (SIGIR 2023), Table 5: row letters, methods and models, and the note of the table:
# "alpha = 6 for (e,f,g,b) and (h,i,j,c)", "alpha = 6 for (a,d,k,l)".
ROWS = {
    "a": ("bm25", "zero-shot", ""),
    "b": ("openclip-b32-2b", "zero-shot", ""),
    "c": ("openclip-l14", "zero-shot", ""),
    "d": ("openclip-bigg14", "zero-shot", ""),
    "e": ("b32-text", "fine-tuned", "text tower"),
    "f": ("b32-vision", "fine-tuned", "vision tower"),
    "g": ("b32-both", "fine-tuned", "both towers"),
    "h": ("l14-text", "fine-tuned", "text tower"),
    "i": ("l14-vision", "fine-tuned", "vision tower"),
    "j": ("l14-both", "fine-tuned", "both towers"),
    "k": ("rrf", "fused", "RRF of bm25 and openclip-bigg14"),
    "l": ("wsum", "fused", "WSUM of bm25 and openclip-bigg14"),
}
COMPARED = ["efgb", "hijc", "adkl"]


@pytest.fixture(scope="module")
def recipe(root):
    return params_files.load([root / "params/atomic-finetune.yaml"], root=root)


def test_the_papers_recipe_gives_the_papers_rows(recipe):
    names = recipe.search.systems
    rows = list(system_rows({s: recipe.systems[s] for s in names}, recipe.models))
    found = [(r["system"], r["stage"], r["made_of"]) for r in rows]
    assert dict(zip("abcdefghijkl", found, strict=True)) == ROWS


def test_the_recipe_compares_the_systems_that_the_paper_compares(recipe):
    letter = {system: letter for letter, (system, *_) in ROWS.items()}
    groups = recipe.tabulate.comparisons
    assert ["".join(letter[s] for s in group) for group in groups] == COMPARED


def test_the_two_models_that_the_paper_tunes_are_those_of_its_table_3(recipe, root):
    """Section 5.3: "two OpenCLIP pretrained models: ViT-B-32 and ViT-L-14", LAION-2B (5.1)."""
    table3 = yaml.safe_load((root / "params/atomic-baselines.yaml").read_text())["models"]
    for start, of in {"b": "efg", "c": "hij"}.items():
        origin = recipe.models[ROWS[start][0]]
        assert origin.spec() == table3[ROWS[start][0]]
        assert "laion2b" in origin.pretrained
        for letter in of:
            tuned = recipe.models[ROWS[letter][0]]
            assert (tuned.name, tuned.pretrained) == (origin.name, origin.pretrained)
    towers = [recipe.models[ROWS[letter][0]].train.tune for letter in "efghij"]
    assert towers == ["text", "vision", "both"] * 2


def test_every_training_is_the_papers_batch_steps_and_rate(recipe):
    """Section 5.3: batch 1024, AdamW, 9075 steps, learning rate 1e-5."""
    for letter in "efghij":
        own = recipe.models[ROWS[letter][0]].train
        assert (own.batch, own.steps, own.learning_rate) == (1024, 9075, 1e-5)
        assert (own.caption_rate, own.augment) == (0, False)


def test_the_fusions_are_the_papers_and_a_search_could_find_them_again(recipe):
    """Section 5.3: (BM25, ViT-G-14) = (0.6, 0.4), k = 30, optimised for MRR@10 on validation."""
    systems = recipe.systems
    assert (systems["rrf"].k, systems["wsum"].weights) == (30, [0.6, 0.4])
    parts = [systems[s].of for s in ("rrf", "wsum", "rrf-tuned", "wsum-tuned")]
    assert parts == [["bm25", "openclip-bigg14"]] * 4
    assert 30 in systems["rrf-tuned"].tune.grid.k
    assert 0.4 / systems["wsum-tuned"].tune.grid.step == pytest.approx(4)
    for name in ("rrf-tuned", "wsum-tuned"):
        chosen = systems[name].tune
        assert (chosen.measure, chosen.split) == ("MRR@10", "validation")


def test_the_recipe_shows_both_splits_of_base_in_the_papers_measures(recipe):
    search = recipe.search
    assert (search.settings, search.splits) == (["base"], ["validation", "test"])
    assert (search.tasks, search.depth) == (["t2m", "m2t"], 1000)
    assert recipe.score.measures == ["MRR@10", "R@1000"]


def test_a_comparison_of_a_system_that_nothing_defines_is_refused(recipe):
    plain = recipe.spec()
    named = {**plain, "tabulate": plain["tabulate"] | {"comparisons": [["bm25", "bm52"]]}}
    with pytest.raises(
        BadParams, match=r"tabulate\.comparisons\[0\]\[1\]: unknown name 'bm52'.*bm25"
    ):
        resolve(named)


@pytest.fixture
def written(tmp_path):
    cell = {"collection": "c", "setting": "small", "split": "test", "measure": "MRR@10"}
    rows = [
        cell | {"task": task, "system": system, "query_id": q, "value": value}
        for task, more in (("t2m", 0.0), ("m2t", 0.25))
        for n, system in enumerate(SYSTEMS)
        for q, value in (("a", n / 10 + more), ("b", 0.0))
    ]
    store.write_rows(rows, tmp_path / "scores.parquet", SCORES)
    point = "c,tuned,small,{},validation,MRR@10,{},{},{}"
    half, one = (f'"{{""weights"": {w}}}"' for w in ([0.5, 0.5], [1.0, 0.0]))
    trials = [
        point.format("t2m", half, 0.2, "true"),
        point.format("t2m", one, 0.1, "false"),
        point.format("m2t", one, 0.3, "true"),
    ]
    (tmp_path / "tuned.csv").write_text(HEAD + "\n".join(trials) + "\n")
    tests = tmp_path / "significance.parquet"
    score.significance_table(tmp_path / "scores.parquet", tests)

    def write(*grids):
        files = [tmp_path / g for g in grids]
        out = tmp_path / "table5"
        relations = {"scores": tmp_path / "scores.parquet", "significance": tests, "trials": files}
        systems = {name: SystemKind.of_spec(entry) for name, entry in SYSTEMS.items()}
        stages = [*system_rows(systems, typed_models())]
        table5(relations, {"stages": stages, "comparisons": [], "alpha": 0.05}, out)
        return pl.read_csv(out.with_suffix(".csv"))

    return write


def test_the_rows_stand_in_the_order_of_the_stages_with_the_means_of_each_task(written):
    found = written("tuned.csv")
    assert found.select("stage", "system", "t2m MRR@10", "m2t MRR@10").rows() == [
        ("zero-shot", "bm25", 0.0, 0.125),
        ("zero-shot", "zero", 0.15, 0.275),
        ("fine-tuned", "text", 0.1, 0.225),
        ("fused", "tuned", 0.05, 0.175),
        ("fused", "rrf", 0.2, 0.325),
    ]


def test_a_tuned_fusion_shows_what_was_chosen_and_a_fixed_one_what_was_given(written):
    told = dict(written("tuned.csv").select("system", "parameters").iter_rows())
    assert told["tuned"] == 't2m {"weights": [0.5, 0.5]}, m2t {"weights": [1.0, 0.0]}'
    assert yaml.safe_load(told["rrf"]) == {"k": 60}
    assert told["zero"] == ""


def test_without_a_tuned_fusion_there_is_no_choice(written):
    assert dict(written().select("system", "parameters").iter_rows())["tuned"] == ""


@pytest.fixture
def lettered(tmp_path, recipe):
    """The paper's twelve systems on random scores, with the letters of the paper's groups."""
    rng = np.random.default_rng(5)
    base = rng.random(60)
    values = {
        row[0]: base + rng.normal(0.004 * n, 0.02 * (1 + n % 3), 60)
        for n, row in enumerate(ROWS.values())
    }
    cell = {"collection": "c", "setting": "base", "task": "t2m", "measure": "MRR@10"}
    rows = [
        cell | {"split": split, "system": s, "query_id": f"{q:02}", "value": float(v)}
        for split, sign in (("validation", 1), ("test", -1))
        for s, of in values.items()
        for q, v in enumerate(sign * of)
    ]
    store.write_rows(rows, tmp_path / "scores.parquet", SCORES)
    tests = tmp_path / "significance.parquet"
    score.significance_table(tmp_path / "scores.parquet", tests)
    systems = {s: recipe.systems[s] for s in recipe.search.systems}
    out = tmp_path / "table5"
    relations = {"scores": tmp_path / "scores.parquet", "significance": tests, "trials": []}
    stages = [*system_rows(systems, recipe.models)]
    own = {"stages": stages, "comparisons": recipe.tabulate.comparisons, "alpha": 0.05}
    table5(relations, own, out)
    return values, pl.read_csv(out.with_suffix(".csv"))


def test_the_rows_have_the_papers_letters_on_both_splits(lettered):
    _, table = lettered
    for split in ("validation", "test"):
        own = table.filter(split=split).select("letter", "system", "stage", "made_of")
        expected = [(letter, *row) for letter, row in ROWS.items()]
        assert [tuple(v or "" for v in row) for row in own.rows()] == expected


def test_letters_are_paired_t_tests_within_a_group_corrected_for_its_six_pairs(lettered):
    """Table 5: "paired t-tests (p < 0.05) with Bonferroni correction alpha = 6"."""
    values, table = lettered
    within = among_all = 0
    for letter, (system, *_) in ROWS.items():
        group = next(g for g in COMPARED if letter in g)
        beaten: dict[int, str] = {1: "", -1: ""}
        for other in sorted(group.replace(letter, "")):
            t, p = stats.ttest_rel(values[system], values[ROWS[other][0]])
            sign = 1 if t > 0 else -1
            beaten[sign] += other if 6 * p < 0.05 else ""
            within += 6 * p < 0.05
            among_all += 66 * p < 0.05
        for split, sign in (("validation", 1), ("test", -1)):
            cell = table.filter(split=split, letter=letter)["t2m MRR@10 beats"].item()
            assert (cell or "") == beaten[sign]
    # The correction for the pairs of all twelve systems would have given fewer letters.
    assert within > among_all > 0
