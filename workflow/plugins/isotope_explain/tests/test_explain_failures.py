"""From runs and objects to the local and the global table, on a collection of four pictures."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest

from isotope.core import sql, store
from isotope.core.errors import EmptyTable, MissingColumn, MissingFile
from isotope.core.measures import MEASURES, score_run
from isotope.core.runs import read_run, write_run
from isotope.schemas.collect import QRELS
from isotope.tabulate.exhibits import query, recipe, write_exhibit
from isotope.tabulate.table import lay_out
from isotope_explain.failures import ExplainedTables, explain_failures
from isotope_explain.schemas import FAILURES, INTACT, RANKS
from isotope_toy import words

SCENES: Mapping[str, list[tuple[str, int]]] = {
    "i1": [("ball.n.03", 10), ("ball.n.03", 20), ("tree.n.01", 5)],
    "i2": [("ball.n.03", 10), ("house.n.01", 8), ("stop_sign.n.01", 3)],
    "i3": [("cup.n.01", 5)],
    "i4": [("stop_sign.n.01", 5)],
}
RUNS = {
    "t2m": {"t1": ["i2", "i1"], "t2": ["i2"], "t3": ["i4", "i1", "i3"], "t4": ["i1"]},
    "m2t": {"i1": ["t2", "t1"], "i2": ["t2"], "i3": ["t9", "t3"], "i4": ["t4"]},
}


def collection(folder: Path) -> ExplainedTables:
    rows = [
        {
            "image_id": image_id,
            "image_url": f"http://x/{image_id}.jpg",
            "objects": [
                {"synset": s, "x_min": 0, "y_min": 0, "x_max": px, "y_max": px} for s, px in scene
            ],
        }
        for image_id, scene in SCENES.items()
    ]
    pl.DataFrame(rows).write_parquet(folder / "images.parquet")
    pairs = [{"text_id": f"t{i}", "image_id": f"i{i}", "relevance": 1} for i in (1, 2, 3, 4)]
    qrels = [{**pair, "split": "validation"} for pair in pairs]
    store.write_rows(qrels, folder / "qrels.parquet", QRELS)
    words.write_wordnet(folder / "wordnet")
    return ExplainedTables(
        folder / "images.parquet", folder / "qrels.parquet", None, str(folder / "wordnet")
    )


def runs(folder: Path) -> list[Path]:
    paths: list[Path] = []
    for task, answers in RUNS.items():
        hits = [
            (q, d, -float(n)) for q, documents in answers.items() for n, d in enumerate(documents)
        ]
        paths.append(folder / f"small/validation/{task}/sys.parquet")
        columns = ["query_id", "doc_id", "score"]
        write_run(pl.DataFrame(hits, schema=columns, orient="row"), paths[-1])
    return paths


@pytest.fixture(scope="module")
def exhibits(tmp_path_factory) -> dict[str, pl.DataFrame]:
    folder = tmp_path_factory.mktemp("explained")
    out = {n: folder / f"{n}.parquet" for n in ("failures", "ranks", "concepts", "rejected")}
    explain_failures(collection(folder), runs(folder), **out)
    relations = {name: str(path) for name, path in out.items()}
    relations["rejected_objects"] = relations["rejected"]
    for name in ("explained", "ranking", "unknown_objects"):
        exhibit = recipe(name, relations, {"systems": []})
        write_exhibit(exhibit, folder / name, folder / f"{name}.svg")
    printed = ("explained", "ranking", "unknown_objects")
    return {
        **{name: pl.read_parquet(path) for name, path in out.items()},
        **{name: pl.read_csv(folder / f"{name}.csv") for name in printed},
    }


def test_a_row_for_each_query_whose_first_answer_is_wrong(exhibits):
    keys = exhibits["failures"].select("task", "query_id", "truth_id", "found_id").rows()
    assert keys == [
        ("t2m", "t1", "i1", "i2"),
        ("t2m", "t3", "i3", "i4"),
        ("t2m", "t4", "i4", "i1"),
        ("m2t", "i1", "i1", "i2"),
        ("m2t", "i3", "i3", None),
    ]


def test_the_row_says_what_matched_what(exhibits):
    row = exhibits["failures"].row(0, named=True)
    assert (row["ca"], row["hit"], row["miss"], row["ce"], row["rank"]) == (0.5, 1, 1, 1, 2)
    assert row["counts"] == [{"concept": "ball.n.03", "truth": 2, "found": 1}]
    pair = row["pairs"][0]
    assert (pair["truth"], pair["found"]) == ("tree.n.01", "house.n.01")
    assert row["ncs"] == pair["similarity"] == pytest.approx(1 / 11)
    areas = {"truth_px": 100.0, "found_px": 100.0, "difference": 0.0}
    assert row["sizes"] == [{"concept": "ball.n.03", **areas, "differs": False}]
    assert (row["extra"], row["sd_continuous"]) == (1, 0.0)
    assert row["sd"] == 0.0


def test_the_same_two_pictures_are_explained_alike_whatever_is_asked(exhibits):
    """Section 4.1, query-agnostic: "t1" and the picture i1 itself ask, i2 is what both find."""
    same = exhibits["failures"].filter(truth_id="i1", found_id="i2")
    assert same["query_id"].to_list() == ["t1", "i1"]
    measures = same.drop("task", "query_id", "doc_id", "rank")
    assert measures.null_count().sum_horizontal().item() == 0
    assert measures.row(0) == measures.row(1)


def test_a_picture_without_known_objects_leaves_the_measures_unknown(exhibits):
    unknown = exhibits["failures"].filter(pl.col("query_id").is_in(["t3", "t4", "i3"]))
    assert unknown.select(pl.col("ca", "ncs", "ce", "sd", "pairs").null_count()).row(0) == (3,) * 5


def test_objects_that_wordnet_lacks_are_kept_aside_and_named(exhibits):
    rejected = exhibits["rejected"]
    assert rejected["detail"].to_list() == ["stop_sign.n.01"] * 2
    assert set(rejected["reason"]) == {"unknown synset"}
    assert rejected["row"].to_list() == [6, 8]
    assert exhibits["unknown_objects"].rows() == [("unknown synset", "stop_sign.n.01", 2)]


def test_the_global_table_has_the_means_of_the_local_one(exhibits):
    row = exhibits["explained"].row(0, named=True)
    assert (row["task"], row["system"], row["failures"], row["explained"]) == ("t2m", "sys", 3, 1)
    assert (row["ca_share"], row["hit"], row["miss"], row["ce"]) == (0.5, 1.0, 1.0, 1.0)
    assert (row["matched"], row["non_common"], row["matched_synsets_share"]) == (1, 2, 0.5)
    assert row["enumeration_disagreement_share"] == 1.0


def test_the_ranking_table_counts_what_was_not_found_as_last(exhibits):
    row = exhibits["ranking"].filter(task="t2m").row(0, named=True)
    assert (row["queries"], row["fails"], row["fails_share"]) == (4, 3, 0.75)
    assert (row["success_at_1"], row["success_at_5"], row["success_at_10"]) == (0.25, 0.75, 0.75)
    reciprocal = (1 / 2 + 1 + 1 / 3) / 4
    assert row["mrr"] == pytest.approx(reciprocal)
    assert row["mrr_at_5"] == pytest.approx(reciprocal)
    assert row["median_rank"] == 2


def test_objects_may_come_from_a_file_without_boxes(tmp_path):
    sources = collection(tmp_path)
    objects_file = tmp_path / "objects.csv"
    objects_file.write_text(
        "image_url,synset\nhttp://x/i1.jpg,tree\nhttp://x/i2.jpg,tree.n.01\nhttp://x/none.jpg,x\n"
    )
    out = {n: tmp_path / f"{n}.parquet" for n in ("failures", "ranks", "concepts", "rejected")}
    explain_failures(sources._replace(objects=objects_file), runs(tmp_path)[:1], **out)
    first = pl.read_parquet(out["failures"]).row(0, named=True)
    assert (first["ca"], first["sd"], first["sizes"]) == (1.0, None, [])
    assert pl.read_parquet(out["rejected"]).is_empty()


def test_bad_objects_are_named_errors(tmp_path):
    sources, where = collection(tmp_path), tmp_path / "objects.csv"
    out = {n: tmp_path / f"{n}.parquet" for n in ("failures", "ranks", "concepts", "rejected")}

    def explained(**changes):
        explain_failures(sources._replace(**changes), [], **out)

    with pytest.raises(MissingFile, match="no such file"):
        explained(objects=where)
    where.write_text("image_url,label\nhttp://x/i1.jpg,ball\n")
    with pytest.raises(MissingColumn, match="no column 'synset'"):
        explained(objects=where)
    where.write_text("image_url,synset\nhttp://x/i1.jpg,nothing.n.01\n")
    with pytest.raises(EmptyTable, match="none of 1 objects is in WordNet"):
        explained(objects=where)
    pl.read_parquet(sources.images).drop("objects").write_parquet(sources.images)
    with pytest.raises(MissingColumn, match="no column 'objects'"):
        explained()


def test_a_missing_dictionary_stops_before_any_table(tmp_path):
    sources = collection(tmp_path)._replace(wordnet=str(tmp_path / "nowhere"))
    out = {n: tmp_path / f"{n}.parquet" for n in ("failures", "ranks", "concepts", "rejected")}
    with pytest.raises(MissingFile, match="wordnet-base"):
        explain_failures(sources, [], **out)
    assert not any(path.exists() for path in out.values())


def labelled(table: pl.DataFrame) -> dict[str, str]:
    """The printed names of a table's columns that are names of measures, with the columns."""
    names = [column.label for column in lay_out(table).columns]
    pairs = zip(names, table.columns, strict=True)
    return {
        n: c for n, c in pairs if n.partition("@")[0] in {m.partition("@")[0] for m in MEASURES}
    }


