"""Files of params, and files that params name.

`load` reads params.yaml with overlays outside of Snakemake: the same merge, the same checks. Local
files and folders that the params name are there before the first job, or are made by one.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, cast

import yaml

from isotope.core import patterns, plugins, store
from isotope.core.errors import BadParams, IsotopeError, MissingFile
from isotope.intake.limits import Refused
from isotope.intake.records import json_value
from isotope.intake.yaml import yaml_node, yaml_value
from isotope.params import links, resolve
from isotope.params.messages import KeyPath, dotted, excerpt, suggest
from isotope.params.overlays import lay_over
from isotope.params.references import Local
from isotope.params.root import Params
from isotope.params.sections import walk, with_parts

# An overlay for any snapshot leaves its name to --config.
_NAMED = "{name}"
_REMEDY = "add it by hand: `snapshots: [...]` at the top of the file"


def load(overlays: Sequence[Path] = (), pairs: Sequence[str] = (), root: Path = Path()) -> Params:
    """Return the params of the project at `root`, as `--configfile` and `--config` change them.

    Raises:
        MissingFile: no params.yaml, or no such overlay.
        BadParams: what the schema refuses; a pair without `=`; a file that is no YAML mapping.
    """
    merged: dict[str, Any] = {}
    files = (root / "params.yaml", *overlays)
    for path in files:
        lay_over(merged, read(path))
    overrides = {pair.partition("=")[0]: pair.partition("=")[2] for pair in pairs}
    if unclear := [pair for pair in pairs if "=" not in pair]:
        raise BadParams("--config", f"{unclear[0]!r} has no `=`", "write key=value")
    runs = resolve.discover(root / resolve.FOLDER)
    return resolve.resolve({**merged, **overrides}, runs, files, overrides)


def read(path: Path) -> Mapping[str, Any]:
    """Return what a file of params says, in YAML or, as `.json`, in JSON.

    Raises:
        MissingFile: no such file.
        BadParams: no mapping, or a text that can't be read, with its place.
    """
    if not path.is_file():
        elsewhere = [str(overlay) for overlay in _of_plugins(Path()) if overlay.name == path.name]
        remedy = (
            f"name {elsewhere[0]}" if elsewhere else "check the path, or run in the project's root"
        )
        raise MissingFile(path, "no such params", remedy)
    text = text_of(path)
    try:
        content = json_value(text) if path.suffix == ".json" else yaml_value(text, path)
    except Refused as error:
        raise BadParams(path, str(error), "mend it there") from error
    if not isinstance(content, Mapping):
        raise BadParams(path, f"no mapping: {excerpt(content)}", "write `key: value` lines")
    return cast(Mapping[str, Any], content)


def demand_collection(collection: str, params: Params, root: Path = Path()) -> None:
    """Refuse a collection that the params lack, and name the overlays that have it.

    Raises:
        BadParams: that is so.
    """
    if collection not in params.collect:
        overlays = _overlays(collection, root)
        named = f": {' or '.join(overlays)}" if overlays else " with --configfile"
        remedy = f"{suggest(collection, params.collect)}, or name its overlay{named}"
        raise BadParams("params collect", f"no collection {collection!r}", remedy)


def _overlays(collection: str, root: Path) -> list[str]:
    """Return what a command takes to have the collection, by overlays here and of plug-ins."""
    literal, named = list[str](), list[str]()
    overlays = [path.relative_to(root) for path in sorted(root.glob("params/*.yaml"))]
    for path in (*overlays, *_of_plugins(root)):
        with suppress(IsotopeError):
            collect = read(root / path).get("collect")
            collections = collect if isinstance(collect, Mapping) else {}
            option = f"--configfile {path}"
            literal += [option] if collection in collections else []
            named += [f"{option} --config name={collection}"] if _NAMED in collections else []
    return literal or named


def _of_plugins(root: Path) -> list[Path]:
    """Return the overlays of plug-ins, from a folder those that are below it."""
    top = root.resolve()
    folders = (plugin.file("params") for plugin in plugins.registered().values())
    overlays = sorted(path.resolve() for folder in folders for path in folder.glob("*.yaml"))
    return [path.relative_to(top) if path.is_relative_to(top) else path for path in overlays]


def text_of(path: Path) -> str:
    """Return the text of a file of params, every newline as it is.

    Raises:
        BadParams: bytes that are not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 at byte {error.start}"
        raise BadParams(path, problem, "save it as UTF-8") from error


def append_snapshot(file: Path, name: str) -> bool:
    """Put `name` at the end of the list `snapshots` of a file of params; keep comments and layout.

    A list that has the name already stays as it is; return whether it was new.

    Raises:
        MissingFile: no such file.
        BadParams: no list `snapshots` in the file, or a file that is no YAML.
        Unwritable: a file that the system does not let be replaced.
    """
    if not file.is_file():
        raise MissingFile(file, "no such file", "run this in the project's folder")
    text = text_of(file)
    listed = _listed(file, text)
    if name in [item.value for item in listed.value]:
        return False
    item, last = json.dumps(name), listed.value[-1] if listed.value else None
    if last is None:
        at = listed.start_mark.index + 1
    elif listed.flow_style:
        at, item = last.end_mark.index, f", {item}"
    else:
        # Below the last line, with its comment.
        line_end = text[last.end_mark.index :].partition("\n")[0].rstrip("\r")
        at, item = (
            last.end_mark.index + len(line_end),
            f"\n{' ' * listed.start_mark.column}- {item}",
        )
    new = text[:at] + item + text[at:]
    if _values(new) != [*_values(text), name]:
        raise BadParams(file, "a list that can't be appended to", _REMEDY)
    with store.aside(file) as part:
        part.write_text(new, encoding="utf-8", newline="")
    return True


