"""What a plug-in adds is found by its entry point, and what it may not add is refused by name."""

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from tests import forkserver

from isotope.cli import commands, installed
from isotope.core import plugins
from isotope.core.errors import BadParams, BadPlugin
from isotope.core.plugins import GROUP, Plugin
from isotope.params import collect, resolve, sections
from isotope.params import root as params_root
from isotope.parse import forms
from isotope.tabulate import catalog, exhibits

CACHED = (
    *(plugins.registered, plugins.packages, plugins.templates, plugins.folder),
    *(params_root.params_class, sections.kinds, sections.kind_of),
    *(exhibits.described, catalog.views, forms.forms),
)
Install = Callable[..., None]
# A section of the params with one key.
SECTION = """
from isotope.params.sections import PluginSection

class Mine(PluginSection):
    \"\"\"Whatever.\"\"\"

    most: int = 3
    least: int = 1
"""
MODEL = """
from typing import ClassVar, Literal
from isotope.params.sections import ModelKind

class Hash(ModelKind):
    loader: ClassVar[str] = "nowhere:load"
    kind: Literal["hash"]
"""
FORM = """
from isotope.parse.forms.tsv import Tsv

class Other(Tsv):
    name = "csv"
"""
METADATA = "Metadata-Version: 2.1\nName: isotope-plugged\nVersion: 1.5\n"


def clear() -> None:
    for function in CACHED:
        function.cache_clear()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose packages can be imported, until the test ends."""
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "isotope_plugged"]:
        del sys.modules[name]


@pytest.fixture
def install(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Have these plug-ins, and no others, registered; `files` are those of isotope_plugged."""

    def installing(*objects: object, **files: str) -> None:
        package(place, files)
        module = ModuleType("plugged")
        monkeypatch.setitem(sys.modules, "plugged", module)
        entries = list[EntryPoint]()
        for nth, plugin in enumerate(objects):
            setattr(module, f"plugin_{nth}", plugin)
            name = getattr(plugin, "name", f"entry-{nth}")
            entries.append(EntryPoint(name, f"plugged:plugin_{nth}", GROUP))
        monkeypatch.setattr(plugins, "entry_points", lambda group: entries if group else [])
        clear()

    yield installing
    monkeypatch.undo()
    clear()


