"""README and docs say what is: their generated parts are current, what they name exists."""

import re
import shlex
from contextlib import chdir
from fnmatch import fnmatchcase
from functools import cache
from itertools import dropwhile, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import typer
import yaml
from dvc.cli.parser import get_main_parser
from hypothesis import given, settings
from hypothesis import strategies as st
from snakemake.api import SnakemakeApi
from snakemake.cli import get_argument_parser
from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings
from snakemake.utils import update_config
from tests import library

from isotope.cli import commands as command
from isotope.cli import schema
from isotope.cli.reference import Edges, documents, parameters, read_dot, reduced, rewrite
from isotope.core import errors, grid, plugins
from isotope.core.runs import METADATA
from isotope.crawl.ledger import RETRYABLE, STATUSES
from isotope.params import files, resolve
from isotope.parse import wit as wit_records
from isotope.parse.articles import REASONS
from isotope.plan import parts, report, sources, systems
from isotope.plan.collections import ALL_TABLES, collected
from isotope.plan.models import ENCODED, encoded
from isotope.tabulate.exhibits import described
from isotope.tabulate.table import FORMS

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "workflow/schemas/params.schema.yaml"
# Which names the files of a release, and reads each.
RELEASE_READERS = ROOT / "tests/lib/release/test_readers.py"
PAGES = {str(p.relative_to(ROOT)): p.read_text("utf-8") for p in documents(ROOT)}
# Files that a page has whole, each a block below its path; tests of the page use them.
WHOLE = re.compile(r"^`([^`\n]+)`\n\n```\w+\n.*?^```$", re.DOTALL | re.MULTILINE)
OF_PAGES = {name for text in PAGES.values() for name in WHOLE.findall(text)}
RULES = "\n".join(p.read_text("utf-8") for p in library.rules())
PHASE_RULES = "\n".join(p.read_text("utf-8") for p in library.rules() if p.name[0] != "_")
PHASES = sorted({p.stem.split("-")[0] for p in (ROOT / "workflow/rules").glob("[a-z]*.smk")})
# Modules whose constants name paths.
PLAN = (report, sources, systems)
WRITTEN = ("data/", "results/", "logs/", ".isotope/")
# The shell's own commands, and git's, pip's and DuckDB's, that a page may use.
SHELL = {"cd", "chmod", "rm", "source", "duckdb", "git", "pip", "uv"}
VARIABLE = re.compile(r"[A-Z_]+=")
# Folders whose content the params, an outside tool, the package, or a command names.
OPEN = [
    *("data/acquire/*", ".isotope/acquire/*", ".isotope/crawl/*"),
    *(".isotope/pairs", ".isotope/suggest", str(parts.FOLDER)),
    *("logs/*", ".isotope/judgements/*", "results/verify/*"),
]


def fenced(language: str) -> list[tuple[str, str]]:
    """Every code block of a language that is no whole file, with its page."""
    form = re.compile(rf"^```{language}\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    return [
        (page, block) for page, text in PAGES.items() for block in form.findall(WHOLE.sub("", text))
    ]


def inline() -> list[tuple[str, str]]:
    """Every `span` of code outside of blocks, with its page."""
    rest = {page: WHOLE.sub("", text) for page, text in PAGES.items()}
    prose = {p: re.sub(r"^```.*?^```$", "", t, flags=re.S | re.M) for p, t in rest.items()}
    return [(p, span) for p, text in prose.items() for span in re.findall(r"`([^`\n]+)`", text)]


def commands() -> list[list[str]]:
    """Every command of a page, in words."""
    lines = [line for _, block in fenced("sh") for line in block.splitlines()]
    starts = ("make ", "snakemake ", "dvc ", "isotope ", "chmod ")
    lines += [span for _, span in inline() if span.startswith(starts)]
    parts = [part for line in lines for part in re.split(r"&&|;", line)]
    split = (shlex.split(part, comments=True) for part in parts)
    # Variables of the environment stand before a command.
    plain = ([*dropwhile(VARIABLE.match, words)] for words in split)
    return [words for words in plain if words]


def of(program: str) -> list[list[str]]:
    """The arguments of every command of one program."""
    return [words[1:] for words in commands() if words[0] == program]


@cache
def outputs() -> list[str]:
    """What the rules write by the default params, of any collection."""
    with TemporaryDirectory() as place, chdir(place):
        Path("params.yaml").symlink_to(ROOT / "params.yaml")
        with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
            config = ConfigSettings(configfiles=[ROOT / "params.yaml"])
            loading = api.workflow(
                ResourceSettings(cores=1), config, snakefile=ROOT / "Snakefile", workdir=Path(place)
            )
            rules = loading._workflow.rules
            written = [str(file) for rule in rules for file in rule.output]
    build = files.load(root=ROOT).collect
    return [re.sub(rf"/({'|'.join(build)})/", "/*/", path) for path in written]


