"""The overlay for COCO: it plans, and on the real pictures it runs to the known numbers."""

import re

import polars as pl
import pytest
import yaml


def overlay(shared, *more: str) -> list[str]:
    config = ["--configfile", "params/coco.yaml", "--config", f"root={shared / 'collections'}"]
    return ["snakemake", "--cores", "all", *more, *config]


def test_the_overlay_plans_every_phase_and_all_explanations(shared, shell, root):
    told = shell(*overlay(shared, "--dry-run"), cwd=root, check=False)
    for rule in ("collect_tables", "encode_shard", "tabulate_failures", "tabulate_perturbed_dense"):
        assert rule in told, told[-3_000:]


def test_the_encyclopedia_is_held_against_coco(shared, shell, root, tmp_path):
    """Fig. 7 of AToMiC: recall here against success there, for the systems that both have."""
    held = {"collection": "coco", "here": "R@10", "there": "Success@10"}
    both = {
        "build": ["toy", "coco"],
        "score": {"measures": ["R@10", "Success@10"]},
        "tabulate": {"against": {"toy": held}},
    }
    (tmp_path / "both.yaml").write_text(yaml.safe_dump(both))
    files = ["--configfile", "params/coco.yaml", str(tmp_path / "both.yaml")]
    root_is = ["--config", f"root={shared / 'collections'}"]
    wanted = "results/figures/toy/against.svg"
    told = shell("snakemake", "-n", "--forceall", wanted, *files, *root_is, cwd=root)
    assert "hold toy against another collection" in told
    scored = {f"score the runs on {name}" for name in ("toy", "coco")}
    assert scored <= set(re.findall(r"score the runs on \w+", told))


@pytest.mark.slow
def test_the_real_pictures_give_the_numbers_of_the_page(project, shared, shell):
    """As docs/explain.md has them; BM25, random and hashed words are exact everywhere."""
    place = project()
    shell(*overlay(shared), cwd=place)
    tables = place / "results/tables/coco"
    ranking = pl.read_csv(tables / "ranking.csv").select("system", "fails").rows()
    assert ranking == [("bm25", 20), ("words", 30), ("random", 79)]
    explained = pl.read_csv(tables / "explained.csv").filter(system="bm25").row(0, named=True)
    assert explained["ca_share"] == pytest.approx(0.597, abs=5e-4)
    assert explained["ncs"] == pytest.approx(0.1148, abs=5e-5)
    assert explained["ce"] == pytest.approx(4.35)
    unknown = pl.read_csv(tables / "unknown_objects.csv").rows()
    assert unknown == [("unknown synset", "stop_sign.n.01", 3)]
    assert (place / "results/report/coco/failures.html").stat().st_size > 100_000
