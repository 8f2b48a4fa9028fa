"""Files of params, and files that params name.

`load` reads params.yaml with overlays outside of Snakemake: the same merge, the same checks. Local
files and folders that the params name are there before the first job, or are made by one.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any, cast

import yaml

from isotope.core import store
from isotope.core.errors import BadParams, IsotopeError, MissingFile
from isotope.intake.limits import Refused
from isotope.intake.records import json_value
from isotope.intake.yaml import yaml_node, yaml_value
from isotope.params import links, resolve
from isotope.params.messages import excerpt, suggest
from isotope.params.references import Vocabulary, Weights
from isotope.params.resolve import expand_files
from isotope.params.root import Params
from isotope.params.sections import with_parts

# An overlay for any snapshot leaves its name to --config.
_NAMED = "{name}"
_ACQUIRED, _CRAWLED = PurePosixPath("data/acquire"), PurePosixPath("data/crawl")
# What `toy.snapshot.generate` writes, beside folders of pictures and dumps.
_GENERATED = (
    *("dump", "wit", "images", "wordnet"),
    *("faults.csv", "objects.parquet", "revisions.csv", "topics.csv", "views.csv"),
)
_REMEDY = "add it by hand: `snapshots: [...]` at the top of the file"


def load(overlays: Sequence[Path] = (), pairs: Sequence[str] = (), root: Path = Path()) -> Params:
    """Return the params of the project at `root`, as `--configfile` and `--config` change them.

    Raises:
        MissingFile: no params.yaml, or no such overlay.
        BadParams: what the schema refuses; a pair without `=`; a file that is no YAML mapping.
    """
    merged: dict[str, Any] = {}
    said: list[str] = []
    for path in (root / "params.yaml", *overlays):
        resolve.lay_over(merged, read(path))
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise BadParams("--config", f"{pair!r} has no `=`", "write key=value")
        merged[key] = value
        said.append(key)
    read_from = (root / "params.yaml", *overlays)
    return resolve.resolve(merged, resolve.discover(root / resolve.FOLDER), read_from, said)


def read(path: Path) -> Mapping[str, Any]:
    """Return what a file of params says, in YAML or, as `.json`, in JSON.

    Raises:
        MissingFile: no such file.
        BadParams: no mapping, or a text that can't be read, with its place.
    """
    if not path.is_file():
        raise MissingFile(path, "no such params", "check the path, or run in the project's root")
    text = text_of(path)
    try:
        content = json_value(text) if path.suffix == ".json" else yaml_value(text, path)
    except Refused as error:
        raise BadParams(path, str(error), "mend it there") from error
    if not isinstance(content, Mapping):
        raise BadParams(path, f"no mapping: {excerpt(content)}", "write `key: value` lines")
    return cast(Mapping[str, Any], content)


def demand_collection(collection: str, params: Mapping[str, Any], root: Path = Path()) -> None:
    """Refuse a collection that the params lack, and name the overlays that have it.

    Raises:
        BadParams: that is so.
    """
    names = [*params["collect"]]
    if collection in names:
        return
    overlays = _overlays(collection, root)
    named = f": {' or '.join(overlays)}" if overlays else " with --configfile"
    remedy = f"{suggest(collection, names)}, or name its overlay{named}"
    raise BadParams("params collect", f"no collection {collection!r}", remedy)


def _overlays(collection: str, root: Path) -> list[str]:
    """Return what a command takes to have the collection, by the overlays of the project."""
    literal, named = list[str](), list[str]()
    for path in sorted(root.glob("params/*.yaml")):
        with suppress(IsotopeError):
            collect = read(path).get("collect")
            own = collect if isinstance(collect, Mapping) else {}
            option = f"--configfile {path.relative_to(root)}"
            literal += [option] if collection in own else []
            named += [f"{option} --config name={collection}"] if _NAMED in own else []
    return literal or named


def text_of(path: Path) -> str:
    """Return the text of a file of params, every newline as it is.

    Raises:
        BadParams: bytes that are not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"not UTF-8 at byte {error.start}"
        raise BadParams(path, found, "save it as UTF-8") from error


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
    last = listed.value[-1] if listed.value else None
    place = _place(text, listed, last)
    new = text[:place] + _item(listed, last, name) + text[place:]
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


def _place(text: str, listed: yaml.SequenceNode, last: yaml.Node | None) -> int:
    """Return where an item goes: before the bracket, or below the last line with its comment."""
    if last is None:
        return listed.start_mark.index + 1
    end = last.end_mark.index
    return end if listed.flow_style else end + len(text[end:].partition("\n")[0].rstrip("\r"))


def _item(listed: yaml.SequenceNode, last: yaml.Node | None, name: str) -> str:
    quoted = json.dumps(name)
    if last and not listed.flow_style:
        return f"\n{' ' * listed.start_mark.column}- {quoted}"
    return f"{', ' if last else ''}{quoted}"


def _values(text: str) -> list[str]:
    return [str(value) for value in yaml.safe_load(text)["snapshots"]]


def demand_files(params: Mapping[str, Any], root: Path = Path()) -> None:
    """Check that every local path which this run reads is there, or is made by its acquire phase.

    Raises:
        MissingFile: the first that is not: its key, the path, and what to do.
    """
    for error in missing(params, root):
        raise error


def missing(params: Mapping[str, Any], root: Path = Path()) -> Iterator[MissingFile]:
    """Yield an error for each local path of the params that is not there and that no job makes."""
    yield from _sources(params, root)
    for where, path in (*_served(params, root), *_named(params)):
        if not _is_there(root, path) and not _is_acquired(params, path):
            yield MissingFile(f"params {where}", f"{path!r} is not there", _remedy(params, path))