def patterns() -> set[str]:
    """Every path that the rules, or the plan for them, name, with `*` for wildcards."""
    found = re.findall(r'"((?:data|results|logs|\.isotope)/[^"]*)"', PHASE_RULES)
    constants = {k: v for module in PLAN for k, v in vars(module).items() if k.isupper()}
    named = [value for value in constants.values() if isinstance(value, str)]
    named += [*collected(*ALL_TABLES).values(), *constants["DUMP"].values()]
    named += [*encoded(*ENCODED).values()]
    found += [path for path in named if path.startswith(WRITTEN)]
    below = re.findall(r'f"\{([A-Z_]+)\}(/[^"]*)"', PHASE_RULES)
    found += [constants[name] + rest for name, rest in below if name in constants]
    starred = {re.sub(r"\{+[^{}]*\}+", "*", path) for path in [*found, *outputs()]}
    made = described().items()
    tables = {f"results/tables/*/{n}.{s}" for n, e in made if e.table for s in FORMS}
    drawn = {f"results/figures/*/{n}.svg" for n, e in made if e.draws}
    anything = {f"{path}/*" for path in OPEN} | {f"{path}/*/*" for path in OPEN}
    return starred | tables | drawn | anything


def folders() -> set[str]:
    """Outputs that are whole folders, so that anything may lie in them."""
    found = re.findall(r'directory\(\s*(?:expand\(\s*)?"([^"]+)"', RULES)
    return {re.sub(r"\{+[^{}]*\}+", "*", path) for path in found}


def alike(path: str, pattern: str) -> bool:
    """Whether a path, perhaps with `*`, is what the pattern names or a folder on its way."""
    parts, other = path.rstrip("/").split("/"), pattern.split("/")
    if len(parts) > len(other):
        return False
    pairs = zip(parts, other, strict=False)
    return all(fnmatchcase(a, b) for a, b in pairs)


def written_by_a_rule(path: str) -> bool:
    below = any(alike("/".join(path.split("/")[: f.count("/") + 1]), f) for f in folders())
    return below or any(alike(path, pattern) for pattern in patterns())


def is_path(span: str) -> bool:
    """Whether code looks like a path of the project: no space, a slash or a known ending."""
    if re.search(r"[\s:(,=]", span) or span.startswith(("/", "http")):
        return False
    return span.startswith(WRITTEN) or bool(
        re.fullmatch(r"[\w.<>*/-]+/|[\w.<>*/-]+/[\w.<>*-]+\.(md|py|smk|sql|yaml|json)", span)
    )


@pytest.mark.parametrize("page", PAGES)
def test_the_generated_parts_are_what_make_docs_writes(page):
    assert rewrite(PAGES[page], ROOT) == PAGES[page], "run `make docs`"


