"""What hangs on the road: packages that add to isotope, and say so by one group of entry points.

A distribution names objects of `Plugin` in the group `isotope.plugins` of its metadata, ours and
strangers' alike (https://packaging.python.org/specifications/entry-points/):

    [project.entry-points."isotope.plugins"]
    letters = "isotope_letters:PLUGIN"

A plug-in says by texts what it adds, so nothing of it is imported before it is asked for.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple

import yaml

from isotope.core import extras
from isotope.core.errors import BadPlugin

GROUP = "isotope.plugins"
# What classes of plug-ins may be kinds of.
KINDS = ("models", "systems", "collect", "forms")
# Rules begin with it, up to the first underscore.
_NAME = re.compile("[a-z][a-z0-9]*")


class Step(NamedTuple):
    """What a user may do next: a command, and what it is for in a few words."""

    command: str
    purpose: str


@dataclass(frozen=True)
class Plugin:
    """What a package adds to isotope; a text `module:name` leads to what is imported when needed.

    Its rules bear its name before an underscore, its section of the params its name.
    """

    name: str
    """By it the command, the section of the params, its rules and its target are called."""
    package: str
    """The package that its code, rules, queries and templates stand in."""
    summary: str = ""
    """What it is for, in a line."""
    needs: Sequence[str] = ()
    """Plug-ins that it does not work without."""
    section: str = ""
    """Class of its section of the params, `params.sections.Section`; one that `is_always` there has
    its defaults where the params do not name it."""
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])
    """Keys of earlier versions and what they are now, as paths: `tabulate.verify`, `verify`."""
    kinds: Mapping[str, str] = field(default_factory=dict[str, str])
    """Packages called `kinds` by what their classes are kinds of: models, systems, collect; forms
    for those of people's own data."""
    rules: str = ""
    """File of rules below the package."""
    phases: Mapping[str, str] = field(default_factory=dict[str, str])
    """Phases of the road that rules belong to, in targets, stages of dvc.yaml and costs: by rule,
    or by its name for all. Others are a phase of their own, which bears its name."""
    plan: str = ""
    """Class of what it adds to a plan, `plan.extension.Extension`."""
    outs: Sequence[str] = ()
    """Folders that its rules fill, with a folder a collection, which its stage in dvc.yaml has."""
    generates: Sequence[str] = ()
    """Files and folders of a source that its rules make where the params say
    `acquire.<source>.generate`."""
    views: str = ""
    """Mapping of the views that it adds to the catalog, by name: `tabulate.catalog.View`, with a
    SELECT each in sql/catalog/ below the package."""
    exhibits: str = ""
    """YAML file below the package of tables and figures, as templates/exhibits.yaml."""
    commands: str = ""
    """Function that adds its commands to a typer application."""
    functions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Functions behind those of the public API that do what a plug-in does, by name: `verify`."""
    findings: str = ""
    """Function that yields what `isotope doctor` says of what it needs, `core.findings.Finding`, of
    the resolved params."""
    advice: str = ""
    """Function that yields what a user may do next, `Step`, for the collections that are built, by
    name: `isotope` without a command prints it. It looks at few files below the current folder."""
    demo: str = ""
    """YAML file below the package: params that it adds to those of the demo."""

    def file(self, name: str) -> Path:
        """Return a file or folder below the package."""
        return packages()[self.package] / name

    def yaml(self, name: str) -> Any:  # noqa: ANN401 (whatever the file holds)
        """Return what a YAML file below the package holds.

        Raises:
            BadPlugin: no such file.
        """
        path = self.file(name)
        if not path.is_file():
            raise BadPlugin(self.name, f"{path} is not there", f"install {self.package} again")
        return yaml.safe_load(path.read_text(encoding="utf-8"))

    def load(self, target: str) -> Any:  # noqa: ANN401 (whatever the text leads to)
        """Return what a text of this plug-in leads to.

        Raises:
            BadPlugin: nothing is there, or it can't be imported.
            MissingExtra: what it imports is of an extra.
        """
        try:
            with extras.named():
                return resolve_name(target)
        except (ImportError, AttributeError, ValueError) as error:
            raise BadPlugin(self.name, f"{target}: {error}", f"mend {self.package}") from error


@cache
def registered() -> Mapping[str, Plugin]:
    """Return the plug-ins that are installed, by name, each after those that it needs.

    Raises:
        BadPlugin: an entry point that leads to no plug-in, one whose name, package or kinds can't
            be, two of one name, or one that needs what is not there.
    """
    by_name = dict[str, Plugin]()
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        plugin = _loaded(entry)
        if plugin.name in by_name and by_name[plugin.name] != plugin:
            both = f"{by_name[plugin.name].package} and {plugin.package} both bear this name"
            raise BadPlugin(plugin.name, both, "uninstall one")
        by_name[plugin.name] = plugin
    return {
        plugin.name: plugin for name in by_name for plugin in _after_its_needs(by_name, name, ())
    }


def generated() -> list[str]:
    """Return the files and folders of a source that a plug-in makes; none where no plug-in does."""
    return [name for plugin in registered().values() for name in plugin.generates]


def outs() -> list[str]:
    """Return the folders that rules of plug-ins fill, with a folder a collection."""
    return [folder for plugin in registered().values() for folder in plugin.outs]


def phases() -> list[str]:
    """Return the phases that rules of plug-ins are, beside those of the road."""
    added = registered().items()
    return [name for name, plugin in added if plugin.rules and name not in plugin.phases]


def phase_of(rule: str) -> str:
    """Return the phase of a rule, or of a file of rules: the first word of its name, or the phase
    that the plug-in of this name says.
    """
    word = rule.partition("_")[0]
    plugin = registered().get(word)
    of_road = plugin.phases if plugin else {}
    return of_road.get(rule) or of_road.get(word) or word


def distributions() -> dict[str, str]:
    """Return name and version of the distribution that each plug-in is of."""
    dist_of = {_loaded(entry).name: entry.dist for entry in entry_points(group=GROUP)}
    return {name: f"{dist.name} {dist.version}" if dist else "" for name, dist in dist_of.items()}


@cache
def packages() -> Mapping[str, Path]:
    """Return the folder of the package of each plug-in, by the package's name."""
    return {plugin.package: folder(plugin.package) for plugin in registered().values()}


