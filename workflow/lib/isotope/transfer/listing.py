"""Pages of a remote for people: each file of a version as a link, by its path.

A browser opens them from a folder, a bucket or a web server; they need nothing else.
"""

from collections.abc import Mapping
from html import escape
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote

from isotope.transfer.outputs import Output, OutputFile
from isotope.transfer.sizes import size_of

if TYPE_CHECKING:
    from isotope.transfer.versions import Version

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
body {{ font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem }}
td {{ padding: 0 1rem 0 0; overflow-wrap: anywhere }}
td + td {{ text-align: right; white-space: nowrap }}
</style>
<h1>{title}</h1>
{body}
</html>
"""


def index_page(pushes: Mapping[str, int]) -> str:
    """Return the page of a remote: its versions, by name with the number of their pushes."""
    rows = (
        f'<li><a href="versions/{quote(name)}.html">{escape(name)}</a>, pushes: {number}</li>'
        for name, number in pushes.items()
    )
    how = "<p>To fetch one: <code>isotope pull ADDRESS --version NAME</code></p>"
    return _PAGE.format(title="Results of isotope", body=f"<ul>{''.join(rows)}</ul>\n{how}")


def version_page(version: "Version") -> str:
    """Return the page of a version: all of its files."""
    outputs = sorted(version.outputs.values(), key=lambda output: output.path)
    rows = [_row(output, name, file) for output in outputs for name, file in output.files.items()]
    counts = f"<p>{len(rows):,} files, {size_of(version.bytes)}, {escape(version.moment)}</p>"
    table = "\n".join(dict.fromkeys(rows))
    body = f"{counts}\n<table>\n{table}\n</table>"
    return _PAGE.format(title=escape(version.name), body=body)


def _row(output: Output, name: str, file: OutputFile) -> str:
    above = PurePosixPath(output.path) if output.is_folder else PurePosixPath(output.path).parent
    path = str(above / name) if name else output.path
    link = f'<a href="../{output.object(name)}" download="{escape(path.split("/")[-1])}">'
    return f"<tr><td>{link}{escape(path)}</a><td>{size_of(file.bytes)}"
