"""`all` and each phase ask for every file that a built collection has, and make what is gone.

Everything here is planned in this process, nothing is run: what a phase would have left is there as
empty files.
"""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import chain, permutations, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from snakemake.api import SnakemakeApi
from snakemake.io import is_flagged
from snakemake.settings.types import (
    ConfigSettings,
    DAGSettings,
    OutputSettings,
    Quietness,
    RerunTrigger,
    ResourceSettings,
)

from isotope.core import digests

ROOT = Path(__file__).parents[2]
PHASES = (
    *("acquire", "parse", "crawl", "project", "collect", "train", "encode", "index", "search"),
    *("score", "suggest", "tabulate"),
)
# Where outputs have a record of their digests.
TOPS = tuple(f"{top}/" for top in digests.TOPS)
TRIGGERS = yaml.safe_load((ROOT / "workflow/profiles/default/config.yaml").read_text())
MONTH = {
    "build": ["toy", "toy-later"],
    "tabulate": {"temporal": ["bm25", "rrf", "tiny-clip"]},
    "encode": {"after": {"toy-later": "toy"}},
    "shards": dict.fromkeys(("parse", "project", "collect", "index", "search", "score"), 2),
}
SMALL = {
    "systems": {"bm25": {"kind": "bm25"}},
    "search": {"systems": ["random", "bm25"], "splits": ["test"], "settings": ["small"]},
    "tabulate": {"system": "bm25", "sizes": [], "comparisons": []},
}
ROWS = "image,caption,text_id,text,split\na.jpg,red boat,t1,a red boat story,test\n"
COLUMNS = {name: name for name in ("image", "caption", "text", "text_id", "split")}


class Planned(NamedTuple):
    """What would run, and the graph.

    `rules` and `made` are those of the jobs that would run, with their outputs; `own` the outputs
    that are made for no other's sake: they are gone, or a file is gone from them. `outputs` are all
    lasting ones of the graph, `read` the inputs of each output, `levels` the lasting outputs by
    depth: none of a level is made from another one of it. Snakemake removes the `temporary` ones
    when they were read. `asked` is what each phase asks for.
    """

    rules: set[str]
    made: set[str]
    own: set[str]
    outputs: set[str]
    read: Mapping[str, list[str]]
    levels: list[list[str]]
    temporary: set[str]
    asked: Mapping[str, list[str]]

    @property
    def all(self) -> set[str]:
        """What `all` asks for."""
        return {*chain(*self.asked.values())}

    def behind(self, targets: Iterable[str]) -> set[str]:
        """The lasting outputs that some targets are, and are made from."""
        waiting, behind = [*targets], set[str]()
        while waiting:
            output = waiting.pop()
            if output in self.read and output not in behind:
                behind.add(output)
                waiting += self.read[output]
        return behind & self.outputs


def plan(
    place: Path,
    *overlays: Path,
    targets: Iterable[str] = (),
    config: Mapping[str, Any] | None = None,
) -> Planned:
    """Plan as `snakemake -n` does with the profile of the project; `config` is `--config`."""
    triggers = RerunTrigger.parse_choices_set(TRIGGERS["rerun-triggers"])
    with (
        pytest.MonkeyPatch.context() as patch,
        SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api,
    ):
        patch.chdir(place)
        files = [place / "params.yaml", *overlays]
        loaded = api.workflow(
            ResourceSettings(cores=1),
            ConfigSettings(configfiles=files, config=config or {}),
            snakefile=place / "Snakefile",
            workdir=place,
        )
        settings = DAGSettings(targets={*targets}, force_incomplete=True, rerun_triggers=triggers)
        loaded.dag(settings).execute_workflow(executor="local", pseudo_executor="dryrun")
        workflow: Any = loaded._workflow
        dag = workflow.dag
        jobs = [job for job in dag.jobs if job.output]
        # A dry run has finished what would run.
        run = [job for job in jobs if dag.finished(job)]
        lasting = {str(f) for job in jobs for f in job.output if not is_flagged(f, "temp")}
        levels = [[str(f) for job in level for f in job.output] for level in dag.toposorted()]
        missing = {str(f) for job in run for f in dag.reason(job).missing_output}
        forced = {str(f) for job in run if dag.reason(job).forced for f in job.output}
        asked = {
            phase: workflow.globals["graph"].behind(workflow.globals["ends"].all(), [phase])
            for phase in PHASES
        }
        return Planned(
            rules={job.rule.name for job in run},
            made={str(f) for job in run for f in job.output},
            own=missing | forced,
            outputs=lasting,
            read={str(f): [*map(str, job.input)] for job in jobs for f in job.output},
            levels=[sorted(lasting.intersection(level)) for level in levels],
            temporary={str(f) for job in jobs for f in job.output} - lasting,
            asked=asked,
        )


