"""What others made is opened in isotope.intake, and nowhere else but where a reason says so."""

import ast
from collections.abc import Iterator
from pathlib import Path

LIBRARY = Path(__file__).parents[3] / "workflow/lib/isotope"
OPENERS = {
    *("zipfile.ZipFile", "tarfile.open", "tarfile.TarFile", "gzip.open", "gzip.GzipFile"),
    *("bz2.open", "bz2.BZ2File", "lzma.open", "lzma.LZMAFile", "pa.input_stream"),
    *("cv2.imread", "cv2.imdecode", "Image.open", "yaml.compose", "yaml.load"),
}
MODULES = {"zipfile", "tarfile", "bz2", "lzma", "py7zr", "rarfile", "imageio", "skimage", "pickle"}
OURS = "pictures that the boundary has encoded, of the crawl's shards"
DUMPS = "streams of a dump, unpacked by its own reader: each has its sum and its named error"
WRITES = "writes, or reads what isotope itself wrote"
REASONS = {
    **dict.fromkeys(("ask/dense.py", "core/pixels.py"), OURS),
    **dict.fromkeys(("models/patches.py", "suggest/looks.py"), OURS),
    **dict.fromkeys(("parse/html_snapshots.py", "parse/langlinks.py", "parse/xml_dump.py"), DUMPS),
    **dict.fromkeys(("cli/estimate_samples.py", "core/wikimedia.py"), DUMPS),
    **dict.fromkeys(("release/lite.py", "release/trec.py", "toy/dump.py", "toy/wit.py"), WRITES),
    **dict.fromkeys(("models/open_clip.py", "train/loop.py"), "a name of errors alone"),
    "core/runs.py": "runs of others, with named errors of their own",
    "core/stopwords.py": "lists of the Java library that is installed",
    "explain/wordnet.py": "WordNet's own release, with named errors of its own",
    "tabulate/captions.py": "captions of models, with named errors of their own",
    "tabulate/tokens.py": "vocabularies of tokenizers",
    "verify/subject.py": "releases, which isotope wrote",
}


def opened(path: Path, root: Path = LIBRARY) -> Iterator[tuple[str, str]]:
    """Yield the calls that open something, and the modules that can."""
    place = path.relative_to(root).as_posix()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = ast.unparse(node.func)
            if name in OPENERS:
                yield place, name
        elif isinstance(node, ast.ImportFrom) and f"{node.module}" in MODULES | {"gzip"}:
            yield from ((place, f"{node.module}.{each.name}") for each in node.names)
        elif isinstance(node, ast.Import):
            yield from ((place, each.name) for each in node.names if each.name in MODULES)


def outside() -> set[tuple[str, str]]:
    files = [path for path in LIBRARY.rglob("*.py") if path.parent.name != "intake"]
    return {each for path in files for each in opened(path)}


def test_what_others_made_is_opened_at_the_boundary_or_for_a_reason():
    assert {place for place, _ in outside()} == REASONS.keys()


def test_the_lint_finds_an_opener(tmp_path):
    (tmp_path / "bad.py").write_text("import zipfile\nzipfile.ZipFile('x')\n")
    found = {name for _, name in opened(tmp_path / "bad.py", tmp_path)}
    assert found == {"zipfile", "zipfile.ZipFile"}
