"""A kind of model is one class, found by its name, and no kind's code is part of another's."""

import subprocess
import sys

import pytest
from tests.models import loaded, model_of

from isotope.core import provenance
from isotope.core.errors import BadParams, UnknownModel
from isotope.params import sections

KINDS = sections.kinds(sections.MODELS)
ENCODING = ("encode.shard", "encode.multimodal")
# Modules that hold the encoder of one kind alone.
OWN = {
    "sentence": "models/sentence.py",
    "conse": "models/conse.py",
    "lit": "models/lit.py",
    "hash": "models/hash.py",
    "transformers": "models/families/__init__.py",
}


def module(kind: str) -> str:
    """The file of a kind's class."""
    return f"{KINDS[kind].__module__.removeprefix('isotope.').replace('.', '/')}.py"


def closure(kind: str) -> set[str]:
    return {*provenance.closure(*ENCODING, *KINDS[kind].model_construct(name="").roots())}


@pytest.mark.parametrize("kind", KINDS)
def test_the_code_of_a_kind_holds_the_module_of_no_other_kind(kind):
    others = {module(name) for name in KINDS} | {*OWN.values()}
    assert not closure(kind) & (others - {module(kind), OWN.get(kind)})


@pytest.mark.parametrize("kind", OWN)
def test_the_code_of_a_kind_holds_its_encoder(kind):
    assert {OWN[kind], module(kind)} <= closure(kind)


def test_a_sentence_encoder_is_no_code_of_an_open_clip_model():
    assert "models/sentence.py" not in closure("open_clip")
    assert "models/open_clip.py" in closure("open_clip")


def test_reading_the_kinds_imports_no_torch():
    code = "import sys; from isotope.params import sections; sections.kinds(sections.MODELS); "
    code += "print(sorted({'torch', 'transformers', 'open_clip', 'scipy'} & {*sys.modules}))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_every_kind_describes_its_keys():
    for name, kind in KINDS.items():
        own = {k: field for k, field in kind.model_fields.items() if k != "kind"}
        assert all(field.description for field in own.values()), name


@pytest.mark.parametrize(("place", "name"), [(sections.MODELS, "hash"), (sections.SYSTEMS, "bm25")])
def test_asking_for_a_kind_imports_the_module_of_no_other_kind(place, name):
    code = f"import sys; from isotope.params import sections; sections.kind_of({place!r}, {name!r})"
    code += f"; found = [m for m in sys.modules if m.startswith({place!r} + '.') and '._' not in m]"
    code += "; print(*found)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == [f"{place}.{name}"]


@pytest.mark.parametrize("place", [sections.MODELS, sections.SYSTEMS])
def test_a_kind_is_a_module_of_its_name(place):
    modules = {name: of.__module__ for name, of in sections.kinds(place).items()}
    assert modules == {name: f"{place}.{name}" for name in modules}
    with pytest.raises(LookupError, match="has no kind 'bm52'"):
        sections.kind_of(place, "bm52")


@pytest.mark.parametrize("kind", ["clip2clip", "dates"])
def test_what_has_no_encoder_is_not_loaded(kind):
    with pytest.raises(UnknownModel, match="name a model that encodes"):
        loaded({"kind": kind})


@pytest.mark.parametrize("kind", ["open_clop", "_open_clip", "_mix"])
def test_what_no_kind_is_called_is_no_entry(kind):
    with pytest.raises(BadParams, match="kind"):
        model_of({"kind": kind})
