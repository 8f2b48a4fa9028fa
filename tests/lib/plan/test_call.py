"""A rule's names become its function's arguments."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from snakemake.iocontainers import Wildcards

from isotope.core.errors import BadParams
from isotope.intake.limits import Limits, limits
from isotope.params.sections import SystemKind
from isotope.plan import call
from isotope.plan.call import RuleParams
from isotope.search.kinds.bm25 import Bm25
from isotope.search.kinds.random import Random

NOTHING: dict[str, Any] = {
    "inputs": {},
    "outputs": {},
    "rule_params": {},
    "wildcards": {},
    "threads": 1,
}


def values(target, **parts):
    return call.arguments(target, **{**NOTHING, **parts})


def test_inputs_outputs_params_wildcards_and_threads_come_by_name():
    def job(*, texts: Path, out: Path, depth: int, shard: int, threads: int): ...

    found = values(
        job,
        inputs={"texts": "a.parquet", "after": ["b.csv"]},
        outputs={"out": "c.parquet"},
        rule_params={"call": "x:job", "code": "0f", "depth": 10},
        wildcards={"shard": "00003", "collection": "toy"},
        threads=4,
    )
    own = {"texts": Path("a.parquet"), "out": Path("c.parquet"), "depth": 10}
    assert found == {**own, "shard": 3, "threads": 4}


def test_an_input_without_files_is_none_where_it_may_be():
    def job(start: Path | None, earlier: Sequence[Path]): ...

    assert values(job, inputs={"start": [], "earlier": []}) == {"start": None, "earlier": []}
    found = values(job, inputs={"start": ["a"], "earlier": "b"})
    assert found == {"start": Path("a"), "earlier": [Path("b")]}


def test_several_files_where_one_is_wanted_are_an_error():
    def job(texts: Path): ...

    with pytest.raises(ValueError, match="too many values"):
        values(job, inputs={"texts": ["a", "b"]})


def test_a_param_that_lists_inputs_hands_them_over_as_one_mapping():
    def job(relations: Mapping[str, Path], spec: Mapping[str, str]): ...

    inputs = {"urls": "u", "ledger": "l", "after": ["q"]}
    found = values(
        job, inputs=inputs, rule_params={"relations": ["urls", "ledger"], "spec": {"a": "b"}}
    )
    relations = {"urls": Path("u"), "ledger": Path("l")}
    assert found == {"relations": relations, "spec": {"a": "b"}}


def test_inputs_and_outputs_take_the_names_that_are_no_parameters():
    def job(inputs: Mapping[str, Path], outputs: Mapping[str, Path], qrels: Path): ...

    found = values(job, inputs={"qrels": "q", "a": "1", "after": []}, outputs={"b": "2", "c": "3"})
    rest = {"inputs": {"a": Path("1")}, "outputs": {"b": Path("2"), "c": Path("3")}}
    assert found == {**rest, "qrels": Path("q")}


def test_a_job_runs_its_function(tmp_path):
    job = SimpleNamespace(
        input={},
        output={"out": str(tmp_path / "a.txt")},
        params=SimpleNamespace(call="core.store:nothing", items=dict.items),
        wildcards={},
        threads=1,
    )
    with pytest.raises(BadParams, match=r"core\.store:nothing"):
        call.run(job)
    with pytest.raises(BadParams, match=r"core\.nowhere:x"):
        call.function("core.nowhere:x")


@pytest.mark.parametrize(("told", "scale"), [({"intake": {"scale": 7}}, 7), ({}, Limits().scale)])
def test_the_limits_of_the_params_hold_while_a_job_runs(tmp_path, monkeypatch, told, scale):
    def work(out: Path) -> None:
        out.write_text(f"{limits().scale}")

    params = {"call": "any:work", **told}
    job = SimpleNamespace(
        input={},
        output={"out": str(tmp_path / "data/parse/a.txt")},
        params=SimpleNamespace(call=params["call"], items=params.items),
        wildcards={},
        threads=1,
        config={},
    )
    (tmp_path / "data/parse").mkdir(parents=True)
    monkeypatch.setattr(call, "function", lambda _: work)
    call.run(job)
    assert (tmp_path / "data/parse/a.txt").read_text() == f"{scale}"
    assert limits() == Limits()


def test_a_plain_spec_becomes_the_object_that_the_annotation_names():
    def job(one: Bm25, any_kind: SystemKind, several: Mapping[str, SystemKind | None]): ...

    entry = Bm25(kind="bm25", k1=1.2)
    assert entry.spec() == {"kind": "bm25", "k1": 1.2}
    params = {"one": entry.spec(), "any_kind": entry.spec(), "several": {"a": entry.spec()}}
    found = values(job, inputs={"k1": "file"}, rule_params=params)
    assert found == {"k1": "file", "one": entry, "any_kind": entry, "several": {"a": entry}}
    assert type(found["any_kind"]) is Bm25


def test_an_annotation_of_several_kinds_takes_the_one_that_the_spec_names():
    def job(spec: Bm25 | Random | None): ...

    assert values(job, rule_params={"spec": Random(kind="random", seed=3).spec()}) == {
        "spec": Random(kind="random", seed=3)
    }
    assert values(job, rule_params={"spec": None}) == {"spec": None}


class Drawn(NamedTuple):
    """What a job takes as one."""

    seed: int
    files: Sequence[Path] = ()
    within: Sequence["Drawn"] = ()


def test_a_record_is_made_of_its_fields_and_their_annotations_hold():
    def job(one: Drawn, several: Mapping[str, Drawn], none: Drawn | None): ...

    said = {"seed": 1, "files": ["a"], "within": [{"seed": 2}]}
    one = Drawn(1, [Path("a")], [Drawn(2)])
    found = values(job, rule_params={"one": said, "several": {"b": said}, "none": None})
    assert found == {"one": one, "several": {"b": one}, "none": None}
    with pytest.raises(TypeError, match="seed"):
        values(job, rule_params={"one": {}, "several": {}, "none": None})


def test_a_spec_with_a_key_that_its_class_lacks_is_refused():
    def job(spec: SystemKind): ...

    with pytest.raises(BadParams, match="k9"):
        values(job, rule_params={"spec": {"kind": "bm25", "k9": 1}})


def test_params_are_one_dict_so_that_two_that_are_swapped_are_others():
    """Snakemake compares params as a set of values (9.27)."""
    job = Wildcards(fromdict={"collection": "toy"})
    said = {"depth": 10, "shown": lambda w: f"{w.collection}.{20}", "stems": ["{collection}/a"]}
    given = RuleParams(said)(job)
    assert given == {"depth": 10, "shown": "toy.20", "stems": ["toy/a"]}
    swapped = RuleParams({"depth": said["shown"], "shown": 10, "stems": said["stems"]})(job)
    assert {*map(repr, swapped.values())} == {*map(repr, given.values())}
    assert repr(swapped) != repr(given)


def test_the_order_of_a_rules_lines_is_no_difference():
    assert repr(RuleParams({"a": 1, "b": 2})({})) == repr(RuleParams({"b": 2, "a": 1})({}))


def test_braces_of_a_text_from_the_params_are_no_wildcards():
    assert RuleParams({"prompt": lambda _: "a photo of {text}"})({}) == {
        "prompt": "a photo of {text}"
    }
