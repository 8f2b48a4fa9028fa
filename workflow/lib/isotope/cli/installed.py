"""The plug-ins that are installed, and what each adds: the command `isotope plugins`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import typer

from isotope.core import plugins
from isotope.core.plugins import Plugin


def listing() -> list[dict[str, Any]]:
    """Return a record a plug-in: its name, distribution, package, summary, and what it adds."""
    dist_of = plugins.distributions()
    return [
        {
            "name": plugin.name,
            "distribution": dist_of[plugin.name],
            "package": plugin.package,
            "summary": plugin.summary,
            "needs": [*plugin.needs],
            "adds": dict(_added(plugin)),
        }
        for plugin in plugins.registered().values()
    ]


def _added(plugin: Plugin) -> Iterator[tuple[str, list[str]]]:
    """Yield what a plug-in adds, in words, with the names of each."""
    additions: dict[str, list[str]] = {
        "params": [plugin.name] if plugin.section else [],
        "rules": [plugin.rules] if plugin.rules else [],
        "views": sorted(plugin.load(plugin.views)) if plugin.views else [],
        "exhibits": [*plugin.yaml(plugin.exhibits)] if plugin.exhibits else [],
        "commands": commands(plugin),
        "results": [*plugin.outs],
        "kinds": [f"{noun}: {package}" for noun, package in plugin.kinds.items()],
    }
    yield from ((noun, names) for noun, names in additions.items() if names)


def commands(plugin: Plugin) -> list[str]:
    """Return the names of the commands that a plug-in adds."""
    if not plugin.commands:
        return []
    app = typer.Typer()
    plugin.load(plugin.commands)(app)
    return names_of(app)


def names_of(app: typer.Typer) -> list[str]:
    """Return the names of an application's commands, in their order."""
    named = app.registered_commands
    return [c.name or getattr(c.callback, "__name__", "").replace("_", "-") for c in named]


def text(records: Sequence[Mapping[str, Any]]) -> str:
    """Return the records as they are printed."""
    if not records:
        return "no plug-in is installed\n"
    return "".join(_text(record) for record in records)


def _text(record: Mapping[str, Any]) -> str:
    head = f"{record['name']}  {record['distribution']}, package {record['package']}\n"
    lines = [record["summary"]] if record["summary"] else []
    lines += [f"needs {', '.join(record['needs'])}"] if record["needs"] else []
    lines += [f"{noun}: {', '.join(names)}" for noun, names in record["adds"].items()]
    return head + "".join(f"    {line}\n" for line in lines)


def as_json(records: list[dict[str, Any]]) -> str:
    """Return the records as JSON."""
    return json.dumps(records, indent=1) + "\n"
