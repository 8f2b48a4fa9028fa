"""params.yaml is closed: a typo, a dangling name or a missing placeholder stops the run at once."""

import copy
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from isotope.core import plugins
from isotope.core.errors import BadParams, MissingFile
from isotope.params import links, resolve
from isotope.params.crawl import Pictures
from isotope.params.resolve import ExternalRun


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


def test_the_default_params_are_valid_and_get_their_defaults(config):
    resolved = resolve.resolve(config)
    assert resolved.crawl["toy"].attempts == 3


@pytest.mark.parametrize("overlay", ["local.yaml", "enwiki.yaml", "full.yaml"])
def test_every_overlay_is_valid_over_the_default(config, root, overlay):
    given = yaml.safe_load((root / "params" / overlay).read_text())
    names = {"name": "somewhere", "root": "/tmp"}
    whole = overlaid(config, given) | names
    if {"suggest", "judge", "verify", "explain"} & given.keys() - plugins.registered().keys():
        with pytest.raises(BadParams, match="install the plug-in"):
            resolve.resolve(whole)
        return
    resolved = resolve.resolve(whole)
    assert set(resolved.build) <= set(resolved.collect)


def test_an_engine_by_its_name_of_before_is_read_and_named_anew(config, capsys):
    config["systems"]["bm25"]["engine"] = config["project"]["toy"]["engine"] = "impacts"
    resolved = resolve.resolve(config)
    bm25: Any = resolved.systems["bm25"]
    assert bm25.engine == resolved.project["toy"].engine == "native"
    told = "params {}: `engine: impacts` is now `engine: native`"
    names = ("project.toy", "systems.bm25")
    assert capsys.readouterr().err.splitlines() == [told.format(name) for name in names]


def test_a_key_by_its_name_of_before_is_read_and_named_anew(config, capsys):
    tabulate = config["tabulate"]
    tabulate["since"] = tabulate.pop("diff")
    assert resolve.resolve(config).tabulate.diff == [["toy", "toy-later"]]
    assert capsys.readouterr().err == "params tabulate.since is now `tabulate.diff`\n"


def test_case_studies_have_defaults_and_show_systems_that_are_searched(config):
    resolved = resolve.resolve(copy.deepcopy(config))
    assert resolved.tabulate.cases.filled() == {"queries": 2, "seed": 0}
    config["tabulate"]["cases"] = {"systems": ["tiny-clip", "bn25"]}
    with pytest.raises(BadParams, match=r"tabulate\.cases\.systems.*'bn25'.*'bm25'"):
        resolve.resolve(config)


def test_a_mix_of_vectors_nobody_makes_is_refused(config):
    config["models"]["mix"] = {"kind": "clip2clip", "of": "tiny-clip"}
    resolve.resolve(copy.deepcopy(config))
    config["models"]["mixed"] = {"kind": "clip_fusion", "of": "mix"}
    with pytest.raises(BadParams, match=r"models\.mixed\.of"):
        resolve.resolve(config)


def sides(config: dict) -> dict[str, int | None]:
    return {n: e.side_px for n, e in resolve.resolve(copy.deepcopy(config)).crawl.items()}


def test_pictures_of_wikipedia_are_stored_at_atomics_side_unless_a_crawl_says_otherwise(config):
    """256 px, as the pictures of the authors' notebooks have it."""
    assert sides(config) == {"toy": 256, "toy-later": 256}
    config["crawl"]["toy"]["side_px"] = None
    config["crawl"]["toy-later"]["side_px"] = 500
    assert sides(config) == {"toy": None, "toy-later": 500}


def test_pictures_of_other_kinds_keep_their_size(config):
    config["acquire"]["own"] = {"files": {"images": ["/tmp/x.zip"]}}
    config["collect"]["own"] = {"kind": "pairs", "source": "own", "language": "en"}
    config["crawl"]["own"] = {"shards": 1, "pictures": {"part": "images"}}
    assert sides(config)["own"] is None
    config["crawl"]["own"]["side_px"] = 256
    assert sides(config)["own"] == 256


