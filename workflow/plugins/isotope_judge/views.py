"""What the catalog shows of pools and grades."""

from collections.abc import Mapping

from isotope.schemas.score import SCORES
from isotope.tabulate.catalog import View
from isotope_judge import schemas

VIEWS: Mapping[str, View] = {
    "pools": View("results/score/*/pool.parquet", schemas.POOL),
    "sheets": View("results/score/*/sheet.parquet", schemas.SHEET),
    "graded": View("results/score/*/graded.parquet", schemas.GRADED),
    "graded_scores": View("results/score/*/scores.parquet", SCORES),
    "reuse": View("results/score/*/reuse.parquet", schemas.REUSABILITY),
    "tau": View("results/score/*/tau.parquet", schemas.TAU),
    "agreement": View("results/score/*/agreement.parquet", schemas.AGREEMENT),
    "model_grades": View("results/score/*/models/*.parquet", schemas.MODEL_GRADES),
    "model_scores": View("results/score/*/model_scores.parquet", schemas.MODEL_SCORES),
    "studied": View("results/tables/*/studied.parquet", schemas.STUDIED),
    "estimates": View("results/score/*/estimates.parquet", schemas.ESTIMATES),
    "model_agreement": View("results/score/*/model_agreement.parquet", schemas.MODEL_AGREEMENT),
    "model_tau": View("results/score/*/model_tau.parquet", schemas.MODEL_TAU),
    "circularity": View("results/score/*/circularity.parquet", schemas.CIRCULARITY),
}
