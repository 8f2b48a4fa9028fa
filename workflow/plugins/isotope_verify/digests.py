"""Files against the digests that were written down when they were made: always all of them.

A release has a manifest of its files; the sources of a built collection have those of `acquire`.
"""

from pathlib import Path

from isotope.core.errors import MissingFile
from isotope.core.manifest import entries
from isotope.core.progress import Progress
from isotope.params import links
from isotope.release import manifest
from isotope_verify.outcome import Check
from isotope_verify.subject import Built, ReleaseSubject, Subject

_TOOL = "SHA-256"
# Snakemake leaves its own in every folder that a rule makes.
_HIDDEN = "."


def check_digests(subject: Subject) -> list[Check]:
    """Compare size and digest of every file.

    Raises:
        MissingFile: a release without a file of its manifest.
    """
    if isinstance(subject, ReleaseSubject):
        return [_of_release(subject)]
    return [_of_inputs(subject)] if isinstance(subject, Built) else []


def _of_release(release: ReleaseSubject) -> Check:
    listed = [(entry.path, entry.bytes, entry.sha256) for entry in release.manifest.files]
    absent = [path for path, _, _ in listed if not (release.folder / path).is_file()]
    if absent:
        problem = f"no such file; {len(absent)} of {len(listed)} files of the release are missing"
        raise MissingFile(release.folder / absent[0], problem, "fetch the whole release again")
    check = Check("digests", _TOOL, "files", total=len(listed))
    compare_listed(check, release.folder, listed)
    present = (path for path in release.folder.rglob("*") if path.is_file())
    names = {path.relative_to(release.folder).as_posix() for path in present}
    for name in sorted(names - {path for path, _, _ in listed} - {manifest.NAME}):
        if not Path(name).name.startswith(_HIDDEN):
            check.skip("files that the manifest does not name")
    return check


def _of_inputs(built: Built) -> Check:
    """The acquired files of a collection's sources; a source that is not there is skipped."""
    check = Check("digests", _TOOL, "files")
    for source in links.sources(built.params, built.name) if built.entry else ():
        path = built.folder / "data/acquire" / source / "manifest.json"
        if not path.is_file():
            check.skip(f"the files of {source}: nothing was acquired here ({path.parent})")
            continue
        listed = [(file["path"], file["bytes"], file["sha256"]) for file in entries(path)]
        check.total += len(listed)
        compare_listed(check, path.parent, listed)
    return check


def compare_listed(check: Check, folder: Path, listed: list[tuple[str, int, str]]) -> None:
    """Compare files of a folder with their paths there, sizes and SHA-256."""
    progress = Progress("files digested", total=len(listed))
    for name, size, sha256 in listed:
        path = folder / name
        digest = manifest.digest(path, folder) if path.is_file() else None
        words = f"{digest.bytes:,} bytes {digest.sha256}" if digest else None
        check.words(str(path), f"{size:,} bytes {sha256}", words)
        progress.add()
    progress.finish()
