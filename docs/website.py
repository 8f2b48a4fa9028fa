"""Make the site of README, docs and the pages of plug-ins: `make site`.

python docs/website.py [--project FOLDER] [--out FOLDER]

Pages are laid in a folder as they stand in the project, so that a link between two of them
leads to the same page here and there, and Zensical makes the site of them, without a network. Other
files that they link to go with them: pictures as they are, code as text. Navigation is that of
docs/navigation.yaml, and of a file of that name beside the pages of each plug-in that is installed.
"""

import argparse
import inspect
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

import mmdr
import yaml

import isotope
from isotope.core import errors, plugins
from isotope.core.errors import BadPlugin, IsotopeError, MissingFile, ToolFailed
from isotope.plan import extension

ROOT = Path(__file__).parents[1]
THEME = Path(__file__).with_suffix("")
NAVIGATION = "navigation.yaml"
# https://diataxis.fr
KINDS = ("Tutorials", "How-to guides", "Reference", "Explanation")
UNSORTED = "How-to guides"
FRONT = "The report's first page on the collection toy"
# Pages that are made here.
EXAMPLE, PYTHON, ABSENT = "example.md", "python.md", "absent.md"
PICTURES = {".webp", ".png", ".svg", ".jpg", ".gif"}
FENCED = re.compile(r"(^ *```.*?^ *```$|`[^`\n]+`)", re.DOTALL | re.MULTILINE)
MERMAID = re.compile(r"^```mermaid\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# `](place)` of Markdown, and `href="place"` of what a page has as HTML.
LINK = re.compile(
    r"""(?P<before>\]\(|\b(?:href|src|srcset)=")(?P<place>[^)"\s#]+)(?P<anchor>#[^)"\s]*)?"""
)
ELSEWHERE = re.compile(r"[a-z]+:|//")
# Boxes are as wide as words of another letter would be.
DRAWN = "%%{{init: {{'theme': '{theme}', 'flowchart': {{'padding': 32}}}}}}%%\n{graph}"
THEMES = {"light": "default", "dark": "dark"}
Navigation = dict[str, list[Any]]


class Pages:
    """Pages of a project, laid in a folder with all that they link to."""

    def __init__(self, root: Path, out: Path) -> None:
        """Lay pages of the project in `root` in the empty folder `out`."""
        self._root, self._out = root.resolve(), out
        # A plug-in's folder and where it is laid; ours are below the root.
        self._packages = {
            folder.resolve(): PurePosixPath("workflow/plugins", name)
            for name, folder in plugins.packages().items()
        }
        self._laid = set[Path]()

    def place(self, source: Path) -> PurePosixPath:
        """Return where a file of the project, or of a plug-in, is laid.

        Raises:
            BadPlugin: a file of neither.
        """
        # Zensical leaves out what is hidden.
        place = PurePosixPath(*(p.removeprefix(".") for p in self._place(source.resolve()).parts))
        if source.name == "README.md" and source.with_name("index.md").is_file():
            # Both would be the index.html of their folder.
            return place.with_name("overview.md")
        shown = source.suffix == ".md" or source.suffix in PICTURES
        # A browser shows code that is text by its name.
        return place if shown else place.with_name(f"{place.name}.txt")

    def _place(self, source: Path) -> PurePosixPath:
        if source.is_relative_to(self._root):
            return PurePosixPath(source.relative_to(self._root).as_posix())
        for folder, place in self._packages.items():
            if source.is_relative_to(folder):
                return place / source.relative_to(folder).as_posix()
        raise BadPlugin(str(source), "of no plug-in", "link to files of the package")

    def lay(self, sources: Iterable[Path]) -> None:
        """Lay pages and, in turn, the pages, pictures and code that they link to.

        Raises:
            MissingFile: what a page links to is not there.
        """
        todo = [source.resolve() for source in sources]
        while todo:
            source = todo.pop()
            if source not in self._laid:
                self._laid.add(source)
                todo += self._lay(source)

    def write(self, name: str, text: str) -> None:
        """Write a page that is no file of the project."""
        (self._out / name).write_text(text, encoding="utf-8")

    def _lay(self, source: Path) -> Sequence[Path]:
        target = self._out / self.place(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix in PICTURES:
            shutil.copyfile(source, target)
            return ()
        if source.is_dir():
            names = sorted(path.name for path in source.iterdir() if path.name != "__pycache__")
            target.write_text("\n".join(names), encoding="utf-8")
            return ()
        text = source.read_text(encoding="utf-8")
        if source.suffix != ".md":
            # By its first bytes a browser knows the encoding of a file on the disk.
            target.write_text(text, encoding="utf-8-sig")
            return ()
        linked: list[Path] = []
        parts = FENCED.split(text)
        # Every second part is code.
        parts[::2] = [LINK.sub(partial(self._link, source, linked), part) for part in parts[::2]]
        target.write_text(self._drawn("".join(parts), target), encoding="utf-8")
        return linked

    def _link(self, source: Path, linked: list[Path], link: re.Match[str]) -> str:
        before, place, anchor = link["before"], link["place"], link["anchor"] or ""
        if ELSEWHERE.match(place):
            return link[0]
        goal = (source.parent / unquote(place)).resolve()
        if self._is_absent(goal):
            self.write(ABSENT, "# Not here\n\nThis is of a plug-in that is not installed.\n")
            to = os.path.relpath(ABSENT, self.place(source).parent)
            return before + (to if before == "](" else to.replace(".md", ".html"))
        if not goal.exists():
            raise MissingFile(source, f"a link to {place}, which is not there", "correct the link")
        linked.append(goal)
        to = PurePosixPath(os.path.relpath(self.place(goal), self.place(source).parent))
        if before != "](" and goal.suffix == ".md":
            to = to.with_name("index") if to.stem == "README" else to
            to = to.with_suffix(".html")
        return f"{before}{to}{anchor}"

    def _is_absent(self, goal: Path) -> bool:
        """Whether a file would be of a plug-in of ours whose folder is not there."""
        folder = self._root / "workflow/plugins"
        if not goal.is_relative_to(folder) or goal == folder:
            return False
        return not (folder / goal.relative_to(folder).parts[0]).exists()

    def _drawn(self, text: str, page: Path) -> str:
        """Draw the graphs of a page, in light and in dark."""
        for number, graph in enumerate(MERMAID.findall(text), start=1):
            shown: list[str] = []
            for scheme, theme in THEMES.items():
                picture = page.with_name(f"{page.stem}-{number}-{scheme}.svg")
                drawn = mmdr.render(DRAWN.format(theme=theme, graph=graph))
                picture.write_text(drawn.svg(), encoding="utf-8")
                shown.append(f"![The graph that is listed below]({picture.name}#only-{scheme})")
            both = "\n".join(shown)
            text = text.replace(f"```mermaid\n{graph}```", f"{both}\n\n```text\n{graph}```", 1)
        return text


def folders(root: Path) -> list[Path]:
    """Return the folders of pages: docs, and that of each plug-in that is installed."""
    return [root / "docs", *(plugin.file("docs") for plugin in plugins.registered().values())]


def written(root: Path) -> list[Path]:
    """Return the pages of the project; its README is the front page."""
    found = [page for folder in folders(root) for page in sorted(folder.glob("*.md"))]
    return [root / "README.md", *found]


def navigation(root: Path, pages: Pages) -> tuple[Navigation, list[PurePosixPath]]:
    """Return the places of pages by kind, and those that no file of navigation names.

    Raises:
        BadPlugin: a kind that is none of KINDS.
        MissingFile: a page that is not there.
    """
    kinds: Navigation = {kind: [] for kind in KINDS}
    named = {root / "README.md"}
    for folder in folders(root):
        path = folder / NAVIGATION
        told = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}
        for kind, entries in told.items():
            if kind not in kinds:
                raise BadPlugin(str(path), f"a kind {kind!r}", f"use one of {', '.join(KINDS)}")
            _join(kinds[kind], [_placed(entry, folder, pages, named) for entry in entries])
    others = [pages.place(page) for page in written(root) if page not in named]
    kinds[UNSORTED] += map(str, others)
    return kinds, others


def _join(entries: list[Any], more: Sequence[Any]) -> None:
    """Add entries; those of a group that is there come into it."""
    groups = {
        title: group
        for entry in entries
        if isinstance(entry, dict)
        for title, group in entry.items()
    }
    for entry in more:
        [title] = entry if isinstance(entry, dict) else [""]
        if title in groups:
            groups[title] += entry[title]
        else:
            entries.append(entry)


def _placed(entry: Any, folder: Path, pages: Pages, named: set[Path]) -> Any:  # noqa: ANN401
    """Return an entry, a page or a group of entries by its title, with the places of pages."""
    if isinstance(entry, dict):
        groups: dict[str, list[Any]] = entry
        return {t: [_placed(e, folder, pages, named) for e in group] for t, group in groups.items()}
    if entry in (EXAMPLE, PYTHON):
        return entry
    page = folder / entry
    if not page.is_file():
        raise MissingFile(page, "no such page", f"correct {folder / NAVIGATION}")
    named.add(page)
    return str(pages.place(page))


def example(*, is_built: bool) -> str:
    """Return the page that leads to the report of the demo, or says how to have it here."""
    shown = (
        "[Open the report of the demo](report/index.html){ .md-button .md-button--primary }"
        if is_built
        else "This site was made where the demo had not run. After `make demo`, `make site` "
        "has its report here."
    )
    return f"""# The report of the demo

{shown}

[![{FRONT}](docs/images/toy-index-1280.webp)](docs/images/README.md)

A report is a site of its own, which a browser opens from the disk: a front page for each
collection, tables and figures, significance, case studies, and how to cite it. Here are [pictures
of its pages](docs/images/README.md), and [what it is made of](docs/tabulate.md#the-report).
"""


def python() -> str:
    """Return the page of the names of Python that people use, made of their docstrings."""
    public = [name for name in getattr(isotope, "__all__", ()) if not name.startswith("_")]
    of_errors = [name for name, kind in vars(errors).items() if _is_error(kind)]
    return f"""# Python: names and docstrings

## In a notebook or a program

{"".join(_block(f"isotope.{name}", getattr(isotope, name)) for name in public)}
## A package of your own

[A package of your own](docs/extending.md) shows how these are used.

{_block("isotope.core.plugins.Plugin", plugins.Plugin)}
{_block("isotope.plan.extension.Extension", extension.Extension)}
## Errors

{errors.__doc__}

{"".join(_block(name, getattr(errors, name)) for name in of_errors)}"""


def _is_error(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, IsotopeError)


def _block(heading: str, thing: Any) -> str:  # noqa: ANN401 (what a name leads to)
    """Return the block by which mkdocstrings shows a class or a function where it is defined."""
    # A phase that is called as a function is shown as that.
    thing = inspect.unwrap(thing)
    options = f"    options:\n      heading: {heading}\n      toc_label: {heading}\n"
    return f"::: {thing.__module__}.{thing.__qualname__}\n{options}\n"


def build(root: Path, out: Path, report: Path) -> Iterator[str]:
    """Make the site in place of what is in `out`; yield what is to be said about it.

    Raises:
        MissingFile: a page or what it links to.
        ToolFailed: a link or an anchor that leads nowhere, or another fault of a page.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".site-", dir=out.parent) as folder:
        laid = Path(folder)
        (laid / "pages").mkdir()
        pages = Pages(root, laid / "pages")
        kinds, others = navigation(root, pages)
        pages.lay(written(root))
        is_built = (report / "index.html").is_file()
        pages.write(EXAMPLE, example(is_built=is_built))
        pages.write(PYTHON, python())
        if is_built:
            shutil.copytree(report, laid / "pages/report", ignore=shutil.ignore_patterns(".*"))
        else:
            yield f"no report in {report}: the site has none before `make demo`"
        yield from (f"{page}: in no {NAVIGATION}, so under {UNSORTED}" for page in others)
        _zensical(root, laid, [{"isotope": "README.md"}, *({k: v} for k, v in kinds.items() if v)])
        if out.exists():
            out.rename(laid / "old")
        (laid / "site").rename(out)
    yield f"{out / 'index.html'}: {len(list(out.rglob('*.html')))} pages"


def _zensical(root: Path, laid: Path, nav: Sequence[Mapping[str, Any]]) -> None:
    config = yaml.safe_load((THEME / "site.yaml").read_text(encoding="utf-8"))
    shutil.copytree(THEME / "assets", laid / "pages/assets")
    config |= {"nav": [*nav], "docs_dir": "pages", "site_dir": "site"}
    [of_python] = (p["mkdocstrings"] for p in config["plugins"] if "mkdocstrings" in p)
    of_python["handlers"]["python"]["paths"] = [str(root / "workflow/lib")]
    (laid / "mkdocs.yml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    done = subprocess.run(command, cwd=laid, capture_output=True, text=True, check=False)
    if done.returncode:
        told = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr).partition("Traceback")[0]
        raise ToolFailed("zensical build", told.strip(), "correct these pages")


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the site, or say what is wrong with a page."""
    parser = argparse.ArgumentParser(prog="python docs/website.py", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--project", type=Path, default=ROOT, help="whose pages")
    parser.add_argument("--out", type=Path, default=ROOT / "site", help="the folder of the site")
    chosen = parser.parse_args(arguments)
    try:
        for line in build(chosen.project, chosen.out, chosen.project / "results/report"):
            sys.stdout.write(f"{line}\n")
    except IsotopeError as error:
        parser.exit(1, f"{error}\n")


if __name__ == "__main__":
    main()