def test_the_readme_is_two_screens_that_start_with_two_commands_and_lead_on():
    readme = PAGES["README.md"]
    assert len(readme.splitlines()) <= 100
    assert len(readme.split()) <= 1_000
    first = re.findall(r"^```sh\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)[0]
    assert [line.partition(" #")[0].strip() for line in first.splitlines()] == [
        "make demo",
        "make test",
    ]
    assert "isotope init captions.csv" in readme
    leading = {page for page in PAGES if f"({page})" in readme}
    assert {"docs/quickstart.md", "docs/README.md", "docs/wikipedia.md"} <= leading


def test_the_schema_that_is_kept_is_what_the_classes_give():
    assert SCHEMA.read_text("utf-8") == schema.text(), "run `make docs`"


def test_a_part_that_nothing_generates_is_an_error():
    with pytest.raises(errors.BadParams, match="rulegraph"):
        rewrite("<!-- rulegraf -->\n<!-- /rulegraf -->", ROOT)
    with pytest.raises(errors.BadParams, match="no table"):
        rewrite("<!-- columns nothing -->\n<!-- /columns -->", ROOT)
    with pytest.raises(errors.BadParams, match="no key"):
        rewrite("<!-- parameters nothing -->\n<!-- /parameters -->", ROOT)


def test_every_key_of_the_schema_is_in_a_parameter_table():
    keys = list(yaml.safe_load(SCHEMA.read_text("utf-8"))["properties"])
    rows = {(p.key, p.kind) for p in parameters(keys)}
    form = re.compile(r"^\| `([^`]+)` \| ([^|]+) \| [^|]+ \| [^|]+ \|$", re.MULTILINE)
    documented = {row for text in PAGES.values() for row in form.findall(text)}
    assert rows <= documented
    assert len(rows) > 60


def test_a_key_of_several_kinds_is_listed_once_and_named_by_the_later_kinds():
    block = rewrite("<!-- parameters models:conse models:lit -->\n<!-- /parameters -->", ROOT)
    lines = block.splitlines()
    assert sum("`models.<model>.text`" in line for line in lines) == 1
    [lit] = [line for line in lines if "Choose `lit`" in line]
    assert lit.endswith("Choose `lit` for the keys below, and `fields`, `text` above. |")
    assert any("`models.<model>.heads`" in line for line in lines)


def keys(node, prefix=""):
    """Every key of nested mappings, with slashes between."""
    for name, child in node.items():
        yield prefix + name
        if isinstance(child, dict):
            yield from keys(child, f"{prefix}{name}/")


def test_every_key_of_params_yaml_is_documented():
    known = parameters(yaml.safe_load(SCHEMA.read_text("utf-8"))["properties"])
    forms = [re.sub(r"<\w+>", "*", p.key).replace(".", "/") for p in known]
    named = keys(yaml.safe_load((ROOT / "params.yaml").read_text("utf-8")))
    assert [key for key in named if not any(alike(key, form) for form in forms)] == []


def test_every_description_of_the_schema_is_a_sentence():
    rows = parameters(list(yaml.safe_load(SCHEMA.read_text("utf-8"))["properties"]))
    assert [p.key for p in rows if not p.description.endswith(".")] == []


@pytest.mark.parametrize("phase", PHASES)
def test_every_rule_file_has_its_page_with_the_way_to_run_it(phase):
    page = PAGES[f"docs/{phase}.md"]
    assert page.startswith(f"# {phase}: ")
    assert f"snakemake --cores all {phase}\n" in page
    assert f"({phase}.md)" in PAGES["docs/README.md"]
    assert re.search(r"^## What bad input gets$", page, re.MULTILINE)


@pytest.mark.parametrize(("page", "span"), sorted(s for s in set(inline()) if is_path(s[1])))
def test_every_path_in_a_page_exists_or_is_written_by_a_rule(page, span):
    path = re.sub(r"<\w+>", "*", span)
    if path.startswith(WRITTEN):
        assert path.rstrip("/") in {w.rstrip("/") for w in WRITTEN} or written_by_a_rule(path)
    elif path.startswith(("wit/", "dump/", "images/", "wikipedia/")):
        assert span in (ROOT / "params/local.yaml").read_text("utf-8") or page == "docs/crawl.md"
    elif not list(ROOT.glob(path.rstrip("/"))):
        assert page == "docs/release.md", f"{page}: no {span}"
        assert f'"{span}"' in RELEASE_READERS.read_text("utf-8")


def test_a_path_that_no_rule_writes_is_noticed():
    wrong = ["data/collect/*/textz.parquet", "data/prase/*", "results/scores/*.csv"]
    assert not any(map(written_by_a_rule, wrong))
    assert written_by_a_rule("data/collect/toy/texts.parquet")


def test_every_file_in_a_page_is_called_so_by_the_rules_or_the_library():
    form = re.compile(r"[\w<>-][\w<>.-]*\.(parquet|json|csv|npy|safetensors|sql|yaml)")
    code = "\n".join(p.read_text("utf-8") for p in library.modules().values())
    names = {name for p in patterns() if not (name := p.rpartition("/")[2]).startswith("*")}
    names |= {f"{side}.npy" for side in grid.SIDES} | {f"*{METADATA}"}
    queries = (*ROOT.glob("workflow/sql/**/*.sql"), *ROOT.glob("workflow/plugins/*/sql/**/*.sql"))
    here = {p.name for p in (*ROOT.glob("*"), *queries)}
    spans = {span for _, span in inline() if form.fullmatch(span)}
    unknown = {
        span
        for span in spans - here
        if not any(fnmatchcase(re.sub(r"<\w+>", "*", span), name) for name in names)
        and not (f'"{span}"' in code or f"/{span}" in code)
    }
    assert unknown == set()
    assert len(spans) > 15


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_to_a_file(page):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", PAGES[page])
    assert [x for x in links if not ((ROOT / page).parent / x).exists()] == []


def test_every_make_target_in_a_page_exists():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = re.findall(r"^([a-z-]+):", makefile, re.MULTILINE)
    variables = re.findall(r"^([A-Z]+) \?=", makefile, re.MULTILINE)
    named = {word for words in of("make") for word in words}
    assert "demo" in named
    assert {word for word in named if "=" not in word} <= set(targets)
    assert {word.partition("=")[0] for word in named if "=" in word} <= set(variables)


def test_every_snakemake_command_in_a_page_parses_and_names_what_exists():
    rules = set(
        re.findall(
            r"^ *(?:use rule \w+ as|rule) (\w+)\b",
            RULES + (ROOT / "Snakefile").read_text(),
            re.MULTILINE,
        )
    )
    keys = set(yaml.safe_load(SCHEMA.read_text("utf-8"))["properties"])
    given = [w for w in of("snakemake") if "<phase>" not in w]
    begun = [Path(f"params/{Path(w[1]).stem}.yaml") for w in of("isotope") if w[0] == "init"]
    begun += map(Path, OF_PAGES)
    for arguments in (get_argument_parser().parse_args(words) for words in given):
        assert set(arguments.targets) <= {*rules, *PHASES, *plugins.registered()}
        assert all((ROOT / path).exists() or path in begun for path in arguments.configfile or [])
        assert {pair.partition("=")[0] for pair in arguments.config or []} <= keys
    assert len(given) > 15


def test_every_dvc_and_isotope_command_in_a_page_parses():
    for words in of("dvc"):
        get_main_parser().parse_args(words)
    group: Any = typer.main.get_command(command.app)
    for name, *words in of("isotope"):
        group.commands[name].make_context(name, words)
    assert len(of("dvc")) > 5
    assert of("isotope")


def test_every_other_command_is_a_plain_one():
    programs = {words[0] for words in commands()}
    assert programs - {"make", "snakemake", "dvc", "isotope"} <= SHELL


@pytest.mark.parametrize(("page", "block"), fenced("yaml"))
def test_every_yaml_block_is_a_valid_overlay(page, block):
    config = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
    update_config(config, yaml.safe_load(block))
    resolve.resolve(config)


def test_every_error_in_a_page_has_that_name_in_the_library():
    named = {span for page, span in inline() if page != "README.md"}
    forms = [n for n in named if re.fullmatch(r"[A-Z][a-z]+([A-Z][a-z]+)+", n) and n != "AToMiC"]
    assert "BadParams" in forms
    assert [n for n in forms if not hasattr(errors, n)] == []


def test_every_status_of_the_ledger_is_explained():
    rows = re.findall(
        r"^\| `(\w+)` \| [^|]+ \| (yes|no|) ?\|$", PAGES["docs/crawl.md"], re.MULTILINE
    )
    again = {status for status, answer in rows if answer == "yes"}
    assert [status for status, _ in rows] == list(STATUSES)
    assert again == RETRYABLE


def test_every_reason_to_reject_is_explained():
    source = Path(wit_records.__file__).read_text("utf-8")
    reasons = {*REASONS, *re.findall(r'"((?:unclosed|wrong|bad)_\w+)"', source)}
    assert {r for r in reasons if f"`{r}`" not in PAGES["docs/parse.md"]} == set()
    assert len(reasons) == 16


def test_the_rule_graph_is_read_from_snakemakes_dot():
    dot = 'digraph {\n\t0[label = "all", x];\n\t1[label = "a", x];\n\t1 -> 0\n}\n'
    assert read_dot(dot) == {("a", "all")}


def test_an_edge_that_a_longer_path_implies_is_left_out():
    edges = {("a", "b"), ("b", "c"), ("c", "d"), ("a", "c"), ("a", "d"), ("x", "d")}
    assert reduced(edges) == {("a", "b"), ("b", "c"), ("c", "d"), ("x", "d")}


def test_an_edge_that_leads_back_is_not_drawn():
    crawl = {("urls", "shard"), ("shard", "ledger"), ("ledger", "shard"), ("urls", "ledger")}
    found = reduced({("source", "urls"), ("source", "shard"), *crawl})
    assert found == {("source", "urls"), ("urls", "shard"), ("shard", "ledger")}


def test_a_circle_is_cut_where_one_crawl_waits_for_another():
    crawl = {("urls", "shard"), ("shard", "ledger"), ("ledger", "urls"), ("urls", "ledger")}
    rest = {("source", "parse"), ("source", "shard"), ("parse", "urls"), ("ledger", "collect")}
    road = ["source", "parse", "urls", "shard", "ledger", "collect"]
    assert reduced({*crawl, *rest, ("parse", "collect")}) == {*pairwise(road)}


def closure(edges: Edges) -> Edges:
    longer = edges | {(a, d) for a, b in edges for c, d in edges if b == c}
    return edges if longer == edges else closure(longer)


@settings(max_examples=100, deadline=None)
@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20))
def test_reduction_keeps_who_comes_before_whom_with_the_fewest_edges(pairs):
    edges = {(f"r{a}", f"r{b}") for a, b in pairs if a < b}
    kept = reduced(edges)
    assert closure(kept) == closure(edges)
    assert all(closure(kept - {edge}) != closure(edges) for edge in kept)
