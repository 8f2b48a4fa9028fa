"""params.yaml is closed: a typo, a dangling name or a missing placeholder stops the run at once."""

import copy
from pathlib import Path

import pytest
import yaml

from isotope import params
from isotope.errors import BadParams, MissingFile


@pytest.fixture
def schema(root: Path) -> Path:
    return root / "workflow/schemas/params.schema.yaml"


@pytest.fixture
def config(root: Path) -> dict:
    return yaml.safe_load((root / "params.yaml").read_text())


def overlaid(config: dict, overlay: dict) -> dict:
    """Merge as Snakemake merges --configfile: mappings deeply, everything else replaced."""
    merged = copy.deepcopy(config)
    for key, value in overlay.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = overlaid(merged[key], value) if both else value
    return merged


def test_the_default_params_are_valid_and_get_their_defaults(config, schema):
    resolved = params.resolve(config, schema)
    assert resolved["crawl"]["toy"]["attempts"] == 3


@pytest.mark.parametrize("overlay", ["local.yaml", "enwiki.yaml", "full.yaml"])
def test_every_overlay_is_valid_over_the_default(config, schema, root, overlay):
    given = yaml.safe_load((root / "params" / overlay).read_text())
    names = {"name": "somewhere", "root": "/tmp"}
    resolved = params.resolve(overlaid(config, given) | names, schema)
    assert set(resolved["build"]) <= set(resolved["collect"])


def test_case_studies_have_defaults_and_show_systems_that_are_searched(config, schema):
    resolved = params.resolve(copy.deepcopy(config), schema)
    assert resolved["tabulate"]["cases"] == {"queries": 2, "seed": 0, "hits": 10}
    config["tabulate"]["cases"] = {"systems": ["tiny-clip", "bn25"]}
    with pytest.raises(BadParams, match=r"tabulate\.cases\.systems.*'bn25'.*'bm25'"):
        params.resolve(config, schema)


def test_a_misspelled_key_is_refused_with_the_likely_one(config, schema):
    config["search"]["dept"] = config["search"].pop("depth")
    with pytest.raises(BadParams, match=r"search.*dept"):
        params.resolve(config, schema)


def test_a_misspelled_top_level_key_suggests_the_right_one(config, schema):
    config["sytems"] = {}
    with pytest.raises(BadParams, match="did you mean 'systems'"):
        params.resolve(config, schema)


def test_a_value_of_the_wrong_kind_names_its_place(config, schema):
    config["search"]["depth"] = "deep"
    with pytest.raises(BadParams, match=r"search\.depth.*'deep' is not of type 'integer'"):
        params.resolve(config, schema)


def test_a_system_with_an_unknown_model_is_refused(config, schema):
    config["systems"]["tiny-clip"]["model"] = "tiny-clap"
    with pytest.raises(BadParams, match=r"systems\.tiny-clip\.model.*did you mean 'tiny-clip'"):
        params.resolve(config, schema)


def test_an_unknown_architecture_is_refused_with_the_known_ones(config, schema):
    config["models"]["tiny-clip"]["config"] = "tiny-clap"
    with pytest.raises(BadParams, match=r"models\.tiny-clip\.config.*did you mean 'tiny-clip'"):
        params.resolve(config, schema)


def test_a_fusion_of_itself_is_refused(config, schema):
    config["systems"]["rrf"]["of"] = ["bm25", "rrf"]
    with pytest.raises(BadParams, match=r"systems\.rrf\.of"):
        params.resolve(config, schema)


def test_a_placeholder_without_a_value_is_refused(config, schema, root):
    given = yaml.safe_load((root / "params/local.yaml").read_text())
    with pytest.raises(BadParams, match=r"add --config name=|add --config root="):
        params.resolve(overlaid(config, given), schema)


def test_every_key_of_the_schema_is_described_and_every_object_is_closed(schema):
    def walk(node: object, path: str) -> None:
        if isinstance(node, list):
            for i, item in enumerate(node):
                walk(item, f"{path}/{i}")
        if not isinstance(node, dict):
            return
        if isinstance(node.get("properties"), dict):
            closed = "additionalProperties" in node
            assert closed, f"{path} is open"
            for key, rule in node["properties"].items():
                described = "description" in rule or "$ref" in rule or "const" in rule
                assert described, f"{path}.{key} has no description"
        for key, value in node.items():
            walk(value, f"{path}.{key}")

    walk(yaml.safe_load(schema.read_text()), "")


def test_a_pattern_expands_to_sorted_files(tmp_path):
    for name in ("b.tsv.gz", "a.tsv.gz"):
        (tmp_path / name).touch()
    found = params.expand_files({"wit": [f"{tmp_path}/*.tsv.gz"]})
    assert [Path(e["url"]).name for e in found["wit"]] == ["a.tsv.gz", "b.tsv.gz"]


def test_a_pattern_that_matches_nothing_names_the_pattern(tmp_path):
    with pytest.raises(MissingFile, match=r"no such file"):
        params.expand_files({"wit": [f"{tmp_path}/*.tsv.gz"]})


def test_a_url_with_a_star_is_left_to_the_server(tmp_path):
    found = params.expand_files({"wit": ["https://example.org/*.gz"]})
    assert found["wit"] == [{"url": "https://example.org/*.gz"}]


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        ("facts", {"tyo": {}}, "did you mean 'toy'"),
        ("styles", {"model": "clop", "classes": ["a", "b"], "prompts": ["{style}"]}, "clop"),
        ("against", {"toy": {"collection": "coco", "here": "R@10", "there": "R@10"}}, "coco"),
        ("against", {"toy": {"collection": "toy", "here": "R@10", "there": "R@7"}}, "R@7"),
    ],
)
def test_what_tabulate_names_must_be_defined(config, schema, key, value, found):
    overlay = {"tabulate": {key: value}}
    with pytest.raises(BadParams, match=found):
        params.resolve(overlaid(config, overlay), schema)