@pytest.fixture(scope="module")
def empty(project) -> Path:
    """The project, in which nothing is built."""
    return project()


@pytest.fixture(scope="module")
def demo(embedded, tmp_path_factory) -> Path:
    """The project after the demo, for files to be put aside and back."""
    place = tmp_path_factory.mktemp("demo") / "project"
    shutil.copytree(embedded, place, symlinks=True)
    return place


# A model learns from one of two collections.
LEARNED = {"build": ["toy", "toy-later"], "models": {"tiny-clip": {"collection": "toy"}}}


def write(path: Path, params: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(params))
    return path


# The list and the graph.


@pytest.mark.parametrize(
    "overlay",
    [
        "",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in (
                *("learned", "month", "enwiki", "2026", "full", "judge", "atomic-baselines"),
                *("atomic-fields", "atomic-finetune", "styles", "objects", "explainable"),
                *("offline", "kb"),
            )
        ),
    ],
)
def test_the_targets_are_the_outputs_of_the_graph(empty, tmp_path, overlay):
    """Of the graph of Snakemake's own, which has fewer files where `graph.behind` reads a rule
    otherwise, and more where something is read and not asked for.
    """
    own = {"month": MONTH, "learned": LEARNED}
    overlays = [write(tmp_path / f"{name}.yaml", own[name]) for name in own if name == overlay]
    folders = ("params", "workflow/plugins/*/params")
    shipped = [path for of in folders for path in empty.glob(f"{of}/{overlay}.yaml")]
    overlays += shipped if overlay and overlay not in own else []
    assert bool(overlays) == bool(overlay)
    asked = plan(empty, *overlays)
    assert asked.outputs == asked.all
    # `digests.TEMPORARY`, a list by hand, is the graph's; where projection has shards there is one.
    below = {path for path in asked.outputs | asked.temporary if path.startswith(TOPS)}
    unkept = {path for path in below if not digests.is_kept(Path(path))}
    assert unkept == below & asked.temporary
    assert unkept or overlay != "month"
    assert sum(map(len, asked.asked.values())) == len(asked.outputs)


def test_each_phase_has_its_own_files(empty):
    asked = plan(empty, targets=["acquire"]).asked
    for phase, files in asked.items():
        top = {path.split("/")[1] for path in files}
        folders = {"tabulate": {"tables", "figures", "report", "catalog.duckdb"}}
        assert top == folders.get(phase, {phase}), phase


# What is gone is made.


@contextmanager
def without(path: Path) -> Iterator[None]:
    """A file or folder is gone for a while."""
    aside = path.with_name(f".{path.name}.aside")
    path.rename(aside)
    try:
        yield
    finally:
        aside.rename(path)


@contextmanager
def all_without(paths: Iterable[Path]) -> Iterator[None]:
    """Files or folders are gone for a while."""
    with ExitStack() as stack:
        for path in paths:
            stack.enter_context(without(path))
        yield


def lasting(demo: Path) -> list[str]:
    return sorted(plan(demo).all)


def inner(demo: Path) -> list[tuple[str, str]]:
    """The files of each output that is a folder or a manifest, one a folder inside."""
    pairs = list[tuple[str, str]]()
    for output in lasting(demo):
        files = digests.listed(demo / output) or {}
        folders = {str(Path(name).parent): name for name in files if name}
        pairs += [(output, name) for name in folders.values()]
    return pairs


SOME = (
    "data/collect/toy/qrels.parquet",
    "data/train/toy/tiny-clip/model.safetensors",
    "results/search/toy/small/test/t2m/bm25.parquet",
    "results/suggest/toy/feed.jsonl",
    "results/report/toy/costs.html",
)


def test_the_demo_is_built_and_nothing_is_to_do(demo):
    assert plan(demo).rules == set()


@pytest.mark.parametrize("output", SOME)
def test_an_output_that_is_gone_is_made_again(demo, output):
    with without(demo / output):
        assert output in plan(demo).made


@pytest.mark.long
def test_each_output_that_is_gone_is_made_again_and_for_its_own_sake(demo):
    """All of a level at once."""
    levels = plan(demo).levels
    assert {*chain(*levels)} == {*lasting(demo)}
    for level in filter(None, levels):
        with all_without(demo / output for output in level):
            assert {*level} - plan(demo).own == set()


def gone(output: Path, name: str) -> Path:
    return (output if output.is_dir() else output.parent) / name