def test_a_measures_name_means_the_same_in_every_table(tmp_path):
    """Of three right answers one may be found: recall is not success (AToMiC, section 4.4)."""
    sources, [path, _] = collection(tmp_path), runs(tmp_path)
    more = [("t1", "i3"), ("t1", "i4"), ("t3", "i1"), ("t2", "i1")]
    pairs = [*((f"t{i}", f"i{i}") for i in (1, 2, 3, 4)), *more]
    rows = [{"text_id": t, "image_id": i, "relevance": 1, "split": "validation"} for t, i in pairs]
    store.write_rows(rows, sources.qrels, QRELS)
    out = {n: tmp_path / f"{n}.parquet" for n in ("failures", "ranks", "concepts", "rejected")}
    explain_failures(sources, [path], **out)
    exhibit = recipe("ranking", {"ranks": str(out["ranks"])}, {"systems": []})
    write_exhibit(exhibit, tmp_path / "ranking", tmp_path / "ranking.svg")
    again = pl.read_parquet(out["ranks"]).rows(named=True)
    changed = moved([(row["rank"], row["rank"]) for row in again], tmp_path, "perturbed")
    qrels = pl.DataFrame(pairs, schema=["query_id", "doc_id"], orient="row")
    judged = qrels.with_columns(relevance=1)
    for table in (pl.read_csv(tmp_path / "ranking.csv"), changed):
        columns = labelled(table)
        values = score_run(read_run(path), judged, list(columns))
        for name, column in columns.items():
            mean = values.filter(measure=name)["value"].mean()
            assert table[column].to_list() == [pytest.approx(mean)] * table.height, name
        assert {"Success@1", "Success@5", "Success@10", "MRR"} <= set(columns)


