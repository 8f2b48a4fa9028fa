"""An edit of a kind's file is an edit of the code of the jobs of its entries, and of no others."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args, get_type_hints

import pytest

from isotope.collect.kinds.pairs import Pairs
from isotope.core import provenance
from isotope.params.collect import CollectionKind
from isotope.params.sections import COLLECTIONS, MODELS, SYSTEMS, Section, kinds
from isotope.parse.forms import forms
from isotope.plan.call import function
from isotope.plan.code import KindCode

ROOT = Path(__file__).parents[3]
RULES = "".join(path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk"))
CALLS = sorted({*re.findall(r'\bcall="(\w[\w.]*:\w+)"', RULES), "search.systems:search_random"})
SYSTEM_KINDS, MODEL_KINDS, FORMS = kinds(SYSTEMS), kinds(MODELS), forms()
COLLECTION_KINDS = kinds(COLLECTIONS)


def model(kind: str, **keys: Any) -> Any:
    return MODEL_KINDS[kind].model_construct(None, kind=kind, **{"name": "", **keys})


def system(kind: str, **keys: Any) -> Any:
    return SYSTEM_KINDS[kind].model_construct(None, kind=kind, **{"model": "hash", **keys})


# An entry of each kind, under the kind's name; rerankers and prompts run the model `hash`.
PARAMS: Any = SimpleNamespace(
    models={kind: model(kind) for kind in MODEL_KINDS},
    systems={kind: system(kind) for kind in SYSTEM_KINDS},
    collect={form: Pairs(kind="pairs", source=form, form=form) for form in FORMS},
)
PAIRS = Pairs(kind="pairs", source="mine")


def of_phase(*phases: str) -> list[str]:
    found = [call for call in CALLS if call.partition(".")[0] in phases]
    assert found
    return found


def file_of(kind: type) -> str:
    return f"{kind.__module__.removeprefix('isotope.').replace('.', '/')}.py"


def kinds_of(call: str, all_kinds: Iterable[type], **wildcards: str) -> set[str]:
    """The files of kinds that a job depends on."""
    code = provenance.closure(call, *KindCode(PARAMS).roots(call, wildcards))
    return {*map(file_of, all_kinds)} & {*code}


def given(call: str) -> set[str]:
    """The files of the classes of params that a job's function takes."""

    def classes(hint: object) -> Iterator[type]:
        if isinstance(hint, type) and issubclass(hint, Section):
            yield hint
        for inner in get_args(hint):
            yield from classes(inner)

    hints = get_type_hints(function(call)).values()
    return {file_of(each) for hint in hints for each in classes(hint)}


def test_the_class_of_what_a_job_is_given_is_part_of_its_code():
    """A default that changes is in no spec: the file of the class says it."""
    told = {call: given(call) - {"params/sections.py"} for call in CALLS}
    assert any(told.values())
    for call, files in told.items():
        assert files <= {*provenance.closure(call)}, call


@pytest.mark.parametrize("system", SYSTEM_KINDS)
def test_a_search_depends_on_the_file_of_its_systems_kind_alone(system):
    """A function that takes the entries of one kind alone has no others."""
    for call in of_phase("search"):
        own, found = (
            file_of(SYSTEM_KINDS[system]),
            kinds_of(call, SYSTEM_KINDS.values(), system=system),
        )
        assert found - given(call) == {own} - given(call), call


@pytest.mark.parametrize("kind", MODEL_KINDS)
def test_training_and_encoding_depend_on_the_file_of_their_models_kind_alone(kind):
    """A function that takes the entries of one kind alone has no others."""
    for call in of_phase("train", "encode"):
        if call != "train.frozen:train_dates" or kind == "dates":
            own, found = (
                {file_of(MODEL_KINDS[kind])},
                kinds_of(call, MODEL_KINDS.values(), model=kind),
            )
            assert found - given(call) == own - given(call), call


@pytest.mark.parametrize("form", FORMS)
def test_reading_pairs_depends_on_the_file_of_their_form_alone(form):
    for call in ("parse.pairs:parse_pairs", "crawl.contents:crawl_contents"):
        found = kinds_of(call, map(type, FORMS.values()), source=form)
        assert found == {file_of(type(FORMS[form]))}, call


@pytest.mark.parametrize("kind", COLLECTION_KINDS)
def test_collecting_depends_on_the_file_of_its_collections_kind_alone(kind):
    params: Any = SimpleNamespace(
        collect={k: of.model_construct() for k, of in COLLECTION_KINDS.items()}
    )
    for call in of_phase("collect"):
        code = provenance.closure(call, *KindCode(params).roots(call, {"collection": kind}))
        own = {*map(file_of, COLLECTION_KINDS.values())} & {*code}
        assert own == {file_of(COLLECTION_KINDS[kind])}, call


def test_a_collection_whose_kind_is_a_folder_depends_on_no_class():
    entry = CollectionKind(kind="folder-of-a-user", source="vg")
    params: Any = SimpleNamespace(collect={"vg": entry})
    roots = KindCode(params).roots("collect.build:collect_tables", {"collection": "vg"})
    assert not {*provenance.closure(*roots)} & {*map(file_of, COLLECTION_KINDS.values())}


def test_pairs_whose_form_is_to_be_found_depend_on_every_form():
    params: Any = SimpleNamespace(collect={"mine": PAIRS})
    roots = KindCode(params).roots("parse.pairs:parse_pairs", {"source": "mine"})
    assert {file_of(type(form)) for form in FORMS.values()} <= {*provenance.closure(*roots)}


def test_pairs_of_ir_datasets_are_of_its_form():
    params: Any = SimpleNamespace(
        collect={"mine": PAIRS.model_copy(update={"data": "ir_datasets:vaswani"})}
    )
    roots = KindCode(params).roots("parse.pairs:parse_pairs", {"source": "mine"})
    assert roots == ["parse.forms.ir_datasets"]


def test_a_model_that_shares_weights_depends_on_the_kind_that_has_them():
    params: Any = SimpleNamespace(models={"a": model("hash"), "b": model("reuse", weights_of="a")})
    roots = KindCode(params).roots("encode.shard:encode_texts_shard", {"model": "b"})
    assert {"models/kinds/reuse.py", "models/hash.py"} <= {*provenance.closure(*roots)}


@pytest.mark.parametrize("runs", ["prompt", "rerank"])
def test_a_search_that_runs_a_model_depends_on_its_encoder_and_others_do_not(runs):
    for kind, encoder in (("hash", "models/hash.py"), ("open_clip", "models/open_clip.py")):
        entries = {"a": system(runs, model=kind), "b": system("dense", model=kind)}
        params: Any = SimpleNamespace(**{**vars(PARAMS), "systems": entries})
        call = "search.systems:search_dense"
        assert encoder in provenance.closure(*KindCode(params).roots(call, {"system": "a"}))
        assert encoder not in provenance.closure(*KindCode(params).roots(call, {"system": "b"}))


def test_no_other_job_depends_on_a_kind():
    apart = ("search.", "train.", "encode.", "verify.")
    own = {file_of(of) for place in (MODELS, SYSTEMS, COLLECTIONS) for of in kinds(place).values()}
    for call in CALLS:
        if not call.startswith(apart):
            assert not own & ({*provenance.closure(call)} - given(call)), call
