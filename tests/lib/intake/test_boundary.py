"""What others made is opened in isotope.intake, and nowhere else but where a reason says so."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.library import installed, modules

OPENERS = {
    *("zipfile.ZipFile", "tarfile.open", "tarfile.TarFile", "gzip.open", "gzip.GzipFile"),
    *("bz2.open", "bz2.BZ2File", "lzma.open", "lzma.LZMAFile", "pa.input_stream"),
    *("cv2.imread", "cv2.imdecode", "Image.open", "yaml.compose", "yaml.load"),
}
# What reads a format: the name behind the dot, whatever the module is called where it is imported.
READERS = {
    *("loads", "safe_load", "safe_load_all", "full_load", "ParquetFile", "read_table"),
    *("read_parquet", "scan_parquet", "read_csv", "scan_csv", "read_ndjson", "scan_ndjson"),
    *("read_json", "read_lines", "read_excel", "read_ipc", "scan_ipc", "read_avro", "open_stream"),
    *("open_file", "DictReader", "fromstring", "fromstringlist", "iterparse", "XMLParser"),
}
# `load`, `reader` and `parse` are words of many modules.
EXACT = {"csv.reader", "ET.parse", "json.load", "np.load", "torch.load", "yaml.load", "toml.load"}
MODULES = {"zipfile", "tarfile", "bz2", "lzma", "py7zr", "rarfile", "imageio", "skimage", "pickle"}
OURS = "pictures that the boundary has encoded, of the crawl's shards"
DUMPS = "streams of a dump, unpacked by its own reader: each has its sum and its named error"
WRITES = "writes, or reads what isotope itself wrote"
REASONS = {
    **dict.fromkeys(("isotope_suggest/ask/dense.py", "core/pixels.py"), OURS),
    **dict.fromkeys(("models/patches.py", "isotope_suggest/looks.py"), OURS),
    **dict.fromkeys(("parse/xml_dump.py", "isotope_estimate/sizes.py"), DUMPS),
    **dict.fromkeys(
        ("release/lite.py", "release/trec.py", "isotope_toy/dump.py", "isotope_toy/wit.py"), WRITES
    ),
    **dict.fromkeys(("models/open_clip.py", "train/loop.py"), "a name of errors alone"),
    "core/runs.py": "runs of others, with named errors of their own: below this package, which the "
    "runs of every phase are; test_changed_inputs changes them",
    "core/stopwords.py": "lists of the Java library that is installed",
    "tabulate/tokens.py": "vocabularies of tokenizers",
    "isotope_verify/subject.py": "releases, which isotope wrote",
}
TABLES = "tables that isotope wrote, which the job that reads them has compared with their digests"
NOTES = "JSON or YAML that isotope wrote, or that comes with it"
MODELS = "weights and notes of models, with named errors of their own"
GUARDED = "input of users, with a named error of its own: test_changed_inputs or its own tests"
# Packages that read tables of the phases before them, and nothing from outside.
OF_TABLES = (
    *("bm25", "index", "score", "project", "report", "train", "release"),
    *("isotope_suggest", "isotope_verify"),
)
# Of a plug-in that reads tables, what reads more than these.
ASKING = "isotope_suggest/ask/"
READ = {
    **dict.fromkeys(
        (
            *("isotope_suggest/ask/codes.py", "isotope_suggest/ask/lookup.py"),
            *("isotope_suggest/ask/open_sections.py", "isotope_suggest/ask/ranking.py"),
            *("isotope_suggest/ask/retrieve.py", "cli/understanding.py", "collect/build.py"),
            "api/collection.py",
            "core/exact.py",
            *("core/grid.py", "core/measures.py", "core/multivectors.py", "core/pixels.py"),
            *("core/rejections.py", "core/store.py", "core/vectors.py", "crawl/again.py"),
            *("crawl/earlier.py", "crawl/identity.py", "crawl/ledger.py", "crawl/pictures.py"),
            *("crawl/shard.py", "crawl/sides.py", "crawl/wanted.py"),
            *("encode/cache.py", "encode/metadata.py", "encode/multimodal.py", "encode/shard.py"),
            *(
                "isotope_explain/objects.py",
                "isotope_explain/failures_page.py",
                "isotope_papers/oven.py",
            ),
            *("isotope_explain/perturb.py", "isotope_explain/ranks.py", "tabulate/objects.py"),
            *(
                "isotope_judge/display.py",
                "isotope_judge/estimates.py",
                "isotope_judge/grading.py",
                "isotope_judge/pool.py",
            ),
            *(
                "isotope_judge/prompts.py",
                "isotope_judge/study.py",
                "isotope_judge/suggestion_session.py",
            ),
            *(
                "models/mix.py",
                "parse/pairs.py",
                "parse/settle.py",
                "parse/wikidata.py",
                "search/pairs.py",
            ),
            *("search/prompted.py", "search/sparse.py", "search/tune.py", "tabulate/captions.py"),
            *("tabulate/figures.py", "tabulate/runs.py", "tabulate/side_by_side.py"),
            *("tabulate/snapshot_diff.py", "tabulate/strata.py", "tabulate/tokens.py"),
            *("parse/template_pages.py", "parse/transclusion/known.py"),
        ),
        TABLES,
    ),
    **dict.fromkeys(
        (
            *("acquire/addresses.py", "core/manifest.py", "core/digests.py", "core/held.py"),
            *("core/lucene.py", "core/plugins.py"),
            *("core/sql.py", "crawl/outages.py", "crawl/scratch.py", "parse/dump.py"),
            *("parse/site.py", "plan/closures.py", "plan/releases.py", "search/answers.py"),
            *("tabulate/exhibits.py", "tabulate/table.py", "crawl/serve.py", "params/files.py"),
            *("parse/transclusion/vocabulary.py", "cli/schema.py"),
            "isotope_estimate/docs/full_size.py",
        ),
        NOTES,
    ),
    **dict.fromkeys(
        (
            *("models/families/__init__.py", "models/families/checkpoint.py", "models/lit.py"),
            *("models/families/published.py", "models/dates.py", "models/notes.py"),
            *("models/weights.py", "models/open_clip_files.py", "models/offline.py"),
        ),
        MODELS,
    ),
    **dict.fromkeys(
        (
            *(
                "isotope_estimate/sizes.py",
                "core/runs.py",
                "isotope_judge/answers.py",
                "isotope_judge/ledger.py",
            ),
            *("parse/wit.py", "parse/xml_dump.py", "parse/forms/delimited.py"),
            *("parse/forms/hf.py", "parse/forms/xm3600.py", "api/tables.py"),
            "isotope_papers/geval.py",
        ),
        GUARDED,
    ),
}


def opened(path: Path, place: str) -> Iterator[tuple[str, str]]:
    """Yield the calls that open something, and the modules that can."""
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
    files = {place: path for place, path in modules().items() if path.parent.name != "intake"}
    return {each for place, path in files.items() for each in opened(path, place)}


def test_what_others_made_is_opened_at_the_boundary_or_for_a_reason():
    assert {place for place, _ in outside()} == installed(REASONS).keys()


def reading(path: Path, place: str) -> Iterator[tuple[str, str]]:
    """Yield the calls that read a format, by module."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name in EXACT or name.rpartition(".")[2] in READERS:
                yield place, name


