"""The command `isotope`: questions before, during and after a run of the workflow.

Each command imports what it needs when it runs: help and errors of usage come at once.
"""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import isotope
from isotope.cli import installed
from isotope.cli.arguments import (
    NONE,
    Catalog,
    Collection,
    Configured,
    DryRun,
    Jobs,
    OfCollection,
    Results,
    VersionName,
    Where,
    assignment,
    choice,
    date,
    filled,
    integer_between,
    language_code,
    words,
)
from isotope.core import extras, plugins, terminal
from isotope.core.errors import BadArgument, IsotopeError, MissingFile, Unreadable, Unwritable
from isotope.params import SETTINGS, SPLITS

_NAME = "isotope"
# What pydantic, with which typer reads arguments, puts before the message of a ValueError.
_PREFIX = "Value error, "
_LANGUAGE = re.compile(r"(.+=)?[a-z]{2,3}(-[A-Za-z0-9]{1,12})*")
_DATES = {"%Y%m%d": 8, "%Y-%m-%d": 10, "%Y-%m": 7}
_LARGEST_PORT = 65_535
_CATALOG = Path("results/catalog.duckdb")
_PARAMS = Path("params.yaml")
_RELEASES = Path("results/release")
FORMATS = ("table", "csv", "json")
KINDS = ("text", "image", "query", "run", "template")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status, 1 after an error that the user can mend."""
    try:
        answer = typer.main.get_command(app).main(arguments, prog_name=_NAME, standalone_mode=False)
    except typer.TyperException as error:
        return _refuse(_usage(error))
    except IsotopeError as error:
        return _refuse(error)
    except ModuleNotFoundError as error:
        refusal = extras.as_missing_extra(error)
        if not isinstance(refusal, IsotopeError):
            raise
        return _refuse(refusal)
    except OSError as error:
        if error.filename is None or error.errno is None:
            raise
        problem = os.strerror(error.errno).lower()
        return _refuse(Unreadable(os.fsdecode(error.filename), problem, "check the path"))
    if isinstance(answer, str):
        return _answer(answer)
    # After --help, which has printed itself, or what a command has ended with.
    return int(answer)


def _answer(text: str) -> int:
    """Print an answer; one that nobody reads to its end is none the less given."""
    try:
        terminal.write(text)
    except OSError as error:
        # What is left in the buffer would be written, and fail, when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            problem = os.strerror(error.errno).lower() if error.errno else str(error)
            return _refuse(Unwritable("standard output", problem, "send it to another place"))
    return 0


def _refuse(error: IsotopeError) -> int:
    from isotope.cli.advice import with_overlays  # noqa: PLC0415

    sentence = with_overlays(f"{type(error).__name__}: {error}\n", Path())
    terminal.write(sentence, sys.stderr)
    return 1


def _usage(error: typer.TyperException) -> BadArgument:
    context = getattr(error, "ctx", None)
    return _bad(context.command_path if context else _NAME, _message(error))


def _bad(command: str, message: str) -> BadArgument:
    sentence = " ".join(message.split()).removesuffix(".")
    return BadArgument(command, sentence, f"see `{command} --help`")


def _message(error: typer.TyperException) -> str:
    parameter: Any = getattr(error, "param", None)
    if parameter is None:
        return error.format_message()
    name = next((option for option in parameter.opts if option.startswith("--")), parameter.name)
    if not error.message:
        return f"the following arguments are required: {name}"
    return f"argument {name}: {error.message.removeprefix(_PREFIX)}"


class _Commands(TyperGroup):
    """The commands; one that is not there is an error with its own sentence."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 (typer's context)
        if args[0] not in self.commands:
            raise _bad(_NAME, f"argument command: {choice(args[0], [*self.commands])}")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name=_NAME,
    cls=_Commands,
    help="Answers about the configured workflow and what it has built.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(asked: bool) -> None:
    if asked:
        terminal.write(f"{_NAME} {isotope.__version__}\n")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _main(
    context: typer.Context,
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> str | None:
    """Take the options before a command; without one say what one can do next."""
    if context.invoked_subcommand is not None:
        return None
    from isotope.cli import advice  # noqa: PLC0415

    return advice.advice(advice.facts_of(Path()))


@app.command()
def report(
    collection: Annotated[
        list[str],
        typer.Option(help="A collection, once for each; without any, all that are listed."),
    ] = [],  # noqa: B006
    measure: Annotated[
        list[str],
        typer.Option(help="A measure that was scored, once for each; MRR@10 and R@10 without any."),
    ] = [],  # noqa: B006
    setting: Annotated[
        str | None, typer.Option(help="The candidate pool; small if measured.", **words(SETTINGS))
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="Of the queries; validation if measured.", **words(SPLITS))
    ] = None,
) -> str:
    """Print the headline table of each collection, and where its report is."""
    from isotope.report import registry  # noqa: PLC0415
    from isotope.report.collection import headline  # noqa: PLC0415
    from isotope.report.pools import measured  # noqa: PLC0415

    records = registry.read(registry.records())
    listed = [record.name for record in records]
    if not listed:
        raise MissingFile("results/report", "no report yet", "run `snakemake --cores all`")
    parts: list[str] = []
    for name in collection or listed:
        page, scores = _reported(name, listed)
        pool = measured(scores, setting, split)
        if pool is None and name not in collection and len(listed) > 1:
            parts.append(f"\n{name}\nnot measured on {setting or '*'}/{split or '*'}\n")
            continue
        chosen = pool or (setting or "small", split or "validation")
        table = headline(scores, setting=chosen[0], split=chosen[1], measures=measure)
        parts.append(f"\n{name}\n{table}\nReport: {page.resolve()}\n")
    named = {*registry.listing(records).collections}
    for page in sorted(Path().glob("results/report/*/since/*.html")):
        both = {page.parents[1].name, page.stem}
        if both <= named and (not collection or both & {*collection}):
            parts.append(_changes(page))
    return "".join(parts)


