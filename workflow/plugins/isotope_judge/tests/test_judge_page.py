"""A page takes grades, keeps each one, and gives them back as a sheet."""

import io
import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import pytest
from PIL import Image
from playwright.sync_api import Page
from sklearn.metrics import cohen_kappa_score
from starlette.testclient import TestClient
from tests import foreign, forkserver
from tests.browser import until

from isotope.cli import commands as main
from isotope.core import store
from isotope.core.errors import BadParams, IntegrityError, MissingFile
from isotope.core.runs import ranked, write_run
from isotope.params import files as params_files
from isotope.params.root import Params
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.schemas.crawl import PIXELS
from isotope_judge import app, guards, session
from isotope_judge.display import SIDE_PX, PooledPictures, shuffled
from isotope_judge.ledger import PAIRS, GradedPair, current_lines, sheet_paths
from isotope_judge.params import Judge
from isotope_judge.pool import read_sheets, score_judged
from isotope_judge.schemas import POOL
from isotope_judge.session import PoolSession

ROOT = Path(__file__).parents[4]
WAIT_S = 60
SCALE = {0: "no", 1: "a little", 2: "yes"}
LABELS = app.scale(None)
A, B, C = (GradedPair("t2m", "t1", d) for d in "abc")
POOLED = {
    "t2m": {"t1": "abc", "t2": "ab"},
    "m2t": {"a": ["t1", "t2"]},
}
ADDRESS = "http://localhost"
ORIGIN = {"Origin": ADDRESS}


