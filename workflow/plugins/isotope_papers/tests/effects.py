"""What the commands of this plug-in's pages do, and what runs its overlays; see `tests.effects`."""

from tests.effects import PUBLISHED, SNAKEMAKE, elsewhere, planned

_TESTS = "workflow/plugins/isotope_papers/tests"
_TICRC, _CORPORA, _XM3600 = (f"{_TESTS}/test_{name}.py" for name in ("ticrc", "vg_coco", "xm3600"))
_SUBMITTED = "test_submissions_have_gevals_score_where_the_folder_has_the_answers"
_OF_OVEN = ("oven/sets", "oven/knowledge", "oven/accuracy")
_PARAMS = "workflow/plugins/isotope_papers/params"
_OVERLAID = f"{SNAKEMAKE} --configfile {_PARAMS}"
# The plan of 36 collections.
_LANGUAGES = f"{_OVERLAID}/xm3600.yaml {_PARAMS}/xm3600-published.yaml --config root=ROOT"
LONG = {_LANGUAGES: True}
EFFECTS = {
    "isotope geval ticrc data/acquire/ticrc/test submissions": elsewhere(
        PUBLISHED, _TICRC, _SUBMITTED
    ),
    "isotope geval ticrc data/acquire/ticrc/validation submissions --split validation": elsewhere(
        PUBLISHED, _TICRC, _SUBMITTED
    ),
    "isotope geval ticrc-test-b data/acquire/ticrc/test/test-B submissions": elsewhere(
        PUBLISHED, _TICRC, "test_a_test_set_whose_answers_are_withheld_is_searched_as_a_collection"
    ),
    f"{_OVERLAID}/kb.yaml": planned("parse_pairs", "crawl_shard", "collect_tables"),
    **{
        f"{_OVERLAID}/{corpus}.yaml{more} --config root=ROOT": elsewhere(
            PUBLISHED, _CORPORA, test, *words
        )
        for corpus in ("vg-coco", "flickr")
        for more, test, words in (
            ("", "test_the_published_files_become_the_papers_ranking_table", ()),
            (
                " workflow/plugins/isotope_explain/params/explainable.yaml",
                "test_all_models_with_both_summarisers_are_planned",
                (corpus, "explainable.yaml"),
            ),
        )
    },
    f"{_OVERLAID}/oven.yaml --config root=FOLDER": planned(
        "search_answers", "tabulate_tables_oven", tables=_OF_OVEN
    ),
    f"{_OVERLAID}/oven-published.yaml --config root=FOLDER": planned(
        "search_answers", "tabulate_tables_oven", tables=_OF_OVEN
    ),
    f"{_OVERLAID}/ticrc.yaml --config root=FOLDER": elsewhere(
        PUBLISHED, _TICRC, "test_every_split_is_answered_and_only_judged_ones_are_scored"
    ),
    f"{_OVERLAID}/ticrc.yaml {_PARAMS}/ticrc-offline.yaml --config root=FOLDER": planned(
        "train_dates", "search_prompted"
    ),
    f"{SNAKEMAKE} search --configfile {_PARAMS}/ticrc.yaml {_PARAMS}/ticrc-sets.yaml"
    " --config root=FOLDER": planned("search_prompted", without=("tabulate_", "score_")),
    f"{_OVERLAID}/xm3600.yaml --config root=../shared/collections": elsewhere(
        PUBLISHED, _XM3600, "test_each_language_and_each_part_of_the_group_has_its_recalls"
    ),
    _LANGUAGES: planned("crawl_pictures", "tabulate_tables_xm3600", tables=("xm3600/group",)),
}
_RUNS = f"{_TESTS}/test_papers_overlay_runs.py::test_an_overlay_of_a_paper_runs_to_its_end"
RUN_BY = {
    **{
        f"{_PARAMS}/{name}.yaml": _RUNS
        for name in (
            *("kb", "flickr", "oven", "ticrc", "ticrc-offline", "ticrc-sets", "vg-coco"),
            *("xm3600", "xm3600-published"),
        )
    },
    f"{_PARAMS}/oven-published.yaml": (
        f"{_TESTS}/test_oven_published.py"
        "::test_a_split_whose_answers_are_withheld_is_searched_by_every_system_and_not_scored"
    ),
    "workflow/plugins/isotope_explain/params/explainable.yaml": _RUNS,
}
