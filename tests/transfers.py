"""A little project with results as jobs leave them, with their records, and how to send them."""

import os
import random
import sys
from pathlib import Path
from typing import Any

from isotope.core import digests
from isotope.core import manifest as manifests
from isotope.release import manifest
from isotope.transfer import pull as pulls
from isotope.transfer import push as pushes
from isotope.transfer.asked import TransferRequest

ISOTOPE = [sys.executable, "-c", "from isotope.cli import main; raise SystemExit(main())"]
MOMENT_NS = 1_700_000_000_123_456_789


def results(root: Path, *, seed: int = 0, size: int = 4_000) -> Path:
    """Write results of two collections below `root`, with their records."""
    chance = random.Random(seed)
    files = {
        "data/acquire/wiki/dump/pages.xml.bz2": size,
        "data/collect/toy/texts.parquet": size,
        "data/collect/toy/images.parquet": size,
        "data/collect/later/texts.parquet": size,
        "data/index/toy/small/bm25/postings.npy": size,
        "data/index/toy/small/bm25/words/list.txt": 100,
        "data/index/toy/small/bm25/empty": 0,
        "results/score/toy.parquet": size,
        "results/release/toy/texts/train.parquet": size,
        "results/release/toy/qrels/test.tsv": 50,
    }
    for name, most in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(chance.randbytes(most))
    # Bytes that two files share.
    (root / "data/collect/later/images.parquet").write_bytes(
        (root / "data/collect/toy/images.parquet").read_bytes()
    )
    (root / "data/index/toy/small/bm25/.snakemake_timestamp").touch()
    source = root / "data/acquire/wiki"
    (source / "dump/pages.xml.bz2").chmod(0o444)
    entry = manifest.digest(source / "dump/pages.xml.bz2", source)
    manifests.write(source / "manifest.json", [manifests.entry(*entry)])
    manifest.write_manifest(root / "results/release/toy", "toy", {"texts": "en", "images": "en"})
    outputs = [
        *("data/acquire/wiki/manifest.json", "data/collect/toy/texts.parquet"),
        *("data/collect/toy/images.parquet", "data/collect/later/texts.parquet"),
        *("data/collect/later/images.parquet", "data/index/toy/small/bm25"),
        *("results/score/toy.parquet", "results/release/toy"),
    ]
    for n, name in enumerate(outputs):
        made_ns = MOMENT_NS + n * 1_000_000_000
        path = root / name
        stamp = path / ".snakemake_timestamp"
        os.utime(stamp if stamp.exists() else path, ns=(made_ns, made_ns))
        digests.write(path)
    return root


def contents(root: Path) -> dict[str, bytes]:
    """Every file of the results, records included."""
    tops = (root / top for top in digests.TOPS)
    files = (Path(at) / name for top in tops for at, _, names in os.walk(top) for name in names)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def push(root: Path, remote: object, *paths: str, dry_run: bool = False, **more: Any) -> str:
    """Send what the paths name, or all."""
    return pushes.push(TransferRequest(str(remote), paths, **more), dry_run=dry_run, root=root)


def pull(root: Path, remote: object, *paths: str, **more: Any) -> str:
    """Fetch what the paths name, or all."""
    ways = {name: more.pop(name) for name in ("force", "dry_run") if name in more}
    return pulls.pull(TransferRequest(str(remote), paths, **more), root=root, **ways)
