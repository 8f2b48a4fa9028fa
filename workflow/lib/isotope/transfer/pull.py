"""`isotope pull`: fetches outputs from a remote, each whole, and with what Snakemake knows of them.

Bytes arrive below `.isotope/pull`, named by their digests. A file that has arrived whole and is
what it must be loses the ending `.part`; when all files of an output are there, it takes its place
by a rename. So a run that is killed leaves nothing half-written, and the next one goes on.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from isotope.core import digests, held
from isotope.core.errors import BadArgument, Locked
from isotope.core.terminal import shortened
from isotope.transfer import versions
from isotope.transfer.aside import FOLDER, ArrivalFolder, has_size, hashed, is_same
from isotope.transfer.asked import Movers, TransferRequest
from isotope.transfer.outputs import Output, OutputFile, selected
from isotope.transfer.provenance import Provenance
from isotope.transfer.remote import Remote
from isotope.transfer.sizes import counted, size_of
from isotope.transfer.versions import Version

_SHOWN = 3


class WantedOutput(NamedTuple):
    """An output of a version, the names of its files that are not here, and what stands instead."""

    output: Output
    lacking: Sequence[str]
    replaced: Sequence[Path]


def pull(
    asked: TransferRequest, *, force: bool = False, dry_run: bool = False, root: Path = Path()
) -> str:
    """Fetch the outputs of a version that are asked for; return what was fetched, in words.

    A file that is here with the right digest is not fetched. Where a project's Snakefile is,
    Snakemake's records and the times of outputs are those of where they were made.

    Raises:
        UnknownId, MissingFile: no such remote, version or path; the remote lacks a file.
        BadArgument: files here that no version of the remote has, without `force`.
        Locked: a run, or another pull, is at work here.
        ChecksumMismatch, TruncatedFile, CorruptFile: the remote's bytes are not what was sent.
        AccessDenied, FetchFailed, DiskFull, Unwritable: what has arrived is kept for the next try.
    """
    remote = Remote(asked.address)
    version = versions.demand(remote, asked.version)
    outputs = _asked_for(asked, version, remote)
    wanted = list(_compared(outputs, root, asked.jobs))
    if not force:
        _demand_known(remote, version, wanted)
    missing = [want for want in wanted if want.lacking or want.replaced]
    objects = _objects(missing)
    size = sum(file.bytes for file in objects.values())
    all_objects = {output.object(name) for output in outputs for name in output.files}
    local_share = f"{len(all_objects) - len(objects):,} of {len(all_objects):,} are here"
    source = f"{remote}, version {version.name}"
    if dry_run:
        return f"Would fetch {len(objects):,} files, {size_of(size)}, of {source}; {local_share}.\n"
    with _at_work(root):
        aside = ArrivalFolder(remote, root)
        aside.fetch(objects, size, asked.jobs)
        provenance = Provenance(remote, version, root)
        for output, lacking, replaced in wanted:
            if lacking or replaced:
                provenance.install(output, aside, lacking)
            elif not provenance.is_settled(output):
                provenance.install(output, aside, None)
        provenance.age_sources()
        aside.clean()
    if not missing:
        return f"Nothing to fetch: all {len(all_objects):,} files of {source} are here.\n"
    return f"Fetched {len(objects):,} files, {size_of(size)}, of {source}; {local_share}.\n"


def listed(asked: TransferRequest) -> str:
    """Return the versions of a remote, and what the asked one has, in words.

    Raises:
        UnknownId, MissingFile, CorruptFile, AccessDenied, FetchFailed: as `pull`.
    """
    remote = Remote(asked.address)
    lines = list[str]()
    for name in versions.names(remote):
        version = versions.read(remote, name)
        lines.append(f"{name}  {version.moment}  {size_of(version.bytes)}")
        folders = dict[str, list[Output]]()
        for output in selected([*version.outputs.values()], asked.paths, asked.collection):
            folders.setdefault(output.folder, []).append(output)
        for folder, outputs in sorted(folders.items()):
            files = sum(len(output.files) for output in outputs)
            size = size_of(sum(output.bytes for output in outputs))
            lines.append(f"    {folder}: {files:,} files, {size}")
    return "".join(f"{line}\n" for line in lines)


def _asked_for(asked: TransferRequest, version: Version, remote: Remote) -> list[Output]:
    complete = [*version.outputs.values()]
    where = f"{remote}, version {version.name}"
    for path in asked.paths:
        if not selected(complete, [path], asked.collection):
            raise asked.nothing(path, complete, where)
    outputs = selected(complete, asked.paths, asked.collection)
    if not outputs:
        raise asked.nothing(None, complete, where)
    # A folder takes its place at once; a manifest, which names files beside it, comes last.
    return sorted(outputs, key=lambda o: (not o.is_folder, len(o.files), o.path))


def _compared(outputs: Sequence[Output], root: Path, jobs: int) -> Iterator[WantedOutput]:
    """Compare what is here with what a version has, reading all of it."""
    local_files = [
        (path, output.files[name])
        for output in outputs
        for name, path in output.places(root).items()
        if has_size(path, output.files[name])
    ]
    same = set[Path]()

    def compare(pair: tuple[Path, OutputFile], count: Callable[[int], None]) -> None:
        if is_same(*pair, count):
            same.add(pair[0])

    with counted("compared", sum(file.bytes for _, file in local_files)) as progress:
        movers = Movers(jobs, progress)
        movers.run(lambda pair: compare(pair, movers.count), local_files)
    for output in outputs:
        places = output.places(root)
        lacking = [name for name, path in places.items() if path not in same]
        replaced = [places[name] for name in lacking if places[name].exists()]
        yield WantedOutput(output, lacking, [*replaced, *_extra(output, root / output.path)])


def _extra(output: Output, path: Path) -> list[Path]:
    """Return what stands in the place of an output that is a folder, and is none of its files."""
    if not output.is_folder or not path.exists():
        return []
    if not path.is_dir():
        return [path]
    return [path / name for name in sorted({*digests.files_of(path)} - output.files.keys())]


def _demand_known(remote: Remote, version: Version, wanted: Sequence[WantedOutput]) -> None:
    """Check that what would be replaced is in some version of the remote.

    Raises:
        BadArgument: a file that is not.
    """
    replaced = [path for want in wanted for path in want.replaced]
    if not replaced:
        return
    names = [name for name in versions.names(remote) if name != version.name]
    all_versions = [version, *(versions.read(remote, name) for name in names)]
    outputs = (
        o for candidate in all_versions for push in candidate.pushes.values() for o in push.outputs
    )
    pushed = {file.digest for output in outputs for file in output.files.values()}
    unknown = [path for path in replaced if not path.is_file() or not {*hashed(path)} & pushed]
    if unknown:
        some = shortened(unknown, _SHOWN)
        problem = f"other files lie here that no version of {remote} has: {some}"
        raise BadArgument("isotope pull", problem, "push them, move them, or add --force")


def _objects(wanted: Sequence[WantedOutput]) -> dict[str, OutputFile]:
    """Return the files to fetch by the name of their bytes: each once."""
    return {
        want.output.object(name): want.output.files[name]
        for want in wanted
        for name in want.lacking
    }


@contextmanager
def _at_work(root: Path) -> Iterator[None]:
    """Hold the project, so that neither a run nor another pull changes it.

    Raises:
        Locked: one does.
    """
    holders = held.holders(root)
    if any(holder.is_alive is not False for holder in holders):
        raise Locked(
            root.absolute(), held.lock_message(holders).removeprefix("Locked: "), "run again then"
        )
    holder = held.hold(root)
    try:
        yield
    finally:
        held.leave(holder)
        # Where no project is, nothing of this one stays.
        with suppress(OSError):
            (root / FOLDER.parent).rmdir()