@pytest.mark.parametrize("side_px", [0, 16_384, "256", 256.5])
def test_a_side_that_no_picture_can_have_is_refused(config, side_px):
    config["crawl"]["toy"]["side_px"] = side_px
    with pytest.raises(BadParams, match=r"crawl\.toy\.side_px"):
        resolve.resolve(config)


@pytest.fixture
def editions(config) -> dict:
    """The default with a Russian edition, and the two put together."""
    for phase in ("acquire", "crawl", "project", "collect"):
        config[phase]["ru"] = copy.deepcopy(config[phase]["toy"])
    config["collect"]["ru"] |= {"source": "ru", "language": "ru"}
    config["collect"]["both"] = {"kind": "union", "of": ["toy", "ru"]}
    return config


def test_a_union_speaks_several_languages_unless_told_and_has_its_members_sources(editions):
    resolved = resolve.resolve(copy.deepcopy(editions))
    assert resolved.collect["both"].language == "mul"
    assert links.sources(resolved, "both") == ["toy", "ru"]
    assert links.sources(resolved, "ru") == ["ru"]
    editions["collect"]["both"]["language"] = "en"
    assert resolve.resolve(editions).collect["both"].language == "en"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"of": ["toy", "rus"]}, r"collect\.both\.of.*unknown name 'rus'.*'ru'"),
        ({"of": ["toy", "again"]}, r"collect\.both\.of.*unknown name 'again'"),
        ({"of": ["toy", "toy-later"]}, r"'toy' and 'toy-later' are both in 'en'"),
        ({"of": ["toy", "data"]}, r"'data' is of kind pairs"),
        ({"source": "toy"}, r"collect\.both.*kind union with `source`"),
        ({"kind": "wikipedia"}, r"collect\.both\.of: no such key.*kind union has it"),
    ],
)
def test_a_union_that_cant_be_told_apart_is_refused(editions, change, found):
    editions["collect"]["again"] = {"kind": "union", "of": ["toy", "ru"]}
    editions["collect"]["data"] = {"kind": "pairs", "data": "a.csv", "language": "fr"}
    editions["collect"]["both"] |= change
    with pytest.raises(BadParams, match=found):
        resolve.resolve(editions)


@pytest.mark.parametrize(
    "change", [{"diff": [["toy", "both"]]}, {"facts": {"both": {"views": "views.csv"}}}]
)
def test_what_is_told_by_page_is_not_told_of_two_editions_at_once(editions, change):
    editions["tabulate"] |= change
    with pytest.raises(BadParams, match="name its members instead"):
        resolve.resolve(editions)


@pytest.mark.skipif("explain" not in plugins.registered(), reason="of the plug-in explain")
def test_the_sheet_of_answers_offers_correct(config):
    mistakes = {"examples": 9, "seed": 0, "classes": ["wrong", "vague"]}
    config["explain"] = {"mistakes": mistakes}
    with pytest.raises(BadParams, match=r"explain\.mistakes\.classes: no class 'correct' in"):
        resolve.resolve(config)


def test_a_misspelled_key_is_refused_with_the_likely_one(config):
    config["search"]["dept"] = config["search"].pop("depth")
    with pytest.raises(BadParams, match=r"search.*dept"):
        resolve.resolve(config)


def test_a_misspelled_top_level_key_suggests_the_right_one(config):
    config["sytems"] = {}
    with pytest.raises(BadParams, match="did you mean 'systems'"):
        resolve.resolve(config)


def test_a_value_of_the_wrong_kind_names_its_place(config):
    config["search"]["depth"] = "deep"
    with pytest.raises(BadParams, match=r"search\.depth.*'deep'; Input should be a valid integer"):
        resolve.resolve(config)


def test_a_system_with_an_unknown_model_is_refused(config):
    config["systems"]["tiny-clip"]["model"] = "tiny-clap"
    with pytest.raises(BadParams, match=r"systems\.tiny-clip\.model.*did you mean 'tiny-clip'"):
        resolve.resolve(config)


