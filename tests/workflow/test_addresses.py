"""Every param that holds an address: another value, or another file there, plans what reads it.

The tree is empty files that Snakemake has on record (`--touch --forceall`), so nothing is computed.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from isotope.cli.schema import schema as params_schema

ROOT = Path(__file__).parents[2]


class Address(NamedTuple):
    """A param: where a tree of params holds it, other params with another value, what reads it.

    `edited` is a file at the value; None where it lies on no disk of ours (a server, a URL).
    """

    other: dict[str, Any]
    edited: str | None
    readers: set[str]


def model(name: str, key: str, value: str) -> dict[str, Any]:
    return {"models": {name: {key: value}}}


def fact(name: str, value: str) -> dict[str, Any]:
    return {"tabulate": {"facts": {"toy": {name: value}}}}


def crawl(source: str, **entry: Any) -> dict[str, Any]:
    return {"crawl": {source: entry}}


def files(**parts: list[Any]) -> dict[str, Any]:
    return {"acquire": {"toy": {"files": parts}}}


# The tables of facts come after the intervals; tests/lib/plan/test_exhibits.py has their inputs.
FACTS = {"tabulate_intervals"}
ADDRESSES = {
    "acquire.*.files.*": Address(files(wit=["b/wit.tsv"]), "a/wit.tsv", {"acquire_source"}),
    "acquire.*.files.*.url": Address(
        files(dump=[{"url": "b/dump.xml"}]), "a/dump.xml", {"acquire_source"}
    ),
    "acquire.*.endpoint": Address(
        {"acquire": {"toy": {"endpoint": "http://127.0.0.1:2"}}}, None, {"acquire_source"}
    ),
    "crawl.*.serve": Address(crawl("toy", serve="b/pictures"), None, {"crawl_shard"}),
    "crawl.*.mirror": Address(crawl("toy", mirror="http://127.0.0.1:2"), None, {"crawl_shard"}),
    "crawl.*.alternates": Address(
        crawl("toy", alternates=["http://127.0.0.1:2"]), None, {"crawl_shard"}
    ),
    "crawl.*.pictures.base": Address(
        crawl("brought", pictures={"base": "https://b/"}), None, {"crawl_listing"}
    ),
    "crawl.*.bulk.folder": Address(
        crawl("held", bulk=[{"folder": "b/pictures", "base": "https://a/"}]), None, {"crawl_bulk"}
    ),
    "crawl.*.bulk.base": Address(
        crawl("held", bulk=[{"folder": "a/pictures", "base": "https://b/"}]), None, {"crawl_bulk"}
    ),
    "models.*.<open_clip>.pretrained": Address(
        model("open", "pretrained", "b/clip.safetensors"), "a/clip.safetensors", {"encode_shard"}
    ),
    "models.*.<transformers>.name": Address(
        model("hub", "name", "b/blip"), "a/blip/model.safetensors", {"encode_shard"}
    ),
    "models.*.<sentence>.name": Address(
        model("words", "name", "b/minilm"), "a/minilm/model.safetensors", {"encode_shard"}
    ),
    "models.*.<trained>.pretrained": Address(
        model("tuned", "pretrained", "b/start.safetensors"), "a/start.safetensors", {"train_model"}
    ),
    "models.*.<late>.name": Address(
        model("late", "name", "b/late"), "a/late/model.safetensors", {"encode_late_shard"}
    ),
    "models.*.<sparse>.name": Address(
        model("sparse", "name", "b/sparse"), "a/sparse/model.safetensors", {"encode_sparse_shard"}
    ),
    "models.*.<reranker>.name": Address(
        model("reader", "name", "b/reader"), "a/reader/config.json", {"search_reranked"}
    ),
    "judge.models.*.name": Address(
        {"judge": {"models": {"vlm": {"name": "b/vlm"}}}},
        "a/vlm/model.safetensors",
        {"judge_model_grades"},
    ),
    "collect.*.data": Address(
        {"collect": {"mine": {"data": "b/mine.csv"}}}, "a/mine.csv", {"acquire_source"}
    ),
    "collect.*.splits.train": Address(
        {"collect": {"mine": {"splits": {"train": "b/train.txt"}}}},
        "a/train.txt",
        {"acquire_source"},
    ),
    "encode.summaries.*.file": Address(
        {"encode": {"summaries": {"ready": {"file": "b/summaries.csv"}}}},
        "a/summaries.csv",
        {"encode_summaries"},
    ),
    "encode.summaries.*.name": Address(
        {"encode": {"summaries": {"written": {"name": "b/t5"}}}},
        "a/t5/model.safetensors",
        {"encode_summaries"},
    ),
    "systems.*.<answers>.files": Address(
        {"systems": {"answers": {"files": ["b/*.jsonl"]}}}, "a/answers.jsonl", {"search_answers"}
    ),
    "systems.*.<answers>.tokenizer": Address(
        {"systems": {"answers": {"tokenizer": "b/names.txt"}}}, "a/names.txt", {"index_answers"}
    ),
    "search.runs.files": Address(
        {"search": {"runs": {"files": ["b/input.theirs.gz"]}}},
        "a/input.theirs.gz",
        {"search_trec"},
    ),
    "tabulate.tokenizers.*": Address(
        {"tabulate": {"tokenizers": {"words": "b/words.txt"}}}, "a/words.txt", {"tabulate_tokens"}
    ),
    "tabulate.facts.*.topics": Address(fact("topics", "b/topics.csv"), "a/topics.csv", FACTS),
    "tabulate.facts.*.views": Address(fact("views", "b/views.csv"), "a/views.csv", FACTS),
    "tabulate.facts.*.objects": Address(
        fact("objects", "b/objects.csv"), "a/objects.csv", FACTS | {"explain_failures"}
    ),
    "tabulate.facts.*.styles": Address(fact("styles", "b/styles.csv"), "a/styles.csv", FACTS),
    "explain.failures.*.wordnet": Address(
        {"explain": {"failures": {"toy": {"wordnet": "b/wordnet"}}}},
        "a/wordnet/dict/data.noun",
        {"explain_failures"},
    ),
    "tabulate.captioners.*.files": Address(
        {"tabulate": {"captioners": {"theirs": {"files": ["b/captions.csv"]}}}},
        "a/captions.csv",
        {"tabulate_captioners"},
    ),
    "tabulate.side_by_side.*": Address(
        {"tabulate": {"side_by_side": {"toy": ["b/choices.csv"]}}},
        "a/choices.csv",
        {"tabulate_choices"},
    ),
    "tabulate.detector.name": Address(
        {"tabulate": {"detector": {"name": "b/detr"}}},
        "a/detr/model.safetensors",
        {"tabulate_objects"},
    ),
}
# Folders that no param names: what lies at the right place there is read.
FOLDERS = {
    "runs": ("runs/toy/small/validation/t2m/external.trec", {"search_trec"}),
    "judgements": ("judgements/toy/sheet.csv", {"judge_graded"}),
    "judgements of failures": ("judgements/toy/failures/sheet.csv", {"judge_studied"}),
}
# What sounds like an address: a name that the params define, or a word about the operator.
NO_ADDRESS = {
    "crawl.*.after",
    "crawl.*.bulk.address",
    "crawl.*.bulk.part",
    "crawl.*.bulk.source",
    "crawl.*.contact",
    "crawl.*.pictures.part",
    "collect.*.columns.image",
    "collect.*.columns.page_url",
    "collect.*.kind",
    "collect.*.source_splits",
    "models.*.<transformers>.revision",
    "models.*.<sentence>.revision",
    "models.*.<late>.revision",
    "models.*.<sparse>.revision",
    "models.*.<reranker>.revision",
    "judge.models.*.revision",
    # What no job reads.
    "remote",
    # What nobody reads.
    "search.runs.without",
    "encode.summaries.*.revision",
    "tabulate.detector.revision",
}
SOUNDS = re.compile(
    r"\b(files?|folder|path|URLs?|https?|hub|server|host|address|csv|vocabulary)\b", re.I
)
NAMED_SO = re.compile(r"\b(tokenizer|file|folder|path|url|root)s?$")

PARAMS: dict[str, Any] = {
    "build": ["toy"],
    "acquire": {
        "toy": {
            "files": {"wit": ["a/wit.tsv"], "dump": [{"url": "a/dump.xml"}]},
            "endpoint": "http://127.0.0.1:1",
        },
        "brought": {"files": {"images": ["a/one.png"]}},
        "held": {"files": {"wit": ["a/wit.tsv"], "dump": ["a/dump.xml"]}},
    },
    "crawl": {
        "toy": {"shards": 1, "serve": "a/pictures", "mirror": "http://127.0.0.1:1"},
        "brought": {"shards": 1, "pictures": {"part": "images", "base": "https://a/"}},
        "held": {"shards": 1, "bulk": [{"folder": "a/pictures", "base": "https://a/"}]},
    },
    "project": {"toy": {"mode": "bm25"}},
    "collect": {
        "toy": {"kind": "wikipedia", "source": "toy", "language": "en"},
        "plain": {"kind": "wikipedia", "source": "toy", "language": "en"},
        "mine": {
            "kind": "pairs",
            "data": "a/mine.csv",
            "pictures": "none",
            "columns": {"image": "file", "text": "caption"},
            "splits": {"train": "a/train.txt"},
        },
    },
    "models": {
        "open": {"kind": "open_clip", "name": "ViT-B-32", "pretrained": "a/clip.safetensors"},
        "hub": {"kind": "transformers", "name": "a/blip"},
        "words": {"kind": "sentence", "name": "a/minilm", "images": "captions"},
        "late": {"kind": "late", "name": "a/late"},
        "sparse": {"kind": "sparse", "name": "a/sparse"},
        "reader": {"kind": "reranker", "name": "a/reader", "images": "captions"},
        "tuned": {
            "kind": "trained",
            "name": "ViT-B-32",
            "pretrained": "a/start.safetensors",
            "train": {"epochs": 1, "batch": 2, "learning_rate": 0.1},
        },
    },
    "encode": {
        "shards": 1,
        "batch": 2,
        "summaries": {"ready": {"file": "a/summaries.csv"}, "written": {"name": "a/t5"}},
    },
    "systems": {
        "bm25": {"kind": "bm25"},
        "answers": {"kind": "answers", "files": ["a/*.jsonl"], "tokenizer": "a/names.txt"},
        "again": {"kind": "rerank", "of": "bm25", "model": "reader", "depth": 5},
    },
    "search": {
        "systems": ["bm25"],
        "settings": ["small"],
        "splits": ["validation"],
        "tasks": ["t2m"],
        "runs": {"files": ["a/input.*"], "without": ["a/input.*_i2t*"]},
        "depth": 10,
        "memory_mb": 16,
    },
    "score": {"measures": ["MAP"]},
    "judge": {
        **{"depth": 2, "setting": "small", "split": "validation", "measures": ["MAP"]},
        "models": {"vlm": {"kind": "vlm", "name": "a/vlm"}},
    },
    "explain": {"failures": {"toy": {"wordnet": "a/wordnet"}}},
    "tabulate": {
        "system": "bm25",
        "alpha": 0.05,
        "tokenizers": {"words": "a/words.txt"},
        "detector": {"name": "a/detr", "threshold": 0.5, "batch": 1},
        "facts": {
            "toy": {n: f"a/{n}.csv" for n in ("topics", "views", "objects", "styles")},
        },
        "captioners": {"theirs": {"source": "toy", "files": ["a/captions.csv"]}},
        "side_by_side": {"toy": ["a/choices.csv"]},
    },
}
FILES = [
    *("wit.tsv", "dump.xml", "one.png", "pictures/p.png", "vocabulary.txt", "clip.safetensors"),
    *("blip/model.safetensors", "minilm/model.safetensors", "start.safetensors", "summaries.csv"),
    *("t5/model.safetensors", "answers.jsonl", "names.txt", "words.txt", "topics.csv", "views.csv"),
    *("objects.csv", "styles.csv", "wordnet/dict/data.noun", "detr/model.safetensors"),
    *("captions.csv", "choices.csv", "mine.csv", "train.txt", "input.theirs.gz"),
    *(f"{name}/model.safetensors" for name in ("late", "sparse", "vlm")),
    "reader/config.json",
]
TABLES = "results/tables/toy"
TARGETS = [
    "data/project/brought/projection.parquet",
    "data/parse/mine/pairs.parquet",
    "data/encode/toy/late/texts/shard-00000.npy",
    "data/encode/toy/sparse/texts/shard-00000.terms.parquet",
    "data/crawl/brought/ledger.parquet",
    "data/crawl/held/ledger.parquet",
    *(f"data/encode/toy/{m}/texts/shard-00000.npy" for m in ("open", "hub", "words")),
    "data/train/toy/tuned/model.safetensors",
    *(f"data/encode/toy/summaries/{s}.parquet" for s in ("ready", "written")),
    *(
        f"results/search/toy/small/validation/t2m/{s}.parquet"
        for s in ("answers", "external", "again", "theirs")
    ),
    "results/score/toy/models/vlm.parquet",
    "results/score/toy/scores.parquet",
    *(f"{TABLES}/{t}.parquet" for t in ("tokens", "intervals", "failures", "perturbations")),
    f"{TABLES}/side_by_side.parquet",
    *(f"{TABLES}/{t}.md" for t in ("categories", "objects", "styles", "study_ratings")),
    "results/tables/plain/objects.parquet",
]

# Changes that plan different rules are made together. Snakemake gives no reason for a rule that
# comes after a planned one, so changes of what comes before others are made alone.
FIRST = {
    *("acquire_source", "crawl_shard", "crawl_bulk", "crawl_listing"),
    *("index_answers", "search_trec", "judge_studied", "tabulate_captioners"),
}
VALUES = {name: address.readers for name, address in ADDRESSES.items()}
EDITS = {
    **{name: address.readers for name, address in ADDRESSES.items() if address.edited},
    **{name: rules for name, (_, rules) in FOLDERS.items()},
}


def rounds(changes: dict[str, set[str]]) -> list[list[str]]:
    """The changes, those that may be made at one time together."""
    made: list[list[str]] = []
    for name, rules in changes.items():
        free = (r for r in made if not any(changes[o] & (rules | FIRST) for o in r))
        fitting = next(free, None) if not rules & FIRST else None
        if fitting is None:
            made.append(fitting := [])
        fitting.append(name)
    return made


# One process makes the tree, then plans after each round of changes. Its argument is JSON.
PLAN = r'''
import contextlib, io, json, os, sys
from pathlib import Path
from snakemake import workflow
from snakemake.cli import main
from snakemake.executors import touch

touch.Executor.SLEEPING_TIME = 0
parse, parsed = workflow.parse, {}

def once(path, flow, linemap, rulecount):
    """The rule files stay as they are: one parse does for all plans."""
    key = path.get_path_or_uri(secret_free=True), rulecount
    if key not in parsed:
        parsed[key] = parse(path, flow, linemap, rulecount=rulecount), dict(linemap)
    linemap.update(parsed[key][1])
    return parsed[key][0]

workflow.parse = once

def snakemake(*arguments):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            main(list(arguments))
        except SystemExit as end:
            return f"exit status {end.code}\n{out.getvalue()}"

def write(path, text):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)

asked = json.loads(Path(sys.argv[1]).read_text())
targets = ["--", *asked["targets"]]
for path in asked["files"]:
    write(path, "as it was")
outputs = snakemake("--summary", *targets)
rows = [line.split("\t") for line in outputs[outputs.index("output_file\t"):].splitlines()[1:]]
for row in rows:
    if len(row) > 2 and row[2] not in ("-", "") and not row[0].startswith(".isotope/"):
        path = Path(row[0])
        if row[2].startswith("index_"):
            path.mkdir(parents=True, exist_ok=True)
        elif path.name != "lucene":
            write(path, "")
said = {"made": snakemake("--cores", "1", "--touch", "--forceall", "--quiet", "all", *targets)}
said["unchanged"] = snakemake("-n", *targets)
for name, overlays in asked["values"].items():
    said[name] = snakemake("-n", "--configfile", *overlays, *targets)
for name, paths in asked["edits"].items():
    before = {path: os.stat(path) for path in paths}
    for path in paths:
        write(path, "edited")
    said[name] = snakemake("-n", *targets)
    for path, was in before.items():
        write(path, "as it was")
        os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
print(json.dumps(said))
'''


def leaves(node: dict[str, Any], schema: dict[str, Any], path: str = "") -> Iterator[tuple]:
    """Every string in the schema: its path, with kinds in angles, and what is said of it."""
    for part in node.get("$ref", "#").removeprefix("#").split("/")[1:]:
        schema_at = schema if part == "$defs" else None
        node = {**(schema["$defs"][part] if schema_at is None else {}), **node}
    for branch in node.get("oneOf", []):
        named = branch.get("$ref", "").rpartition("/")[2]
        case = schema["$defs"][named] if named else branch
        kind = case.get("properties", {}).get("kind", {}).get("const")
        yield from leaves(case, schema, f"{path}.<{kind}>" if kind else path)
    inner = dict(node.get("properties", {}))
    if isinstance(node.get("additionalProperties"), dict):
        inner["*"] = node["additionalProperties"]
    for key, child in inner.items():
        yield from leaves(child, schema, f"{path}.{key}")
    if isinstance(node.get("items"), dict):
        yield from leaves(node["items"] | {"of": node.get("description", "")}, schema, path)
    kinds = node.get("type", [])
    if "string" in ([kinds] if isinstance(kinds, str) else kinds) and "enum" not in node:
        yield path.lstrip("."), f"{node.get('of', '')} {node.get('description', '')}"


def test_every_param_that_sounds_like_an_address_is_in_the_table():
    """A new one needs a row in ADDRESSES, or a word in NO_ADDRESS that it is none."""
    schema = params_schema()
    # A collection's keys are those of its kind.
    every = {
        re.sub(r"^(collect\.\*)\.<[^>]+>", r"\1", path): said
        for path, said in leaves(schema, schema)
    }
    sounding = {p for p, said in every.items() if SOUNDS.search(said) or NAMED_SO.search(p)}
    facts = {p for p in every if p.startswith("tabulate.facts.")}
    assert {*ADDRESSES, *NO_ADDRESS} <= set(every)
    assert (sounding | facts) - {"root"} - {*ADDRESSES, *NO_ADDRESS} == set()


@pytest.fixture(scope="module")
def planned(project, shell) -> dict[str, str]:
    """What Snakemake plans, by the change."""
    place = project()
    (place / "params.yaml").write_text(yaml.safe_dump(PARAMS))
    paths = {name: address.edited for name, address in ADDRESSES.items()}
    paths |= {name: path for name, (path, _) in FOLDERS.items()}
    overlays = {name: f"overlay-{n}.yaml" for n, name in enumerate(ADDRESSES)}
    for name, overlay in overlays.items():
        (place / overlay).write_text(yaml.safe_dump(ADDRESSES[name].other))
    asked = {
        "targets": TARGETS,
        "files": [*(f"{folder}/{f}" for folder in "ab" for f in FILES), *map(paths.get, FOLDERS)],
        "values": {f"values {n}": [overlays[c] for c in r] for n, r in enumerate(rounds(VALUES))},
        "edits": {f"edits {n}": [paths[c] for c in r] for n, r in enumerate(rounds(EDITS))},
    }
    (place / "asked.json").write_text(json.dumps(asked))
    return json.loads(shell("python", "-c", PLAN, "asked.json", cwd=place).splitlines()[-1])


def readers(told: str) -> set[str]:
    """The rules that are planned for a reason of their own, not because another rule is."""
    assert told.startswith("exit status 0"), told[-3_000:]
    reasons = told.rpartition("Reasons:\n")[2]
    own = "updated input files|set of input files has changed|params have changed"
    found = re.findall(rf"^    (?:{own})[^\n]*:\n +([^\n]+)$", reasons, re.MULTILINE)
    return {rule for rules in found for rule in rules.split(", ")}


@pytest.mark.long
def test_unchanged_params_and_files_plan_nothing(planned):
    assert planned["made"].startswith("exit status 0"), planned["made"][-3_000:]
    assert "Nothing to be done" in planned["unchanged"], planned["unchanged"][-3_000:]


@pytest.mark.long
@pytest.mark.parametrize(("n", "names"), [*enumerate(rounds(VALUES))])
def test_another_value_plans_the_rules_that_read_it_and_no_others(planned, n, names):
    assert readers(planned[f"values {n}"]) == set().union(*(VALUES[name] for name in names))


@pytest.mark.long
@pytest.mark.parametrize(("n", "names"), [*enumerate(rounds(EDITS))])
def test_an_edited_file_plans_the_rules_that_read_it_and_no_others(planned, n, names):
    assert readers(planned[f"edits {n}"]) == set().union(*(EDITS[name] for name in names))