def picture(width: int, height: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(out, "WEBP")
    return out.getvalue()


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A project's folder with a built collection of two texts and three images, and its pool."""
    monkeypatch.chdir(tmp_path)
    for name in ("workflow", "params", "params.yaml"):
        (tmp_path / name).symlink_to(ROOT / name)
    texts = [
        {"text_id": t, "page_title": "Bees", "section_title": f"Part {t}", "hierarchy": ""}
        for t in ("t1", "t2")
    ]
    images = [
        {
            "image_id": i,
            "image_url": f"http://x/A_{i}%C3%A9.png",
            "caption_alt_text_description": [f"An <b>{i}</b>", "", f"An <b>{i}</b>"],
        }
        for i in "abc"
    ]
    pixels = [
        {"image_id": i, "image_url": "", "width": 8, "height": 4, "webp": picture(side, side // 2)}
        for i, side in (("a", 2 * SIDE_PX), ("b", 16))
    ]
    qrels = [{"text_id": "t1", "image_id": "a", "relevance": 1, "split": "test"}]
    pool = [
        {"split": "test", "task": t, "query_id": q, "doc_id": d, "rank": 1, "systems": ["one"]}
        for t, queries in POOLED.items()
        for q, docs in queries.items()
        for d in docs
    ]
    store.write_rows(texts, Path("data/collect/toy/texts.parquet"), TEXTS)
    store.write_rows(images, Path("data/collect/toy/images.parquet"), IMAGES)
    store.write_rows(qrels, Path("data/collect/toy/qrels.parquet"), QRELS)
    store.write_rows(pixels, Path("data/crawl/toy/shard-00000.parquet"), PIXELS)
    store.write_rows(pool, Path("results/score/toy/pool.parquet"), POOL)
    return tmp_path


@cache
def params() -> Params:
    """The params of the project, which every place has."""
    return params_files.load()


def sit(assessor: str) -> PoolSession:
    return session.open_pool("toy", assessor, params())


@pytest.fixture
def client(folder) -> TestClient:
    return TestClient(app.pool_app(sit("ann"), SCALE), ADDRESS)


def body(pair: GradedPair = A, **changes: object) -> dict[str, object]:
    """What the page sends."""
    defaults = {"grade": 2, "expected": None, "assessor": "ann", "collection": "toy"}
    return {**pair._asdict(), **defaults, **changes}


def test_the_order_of_candidates_is_each_assessors_own_and_stays(folder):
    documents = [f"d{n:02d}" for n in range(40)]
    pool = pl.DataFrame({"task": "t2m", "query_id": "q", "doc_id": documents})
    orders = {a: shuffled(pool, a)[0].documents for a in ("ann", "bob")}
    assert orders["ann"] != orders["bob"] != tuple(pool["doc_id"])
    assert sorted(orders["ann"]) == sorted(orders["bob"]) == pool["doc_id"].to_list()
    again = shuffled(pool.reverse(), "ann")
    assert again[0].documents == orders["ann"]


def test_a_query_comes_with_words_and_pictures_and_no_systems(client):
    answer = client.get("/api/query/1").json()
    assert (answer["task"], answer["query_id"], answer["progress"]["total"]) == ("t2m", "t1", 7)
    assert answer["query"]["fields"] == {"Page": "Bees", "Section": "Part t1"}
    by_id = {candidate["doc_id"]: candidate for candidate in answer["candidates"]}
    assert by_id["a"]["fields"] == {"Alternative text": "An <b>a</b>", "File": "A aé.png"}
    assert [by_id[i]["picture"] for i in "abc"] == ["/picture/a", "/picture/b", None]
    assert not {"rank", "systems", "relevance"} & set(by_id["a"])
    assert client.get("/api/query/3").status_code == 404


def test_pictures_are_small_and_those_not_kept_are_missing(client):
    with Image.open(io.BytesIO(client.get("/picture/a").content)) as picture:
        assert (picture.format, picture.size) == ("WEBP", (SIDE_PX, SIDE_PX // 2))
    assert client.get("/picture/c").status_code == 404
    assert "a" not in PooledPictures([], {"a"})


def test_a_grade_that_is_posted_is_kept(client):
    answer = client.post("/api/grade", json=body(), headers=ORIGIN)
    assert answer.json()["grade"] == 2
    assert answer.json()["progress"]["done"] == 1
    assert client.post("/api/grade", json=body(grade=1), headers=ORIGIN).json()["grade"] == 2
    pool = pl.read_parquet("results/score/toy/pool.parquet")
    read = read_sheets([Path("judgements/toy/ann.jsonl")], pool)
    assert read.rows() == [(*A, 2, "ann")]


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"grade": 3}, 422),
        ({"grade": True}, 422),
        ({"grade": "2"}, 422),
        ({"doc_id": "z"}, 422),
        ({"doc_id": 1}, 422),
        ({"expected": "2"}, 422),
        ({"assessor": "bob"}, 409),
        ({"collection": "other"}, 409),
    ],
)
def test_what_is_no_grade_of_this_session_is_refused(client, changes, status):
    assert client.post("/api/grade", json=body(**changes), headers=ORIGIN).status_code == status
    headers = {**ORIGIN, "Content-Type": "application/json"}
    for content in (b"[]", b"{}"):
        assert client.post("/api/grade", content=content, headers=headers).status_code == 422
    assert not Path("judgements").exists()


@pytest.mark.parametrize("content", [b"{", b"[" * 16_000, b'{"grade":' + b"9" * 5_000 + b"}"])
def test_json_that_cannot_be_read_is_400(client, content):
    headers = {**ORIGIN, "Content-Type": "application/json"}
    answer = client.post("/api/grade", content=content, headers=headers)
    assert (answer.status_code, list(answer.json())) == (400, ["error"])
    assert not Path("judgements").exists()


@pytest.mark.parametrize("number", ["9" * 5_000, "-1", "x", "1.5", "٣"])
@pytest.mark.parametrize("path", ["query", "after"])
def test_what_is_no_number_of_a_query_is_400(client, path, number):
    answer = client.get(f"/api/{path}/{number}")
    assert (answer.status_code, list(answer.json())) == (400, ["error"])


@pytest.mark.parametrize("headers", foreign.posts(ORIGIN))
def test_a_post_from_another_site_is_refused(client, headers):
    kind = {"Content-Type": "application/json"}
    sent = client.post("/api/grade", content=json.dumps(body()), headers={**kind, **headers})
    assert sent.status_code == (400 if "Host" in headers else 403)
    assert not Path("judgements").exists()


@pytest.mark.parametrize("host", foreign.HOSTS)
def test_the_page_is_not_to_be_had_under_a_foreign_name(client, host):
    refused = client.get("/api/progress", headers={"Host": host})
    assert (refused.status_code, "total" in refused.text) == (400, False)
    for local_host in ("127.0.0.1:8000", "[::1]:8000", "localhost:8000", "localhost"):
        assert client.get("/", headers={"Host": local_host}).status_code == 200


def test_the_page_is_to_be_had_under_the_machines_name_and_addresses(folder):
    page = app.pool_app(sit("ann"), SCALE, "127.0.0.9")
    addresses = {a.address for addresses in psutil.net_if_addrs().values() for a in addresses}
    numbers = {a for a in addresses if re.fullmatch(r"[0-9.]+", a)}
    assert "127.0.0.1" in numbers
    for host in (socket.gethostname(), "127.0.0.9:8000", *numbers):
        client = TestClient(page, f"http://{host}")
        assert client.post("/api/grade", json=body(), headers=ORIGIN).status_code == 403
        headers = {"Origin": f"http://{host.lower()}"}
        assert client.post("/api/grade", json=body(), headers=headers).status_code == 200


def test_a_post_that_is_too_long_is_refused(client):
    long = client.post("/api/grade", json=body(query_id="q" * 100_000), headers=ORIGIN)
    assert long.status_code == 413


def test_the_page_has_nothing_from_elsewhere_and_explains_the_scale(client):
    page = client.get("/")
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert not re.search(r"https?://", page.text)
    for grade, label in SCALE.items():
        assert f"<kbd>{grade}</kbd></dt><dd>{label}</dd>" in page.text
    for kind in ("js", "css", "svg"):
        assert client.get(f"/judge.{kind}").status_code == 200
    assert client.get("/judge.html").status_code == 404


def test_a_broken_file_under_the_page_is_told(client):
    client.post("/api/grade", json=body(), headers=ORIGIN)
    path = Path("judgements/toy/ann.jsonl")
    path.write_bytes(path.read_bytes() + b"{}\n")
    answer = client.get("/api/query/0")
    assert answer.status_code == 500
    assert f"{path}:2" in answer.json()["error"]


def judged_by(assessor: str, grades: dict[GradedPair, int]) -> PoolSession:
    session = sit(assessor)
    for pair, grade in grades.items():
        session.give(pair, grade, expected=None)
    return session


def test_kappa_is_shown_once_assessors_share_pairs(folder):
    ann = judged_by("ann", {A: 2, B: 0, C: 1})
    assert ann.agreement() == {"others": [], "error": None}
    judged_by("bob", {A: 2, B: 1, C: 1})
    judged_by("cal", {GradedPair("m2t", "a", "t1"): 1})
    (row,) = ann.agreement()["others"]
    assert (row["other"], row["pairs"]) == ("bob", 3)
    assert row["kappa"] == pytest.approx(cohen_kappa_score([2, 0, 1], [2, 1, 1]))
    (same,) = sit("bob").agreement()["others"]
    assert (same["other"], same["kappa"]) == ("ann", row["kappa"])


def test_a_broken_sheet_of_somebody_else_is_told_and_stops_nobody(folder):
    Path("judgements/toy").mkdir(parents=True)
    Path("judgements/toy/bob.csv").write_text("query_id,doc_id\nt1,a\n")
    ann = judged_by("ann", {A: 2})
    assert "bob.csv" in str(ann.agreement()["error"])
    assert ann.progress()["done"] == 1


def test_a_name_that_has_graded_in_another_sheet_is_refused(folder):
    judged_by("ann", {A: 2})
    Path("judgements/toy/ann.jsonl").rename("judgements/toy/old.jsonl")
    with pytest.raises(IntegrityError, match="1 grades by 'ann' in other sheets"):
        sit("ann")
    assert sit("bob").progress()["done"] == 0


def test_the_next_query_is_the_first_after_the_present_one_that_has_work(folder):
    session, elsewhere = sit("ann"), sit("ann")
    assert [session.progress(n)["next"] for n in (-1, 0, 1, 2)] == [0, 1, 2, 0]
    grade(session, 0, 2)
    assert [session.progress(n)["next"] for n in (-1, 0, 1, 2)] == [1, 1, 1, 1]
    assert [elsewhere.page_after(n) for n in range(3)] == [1, 1, 1]
    grade(elsewhere, 1)
    # Where nothing is left the present one stays.
    assert [session.page_after(n) for n in range(3)] == [0, 1, 2]
    assert session.progress() == {
        **{"done": 7, "total": 7, "queries": 3, "finished": 3, "partial": 0},
        "next": None,
    }
    with pytest.raises(IndexError):
        session.page_after(3)


def grade(session: PoolSession, *numbers: int) -> None:
    """Grade all candidates of some queries."""
    for pair in (pair for n in numbers for pair in session.items.queries[n].pairs):
        session.give(pair, 1, expected=None)


def test_at_the_end_the_queries_and_pairs_that_are_judged_are_counted(folder):
    session = sit("ann")
    where = "by ann in judgements/toy/ann.jsonl"
    assert session.summary() == f"0 of 3 queries judged; 0 of 7 pairs graded {where}"
    session.give(session.items.queries[1].pairs[0], 2, expected=None)
    assert session.summary() == f"0 of 3 queries judged, 1 in part; 1 of 7 pairs graded {where}"
    grade(session, 0)
    assert session.summary() == f"1 of 3 queries judged, 1 in part; 3 of 7 pairs graded {where}"
    first = session.items.queries[0].pairs[0]
    session.give(first, None, expected=1)
    assert session.summary() == f"0 of 3 queries judged, 2 in part; 2 of 7 pairs graded {where}"
    pool = Path("results/score/toy/pool.parquet")
    pl.read_parquet(pool).filter(pl.col("task") == "t2m").write_parquet(pool)
    # Grades of pairs that are no longer pooled don't count.
    assert sit("ann").summary().startswith("0 of 2 queries judged, 1 in part; 1 of 5 pairs")


def test_without_a_pool_the_error_says_what_to_run(folder, capsys):
    Path("results/score/toy/pool.parquet").unlink()
    assert main.main(["judge", "toy", "--assessor", "ann", "--port", "0"]) == 1
    message = r"MissingFile: .*pool\.parquet: .*snakemake --cores all score"
    assert re.search(message, capsys.readouterr().err)
    assert main.main(["judge", "other", "--assessor", "ann"]) == 1
    assert "BadParams: params collect: no collection 'other'" in capsys.readouterr().err
    Path("data/collect/toy/texts.parquet").unlink()
    with pytest.raises(MissingFile, match=r"pool\.parquet"):
        sit("ann")


def test_a_host_that_others_reach_needs_the_flag():
    for host in ("0.0.0.0", "::", "192.0.2.1", "elsewhere.example"):
        with pytest.raises(BadParams, match="--remote"):
            guards.listen(host, 0)
    with guards.listen("0.0.0.0", 0, remote=True) as listener:
        assert listener.getsockname()[1] > 0


def test_a_port_in_use_is_named():
    with guards.listen("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BadParams, match="another program"):
            guards.listen("127.0.0.1", port)
    with pytest.raises(BadParams, match="--port 65536"):
        guards.listen("localhost", 65_536)


def test_the_scale_is_that_of_the_params_or_the_schemas(folder):
    assert list(app.scale(params().section("judge", Judge))) == [0, 1, 2, 3]
    Path("scale.yaml").write_text(
        "judge: {depth: 1, setting: small, split: test, measures: [MAP], "
        "scale: {2: worse, '1': bad}}"
    )
    section = params_files.load([Path("scale.yaml")]).section("judge", Judge)
    assert app.scale(section) == {1: "bad", 2: "worse"}
    for wrong in ("{10: ten, 1: one}", "{1: one}", "{1: one, x: two}", "{1: one, 2: 2}"):
        Path("scale.yaml").write_text(f"judge: {{scale: {wrong}}}")
        with pytest.raises(BadParams):
            params_files.load([Path("scale.yaml")])


@pytest.fixture
def serving(folder) -> Iterator[Callable[..., tuple[subprocess.Popen[str], str]]]:
    """Start `isotope judge` on loopback: the process and the address that it prints."""
    started: list[subprocess.Popen[str]] = []

    def start(assessor: str, port: int = 0) -> tuple[subprocess.Popen[str], str]:
        server, address = judge(folder, "--assessor", assessor, "--port", str(port))
        started.append(server)
        return server, address

    yield start
    for server in started:
        if server.poll() is None:
            end(server, signal.SIGKILL)


def judge(folder: Path, *options: str) -> tuple[subprocess.Popen[str], str]:
    """Start `isotope judge` in a process group of its own; return it and the address it prints."""
    command = [forkserver.stand_in("isotope"), "judge", "toy", *options]
    pipe = subprocess.PIPE
    server = subprocess.Popen(command, cwd=folder, stdout=pipe, text=True, process_group=0)
    assert server.stdout is not None
    address = re.search(r"http://127\.0\.0\.1:\d+/", server.stdout.readline())
    assert address
    return server, address[0]


def end(server: subprocess.Popen[str], how: signal.Signals) -> str:
    """Send a signal to the group of the server; return what it printed when it has ended."""
    os.killpg(server.pid, how)
    return server.communicate(timeout=WAIT_S)[0]


def grades_of(assessor: str) -> dict[GradedPair, int | None]:
    path = Path(f"judgements/toy/{assessor}.jsonl")
    return (
        {line.item: line.grade for _, line in current_lines(path, PAIRS)} if path.exists() else {}
    )


def counts(page: Page, words: str) -> None:
    page.locator("#counts", has_text=words).wait_for()


def test_in_a_browser_no_grade_is_lost_when_the_server_is_killed(serving, chromium):
    server, address = serving("ann")
    port = int(address.rstrip("/").rpartition(":")[2])
    page = chromium.open(address)
    counts(page, "0 of 7 pairs, query 1 of 3")
    first, second, _ = (query.pairs for query in sit("ann").items.queries)
    # Typed ahead: what follows n is meant for the next query.
    for key in "20nj3":
        page.keyboard.press(key)
    counts(page, "3 of 7 pairs, query 2 of 3")
    expected = {first[0]: 2, first[1]: 0, second[1]: 3}
    assert (grades_of("ann"), chromium.faults) == (expected, [])

    end(server, signal.SIGKILL)
    page.keyboard.press("1")
    page.locator("#state.trouble", has_text="1 not saved yet").wait_for()
    assert page.get_by_text("not saved yet", exact=True).count() == 1
    assert grades_of("ann") == expected
    with Path("judgements/toy/ann.jsonl").open("ab") as file:
        file.write(b'{"task": "t2m", "query_id": "t1", "doc_')
    assert serving("ann", port)[1] == address
    counts(page, "4 of 7")
    assert grades_of("ann") == {**expected, second[2]: 1}
    assert Path("judgements/toy/ann.torn").read_bytes().startswith(b'{"task": "t2m"')


def test_in_a_browser_judging_goes_on_after_a_restart_and_ends_as_graded_qrels(
    folder, serving, chromium
):
    server, address = serving("ann")
    page = chromium.open(address)
    counts(page, "0 of 7 pairs, query 1 of 3")
    for key in "31n2":
        page.keyboard.press(key)
    counts(page, "3 of 7 pairs, query 2 of 3")
    end(server, signal.SIGKILL)
    server, _ = serving("ann", int(address.rstrip("/").rpartition(":")[2]))
    # Questions that were on their way when the server died are faults that must be.
    page.goto("about:blank")
    chromium.faults.clear()
    page.goto(address)
    counts(page, "3 of 7 pairs, query 2 of 3")
    pressed = page.locator("button[aria-pressed=true]")
    assert pressed.evaluate_all("buttons => buttons.map((b) => b.value)") == ["2"]
    for key in "00n11":
        page.keyboard.press(key)
    page.locator("#state", has_text="All pairs are graded").wait_for()
    for left in (6, 5):
        page.keyboard.press("u")
        counts(page, f"{left} of 7")
    assert sorted(map(str, grades_of("ann").values())) == ["0", "0", "1", "2", "3"]
    assert chromium.faults == []
    assert all(url.startswith(address) for url in chromium.requests)
    summary = "2 of 3 queries judged; 5 of 7 pairs graded by ann in judgements/toy/ann.jsonl"
    assert summary in end(server, signal.SIGINT)
    check_scores(folder, grades_of("ann"))


def check_scores(folder: Path, expected: dict[GradedPair, int | None]) -> None:
    """What the browser has left is a sheet like any other, and its grades are graded qrels."""
    runs = [folder / f"toy/small/test/{task}/one.parquet" for task in POOLED]
    columns = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    for path, queries in zip(runs, POOLED.values(), strict=True):
        rows = [(q, d, -float(n)) for q, docs in queries.items() for n, d in enumerate(docs)]
        write_run(ranked(pl.DataFrame(rows, schema=columns, orient="row")), path)
    names = ["graded", "scores", "reuse", "tau", "agreement"]
    files: dict[str, Any] = {
        "pool": Path("results/score/toy/pool.parquet"),
        "qrels": Path("data/collect/toy/qrels.parquet"),
        "sheets": [Path(p) for p in sheet_paths("toy")],
        "runs": runs,
    }
    outputs = {name: Path(f"out/{name}.parquet") for name in names}
    score_judged(**files, outputs=outputs, collection="toy", measures=["MAP"])
    graded = pl.read_parquet("out/graded.parquet").filter(pl.col("grades") > 0)
    graded_rows = graded.select("task", "query_id", "doc_id", "relevance").rows()
    assert {GradedPair(*row[:3]): row[3] for row in graded_rows} == expected


def test_two_tabs_of_one_assessor_do_not_clobber_each_other(folder, hosted, chromium):
    address, other_address = (hosted(app.pool_app(sit(name), LABELS)) for name in ("ann", "bob"))
    first_tab, second_tab = chromium.open(address), chromium.open(address)
    for page in (first_tab, second_tab):
        counts(page, "0 of 7")
    pairs = sit("ann").items.queries[0].pairs
    first_tab.keyboard.press("2")
    counts(first_tab, "1 of 7")
    # The second tab has not looked since, so its grade is not what it seemed to be.
    second_tab.evaluate("give(0), null")
    second_tab.locator("#state.trouble", has_text="Another page has graded this 2").wait_for()
    assert grades_of("ann") == {pairs[0]: 2}
    second_tab.keyboard.press("0")
    second_tab.locator("#state:not(.trouble)").wait_for(state="attached")
    until(second_tab, "outbox.length === 0")
    assert grades_of("ann") == {pairs[0]: 0}
    third = chromium.open(other_address)
    counts(third, "0 of 7")
    third.evaluate(f"goTo(view.candidates.findIndex((c) => c.doc_id === '{pairs[0].doc_id}'))")
    third.keyboard.press("0")
    third.locator("#agreement", has_text="ann: Cohen's kappa undefined").wait_for()
    assert (grades_of("ann"), grades_of("bob")) == ({pairs[0]: 0}, {pairs[0]: 0})


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_a_telephone_and_is_worked_by_touch(folder, hosted, chromium, width):
    page = chromium.open(hosted(app.pool_app(sit("ann"), LABELS)), width=width)
    for query in range(3):
        counts(page, f"query {query + 1} of 3")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.locator(".candidate").last.get_by_role("button", name=re.compile("^1")).click()
        counts(page, f"{query + 1} of 7")
        page.locator("[data-key=l]").click()
    assert list(grades_of("ann").values()) == [1, 1, 1]
    page.keyboard.press("ArrowLeft")
    counts(page, "query 2 of 3")
    assert page.get_by_text("An <b>a</b>").count() == 1
    assert page.get_by_text("no picture was kept").count() == 1
    assert chromium.faults == []