def test_an_unknown_architecture_is_refused_with_the_known_ones(config):
    config["models"]["tiny-clip"]["config"] = "tiny-clap"
    with pytest.raises(BadParams, match=r"models\.tiny-clip\.config.*did you mean 'tiny-clip'"):
        resolve.resolve(config)


def test_a_fusion_of_itself_is_refused(config):
    config["systems"]["rrf"]["of"] = ["bm25", "rrf"]
    with pytest.raises(BadParams, match=r"systems\.rrf\.of"):
        resolve.resolve(config)


@pytest.mark.parametrize(
    ("model", "found"),
    [
        ({"kind": "sentence", "name": "x", "images": "pixels"}, "'pixels'"),
        ({"kind": "hash", "dim": 2, "images": "tiny-clap"}, "did you mean 'tiny-clip'"),
        ({"kind": "hash", "dim": 2, "images": "blind"}, "unknown name 'blind'"),
    ],
)
def test_what_stands_for_an_image_must_be_able_to_see(config, model, found):
    blind = {"kind": "hash", "dim": 2, "images": "captions"}
    with pytest.raises(BadParams, match=found):
        resolve.resolve(overlaid(config, {"models": {"new": model, "blind": blind}}))


def test_a_placeholder_without_a_value_is_refused(config, root):
    given = yaml.safe_load((root / "params/local.yaml").read_text())
    with pytest.raises(BadParams, match=r"add --config name=|add --config root="):
        resolve.resolve(overlaid(config, given))


@pytest.mark.skipif("verify" not in plugins.registered(), reason="of overlays that name verify")
def test_an_overlay_that_calls_a_collection_by_its_name_changes_what_another_says_of_it(
    config, root
):
    given = yaml.safe_load((root / "params/atomic.yaml").read_text())
    own = overlaid(config, given) | {"root": "/tmp", "name": "mine"}
    resolved = resolve.resolve(overlaid(own, {"crawl": {"mine": {"shards": 1}}}))
    assert resolved.crawl["mine"].shards == 1
    assert resolved.crawl["mine"].pictures == Pictures(part="published_images")


def test_every_key_of_the_schema_is_described_and_every_object_is_closed(root):
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

    walk(yaml.safe_load((root / "workflow/schemas/params.schema.yaml").read_text()), "")


def test_a_pattern_expands_to_sorted_files(tmp_path):
    for name in ("b.tsv.gz", "a.tsv.gz"):
        (tmp_path / name).touch()
    found = resolve.local_files([f"{tmp_path}/*.tsv.gz"])
    assert [Path(file).name for file in found] == ["a.tsv.gz", "b.tsv.gz"]


def test_a_pattern_that_matches_nothing_names_the_pattern(tmp_path):
    with pytest.raises(MissingFile, match=r"no such file"):
        resolve.local_files([f"{tmp_path}/*.tsv.gz"])


def test_a_url_with_a_star_is_left_to_the_server():
    assert resolve.local_files(["https://example.org/*.gz"]) == ["https://example.org/*.gz"]


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        ("facts", {"tyo": {}}, "did you mean 'toy'"),
        ("styles", {"model": "clop", "classes": ["a", "b"], "prompts": ["{style}"]}, "clop"),
        ("against", {"toy": {"collection": "coco", "here": "R@10", "there": "R@10"}}, "coco"),
        ("against", {"toy": {"collection": "toy", "here": "R@10", "there": "R@7"}}, "R@7"),
        (
            "against",
            {
                "toy": {
                    **{"collection": "toy", "here": "R@10", "there": "R@10"},
                    "splits": ["validation", "train"],
                }
            },
            "unknown name 'train'",
        ),
        ("groups", {"both": {"all": ["toy", "tyo"]}}, "did you mean 'toy'"),
        ("diff", [["toy", "toy-latr"]], "did you mean 'toy-later'"),
    ],
)
def test_what_tabulate_names_must_be_defined(config, key, value, found):
    overlay = {"tabulate": {key: value}}
    with pytest.raises(BadParams, match=found):
        resolve.resolve(overlaid(config, overlay))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"captioners": {"m": {"source": "xm", "files": ["c.csv"]}}}, "captioners.m.source.*'xm'"),
        ({"side_by_side": {"toy": ["c.csv"]}}, r"tabulate.side_by_side: unknown name 'toy'"),
        ({"captioners": {"m": {"source": "toy"}}}, "captioners.m"),
    ],
)
def test_captions_by_models_are_of_a_source_and_choices_are_between_them(config, change, found):
    config["tabulate"] |= change
    with pytest.raises(BadParams, match=found):
        resolve.resolve(config)