def _listed(file: Path, text: str) -> yaml.SequenceNode:
    root = yaml_node(text, file)
    entries = root.value if isinstance(root, yaml.MappingNode) else []
    for key, value in entries:
        if key.value == "snapshots" and isinstance(value, yaml.SequenceNode):
            return value
    raise BadParams(file, "no list `snapshots`", _REMEDY)


def _values(text: str) -> list[str]:
    return [str(value) for value in yaml.safe_load(text)["snapshots"]]


@dataclass(frozen=True)
class LocalFiles:
    """The files and folders of this machine that params name, from a project's folder."""

    params: Params
    root: Path = Path()

    def demand(self) -> None:
        """Check that each local path that this run reads is there, or its acquire phase makes it.

        Raises:
            MissingFile: the first that is not: its key, the path, and what to do.
        """
        for error in self.missing():
            raise error

    def missing(self) -> Iterator[MissingFile]:
        """Yield an error for each local path that is not there and that no job makes."""
        is_read = self._read()
        for path, value, marks, _ in walk(self.params, type(self.params)):
            is_local = any(isinstance(mark, Local) and mark.is_path(value) for mark in marks)
            if is_local and is_read(path) and not _is_there(self.root / value):
                source, part = _source_and_part(value)
                if path[0] == "acquire" or part not in self._brought(source):
                    problem = f"{value!r} is not there"
                    yield MissingFile(f"params {dotted(path)}", problem, self._remedy(value))

    def _read(self) -> Callable[[KeyPath], bool]:
        """Return what tells whether this run reads what a key names.

        It does not if the key is of a source, system, model or collection that the run does
        without, or of a source whose files, or pictures, are there already.
        """
        sources, tabulate = self._used_sources(), self.params.tabulate
        systems = with_parts(self.params.systems, self.params.search.systems)
        captioners = [
            name for name, captioner in tabulate.captioners.items() if captioner.source in sources
        ]
        fetched = {path.parent.name for path in self.root.glob("data/acquire/*/manifest.json")}
        crawled = {path.parent.name for path in self.root.glob("data/crawl/*/ledger.parquet")}
        used: dict[KeyPath, Collection[str]] = {
            ("acquire",): {*sources} - fetched,
            ("crawl",): {*sources} - crawled,
            ("systems",): systems,
            ("models",): [getattr(self.params.systems[name], "model", "") for name in systems],
            ("tabulate", "facts"): self.params.build,
            ("tabulate", "captioners"): captioners,
            ("tabulate", "side_by_side"): sources,
        }
        sections = self.params.sections.items()
        keys = ((name, key) for name, section in sections for key in section.by_collection)
        used |= dict.fromkeys(keys, self.params.build)

        def is_read(path: KeyPath) -> bool:
            return all(path[len(at)] in some for at, some in used.items() if path[: len(at)] == at)

        return is_read

    def _used_sources(self) -> list[str]:
        """Return the sources of what is built, or compared with it, sorted."""
        pairs = [p for p in self.params.tabulate.diff if {*p} & {*self.params.build}]
        names = {*self.params.build, *(name for pair in pairs for name in pair)}
        collected = self.params.part("collect")
        used = {source for name in names for source in links.sources(collected, name)}
        linked = (getattr(self.params.collect[name], "recognition", None) for name in names)
        used |= {recognition.knowledge for recognition in linked if recognition}
        crawls = (self.params.crawl[source] for source in used if source in self.params.crawl)
        return sorted(
            used | {item.source for crawl in crawls for item in crawl.bulk or () if item.source}
        )

    def _brought(self, source: str) -> Sequence[str]:
        entry = self.params.acquire.get(source)
        if entry is None:
            return ()
        return plugins.generated() if entry.generate else [*(entry.files or ())]

    def _remedy(self, path: str) -> str:
        source, part = _source_and_part(path)
        if not source:
            return "check the path, or `root` in --config"
        if source not in self.params.acquire:
            return f"no such source: {suggest(source, self.params.acquire)}"
        return f"the source does not bring it: {suggest(part, self._brought(source))}"


def _is_there(path: Path) -> bool:
    return bool(patterns.matches(path)) if "*" in str(path) else path.exists()


def _source_and_part(path: str) -> tuple[str, str]:
    """Return the source and the part that a path below data/acquire names; empty ones elsewhere."""
    data, phase, source, part, *_ = (*PurePosixPath(path).parts, "", "", "", "")
    return (source, part) if (data, phase) == ("data", "acquire") and part else ("", "")