def _reported(name: str, listed: Sequence[str]) -> tuple[Path, Path]:
    """Return the page and the scores of a collection that is listed."""
    from isotope.params.messages import suggest  # noqa: PLC0415
    from isotope.report.registry import RECORD  # noqa: PLC0415

    page = Path("results/report") / name / "index.html"
    scores = Path("results/score") / f"{name}.parquet"
    if name not in listed:
        begun = "it is not listed: run its `snakemake` command again, which makes what is missing"
        how = begun if page.is_file() else suggest(name, listed)
        raise MissingFile(RECORD.format(collection=name), "no such report", how)
    for path, problem in ((page, "no such page"), (scores, "no such scores")):
        if not path.is_file():
            raise MissingFile(path, problem, "run `snakemake --cores all`")
    return page, scores


def _changes(page: Path) -> str:
    """Return what has changed between two snapshots, and where it is shown."""
    from isotope.report.diff_page import summary  # noqa: PLC0415

    later, earlier = page.parents[1].name, page.stem
    table = Path("results/tables") / later / "since" / earlier / "snapshot_diff.arrow"
    return f"\n{later} since {earlier}\n{summary(table)}\nChanges: {page.resolve()}\n"


@app.command()
def unlist(
    collection: Collection,
    *,
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete its files too, what others share excepted.")
    ] = False,
) -> str:
    """Take a collection off the front page and the catalog."""
    from isotope.report.collection import unlist as take_off  # noqa: PLC0415

    return take_off(collection, delete=delete)


@app.command()
def trec(
    collection: Collection, folder: Annotated[Path, typer.Argument(help="Where to write.")]
) -> str:
    """Write a collection's qrels and runs as TREC files."""
    from isotope.release.trec import export  # noqa: PLC0415

    return f"{len(export(collection, folder))} files in {folder.resolve()}\n"


@app.command()
def release(
    collection: Annotated[str, typer.Argument(help="A released collection.", parser=filled)],
    *,
    lite: Annotated[
        bool, typer.Option("--lite", help="Write its small form to FOLDER/COLLECTION-lite.")
    ] = False,
    negatives: Annotated[
        int | None,
        typer.Option(
            help="Hard negatives of a query; by default what the release says.",
            parser=integer_between(1),
            metavar="NUMBER",
        ),
    ] = None,
    queries: Annotated[
        int | None,
        typer.Option(
            help="Most queries of a split and direction; by default what the release says.",
            parser=integer_between(1),
            metavar="NUMBER",
        ),
    ] = None,
    releases: Annotated[Path, typer.Option(help="The folder of releases.")] = _RELEASES,
) -> str:
    """Print what a release has, or write its small form, which is easy to share."""
    from isotope.core import digests  # noqa: PLC0415
    from isotope.release.about import read_about, text  # noqa: PLC0415
    from isotope.release.lite import ENDING, write_lite  # noqa: PLC0415
    from isotope.release.lite_pools import PoolLimits  # noqa: PLC0415

    folder = releases / collection
    about = read_about(folder)
    if not lite and (negatives or queries):
        raise BadArgument(f"{_NAME} release", "--negatives or --queries alone", "add --lite")
    if not lite:
        return text(about, folder)
    small, plain = releases / f"{collection}{ENDING}", about["lite"]
    bounds = PoolLimits(negatives or plain["negatives"], queries or plain["queries"])
    written = write_lite(folder, small, bounds)
    if digests.is_kept(small):
        digests.write(small)
    return text(written, small)


