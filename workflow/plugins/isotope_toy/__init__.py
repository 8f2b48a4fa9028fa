"""The embedded encyclopedia: an invented wiki for the demo and for tests."""

from isotope.core.plugins import Plugin

PLUGIN = Plugin(
    name="toy",
    package="isotope_toy",
    summary="makes an invented encyclopedia in the formats of Wikipedia and WIT",
    rules="rules/toy.smk",
    phases={"toy": "acquire"},
    generates=(
        *("dump", "wit", "images", "wordnet"),
        *("faults.csv", "objects.parquet", "revisions.csv", "topics.csv", "views.csv"),
    ),
)