def used_sources(params: Mapping[str, Any]) -> list[str]:
    """Return the sources of what is built, or compared with it, sorted."""
    pairs = [p for p in params["tabulate"]["since"] if {*p} & {*params["build"]}]
    names = {*params["build"], *(name for pair in pairs for name in pair)}
    knowledge = [params["collect"][n].get("recognition", {}).get("knowledge") for n in names]
    own = {s for name in names for s in links.sources(params, name)}
    own |= {name for name in knowledge if name}
    bulk = (item for name in own for item in params["crawl"].get(name, {}).get("bulk", []))
    return sorted(own | {item["source"] for item in bulk if "source" in item})


def _sources(params: Mapping[str, Any], root: Path) -> Iterator[MissingFile]:
    """Yield the missing files of sources; what was acquired already is not missing."""
    for name in used_sources(params):
        files = params["acquire"].get(name, {}).get("files", {})
        if not (root / _ACQUIRED / name / "manifest.json").is_file():
            for folder, entries in files.items():
                where = f"params acquire.{name}.files.{folder}"
                yield from (MissingFile(where, *absence) for absence in _absent(entries, root))


def _served(params: Mapping[str, Any], root: Path) -> Iterator[tuple[str, str]]:
    """Yield (key, folder) of the pictures that a crawl has yet to fetch."""
    for name in used_sources(params):
        if not (root / _CRAWLED / name / "ledger.parquet").is_file():
            entry = params["crawl"].get(name, {})
            yield from _unless_none(f"crawl.{name}.serve", entry.get("serve"))
            for n, item in enumerate(entry.get("bulk", [])):
                yield from _unless_none(f"crawl.{name}.bulk[{n}].folder", item.get("folder"))


def _absent(entries: list[Any], root: Path) -> Iterator[tuple[str, str]]:
    for entry in entries:
        url = entry if isinstance(entry, str) else str(entry["url"])
        if "://" not in url and not _is_there(root, url):
            yield f"{url!r} is not there", "check the path, or `root` in --config"


def _named(params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (key, path) for what is read as a file or folder and comes from no address."""
    for name, entry in params["encode"].get("summaries", {}).items():
        yield from _unless_none(f"encode.summaries.{name}.file", entry.get("file"))
    yield from _of_systems(params)
    for name, entry in params["score"].get("judge", {}).get("models", {}).items():
        if Weights.is_path(entry["name"]):
            yield f"score.judge.models.{name}.name", entry["name"]
    yield from _of_tables(params["tabulate"], params["build"])
    yield from _of_captions(params["tabulate"], used_sources(params))


def _of_tables(tabulate: Mapping[str, Any], build: list[str]) -> Iterator[tuple[str, str]]:
    for name in build:
        for fact, path in tabulate["facts"].get(name, {}).items():
            yield f"tabulate.facts.{name}.{fact}", path
        wordnet = tabulate["explain"].get(name, {}).get("wordnet")
        yield from _unless_none(f"tabulate.explain.{name}.wordnet", wordnet)
    for name, spec in tabulate["tokenizers"].items():
        if Vocabulary.is_path(spec):
            yield f"tabulate.tokenizers.{name}", spec


def _of_captions(tabulate: Mapping[str, Any], sources: list[str]) -> Iterator[tuple[str, str]]:
    """Yield what is compared with the captions of the sources that are used."""
    for name, entry in tabulate["captioners"].items():
        for i, path in enumerate(entry["files"] if entry["source"] in sources else ()):
            yield f"tabulate.captioners.{name}.files[{i}]", path
    for source, files in tabulate["side_by_side"].items():
        for i, path in enumerate(files if source in sources else ()):
            yield f"tabulate.side_by_side.{source}[{i}]", path


def _unless_none(where: str, path: str | None) -> Iterator[tuple[str, str]]:
    if path is not None:
        yield where, path


def _of_systems(params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what the systems that are searched, and the models behind them, read."""
    systems = params["systems"]
    chosen = with_parts(systems, params["search"]["systems"])
    for name in chosen:
        for i, path in enumerate(systems[name].get("files", [])):
            yield f"systems.{name}.files[{i}]", path
        spec = systems[name].get("tokenizer", "")
        if Vocabulary.is_path(spec):
            yield f"systems.{name}.tokenizer", spec
    for name in sorted({systems[s]["model"] for s in chosen if "model" in systems[s]}):
        entry = params["models"][name]
        for key in ("pretrained", "name"):
            if Weights.is_path(entry.get(key)):
                yield f"models.{name}.{key}", entry[key]


def _is_there(root: Path, path: str) -> bool:
    if "*" not in path:
        return (root / path).exists()
    try:
        return bool(expand_files({"": [str(root / path)]})[""])
    except IsotopeError:
        return False


def _is_acquired(params: Mapping[str, Any], path: str) -> bool:
    """Tell whether the phase acquire makes a path, or reports that it is gone."""
    parts = PurePosixPath(path).parts
    if parts[:2] != _ACQUIRED.parts or not parts[3:]:
        return False
    return parts[3] in _brought(params["acquire"].get(parts[2], {}))


def _brought(source: Mapping[str, Any]) -> tuple[str, ...]:
    return _GENERATED if "generate" in source else tuple(source.get("files", ()))


def _remedy(params: Mapping[str, Any], path: str) -> str:
    parts = PurePosixPath(path).parts
    if parts[:2] != _ACQUIRED.parts or not parts[3:]:
        return "check the path, or `root` in --config"
    if parts[2] not in params["acquire"]:
        return f"no such source: {suggest(parts[2], params['acquire'])}"
    suggestion = suggest(parts[3], _brought(params["acquire"][parts[2]]))
    return f"the source does not bring it: {suggestion}"
