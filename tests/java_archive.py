"""Lucene's classes as Java has loaded and verified them: each start of Java takes half the time."""

import fcntl
import hashlib
import json
import subprocess
import tempfile
from pathlib import Path

from isotope.core import lucene

# As the tests' Javas run: an archive is for one collector.
OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


def options(folder: Path) -> str:
    """JAVA_TOOL_OPTIONS for short runs; the archive is made where `folder` has none."""
    return " ".join((*OPTIONS, f'"-XX:SharedArchiveFile={archive(folder)}"', "-Xlog:cds=off"))


def archive(folder: Path) -> Path:
    """Return the archive of the installed Java and jar; whoever asks first makes it."""
    made_of = [(str(path), path.stat().st_size) for path in (lucene.java(), lucene.jar())]
    key = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:16]
    path = folder / f"lucene-{key}.jsa"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                _dump(Path(scratch)).rename(path)
    return path


def _dump(scratch: Path) -> Path:
    """Index two documents, note the classes that this loads, and dump them."""
    (scratch / "documents").mkdir()
    lucene.write_documents([("a", "one word"), ("b", "more")], scratch / "documents/a.jsonl")
    noted, made = scratch / "classes", scratch / "lucene.jsa"
    where = ["-input", scratch / "documents", "-index", scratch / "index", "-threads", "1"]
    tool = ["io.anserini.index.IndexCollection", "-collection", "JsonCollection", *where]
    start = [lucene.java(), *OPTIONS, "-cp", lucene.jar()]
    for line in (
        [*start, "-Xshare:off", f"-XX:DumpLoadedClassList={noted}", *tool],
        [
            *start,
            "-Xshare:dump",
            f"-XX:SharedClassListFile={noted}",
            f"-XX:SharedArchiveFile={made}",
        ],
    ):
        subprocess.run([str(word) for word in line], check=True, capture_output=True)
    return made