@app.command()
def costs(
    names: Annotated[
        list[str],
        typer.Argument(help="Collections and sources; all without any.", **NONE),
    ],
) -> str:
    """Print what jobs have cost here, phase by phase."""
    from isotope.report.account import text  # noqa: PLC0415

    return text(names)


@app.command()
def snapshot(
    name: Annotated[str, typer.Argument(help="Its date, as in the dump's address.", parser=date)],
    params: Annotated[Path, typer.Option(help="The file to change.")] = _PARAMS,
) -> str:
    """Add a snapshot to params.yaml."""
    from isotope.params.files import append_snapshot  # noqa: PLC0415

    new = append_snapshot(params, name)
    return f"{name} is {'now' if new else 'already'} a snapshot of {params}\n"


@app.command()
def recrawl(
    source: Annotated[str, typer.Argument(help="A crawled source.", parser=filled)],
    *,
    status: Annotated[
        list[str],
        typer.Option(
            help="An outcome to request again, once for each; without any, what may have changed.",
            metavar="STATUS",
            **NONE,
        ),
    ],
    gone: Annotated[
        str | None,
        typer.Option(help="Give up this host instead.", metavar="HOST", parser=filled),
    ] = None,
) -> str:
    """Let the next run request lost pictures of a source again."""
    from isotope.crawl.again import give_up, recrawl  # noqa: PLC0415

    return recrawl(source, status) if gone is None else give_up(source, gone)


@app.command()
def sql(
    query: Annotated[str, typer.Argument(help="One SELECT, or SHOW TABLES for the views.")],
    form: Annotated[
        str, typer.Option("--format", help="What is printed.", **words(FORMATS))
    ] = "table",
    rows: Annotated[
        int, typer.Option(help="Most rows of a table.", parser=integer_between(1), metavar="NUMBER")
    ] = 100,
    catalog: Catalog = _CATALOG,
) -> str:
    """Answer one SELECT on the catalog."""
    from isotope.cli import questions  # noqa: PLC0415

    return questions.sql(query, form=form, most=rows, catalog=catalog)


@app.command()
def show(  # noqa: PLR0913 (one each for what the command takes)
    kind: Annotated[str, typer.Argument(help="What the id names.", **words(KINDS))],
    id: Annotated[
        str,
        typer.Argument(
            help="For a run: collection/setting/split/task/system; for a template its name."
        ),
    ],
    *,
    collection: Annotated[
        str | None, typer.Option(help="Where to look; the first that has the id without it.")
    ] = None,
    most: Annotated[
        int,
        typer.Option(help="Most hits of a system.", parser=integer_between(1), metavar="NUMBER"),
    ] = 5,
    html: Annotated[
        Path | None, typer.Option(help="A page to write, with pictures.", metavar="FILE")
    ] = None,
    catalog: Catalog = _CATALOG,
) -> str:
    """Print all about a text, image, query, run or template."""
    from isotope.cli import questions  # noqa: PLC0415

    page = questions.show(kind, id, collection=collection, most=most, catalog=catalog)
    if html:
        questions.write_html(page, html, catalog=catalog)
    return questions.to_text(page)


@app.command()
def push(  # noqa: PLR0913 (one each for what the command takes)
    remote: Where,
    paths: Results,
    *,
    collection: OfCollection = None,
    version: VersionName = "latest",
    jobs: Jobs = 8,
    dry_run: DryRun = False,
) -> str:
    """Send results, or a release, to a remote: each file once."""
    from isotope.transfer.asked import TransferRequest  # noqa: PLC0415
    from isotope.transfer.push import push as send  # noqa: PLC0415

    asked = TransferRequest(remote or _remote("push"), paths, collection, version, jobs)
    return send(asked, dry_run=dry_run)