def package(place: Path, files: dict[str, str]) -> None:
    """Write isotope_plugged with these files, whose names have double underscores for slashes."""
    for name, text in {"__init__.py": "", **files}.items():
        path = place / "isotope_plugged" / (name if name[0] == "_" else name.replace("__", "/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def plugin(name: str = "mine", **said: Any) -> Plugin:
    words: dict[str, Any] = {"name": name, "package": "isotope_plugged", **said}
    return Plugin(**words)


@pytest.fixture
def config(root: Path) -> dict:
    """The params of the demo, of sources that no plug-in makes."""
    made = yaml.safe_load((root / "params.yaml").read_text())
    made["acquire"] = {name: {"files": {"dump": ["a.bz2"]}} for name in made["acquire"]}
    return made


def test_with_no_plug_in_the_params_of_the_demo_resolve_and_no_section_is_there(install, config):
    install()
    assert plugins.registered() == {}
    assert resolve.resolve(config).sections == {}


@pytest.mark.parametrize("name", ["verify", "suggest", "judge"])
def test_a_section_of_ours_whose_plug_in_is_absent_is_refused_with_its_package(
    install, config, name
):
    install()
    with pytest.raises(BadParams, match=rf"{name}.*install.*package isotope_{name}"):
        resolve.resolve({**config, name: {}})


def test_a_key_that_no_plug_in_of_ours_has_is_not_said_to_be_a_package_s(install, config):
    install()
    with pytest.raises(BadParams, match="verfy") as refused:
        resolve.resolve({**config, "verfy": {}})
    assert "install" not in str(refused.value)


REFUSED = {
    "an entry point that leads to no plug-in": (
        [{"name": "mine"}],
        "plugged:plugin_0 is no Plugin",
    ),
    "a name that no rule can begin with": ([plugin("my_own")], "rules can't begin with"),
    "an empty name": ([plugin("")], "rules can't begin with"),
    "a package that is not there": (
        [plugin(package="isotope_nowhere")],
        "package isotope_nowhere: No module named 'isotope_nowhere'",
    ),
    "kinds of what has none": ([plugin(kinds={"model": "a"})], "`kinds` of 'model'.*models"),
    "two of one name": (
        [plugin(), plugin(summary="another")],
        "isotope_plugged and isotope_plugged both bear this name",
    ),
    "a need that is absent": ([plugin(needs=["other"])], "needs the plug-in other.*not installed"),
    "a need of itself": ([plugin(needs=["mine"])], "needs itself: mine -> mine"),
    "needs in a circle": (
        [plugin("a", needs=["b"]), plugin("b", needs=["c"]), plugin("c", needs=["a"])],
        "needs itself: a -> b -> c -> a",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_sound_plug_in_is_refused(install, what):
    objects, said = REFUSED[what]
    install(*objects)
    with pytest.raises(BadPlugin, match=said) as refused:
        plugins.registered()
    assert refused.value.remedy


def test_a_plug_in_that_two_distributions_name_is_one(install):
    install(plugin(), plugin())
    assert [*plugins.registered()] == ["mine"]


def test_plug_ins_come_after_those_that_they_need(install):
    install(plugin("a", needs=["c", "b"]), plugin("b", needs=["d"]), plugin("c"), plugin("d"))
    assert [*plugins.registered()] == ["c", "d", "b", "a"]


def test_what_a_text_of_a_plug_in_leads_to_is_refused_where_it_is_not_there(install):
    install(plugin())
    for said in ("isotope_plugged.nothing:NAME", "isotope_plugged:NAME", "no module"):
        with pytest.raises(BadPlugin, match="mend isotope_plugged"):
            plugin().load(said)
    with pytest.raises(BadPlugin, match=r"absent\.yaml is not there.*install isotope_plugged"):
        plugin().yaml("absent.yaml")


CLASHES: dict[str, tuple[dict[str, Any], dict[str, str], Callable[[], object], str]] = {
    "a section that bears the name of a key": (
        {"name": "score"},
        {},
        params_root.params_class,
        "score: the name of a key of the params",
    ),
    "two kinds of one name": (
        {"kinds": {"models": "isotope_plugged.models"}},
        {"models__hash.py": MODEL},
        lambda: sections.kinds(sections.MODELS),
        "kind 'hash' is in isotope.models.kinds.hash, too",
    ),
    "kinds in a package that is not there": (
        {"kinds": {"systems": "isotope_plugged.systems"}},
        {},
        lambda: sections.kinds(sections.SYSTEMS),
        "isotope_plugged.systems: module .* has no attribute 'systems'",
    ),
    "two folders of queries for one kind": (
        {},
        {"sql__collect__pairs__10_texts.sql": "SELECT 1"},
        collect.folders,
        "the kind of collection 'pairs' is there already",
    ),
    "two forms of one name": (
        {"kinds": {"forms": "isotope_plugged.forms"}},
        {"forms__csv.py": FORM},
        forms.forms,
        "form csv: two packages have it",
    ),
    "an exhibit": (
        {"exhibits": "exhibits.yaml"},
        {"exhibits.yaml": "table1: {page: collection, number: '', title: t, caption: c}"},
        exhibits.described,
        "the exhibit 'table1' is there already",
    ),
    "exhibits in a file that is not there": (
        {"exhibits": "exhibits.yaml"},
        {},
        exhibits.described,
        "exhibits.yaml is not there",
    ),
    "a view": (
        {"views": "isotope_plugged.views:VIEWS"},
        {"views.py": "from isotope.tabulate.catalog import VIEWS"},
        catalog.views,
        r"the view '\w+' is there already",
    ),
    "a view without a query": (
        {"views": "isotope_plugged.views:VIEWS"},
        {"views.py": "from isotope.tabulate.catalog import VIEWS\nVIEWS = {'x': VIEWS['texts']}"},
        catalog.views,
        "the view 'x' has no query",
    ),
    "a template": (
        {},
        {"templates__base.html.j2": ""},
        plugins.templates,
        "the template 'base.html.j2' is there already",
    ),
}


@pytest.mark.parametrize("what", CLASHES)
def test_what_bears_the_name_of_another_is_refused(install, what):
    said, files, asked, found = CLASHES[what]
    install(plugin(**said), **files)
    with pytest.raises(BadPlugin, match=found) as refused:
        asked()
    assert refused.value.remedy


def test_a_command_that_is_there_already_is_refused(install, monkeypatch):
    monkeypatch.setattr(commands.app, "registered_commands", [*commands.app.registered_commands])
    added = "def add(app):\n    app.command(name='init')(lambda: None)\n"
    install(plugin(commands="isotope_plugged.commands:add"), **{"commands.py": added})
    with pytest.raises(BadPlugin, match="the command 'init' is there already"):
        commands._add_commands()


def test_the_listing_has_what_each_plug_in_adds(install):
    added = "def add(app):\n    app.command(name='greet')(lambda: None)\n"
    said: dict[str, Any] = {
        "commands": "isotope_plugged.commands:add",
        "summary": "greets",
        "outs": ("results/x",),
    }
    install(plugin(**said), **{"commands.py": added})
    [record] = installed.listing()
    assert record["adds"] == {"commands": ["greet"], "results": ["results/x"]}
    assert installed.text([record]).splitlines()[1:] == [
        *("    greets", "    commands: greet", "    results: results/x")
    ]
    install()
    assert installed.text(installed.listing()) == "no plug-in is installed\n"


MINE = {"section": "isotope_plugged.params:Mine"}


@pytest.fixture
def with_section(install) -> None:
    """A plug-in with a section of the params, an older key of it, and a share of the demo."""
    files = {"params.py": SECTION, "demo.yaml": "mine: {most: 5, least: 2}\n"}
    install(plugin(**MINE, demo="demo.yaml", renamed={"tabulate.mine": "mine"}), **files)


@pytest.mark.usefixtures("with_section")
def test_a_key_of_a_section_is_checked_as_any_other(config):
    with pytest.raises(BadParams, match=r"mine\.mst.*most"):
        resolve.resolve({**config, "mine": {"mst": 3}})


@pytest.mark.usefixtures("with_section")
def test_renamed_keys_are_read_with_a_line_and_count_before_the_new_ones(config, capsys):
    config["tabulate"]["mine"] = {"most": 7}
    section = resolve.resolve({**config, "demo": False, "mine": {"least": 0}}).sections["mine"]
    assert section.spec() == {"most": 7, "least": 0}
    assert capsys.readouterr().err == "params tabulate.mine is now `mine`\n"


@pytest.mark.usefixtures("with_section")
@pytest.mark.parametrize("value", [3, "words", [1]])
def test_a_renamed_key_of_a_wrong_type_is_refused_where_it_now_stands(config, value):
    config["tabulate"]["mine"] = value
    with pytest.raises(BadParams, match="params mine"):
        resolve.resolve(config)


@pytest.mark.usefixtures("with_section")
def test_the_demo_has_what_plug_ins_add_and_the_user_s_words_count(config):
    def of(**said: object) -> object:
        made = resolve.resolve({**config, **said}).sections.get("mine")
        return made and made.spec()

    assert of() == {"most": 5, "least": 2}
    assert of(mine={"most": 9}) == {"most": 9, "least": 2}
    assert of(demo=False) is None


def stand_alone(place: Path, **files: str) -> None:
    """Write a distribution of isotope_plugged as an installation leaves it behind."""
    package(place, files)
    info = place / "isotope_plugged-1.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(METADATA)
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nmine = isotope_plugged:PLUGIN\n")


def run(*words: str, place: Path, cwd: Path) -> tuple[int, str]:
    env = {**forkserver.os.environ, "PYTHONPATH": str(place), "COLUMNS": "200"}
    done = forkserver.run(words, cwd=cwd, env=env, merged=True)
    return done.returncode, done.stdout


def test_metadata_whose_package_is_gone_is_one_line_that_names_the_distribution(tmp_path):
    stand_alone(tmp_path)
    (tmp_path / "isotope_plugged/__init__.py").unlink()
    (tmp_path / "isotope_plugged").rmdir()
    code, told = run("isotope", "--help", place=tmp_path, cwd=tmp_path)
    assert code == 1
    assert told.splitlines()[0].startswith("BadPlugin: mine: isotope_plugged:PLUGIN: No module")
    assert "install distribution isotope-plugged again, or uninstall it" in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("name", "rule", "said"),
    [
        ("mine", "make", "a rule is called make; call it mine_make"),
        ("index", "index_more", "a name that rules of isotope bear"),
    ],
)
def test_a_rule_that_does_not_bear_the_plug_in_s_name_alone_is_refused(
    tmp_path, root, name, rule, said
):
    init = "from isotope.core.plugins import Plugin\nPLUGIN = "
    init += f"Plugin(name={name!r}, package='isotope_plugged', rules='rules.smk')\n"
    stand_alone(tmp_path, **{"__init__.py": init, "rules.smk": f"rule {rule}:\n    output: 'x'\n"})
    experiment = tmp_path / "experiment"
    experiment.mkdir()
    for file in ("Snakefile", "params.yaml"):
        (experiment / file).write_bytes((root / file).read_bytes())
    code, told = run("snakemake", "-n", place=tmp_path, cwd=experiment)
    assert code == 1
    assert said in " ".join(told.split())