@cache
def templates() -> Mapping[str, Path]:
    """Return the templates of isotope and of plug-ins, and what pages take with them, by name."""
    by_name = {path.name: path for path in folder("isotope").glob("templates/*")}
    for plugin in registered().values():
        added = {path.name: path for path in plugin.file("templates").glob("*")}
        demand_new(plugin, "the template", added, by_name)
        by_name |= added
    return by_name


def demand_new(plugin: Plugin, noun: str, added: Collection[str], present: Collection[str]) -> None:
    """Demand that nothing that a plug-in adds bears the name of what is there.

    Raises:
        BadPlugin: the first that does; `noun` says what it is.
    """
    twice = sorted({*added} & {*present})
    if twice:
        remedy = f"uninstall {plugin.package}, or have it renamed"
        raise BadPlugin(plugin.name, f"{noun} {twice[0]!r} is there already", remedy)


def kinds(noun: str) -> list[str]:
    """Return the packages in which plug-ins have kinds of one thing, of KINDS.

    Raises:
        BadPlugin: one that is not there.
    """
    adding = [plugin for plugin in registered().values() if noun in plugin.kinds]
    for plugin in adding:
        plugin.load(plugin.kinds[noun])
    return [plugin.kinds[noun] for plugin in adding]


def views() -> list[str]:
    """Return what the views of plug-ins stand in, for `provenance.closure`."""
    named = [plugin for plugin in registered().values() if plugin.views]
    queries = [f"{plugin.package}/sql/catalog/*.sql" for plugin in named]
    return [*(plugin.views for plugin in named), *queries]


@cache
def folder(package: str) -> Path:
    """Return the folder of a package."""
    return Path(str(files(package)))


def _loaded(entry: EntryPoint) -> Plugin:
    dist = f"distribution {entry.dist.name}" if entry.dist else "its distribution"
    try:
        plugin = entry.load()
    except (ImportError, AttributeError) as error:
        remedy = f"install {dist} again, or uninstall it: its files and its metadata differ"
        raise BadPlugin(entry.name, f"{entry.value}: {error}", remedy) from error
    if not isinstance(plugin, Plugin):
        raise BadPlugin(entry.name, f"{entry.value} is no Plugin", f"correct {dist}")
    if not _NAME.fullmatch(plugin.name):
        remedy = "rename it: a small letter, then small letters and digits"
        raise BadPlugin(plugin.name, "a name that its rules can't begin with", remedy)
    if other := sorted(plugin.kinds.keys() - {*KINDS}):
        remedy = f"name one of {', '.join(KINDS)}"
        raise BadPlugin(plugin.name, f"`kinds` of {other[0]!r}", remedy)
    try:
        folder(plugin.package)
    except ImportError as error:
        problem = f"its package {plugin.package}: {error}"
        raise BadPlugin(plugin.name, problem, f"correct {dist}") from error
    return plugin


def _after_its_needs(
    by_name: Mapping[str, Plugin], name: str, behind: Sequence[str]
) -> Iterator[Plugin]:
    """Yield the plug-ins that one needs, and itself.

    Raises:
        BadPlugin: one that is not there, or that needs itself.
    """
    if name in behind:
        raise BadPlugin(name, f"needs itself: {' -> '.join((*behind, name))}", "correct `needs`")
    for need in by_name[name].needs:
        if need not in by_name:
            problem = f"needs the plug-in {need}, which is not installed"
            raise BadPlugin(name, problem, f"install it, or uninstall {by_name[name].package}")
        yield from _after_its_needs(by_name, need, (*behind, name))
    yield by_name[name]