@app.command()
def pull(  # noqa: PLR0913 (as above)
    remote: Where,
    paths: Results,
    *,
    collection: OfCollection = None,
    version: VersionName = "latest",
    jobs: Jobs = 8,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files that no version of the remote has.")
    ] = False,
    dry_run: DryRun = False,
    as_list: Annotated[
        bool, typer.Option("--list", help="Print the versions and what they have; fetch nothing.")
    ] = False,
) -> str:
    """Fetch results, or a release, from a remote: what is not here yet."""
    from isotope.transfer import pull as transfer  # noqa: PLC0415
    from isotope.transfer.asked import TransferRequest  # noqa: PLC0415

    asked = TransferRequest(remote or _remote("pull"), paths, collection, version, jobs)
    return transfer.listed(asked) if as_list else transfer.pull(asked, force=force, dry_run=dry_run)


def _remote(command: str) -> str:
    """Return the remote that the params name.

    Raises:
        BadArgument: they name none.
        BadParams: no address, or a file that is no YAML.
    """
    from isotope.core.errors import BadParams  # noqa: PLC0415
    from isotope.params.files import read  # noqa: PLC0415

    remote = read(_PARAMS).get("remote") if _PARAMS.is_file() else None
    if remote is None:
        remedy = "name one, or set ISOTOPE_REMOTE, or `remote` in params.yaml"
        raise BadArgument(f"{_NAME} {command}", "no remote", remedy)
    if not isinstance(remote, str) or not remote.strip():
        raise BadParams(f"{_PARAMS}: remote", f"no address: {remote!r}", "give a folder or a URL")
    return remote


@app.command()
def new(
    folder: Annotated[
        str, typer.Argument(help="A new or an empty folder.", metavar="FOLDER", parser=filled)
    ],
) -> str:
    """Make the folder of an experiment, ready to build the demo."""
    from isotope.cli import new as experiment  # noqa: PLC0415

    return experiment.new(Path(folder))


@app.command(cls=Configured)
def init(  # noqa: PLR0913 (one each for what the command takes)
    table: Annotated[
        str,
        typer.Argument(
            help="A file, a folder, a pattern with *, or ir_datasets:ID.", parser=filled
        ),
    ],
    *,
    pictures: Annotated[
        str | None,
        typer.Option(help="Folder, zip or tar with the pictures.", metavar="DIR", parser=filled),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Of the collection; by default the table's.", metavar="NAME")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="By default params/NAME.yaml.", metavar="FILE")
    ] = None,
    columns: Annotated[
        list[str],
        typer.Option(
            help="What a column is, such as text=caption; several may follow.",
            metavar="ROLE=COLUMN",
            parser=assignment,
            **NONE,
        ),
    ],
    language: Annotated[
        list[str],
        typer.Option(
            help="Of the texts, such as de, or of one column, such as caption_fr=fr; several may "
            "follow.",
            metavar="CODE",
            parser=language_code,
            **NONE,
        ),
    ],
    form: Annotated[
        str | None, typer.Option(help="Of the data; found by looking.", metavar="FORM")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> str:
    """Look at pictures and texts, guess their columns, and write the overlay that uses them."""
    from isotope.cli import init_text, overlay  # noqa: PLC0415
    from isotope.cli import new as experiment  # noqa: PLC0415
    from isotope.cli.init import understand  # noqa: PLC0415
    from isotope.cli.understanding import UserAnswers  # noqa: PLC0415

    roles: dict[str, list[str]] = {}
    for stated in columns:
        role, _, column = stated.partition("=")
        roles.setdefault(role.strip(), []).append(column.strip())
    collection = name if name is not None else overlay.name_of(table)
    overlay_path = output or Path("params") / f"{collection}.yaml"
    overlay.demand_place(collection, overlay_path, force=force)
    understood = understand(UserAnswers(table, pictures, form, roles, language))
    overlay.write(understood, collection, overlay_path)
    completed = [] if experiment.is_experiment(Path()) else experiment.complete(Path())
    if as_json:
        return init_text.as_json(understood, collection, overlay_path, completed)
    return init_text.text(understood, overlay_path, completed)


@app.command(name="plugins")
def list_plugins(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False
) -> str:
    """List the plug-ins that are installed, with their version and what they add."""
    records = installed.listing()
    return installed.as_json(records) if as_json else installed.text(records)


def _add_commands() -> None:
    """Add the commands of plug-ins.

    Raises:
        BadPlugin: one that bears the name of another command.
    """
    for plugin in plugins.registered().values():
        before = installed.names_of(app)
        if plugin.commands:
            plugin.load(plugin.commands)(app)
        names = installed.names_of(app)
        plugins.demand_new(plugin, "the command", names[len(before) :], before)


_add_commands()
