"""The embedded encyclopedia as a source: made where others are fetched, with the same manifest."""

import shutil
from pathlib import Path
from typing import Any

from isotope.acquire import addresses
from isotope.core import digests, store
from isotope.core import manifest as manifests
from isotope.params.acquire import DigestedSource
from isotope_toy import snapshot

# What later phases read by the manifest; pictures are crawled.
_PARTS = ("wit", "dump")


def acquire_toy(spec: DigestedSource, manifest: Path, scratch: Path) -> None:
    """Make the encyclopedia that `spec` generates aside, put it in place and write the manifest.

    What an earlier one, or a source that was fetched, has left in the manifest's folder goes.

    Raises:
        BadParams: as `snapshot.generate`.
        Unwritable, DiskFull: as `store.near`.
    """
    folder = manifest.parent
    aside = store.near(folder, scratch)
    manifest.unlink(missing_ok=True)
    addresses.forget(folder)
    generated = aside / "generated"
    shutil.rmtree(generated, ignore_errors=True)
    snapshot.generate(generated, **(spec.generate.values() if spec.generate else {}))
    for item in sorted(generated.iterdir()):
        goal = folder / item.name
        if goal.is_dir():
            shutil.rmtree(goal)
        item.replace(goal)
        if item.name not in _PARTS:
            digests.write_kept(goal)
    write_manifest(manifest)
    if aside != scratch:
        shutil.rmtree(aside, ignore_errors=True)


def write_manifest(manifest: Path) -> None:
    """Write the manifest of an encyclopedia in whose folder it will lie."""
    folder = manifest.parent
    paths = sorted(path for part in _PARTS for path in (folder / part).iterdir())
    manifests.write(manifest, [_entry(path, folder) for path in paths])


def _entry(path: Path, folder: Path) -> dict[str, Any]:
    name, size = path.relative_to(folder).as_posix(), path.stat().st_size
    return manifests.entry(name, size, addresses.sha256(path))