def test_a_file_that_is_gone_from_an_index_or_a_source_is_made_again(demo):
    pairs = inner(demo)
    for start in ("data/acquire/toy/manifest.json", "data/index/toy/small/bm25"):
        output, name = next(pair for pair in pairs if pair[0] == start)
        with without(gone(demo / output, name)):
            assert output in plan(demo).made, name


@pytest.mark.long
def test_a_file_that_is_gone_from_any_folder_is_made_again(demo):
    """One file of each folder: those of the outputs of a level at once, an output's in turn."""
    levels, pairs = plan(demo).levels, inner(demo)
    outputs = {output for output, _ in pairs}
    assert {"results/report/toy/cases", "results/tables/toy/suggest"} <= outputs
    tried = 0
    for level in levels:
        own = [[name for o, name in pairs if o == output] for output in level]
        for names in zip_longest(*own):
            some = {o: name for o, name in zip(level, names, strict=True) if name}
            with all_without(gone(demo / o, name) for o, name in some.items()):
                assert {*some} - plan(demo).own == set(), some
            tried += len(some)
    assert tried == len(pairs)


def test_facts_that_are_gone_from_a_source_that_was_generated_are_made_again(demo):
    with without(demo / "data/acquire/toy/topics.csv"):
        assert "data/acquire/toy/manifest.json" in plan(demo).made


def test_pictures_that_are_gone_from_a_source_that_was_generated_are_made_again(demo):
    images = demo / "data/acquire/toy/images"
    some = next(path for path in images.rglob("*") if path.is_file())
    for path in (images, some):
        with without(path):
            assert "data/acquire/toy/manifest.json" in plan(demo).made, path


def test_pictures_that_a_source_never_had_are_not_gone(demo):
    images = demo / "data/acquire/toy/images"
    with without(images), without(digests.record_of(images)):
        assert "data/acquire/toy/manifest.json" not in plan(demo).made


def test_a_file_that_was_cut_short_in_a_folder_is_made_again(demo):
    output, name = next(p for p in inner(demo) if p[0] == "data/index/toy/small/bm25")
    path = gone(demo / output, name)
    whole = path.read_bytes()
    try:
        path.write_bytes(whole[:-1])
        assert output in plan(demo).made
    finally:
        path.write_bytes(whole)


# Another collection after the demo.


def captions(place: Path, name: str) -> dict[str, Any]:
    """Captions of one's own, without pictures."""
    (place / f"{name}.csv").write_text(ROWS)
    return {"kind": "pairs", "data": f"{name}.csv", "pictures": "none", "columns": COLUMNS}


def pictured(place: Path, name: str) -> dict[str, Any]:
    """The same with pictures."""
    (place / "pictures").mkdir(exist_ok=True)
    (place / "pictures/a.jpg").write_bytes(b"")
    return {**captions(place, name), "pictures": "pictures"}


