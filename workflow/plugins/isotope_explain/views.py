"""What the catalog shows of failures and of the ranks of right answers."""

from collections.abc import Mapping

from isotope.tabulate.catalog import View
from isotope_explain.schemas import FAILURES, RANKS

VIEWS: Mapping[str, View] = {
    "failures": View("results/tables/*/failures.parquet", FAILURES),
    "ranks": View("results/tables/*/ranks.parquet", RANKS),
}