def test_the_first_split_has_answers_and_no_external_run_answers_where_there_may_be_none(config):
    config["search"] |= {"splits": ["test", "validation"], "unjudged": ["test"]}
    with pytest.raises(BadParams, match=r"'test', the first of search\.splits.*answers first"):
        resolve.resolve(copy.deepcopy(config))
    config["search"]["splits"] = ["validation", "test"]
    resolve.resolve(copy.deepcopy(config))
    config["search"]["splits"] = ["validation"]
    resolve.resolve(copy.deepcopy(config))
    config["systems"]["theirs"] = {"kind": "trec"}
    config["systems"]["both"] = {"kind": "rrf", "of": ["theirs", "bm25"]}
    grid = [("small", "t2m"), ("small", "m2t"), ("base", "t2m"), ("base", "m2t")]
    grid += [("large", "t2m"), ("large", "m2t")]
    theirs = [ExternalRun("toy", setting, "validation", task, "theirs") for setting, task in grid]
    with pytest.raises(BadParams, match="a fusion with the external run 'theirs'"):
        resolve.resolve(config, theirs)


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        ({"model": "tiny-clip", "templates": ["of {year}"]}, "template 'of {year}'"),
        ({"model": "tiny-clip", "templates": ["{text} of {yaer}"]}, "template '{text} of {yaer}'"),
        ({"model": "tinyclip", "templates": ["{text}"]}, "unknown name 'tinyclip'"),
        ({"model": "dates", "templates": ["{text}"]}, "model 'dates' is no encoder of prompts"),
    ],
)
def test_a_prompt_that_cannot_be_read_is_refused(config, entry, found):
    config["models"]["dates"] = {"kind": "dates"}
    config["systems"]["told"] = {"kind": "prompt", **entry}
    with pytest.raises(BadParams, match=re.escape(found)):
        resolve.resolve(config)


def test_a_gain_of_a_system_that_is_not_searched_is_refused(config):
    config["tabulate"]["gains"] = [["wsum", "bm25"]]
    resolve.resolve(copy.deepcopy(config))
    config["tabulate"]["gains"] = [["wsum", "absent"]]
    with pytest.raises(BadParams, match="unknown name 'absent'"):
        resolve.resolve(config)


@pytest.mark.skipif("verify" not in plugins.registered(), reason="of overlays that name verify")
@pytest.mark.parametrize("name", ["atomic.yaml", "atomic-captions.yaml"])
def test_a_published_release_is_cut_as_the_full_size_is(config, root, name):
    """AToMiC, Table 1: 10.1 million texts; none of their shards has more than 700,000."""
    full, own = (
        yaml.safe_load((root / "params" / overlay).read_text()) for overlay in ("enwiki.yaml", name)
    )
    resolved = resolve.resolve(overlaid(config, own) | {"root": "/tmp", "name": "atomic"})
    assert resolved.encode.precision == full["encode"]["precision"] == "float16"
    texts = 3_002_458 + 17_173 + 9_873 + 7_105_240
    assert texts / resolved.encode.shards < 700_000
    assert resolved.search.memory_mb == full["search"]["memory_mb"]
