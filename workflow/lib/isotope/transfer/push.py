"""`isotope push`: sends outputs to a remote, each file once, whatever was there or was killed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from isotope.core import digests
from isotope.core.errors import ChecksumMismatch, MissingFile
from isotope.transfer import provenance, versions
from isotope.transfer.asked import JOBS, Movers, TransferRequest
from isotope.transfer.outputs import Output, OutputFile, object_of, outputs_of, selected
from isotope.transfer.remote import HASHES, Remote
from isotope.transfer.sizes import counted, size_of


class Sent(NamedTuple):
    """A file to send: where it lies, what it must be, and the name of its bytes in the remote."""

    path: Path
    file: OutputFile
    object: str


def push(asked: TransferRequest, *, dry_run: bool = False, root: Path = Path()) -> str:
    """Send the outputs of a project that are asked for; return what was sent, in words.

    A file that the remote has is not read. Every file that is sent is compared with its digest on
    the way, and does not appear in the remote if it differs.

    Raises:
        MissingFile: nothing to send, or no such remote.
        ChecksumMismatch, CorruptFile: a file, or its record, that is not as it was written.
        AccessDenied, FetchFailed, DiskFull, Unwritable: a remote that does not take it; what it has
            taken is not sent again.
    """
    remote = Remote(asked.address)
    remote.demand_writable()
    outputs = _asked_for(asked, root)
    before = versions.read(remote, asked.version)
    objects = _objects(outputs, root)
    lacking = _lacking(remote, objects)
    sent_share = f"{len(objects) - len(lacking):,} of {len(objects):,} are there"
    size = sum(sent.file.bytes for sent in lacking)
    to = f"{remote}, version {asked.version}"
    if dry_run:
        return f"Would send {len(lacking):,} files, {size_of(size)}, to {to}; {sent_share}.\n"
    with counted("sent", size) as progress:
        movers = Movers(asked.jobs, progress)
        movers.run(lambda sent: _send(remote, sent, movers.count), lacking)
    is_new = _describe(remote, asked, outputs, before, root)
    remote.clean()
    if not lacking and not is_new:
        return f"Nothing to send: {to} has all {len(objects):,} files.\n"
    return f"Sent {len(lacking):,} files, {size_of(size)}, to {to}; {sent_share}.\n"


def _asked_for(asked: TransferRequest, root: Path) -> list[Output]:
    complete = outputs_of(root)
    if not complete:
        tops = " or ".join(f"{top}/" for top in digests.TOPS)
        remedy = "build them (`snakemake --cores all`), or run this in their project's folder"
        raise MissingFile(root.absolute(), f"no results in {tops}", remedy)
    outputs = selected(complete, asked.paths, asked.collection)
    for path in asked.paths:
        if not selected(outputs, [path]):
            raise asked.nothing(path, complete, f"{root.absolute()}")
    if not outputs:
        raise asked.nothing(None, complete, f"{root.absolute()}")
    return outputs


def _objects(outputs: Sequence[Output], root: Path) -> dict[str, Sent]:
    """Return the files of outputs by the names of their bytes, each once."""
    return {
        output.object(name): Sent(path, output.files[name], output.object(name))
        for output in outputs
        for name, path in output.places(root).items()
    }


def _lacking(remote: Remote, objects: Mapping[str, Sent]) -> list[Sent]:
    """Return the files that the remote has not, or not whole."""
    remote_sizes = dict[str, int]()
    folders = sorted({name.rpartition("/")[0] for name in objects})
    with ThreadPoolExecutor(JOBS) as pool:
        for sizes in pool.map(remote.sizes, folders):
            remote_sizes |= sizes
    return [sent for name, sent in objects.items() if remote_sizes.get(name) != sent.file.bytes]


def _send(remote: Remote, sent: Sent, count: Callable[[int], None]) -> None:
    remote.write(sent.object, sent.file.bytes, _verified(sent, count))


def _verified(sent: Sent, count: Callable[[int], None]) -> Iterator[bytes]:
    """Yield the blocks of a file.

    Raises:
        ChecksumMismatch: behind the last block, if they are not what the file must be.
    """
    name, written = sent.file.digest
    digest = HASHES[name]()
    for block in digests.blocks(sent.path):
        digest.update(block)
        count(len(block))
        # What sends it may keep it beyond the next one.
        yield bytes(block)
    if digest.hexdigest() != written:
        problem = f"written with {name} {written}, now {digest.hexdigest()}"
        raise ChecksumMismatch(sent.path, problem, digests.MEND)


def _describe(
    remote: Remote,
    asked: TransferRequest,
    outputs: Sequence[Output],
    before: versions.Version,
    root: Path,
) -> bool:
    """Add the push to its version, unless this has the same files already; tell whether."""
    records = provenance.records_of(root, outputs)
    file, content = provenance.packed(records)
    new_push = versions.Push(
        asked.paths,
        asked.collection,
        outputs,
        file if records else None,
        provenance.sources_of(root, records),
    )
    if _is_same(new_push, before):
        return False
    if records:
        remote.write(object_of(provenance.PACKED, file), file.bytes, iter([content]))
    versions.write(remote, asked.version, new_push, before)
    return True


def _is_same(new_push: versions.Push, before: versions.Version) -> bool:
    """Tell whether a version has all that a push has, by the same records, and nothing else."""
    after = versions.Version(before.name, {**before.pushes, "~": new_push})
    if after.outputs.keys() != before.outputs.keys():
        return False
    return all(
        before.outputs[output.path].same == output.same
        and before.outputs[output.path].time_ns == output.time_ns
        for output in new_push.outputs
    )
