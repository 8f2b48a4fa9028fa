"""Whatever params can get wrong is found before the first job: values, names, dates, files."""

import copy
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.models import model_of

from isotope.cli import schema
from isotope.core import plugins
from isotope.core.errors import BadParams, MissingFile
from isotope.models import open_clip_files
from isotope.params import files, resolve, sections
from isotope.params.root import Params

ROOT = Path(__file__).parents[3]
CONFIG: dict[str, Any] = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
TRAIN = {"batch": 8, "learning_rate": 0.1}


def merged(config: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
    made = copy.deepcopy(config)
    for key, value in overlay.items():
        both = isinstance(value, dict) and isinstance(made.get(key), dict)
        made[key] = merged(made[key], value) if both else value
    return made


def resolved(overlay: dict[str, Any]) -> Params:
    return resolve.resolve(merged(CONFIG, overlay))


def system(**entry: object) -> dict[str, Any]:
    return {"systems": {"x": entry}}


def model(**entry: object) -> dict[str, Any]:
    return {"models": {"x": entry}}


def trained(**entry: object) -> dict[str, Any]:
    return model(kind="trained", **{"train": TRAIN, **entry})


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a measure": (
        {"score": {"measures": ["MAP", "MRR@ten"]}},
        "score.measures[1]: no measure 'MRR@ten'; did you mean 'MRR@10'?",
    ),
    "a measure of another case": (
        {"score": {"measures": ["ndcg@7"]}},
        "score.measures[0]: no measure 'ndcg@7'; did you mean 'nDCG@7'?",
    ),
    "a tuned measure": (
        system(kind="rrf", of=["bm25", "random"], tune={"grid": {"k": [1]}, "measure": "MRR10"}),
        "systems.x.tune.measure: no measure 'MRR10'; did you mean 'MRR@10'?",
    ),
    "a term's saturation": (
        system(kind="bm25", k1="high"),
        "systems.x.k1: 'high'; Input should be a valid number",
    ),
    "text for a number": (
        trained(train={"batch": 8, "learning_rate": "1e-5"}),
        "models.x.train.learning_rate: '1e-5'; Input should be a valid number: YAML takes 1e-5 for "
        "text, write 1.0e-5",
    ),
    "a kind": (
        system(kind="rff", of=["bm25", "random"]),
        "systems.x.kind: unknown kind 'rff'; did you mean 'rrf'? (known: answers, approxi",
    ),
    "no kind": (system(k1=1), "systems.x: no key 'kind' in {'k1': 1}; add 'kind'"),
    "a key of another kind": (
        system(kind="bm25", model="tiny-clip"),
        "systems.x.model: no such key (its value: 'tiny-clip'); leave it out: kind approximate",
    ),
    "words that nobody prepares so": (
        system(kind="bm25", prepare="atomci"),
        "systems.x.prepare: 'atomci'",
    ),
    "words that are prepared and are not": (
        system(kind="bm25", prepare=None),
        "systems.x.prepare: None",
    ),
    "a model's kind": (
        model(kind="open_clop"),
        "models.x.kind: unknown kind 'open_clop'; did you ",
    ),
    "one weight": (
        system(kind="wsum", of=["bm25", "random"], weights=[1]),
        "systems.x.weights: [1]; List should have at least 2 items",
    ),
    "too few weights": (
        system(kind="wsum", of=["bm25", "random", "rrf"], weights=[0.5, 0.5]),
        "systems.x.weights: [0.5, 0.5]: weights that are not one for each system; give 3, of bm25,",
    ),
    "too few weights in a grid": (
        system(kind="wsum", of=["bm25", "random"], tune={"grid": {"weights": [[1, 1, 1]]}}),
        "systems.x.tune.grid.weights: [1, 1, 1]: weights that are not one for each system; give 2",
    ),
    "a step": (
        system(kind="wsum", of=["bm25", "random"], tune={"grid": {"step": 0.3}}),
        "systems.x.tune.grid.step: 0.3; use one that divides 1",
    ),
    "a split that chooses": (
        system(kind="rrf", of=["bm25", "random"], tune={"grid": {"k": [1]}, "split": "train"}),
        "systems.x.tune.split: split 'train' is not searched; add it to search.splits, or name one",
    ),
    "a circle of fusions": (
        {
            "systems": {
                "x": {"kind": "rrf", "of": ["bm25", "y"]},
                "y": {"kind": "rrf", "of": ["bm25", "x"]},
            }
        },
        "systems.x.of: a circle: x > y > x; break it",
    ),
    "a circle of crawls": (
        {"crawl": {"toy": {"after": "toy-later"}}},
        "crawl.toy: a circle: toy > toy-later > toy; break it",
    ),
    "a circle of trained models": (
        {
            "models": {
                "x": {"kind": "trained", "from": "y", "train": TRAIN},
                "y": {"kind": "trained", "from": "x", "train": TRAIN},
            }
        },
        "models.x.from: a circle: x > y > x; break it",
    ),
    "a start that is not trained": (
        {
            "models": {
                "s": {"kind": "hash", "dim": 8},
                "x": {"kind": "trained", "from": "s", "train": TRAIN},
            }
        },
        "models.x.from: unknown name 's'",
    ),
    "two starts": (
        model(kind="trained", config="tiny-clip", name="ViT-B-32", train=TRAIN),
        "models.x: config and name of config, name, from; give exactly one of them",
    ),
    "a crawl of nothing": (
        {"crawl": {"toi": {"shards": 1}}},
        "crawl: unknown name 'toi'; did you mean 'toy'?",
    ),
    "a projection of nothing": (
        {"project": {"toi": {"mode": "bm25"}}},
        "project: unknown name 'toi'; did you mean 'toy'?",
    ),
    "a parse of nothing": (
        {"parse": {"toi": {}}},
        "parse: unknown name 'toi'; did you mean 'toy'?",
    ),
    "a kind of collection": (
        {"collect": {"toy": {"kind": "wikipdia"}}},
        "collect.toy.kind: unknown name 'wikipdia'; did you mean 'wikipedia'?",
    ),
    "a source": (
        {"collect": {"toy": {"source": "toi"}}},
        "collect.toy.source: unknown name 'toi'; did you mean 'toy'?",
    ),
    "a file": (
        {"acquire": {"toy": {"generate": None}}},
        "acquire.toy.generate: None; Input should be a valid mapping",
    ),
    "a file of no type": (
        {"acquire": {"x": {"files": {"wit": [7]}}}},
        "acquire.x.files.wit[0]: 7; Input should be one of these types: 'string', 'object'",
    ),
    "two origins of a source": (
        {"acquire": {"toy": {"files": {"wit": ["x"]}}}},
        "acquire.toy: generate and files of generate, files; give exactly one of them",
    ),
    "a file's digest": (
        {"acquire": {"x": {"files": {"wit": [{"url": "u", "md5": "0"}]}}}},
        "acquire.x.files.wit[0].md5: '0'; String should match pattern '^[0-9a-f]",
    ),
    "a date": (
        {"acquire": {"toy": {"generate": {"date": "20231301"}}}},
        "acquire.toy.generate.date: '20231301' is no day of the calendar; give a day as year",
    ),
    "a snapshot": ({"snapshots": ["20230229"]}, "snapshots: '20230229' is no day of the calendar"),
    "snapshots in disorder": (
        {"snapshots": ["20230201", 20230101]},
        "snapshots: 20230101 after 20230201; name the oldest first",
    ),
    "snapshots of no type": ({"snapshots": 5}, "snapshots: 5; Input should be a valid list"),
    "an endpoint": (
        {"acquire": {"x": {"endpoint": "minio:9000", "files": {"wit": ["s3://b/k"]}}}},
        "acquire.x.endpoint: 'minio:9000'; String should match pattern '^https?://",
    ),
    "a contact": (
        {"crawl": {"toy": {"contact": "me"}}},
        "crawl.toy.contact: 'me'; give a mail address or a web page of yours",
    ),
    "shares": (
        {"parse": {"toy": {"splits": {"validation": 0.6, "test": 0.6}}}},
        "parse.toy.splits: validation 0.6 and test 0.6; give shares that add up to 1 at most",
    ),
    "a config": (
        trained(config="ViT-S-32-att"),
        "models.x.config: unknown name 'ViT-S-32-att'; did you mean 'ViT-S-32-alt'?",
    ),
    "a model of open_clip": (
        model(kind="open_clip", name="ViT-B-23"),
        "models.x.name: unknown name 'ViT-B-23'; did you mean 'ViT-B-32'?",
    ),
    "a tag of open_clip": (
        model(kind="open_clip", name="ViT-B-32", pretrained="laion2b_s43b_b79k"),
        "models.x.pretrained: ViT-B-32 has no weights 'laion2b_s43b_b79k'; did you mean "
        "'laion2b_s34b_b79k'?",
    ),
    "a tokenizer that can't be trained with": (
        trained(name="ViT-B-16-SigLIP"),
        "models.x.name: ViT-B-16-SigLIP reads text with the tokenizer of timm/ViT-B-16-SigLIP; "
        "train a model with CLIP's own tokenizer",
    ),
    "a recipe": (
        trained(config="tiny-clip", train={**TRAIN, "epochs": 1, "steps": 1}),
        "models.x.train: both steps and epochs; keep one of them",
    ),
    "a mix that is frozen and trained": (
        model(kind="clip2clip", of="tiny-clip", frozen=True, train={"steps": 9}),
        "models.x.train: train besides frozen: true; `learn` is for frozen: true",
    ),
    "a mix that learns and is not frozen": (
        model(kind="clip2clip", of="tiny-clip", learn={"epochs": 9}),
        "models.x.learn: learn besides frozen: false; `learn` is for frozen: true",
    ),
    "a model trained whole of what is no CLIP": (
        {"models": {"h": {"kind": "hash", "dim": 4}, "x": {"kind": "clip2clip", "of": "h"}}},
        "models.x.of: a model of kind hash, which can't be trained whole; name one of kind",
    ),
    "a model trained whole of a CLIP that reads excerpts": (
        {
            "models": {
                "s": {"kind": "open_clip", "name": "ViT-B-32", "excerpt": {"characters": 9}},
                "x": {"kind": "clip2clip", "of": "s"},
            }
        },
        "models.x.of: 's' reads a part of each text (excerpt); name a model that reads whole texts",
    ),
    "a model trained whole of a CLIP that reads some tokens": (
        {
            "models": {
                "s": {"kind": "open_clip", "name": "ViT-B-32", "context": 9},
                "x": {"kind": "clip2clip", "of": "s"},
            }
        },
        "models.x.of: 's' reads a part of each text (context); name a model that reads whole texts",
    ),
    "more tokens than a model has places for": (
        model(kind="open_clip", name="ViT-B-16-SigLIP", context=77),
        "models.x.context: 77 tokens of 64; use 64 or fewer",
    ),
    "GELU for a model that has QuickGELU": (
        model(kind="open_clip", name="ViT-B-32-quickgelu", activation="gelu"),
        "models.x.activation: 'ViT-B-32-quickgelu' has QuickGELU in its configuration; "
        "name 'ViT-B-32', or leave it out",
    ),
    "a way of resizing for what is trained from scratch": (
        model(
            kind="trained",
            config="tiny-clip",
            resize="crop",
            train={"batch": 2, "learning_rate": 0.1},
        ),
        "models.x.resize: 'crop' without `name`; leave it out",
    ),
    "a collection to learn from that nobody builds": (
        model(
            kind="trained",
            config="tiny-clip",
            collection="toys",
            train={"batch": 2, "learning_rate": 0.1},
        ),
        "models.x.collection: unknown name 'toys'; did you mean 'toy'",
    ),
    "a model trained whole of a CLIP with another tokenizer": (
        {
            "models": {
                "s": {"kind": "open_clip", "name": "ViT-B-16-SigLIP"},
                "x": {"kind": "clip_fusion", "of": "s"},
            }
        },
        "models.x.of: 's' reads text with the tokenizer of timm/ViT-B-16-SigLIP; name a model",
    ),
    "a tokenizer": (
        {"tabulate": {"tokenizers": {"clip": "openclip"}}},
        "tabulate.tokenizers.clip: no tokenizer 'openclip'; did you mean 'open_clip'?",
    ),
    "a prompt": (
        {
            "tabulate": {
                "styles": {"model": "tiny-clip", "classes": ["a", "b"], "prompts": ["a map"]}
            }
        },
        "tabulate.styles.prompts[0]: 'a map'; write {style} in each",
    ),
    "a language": (
        {"collect": {"toy": {"language": False}}},
        "collect.toy.language: False; Input should be a valid string: put it in quotes",
    ),
    "a language's name": (
        {"collect": {"toy": {"language": "english"}}},
        "collect.toy.language: 'english'; String should match pattern",
    ),
    "a precision": (
        {"encode": {"precision": "float61"}},
        "encode.precision: 'float61' is none of what is known; did you mean 'float16'?",
    ),
    "a device": (
        {"search": {"device": "gpu"}},
        "search.device: 'gpu' is none of what is known; did you mean 'cpu'?",
    ),
    "a setting": (
        {"search": {"settings": ["smal"]}},
        "search.settings[0]: 'smal' is none of what is known; did you mean 'small'?",
    ),
    "a phase without a value": ({"crawl": None}, "crawl: None; Input should be a valid mapping"),
}