def beir(place: Path, name: str) -> dict[str, Any]:
    """A BEIR folder."""
    folder = place / name
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "text": "a red boat"}\n')
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "boat"}\n')
    (folder / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    return {"kind": "pairs", "data": name, "pictures": "none"}


def topics(place: Path, name: str) -> dict[str, Any]:
    """Published topics and judgements, as AToMiC's track has them."""
    for file in ("text.jsonl", "image.jsonl", "qrels.test.trec"):
        (place / f"{name}.{file}").write_text("")
    return {"kind": "pairs", "form": "atomic", "source": name}


def snapshot(place: Path, name: str) -> dict[str, Any]:
    """The demo's snapshot under another name."""
    return {"kind": "wikipedia", "source": "toy", "language": "en"}


KINDS: dict[str, Callable[[Path, str], dict[str, Any]]] = {
    **{"captions": captions, "pictured": pictured, "beir": beir},
    **{"topics": topics, "snapshot": snapshot},
}


def overlay(place: Path, kind: str) -> Path:
    """Params that build one collection of a kind, which has the kind's name."""
    name = f"own-{kind}"
    params = {"build": [name], "collect": {name: KINDS[kind](place, name)}, **SMALL}
    if kind == "topics":
        files = {"text_topics": "text.jsonl", "image_topics": "image.jsonl"}
        files["judgements"] = "qrels.test.trec"
        parts = {part: [f"{name}.{file}"] for part, file in files.items()}
        params["acquire"] = {name: {"files": parts}}
    return write(place / f"{name}.yaml", params)


@contextmanager
def as_if_built(place: Path, outputs: Iterable[str]) -> Iterator[None]:
    """What is not there of some outputs is there as empty files, for a while."""
    new = [place / output for output in outputs if not (place / output).exists()]
    for path in new:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    try:
        yield
    finally:
        for path in new:
            path.unlink()


def lacking(place: Path, planned: Planned) -> set[str]:
    """The targets that are not there and that no job would make."""
    return {p for p in planned.all if not (place / p).exists()} - planned.made


# What other params add to the demo, and a rule that they need.
ADDED = {
    **{"styles": "tabulate_styles", "objects": "tabulate_objects", "offline": "search_dense"},
    "kb": "crawl_shard",
}


@pytest.mark.long
@pytest.mark.parametrize("name", ADDED)
def test_params_that_add_to_the_demo_are_planned_whole(demo, name):
    """As `--configfile params/NAME.yaml` does; facts tell the objects of the demo's own."""
    earlier = [overlay(demo, "snapshot")] if name == "objects" else []
    params = [*earlier, demo / f"params/{name}.yaml"]
    planned = plan(demo, *params)
    assert lacking(demo, planned) == set()
    assert ADDED[name] in planned.rules


def test_params_of_the_command_line_are_planned_as_those_of_a_file(demo):
    """`--config` and `--configfile`."""
    own = overlay(demo, "beir")
    by_file, by_line = plan(demo, own), plan(demo, config=yaml.safe_load(own.read_text()))
    assert lacking(demo, by_line) == set()
    assert by_line.made == by_file.made
    assert "results/report/own-beir/record.json" in by_line.made


def test_other_limits_of_what_is_read_make_anew_what_was_read_by_them(demo):
    planned = plan(demo, config={"intake": {"scale": 2}})
    assert "parse_dump" in planned.rules
    assert not {"acquire_source", "toy_acquire"} & {*planned.rules}


@pytest.mark.parametrize(
    "kind",
    [n if n in ("captions", "beir") else pytest.param(n, marks=pytest.mark.long) for n in KINDS],
)
def test_after_the_demo_another_collection_is_built_whole(demo, kind):
    planned = plan(demo, overlay(demo, kind))
    assert lacking(demo, planned) == set()
    assert {"collect_tables", "score_runs", "tabulate_record", "tabulate_overview"} <= planned.rules
    # The demo is not touched, and its place in the registry neither.
    assert not {path for path in planned.made if "/toy/" in path and (demo / path).exists()}


@pytest.fixture(scope="module")
def first(demo) -> Callable[[str], Planned]:
    """What is planned of a kind after the demo, once for all tests."""
    return cache(lambda kind: plan(demo, overlay(demo, kind)))


@pytest.mark.parametrize(
    "phase", [p if p == "collect" else pytest.param(p, marks=pytest.mark.long) for p in PHASES]
)
@pytest.mark.parametrize(
    "kind", [n if n == "pictured" else pytest.param(n, marks=pytest.mark.long) for n in KINDS]
)
def test_after_one_phase_of_it_the_rest_is_built(demo, first, kind, phase):
    whole = first(kind)
    with as_if_built(demo, whole.behind(whole.asked[phase])):
        planned = plan(demo, overlay(demo, kind))
        assert lacking(demo, planned) == set()
        if phase != "tabulate":
            assert "tabulate_record" in planned.rules


@pytest.mark.long
@pytest.mark.parametrize(("one", "other"), [*permutations(KINDS, 2)])
def test_a_collection_is_built_whole_after_any_other(demo, first, one, other):
    """In the folder that has the demo and what the first overlay leaves."""
    with as_if_built(demo, first(one).outputs):
        planned = plan(demo, overlay(demo, other))
        assert lacking(demo, planned) == set()
        assert f"results/report/own-{other}/record.json" in planned.made
        assert not {path for path in planned.made if f"/own-{one}/" in path}


def test_the_front_page_lists_what_is_built_and_not_what_the_params_of_a_call_build(demo):
    """A record of another command's collection stays an input, so nothing is made anew for it."""
    record = demo / "results/report/toy/record.json"
    said = json.loads(record.read_text())
    assert (said["name"], said["collections"]) == ("toy", ["toy", "toy-later"])
    own = plan(demo, overlay(demo, "captions"))
    assert "results/report/toy/record.json" not in own.made
    assert "results/report/toy/record.json" in own.read["results/report/index.html"]


def test_a_rule_has_the_same_outputs_whichever_collections_there_are(demo, tmp_path):
    """But for the rules of one collection's, or one group's, exhibits, which bear its name."""
    both = {"build": ["toy", "again"], "collect": {"again": snapshot(demo, "again")}}
    one, two = plan(demo), plan(demo, write(tmp_path / "both.yaml", both))
    # Popularity is told by links where no facts tell views.
    added = two.outputs - one.outputs - {"data/parse/toy/inlinks.parquet"}
    assert one.outputs <= two.outputs
    assert {path for path in added if "again" not in path} == set()
    assert not {path for path in two.made if "/toy/" in path and (demo / path).exists()}
