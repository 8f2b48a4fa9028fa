"""Every overlay says how it is run, a test runs it, and its plan is small enough for Snakemake.

Where no test runs an overlay, its first lines say what a run needs.
"""

import re
from pathlib import Path

import pytest
from tests.effects import ROOT, Shown, laid, overlays_in
from tests.overlays import commands, first_lines, listed
from tests.plugged import merged

from isotope.core import plugins

_OF_PLUGINS = [ROOT / "workflow/plugins" / package / "params" for package in plugins.packages()]
OVERLAYS = listed([ROOT / "params", *_OF_PLUGINS])
MOST_JOBS = 1_000
# What runs an overlay to its end on data of its form: a test that `make test-long` has.
_RUNS = (
    "tests/workflow/test_overlay_runs.py::test_an_overlay_runs_to_its_end_on_small_data_of_its_form"
)
_TRACK = "tests/workflow/test_trec2023.py::test_nists_judgements_score_the_participants_and_us"
_READER = "tests/workflow/test_reader.py::test_a_reader_who_runs_a_command_finds_what_the_docs_say"
RUN_BY = {
    "params/2026.yaml": _RUNS,
    "params/atomic-baselines.yaml": _RUNS,
    "params/atomic-captions.yaml": _RUNS,
    "params/atomic-fields.yaml": _RUNS,
    "params/atomic-finetune.yaml": _RUNS,
    "params/atomic.yaml": (
        "tests/workflow/test_release.py::test_a_release_has_a_ledger_and_no_projection"
    ),
    "params/bulk.yaml": _RUNS,
    "params/coco-finetuned.yaml": _RUNS,
    "params/coco-test.yaml": _RUNS,
    "params/coco.yaml": (
        "tests/workflow/test_coco.py::test_the_real_pictures_give_the_numbers_of_the_page"
    ),
    "params/enwiki.yaml": _RUNS,
    "params/flickr8k.yaml": _RUNS,
    "params/full.yaml": _READER,
    "params/local.yaml": _READER,
    "params/objects.yaml": _RUNS,
    # With the packages that its first lines name.
    "params/offline.yaml": _RUNS,
    "params/rehearsal.yaml": (
        "tests/workflow/test_rehearsal.py"
        "::test_a_rehearsal_is_killed_three_times_and_ends_with_every_phase_measured"
    ),
    "params/structured.yaml": _RUNS,
    "params/styles.yaml": _RUNS,
    "params/trec2023-promotion.yaml": _TRACK,
    "params/trec2023.yaml": _TRACK,
    **merged("effects", "RUN_BY"),
}
# Of the others, words of their first lines that say what a run needs.
NEEDS: dict[str, str] = {}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_an_overlay_names_in_its_first_lines_the_command_that_runs_it(overlay):
    assert any(overlay in words for words in commands(overlay))


def test_every_overlay_is_run_by_a_test_or_says_what_it_needs():
    assert sorted([*RUN_BY, *NEEDS]) == OVERLAYS
    assert [o for o, words in NEEDS.items() if words not in first_lines(o)] == []


@pytest.mark.parametrize("overlay", RUN_BY)
def test_the_test_that_runs_an_overlay_is_a_long_one_and_names_it(overlay):
    """By itself, or as a part of the first command of another overlay."""
    file, _, name = RUN_BY[overlay].partition("::")
    source = (ROOT / file).read_text("utf-8")
    assert Shown(source, name).asserts
    assert "mark.long" in source
    same = [each for each, test in RUN_BY.items() if test == RUN_BY[overlay]]
    having = [each for each in same if overlay in commands(each)[0]]
    assert any(is_named(each, source) for each in {overlay, *having})


def is_named(overlay: str, source: str) -> bool:
    """Whether a text or a command in the code is the overlay's name."""
    alone = re.escape(Path(overlay).stem)
    return re.search(rf"[\"'/]{alone}(\.yaml)?[\"' ]", source) is not None


@pytest.mark.long
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_plan_of_an_overlay_at_its_own_size_has_fewer_than_1000_jobs(overlay, tmp_path, shell):
    for number, words in enumerate(commands(overlay)):
        place = tmp_path / str(number)
        place.mkdir()
        overlays = overlays_in(words)
        laid(place / "files", overlays)
        stands_for = {"root=FOLDER": f"root={place}/files", "root=ROOT": f"root={place}/files"}
        asked = [
            stands_for.get(word, word).replace("name=NAME", "name=atomic") for word in words[1:]
        ]
        asked = [str(ROOT / word) if word in overlays else word for word in asked]
        at = asked.index("--configfile") + 1
        asked.insert(at, str(ROOT / "params.yaml"))
        where = ["--snakefile", ROOT / "Snakefile", "--directory", place]
        told = shell("snakemake", "-n", "--quiet", "rules", *where, *asked, cwd=place)
        [jobs] = re.findall(r"^total +(\d+)$", told, re.MULTILINE)[:1]
        assert 0 < int(jobs) < MOST_JOBS
