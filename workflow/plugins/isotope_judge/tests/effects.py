"""What the commands of this plug-in's pages do, and what runs its overlays; see `tests.effects`."""

from tests.effects import SNAKEMAKE, planned

_PARAMS = "workflow/plugins/isotope_judge/params"
_OVERLAID = f"{SNAKEMAKE} --configfile {_PARAMS}"
EFFECTS = {
    f"{_OVERLAID}/judge.yaml": planned("judge_model_grades", "judge_by_models"),
    f"{_OVERLAID}/track.yaml": planned("judge_pool", "tabulate_overview"),
}
RUN_BY = {
    f"{_PARAMS}/judge.yaml": (
        "workflow/plugins/isotope_judge/tests/test_model_judges.py"
        "::test_the_report_shows_people_model_and_both_and_what_the_judge_does_for_its_own"
    ),
    f"{_PARAMS}/track.yaml": (
        "tests/workflow/test_reader.py::test_a_reader_who_runs_a_command_finds_what_the_docs_say"
    ),
}