@pytest.mark.parametrize("case", BAD)
def test_it_is_refused_with_key_value_and_what_is_allowed(case):
    overlay, told = BAD[case]
    with pytest.raises(BadParams, match=re.escape(f"params {told}")) as error:
        resolved(overlay)
    assert "any of the given schemas" not in str(error.value)


def test_every_config_of_open_clip_that_can_be_trained_is_taken():
    """All of open_clip's, but those whose text is read with another's tokenizer."""
    free = [n for n in open_clip_files.configs() if open_clip_files.tokenizer(n) is None]
    assert {"tiny-clip", "ViT-S-32-alt", "RN50", "ViT-bigG-14"} <= set(free)
    entries = {
        f"x{i}": {"kind": "trained", "config": n, "train": TRAIN} for i, n in enumerate(free)
    }
    found = resolved({"models": entries}).models
    assert {found[name].values()["config"] for name in entries} == set(free)


MISSING: dict[str, tuple[dict[str, Any], str]] = {
    "a pattern": (
        {"acquire": {"toy": {"files": {"wit": ["none/*.gz"]}}}},
        "acquire.toy.files.wit[0]: 'none/*.gz' is not there",
    ),
    "one of two files": (
        {"acquire": {"toy": {"files": {"wit": ["params.yaml", {"url": "none.gz"}]}}}},
        "acquire.toy.files.wit[1].url: 'none.gz' is not there",
    ),
    "facts": (
        {"tabulate": {"facts": {"toy": {"views": "views.csv"}}}},
        "tabulate.facts.toy.views: 'views.csv' is not there; check the path",
    ),
    "facts of no source": (
        {"tabulate": {"facts": {"toy": {"views": "data/acquire/toi/views.csv"}}}},
        "'data/acquire/toi/views.csv' is not there; no such source: did you mean 'toy'?",
    ),
    "facts that a source lacks": (
        {"tabulate": {"facts": {"toy": {"views": "data/acquire/toy/view.csv"}}}},
        "'data/acquire/toy/view.csv' is not there; the source does not bring it: did you mean "
        "'views.csv'?",
    ),
    "a dictionary": (
        {"explain": {"failures": {"toy": {"wordnet": "wordnet"}}}},
        "explain.failures.toy.wordnet: 'wordnet' is not there",
    ),
    "answers": (
        {
            "systems": {"x": {"kind": "answers", "files": ["params.yaml", "a/*.jsonl"]}},
            "search": {"systems": ["x"]},
        },
        "systems.x.files[1]: 'a/*.jsonl' is not there",
    ),
    "a served folder": (
        {"crawl": {"toy": {"serve": "pictures"}}},
        "crawl.toy.serve: 'pictures' is not there",
    ),
    "summaries": (
        {"encode": {"summaries": {"t5": {"file": "t5.csv"}}}},
        "encode.summaries.t5.file: 't5.csv' is not there",
    ),
    "a vocabulary": (
        {"tabulate": {"tokenizers": {"bert": "vocab.txt"}}},
        "tabulate.tokenizers.bert: 'vocab.txt' is not there",
    ),
    "weights": (
        {
            "models": {
                "x": {"kind": "open_clip", "name": "ViT-B-32", "pretrained": "x.safetensors"}
            },
            "systems": {"x": {"kind": "dense", "model": "x"}},
            "search": {"systems": ["x"]},
        },
        "models.x.pretrained: 'x.safetensors' is not there",
    ),
}