LABELS: dict[str, object] = {
    "setting": "small",
    "split": "validation",
    "task": "t2m",
    "system": "s",
}
Row = Mapping[str, object]
# F is of section 6; N, of which it is 84.69 % (Table 5, Original), section 6.1 calls 34 k: of
# so many, Table 4's counts are the shares that 6.4 prints.
F, N = 28_817, 34_026


def spread(total: int) -> list[int]:
    """The paper's totals over its failures, as evenly as they go."""
    return [(n + 1) * total // F - n * total // F for n in range(F)]


def explained(rows: Sequence[Row], folder: Path) -> dict[str, float]:
    store.write_rows([{**LABELS, **row} for row in rows], folder / "failures.parquet", FAILURES)
    files = {"failures": folder / "failures.parquet"}
    table = sql.query(query("isotope_explain/explained"), files, {})
    assert table is not None
    return table.row(0, named=True)


def test_matched_and_miscounted_concepts_of_the_paper(tmp_path):
    """Section 6.3 and Table 3, MiniLM L3: 184,747 of 627,833 are 29.43 %, 69,595 of 28,817 2.42.

    41,244 and 69,595 concept sets of the same and of different multiplicity are its 110,839 common
    synsets. How the non-common ones are shared out between the pictures it does not say.
    """
    totals = map(spread, (41_244, 69_595, 184_747, 627_833))
    pair, alike = {"similarity": 0.122}, {"concept": "a", "truth": 1, "found": 1}
    rows: list[Row] = [
        {
            "ca": 0.2,
            "hit": same + other,
            "miss": apart // 2,
            "extra": apart - apart // 2,
            "pairs": [pair] * matched,
            "counts": [alike] * same + [alike | {"found": 2}] * other,
        }
        for same, other, matched, apart in zip(*totals, strict=True)
    ]
    row = explained(rows, tmp_path)
    assert (row["failures"], row["hit"], row["non_common"]) == (28_817, 110_839, 627_833)
    misses = sum(apart // 2 for apart in spread(627_833))
    assert row["miss"] == misses
    per_failure = (row["hit_per_failure"], row["miss_per_failure"])
    assert per_failure == pytest.approx((110_839 / 28_817, misses / 28_817))
    assert row["matched"] == 184_747
    assert row["matched_synsets_share"] == pytest.approx(0.2943, abs=5e-5)
    assert (row["counted_alike"], row["miscounted"]) == (41_244, 69_595)
    assert row["miscounted_per_failure"] == pytest.approx(2.42, abs=5e-3)
    assert row["counted_alike_per_failure"] == pytest.approx(41_244 / 28_817)


def test_the_global_table_has_the_measures_over_the_whole_beside_the_means_of_failures(tmp_path):
    """Section 6.3: "averaging over matchings", "around 1/5th of common objects"."""

    def failure(ca: float, hit: int, miss: int, similar: list[float], differ: list[bool]) -> Row:
        pairs = [{"similarity": s} for s in similar]
        sizes = [{"concept": "a", "differs": d} for d in differ]
        counts = {"ca": ca, "hit": hit, "miss": miss, "extra": 0, "pairs": pairs, "sizes": sizes}
        return counts | {
            "ncs": sum(similar) / len(similar) if similar else None,
            "sd": sum(differ) / len(differ) if differ else None,
        }

    rows = [
        failure(0.5, 1, 1, [0.5], [True, False]),
        failure(0.25, 2, 6, [0.1, 0.2, 0.3, 0.2], [False] * 4 + [True] * 2 + [False] * 2),
        failure(1.0, 3, 0, [], []),
    ]
    row = explained(rows, tmp_path)
    assert row["ca_share"] == pytest.approx(1.75 / 3, abs=1e-6)
    assert row["pooled_ca_share"] == pytest.approx(6 / 13, abs=1e-6)
    assert (row["ncs"], row["pooled_ncs"]) == pytest.approx((0.35, 1.3 / 5), abs=1e-6)
    assert (row["sd_share"], row["pooled_sd_share"]) == pytest.approx((0.375, 3 / 10), abs=1e-6)


def test_the_commonest_ce_is_the_mode_and_of_two_the_lower(tmp_path):
    """Section 6.3: "most common concept enumeration (CE)=1 and average CE=8.638"."""
    rows: list[Row] = [{"ce": ce} for ce in (1, 30, 1, 2, None, None, None)]
    row = explained(rows, tmp_path)
    assert (row["ce_most_common"], row["ce"]) == (1, 8.5)
    assert explained([*rows, {"ce": 30}], tmp_path)["ce_most_common"] == 1


def moved(
    rows: Sequence[tuple[int | None, int | None]], tmp_path: Path, name: str, kind: str = "size"
) -> pl.DataFrame:
    records = [
        {**LABELS, "perturbation": kind, "query_id": str(n), "rank": r, "rank_before": b}
        for n, (r, b) in enumerate(rows)
    ]
    return placed(records, tmp_path, name)


def placed(records: Sequence[Row], tmp_path: Path, name: str) -> pl.DataFrame:
    store.write_rows(records, tmp_path / "ranks.parquet", RANKS)
    exhibit = recipe(name, {"perturbed": str(tmp_path / "ranks.parquet")}, {"systems": []})
    table = sql.query(query(exhibit.query), exhibit.relations, exhibit.parameters)
    assert table is not None
    return table


def test_lower_higher_and_same_are_shares_of_the_perturbed_queries(tmp_path):
    row = moved([(3, 1), (None, 2), (1, 4), (5, 5), (None, None)], tmp_path, "moved")
    assert row.select("queries", "lower_share", "higher_share", "same_share").row(0) == (
        5,
        0.4,
        0.2,
        0.4,
    )


# Appendix A.2: queries that came lower, higher and stayed. Table 4: the shares of those; section
# 6.4: that of all queries.
PERTURBATIONS = {
    "antonym": ((4_346, 2_918, 3_259), (0.4130, 0.2773, 0.3097), 0.3093),
    "colour-all": ((7_729, 3_848, 4_430), (0.4829, 0.2404, 0.2768), 0.4704),
    "colour-in": ((7_960, 3_578, 4_469), (0.4973, 0.2235, 0.2792), 0.4704),
    "size": ((3_902, 2_961, 3_608), (0.3726, 0.2828, 0.3446), 0.3077),
}


def test_the_counts_of_appendix_a2_give_table_4(tmp_path):
    """Ranks of which the paper says where they went; it prints none of them."""
    labels = LABELS | {"rank_before": 2}
    intact = LABELS | {"perturbation": INTACT, "rank": 2, "rank_before": 2}
    rows: list[Row] = [intact | {"query_id": str(n)} for n in range(N)]
    for kind, (counts, _, _) in PERTURBATIONS.items():
        ranks = [rank for rank, n in zip((3, 1, 2), counts, strict=True) for _ in range(n)]
        named = [{"query_id": str(n), "rank": rank} for n, rank in enumerate(ranks)]
        rows += [labels | {"perturbation": kind} | row for row in named]
    table = placed(rows, tmp_path, "moved")
    shares = ("lower_share", "higher_share", "same_share", "queries_share")
    printed = table.select("perturbation", "queries", pl.col(shares).round(4))
    assert printed.rows() == [
        (kind, sum(counts), *moves, of_all)
        for kind, (counts, moves, of_all) in PERTURBATIONS.items()
    ]


def test_perturbed_queries_are_measured_beside_themselves_intact(tmp_path):
    table = moved([(3, 1), (None, 2)], tmp_path, "perturbed")
    by_query = {row["query"]: row for row in table.iter_rows(named=True)}
    assert (by_query["intact"]["success_at_1"], by_query["intact"]["mrr_at_5"]) == (0.5, 0.75)
    assert (by_query["perturbed"]["success_at_1"], by_query["perturbed"]["fails"]) == (0.0, 2)
    assert by_query["perturbed"]["mrr"] == pytest.approx(1 / 6, abs=1e-6)


def test_the_original_is_all_queries_and_who_is_not_first_fails(tmp_path):
    """Table 5, Original: 15.31 % recall@1 and 84.69 % fails are all queries together."""
    ranks = [(1, 1)] * 2 + [(2, 2)] * 3
    row = moved(ranks, tmp_path, "perturbed", INTACT).row(0, named=True)
    assert (row["perturbation"], row["query"], row["queries"]) == ("none", "all", 5)
    assert (row["success_at_1"], row["fails"], row["fails_share"]) == (0.4, 3, 0.6)


def test_a_query_that_is_not_perturbed_keeps_its_rank_among_all(tmp_path):
    """Table 5: R* of the whole collection; two of four queries have a size, one has a colour."""
    intact = {"q1": 1, "q2": 1, "q3": 4, "q4": None}
    changed = {("size", "q1"): 2, ("size", "q3"): None, ("colour-in", "q2"): 10}
    rows = [("none", query, rank, rank) for query, rank in intact.items()]
    rows += [(kind, query, rank, intact[query]) for (kind, query), rank in changed.items()]
    names = ("perturbation", "query_id", "rank", "rank_before")
    named = [LABELS | dict(zip(names, row, strict=True)) for row in rows]
    table = placed(named, tmp_path, "perturbed")
    measures = ("queries", "success_at_1", "mrr", "fails")
    assert table.select("perturbation", "query", *measures).rows() == [
        ("none", "all", 4, 0.5, pytest.approx((1 + 1 + 1 / 4) / 4), 2),
        ("colour-in", "all", 4, 0.25, pytest.approx((1 + 1 / 10 + 1 / 4) / 4), 3),
        ("colour-in", "intact", 1, 1.0, 1.0, 0),
        ("colour-in", "perturbed", 1, 0.0, 0.1, 1),
        ("size", "all", 4, 0.25, pytest.approx((1 / 2 + 1) / 4), 3),
        ("size", "intact", 2, 0.5, pytest.approx((1 + 1 / 4) / 2), 1),
        ("size", "perturbed", 2, 0.0, pytest.approx(1 / 4), 2),
    ]
