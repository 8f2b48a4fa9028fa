"""Every overlay says how it is run, and its plan is small enough for Snakemake."""

import re
import shlex
from pathlib import Path

import pytest
from tests.workflow.test_commands import laid

ROOT = Path(__file__).parents[2]
OVERLAYS = sorted(path.name for path in ROOT.glob("params/*.yaml"))
MOST_JOBS = 1_000


def commands(overlay: str) -> list[list[str]]:
    """The commands in the comments above an overlay's first key, as words."""
    head = re.split(
        r"^[^#\n]", (ROOT / "params" / overlay).read_text("utf-8"), maxsplit=1, flags=re.M
    )
    return [shlex.split(line) for line in re.findall(r"^#   (snakemake .*)$", head[0], re.M)]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_an_overlay_names_in_its_first_lines_the_command_that_runs_it(overlay):
    assert any(f"params/{overlay}" in words for words in commands(overlay))


@pytest.mark.long
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_plan_of_an_overlay_at_its_own_size_has_fewer_than_1000_jobs(overlay, tmp_path, shell):
    for number, words in enumerate(commands(overlay)):
        place = tmp_path / str(number)
        place.mkdir()
        overlays = [word for word in words if word.startswith("params/")]
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