def test_what_reads_a_format_is_at_the_boundary_or_has_a_reason():
    """A new reader of JSON, YAML, XML, CSV or Parquet is refused until it says what it reads.

    An AST can't know where bytes are from, so each module that reads says it here.
    """
    files = {name: path for name, path in modules().items() if not name.startswith("intake/")}
    found = {place for name, path in files.items() for place, _ in reading(path, name)}
    ours = {p for p in found if p.startswith(ASKING) or p.partition("/")[0] not in OF_TABLES}
    assert ours == installed(READ).keys()


@pytest.mark.parametrize(
    "call",
    [
        *("json.loads(x)", "json.load(x)", "yaml.safe_load(x)", "pq.ParquetFile(x)"),
        *("parquet.ParquetFile(x)", "pl.read_csv(x)", "csv.reader(x)", "ET.fromstring(x)"),
        *("loads(x)", "polars.scan_parquet(x)", "pa.ipc.open_stream(x)", "pd.read_excel(x)"),
    ],
)
def test_the_lint_finds_a_reader(tmp_path, call):
    (tmp_path / "bad.py").write_text(f"def f(x):\n    return {call}\n")
    assert [name for _, name in reading(tmp_path / "bad.py", tmp_path)] == [call.partition("(")[0]]


def test_the_lint_finds_an_opener(tmp_path):
    (tmp_path / "bad.py").write_text("import zipfile\nzipfile.ZipFile('x')\n")
    found = {name for _, name in opened(tmp_path / "bad.py", tmp_path)}
    assert found == {"zipfile", "zipfile.ZipFile"}