def missing(overlay: dict[str, Any]) -> Params:
    config = merged(CONFIG, overlay)
    if "files" in config["acquire"]["toy"]:
        del config["acquire"]["toy"]["generate"]
    return resolve.resolve(config)


@pytest.fixture
def before_the_first_job(tmp_path, monkeypatch):
    """A folder with the parameters and nothing that a job has made."""
    shutil.copy(ROOT / "params.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("case", MISSING)
@pytest.mark.usefixtures("before_the_first_job")
def test_a_local_file_that_no_job_makes_is_missed_before_the_first_job(case):
    overlay, told = MISSING[case]
    with pytest.raises(MissingFile, match=re.escape(told)):
        files.LocalFiles(missing(overlay)).demand()


def test_what_is_there_or_is_made_by_acquire_is_not_missed(tmp_path):
    demo = resolved({})
    files.LocalFiles(demo, tmp_path).demand()
    (tmp_path / "wit").mkdir()
    (tmp_path / "wit/a.gz").touch()
    config = merged(CONFIG, {"acquire": {"toy": {"files": {"images": ["wit/*.gz", "http://h/x"]}}}})
    del config["acquire"]["toy"]["generate"], config["tabulate"]["facts"]
    config["demo"] = False
    files.LocalFiles(resolve.resolve(config), tmp_path).demand()


def test_what_was_acquired_needs_its_upstream_files_no_more(tmp_path):
    config = merged(CONFIG, {"acquire": {"toy": {"files": {"images": ["gone/*.gz"]}}}})
    del config["acquire"]["toy"]["generate"], config["tabulate"]["facts"]
    config["demo"] = False
    found = resolve.resolve(config)
    assert len(list(files.LocalFiles(found, tmp_path).missing())) == 1
    manifest = tmp_path / "data/acquire/toy/manifest.json"
    manifest.parent.mkdir(parents=True)
    manifest.touch()
    assert list(files.LocalFiles(found, tmp_path).missing()) == []


KINDS = sections.kinds(sections.MODELS)
MODELS = sorted(KINDS)
MIXES = [kind for kind in MODELS if getattr(KINDS[kind], "is_mix", False)]


@pytest.mark.parametrize("kind", MIXES)
def test_the_schema_tells_the_defaults_that_the_recipes_have(kind):
    rules = schema.schema()["$defs"]
    own = rules[sections.kinds(sections.MODELS)[kind].__name__]["properties"]["train"]["$ref"]
    told = rules[own.rpartition("/")[2]]["properties"]
    recipe = model_of({"kind": kind}).train
    assert {key: entry.get("default") for key, entry in told.items()} == recipe.values()


def test_a_source_that_no_plug_in_makes_is_refused(monkeypatch):
    monkeypatch.setattr(plugins, "registered", dict)
    config = merged(CONFIG, {"demo": False})
    with pytest.raises(BadParams) as refused:
        resolve.resolve(config)
    assert refused.value.where == "params acquire.toy.generate"
    assert "isotope_toy" in refused.value.remedy
