"""The page's server: what it answers, what it stores, and whom it refuses."""

import http.client
import io
import json
import socket
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from starlette.testclient import TestClient
from tests import foreign
from workflow.plugins.isotope_judge.tests.hosting import hosting
from workflow.plugins.isotope_suggest.tests.ask.fake_engine import SECTIONS, Town, painting

from isotope.core.errors import BadParams, CorruptFile, MissingFile
from isotope_judge.ledger import Ledger
from isotope_judge.suggestions import FORM, Suggestion, open_ledger, pasted, read_verdicts
from isotope_suggest.ask.answers import Answer, AnswerList, SectionAnswer
from isotope_suggest.ask.app import PICTURE_BYTES, RETRY_S, TEXT_BYTES, app, serve
from isotope_suggest.ask.workers import Workers

ADDRESS = "http://localhost"
ORIGIN = {"Origin": ADDRESS}
OCTETS = {**ORIGIN, "Content-Type": "application/octet-stream"}
GOOD = {"verdict": "good", "reason": None}
ICON = {"verdict": "bad", "reason": "icon"}
# Nested deeper, and longer, than Python reads; cut short; nothing; no UTF-8; half a character.
UNREADABLE = [
    *(b"[" * 16_000, b'{"a":' * 3_000, b"9" * 5_000),
    *(b'{"text": "', b"", b"\xff\xfe{", b'{"text": "\\ud800"}'),
]
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"


@pytest.fixture
def client(town, folder) -> TestClient:
    return TestClient(app(town, open_ledger("town", "ann", folder)), ADDRESS)


def verdict(**changes: object) -> dict[str, object]:
    """What the page posts."""
    pair = {"text_id": "s0", "image_id": "i0", "grade": GOOD, "expected": None}
    return {**pair, "assessor": "ann", "collection": "town", **changes}


def give(client: TestClient, **changes: object) -> Any:
    return client.post("/api/verdict", json=verdict(**changes), headers=ORIGIN)


def ask(client: TestClient, text: str) -> Any:
    return client.post("/api/pictures", json={"text": text}, headers=ORIGIN)


def test_a_text_gets_pictures_with_what_an_author_needs(client, town):
    body = ask(client, "a red lighthouse").json()
    assert town.texts == ["a red lighthouse"]
    assert body["text_id"] == pasted("a red lighthouse")
    first = body["answers"][0]
    assert first["caption"] == "The red lighthouse at the mouth of the harbour, seen from the ferry"
    assert first["chance"].replace("\u00a0", " ") == "97 %, very likely"
    assert first["pages"] == ["Fanal", "List of lighthouses"]
    assert first["reasons"][1] == "used by the German article"
    assert first["credit"].startswith("Ann Example, CC BY-SA 4.0, https://commons")
    assert first["wikitext"].startswith("[[File:Fanal light.jpg|thumb|The red lighthouse")
    assert first["grade"] is None
    with Image.open(io.BytesIO(client.get(first["thumbnail"]).content)) as picture:
        assert picture.format == "WEBP"


def test_notes_on_the_text_come_with_the_answers(client):
    assert ask(client, "étranger").json()["notes"] == ["Few of these words are in a caption."]


def test_a_section_comes_with_its_words_and_pictures(client):
    body = client.get("/api/section", params={"id": "s1"}).json()
    assert (body["section"]["page_title"], body["section"]["section_title"]) == SECTIONS[1][1:]
    assert body["text_id"] == "s1"
    assert len(body["answers"]) == 4


def test_a_picture_that_is_brought_gets_sections_and_nothing_can_be_said_of_them(client, town):
    picture = painting("red")
    for kind in ("application/octet-stream", "image/webp", "image/x-anything"):
        headers = {**ORIGIN, "Content-Type": kind}
        body = client.post("/api/sections", content=picture, headers=headers).json()
        assert [section["page_title"] for section in body["sections"]] == [
            "Fanal",
            "Fanal",
            "Merle Abbey",
        ]
        assert {section["item"]["image_id"] for section in body["sections"]} == {""}
    assert town.dropped == [picture] * 3


def test_a_picture_of_the_collection_gets_sections(client):
    give(client, text_id="s1", image_id="i1")
    body = client.get("/api/picture", params={"id": "i1"}).json()
    assert body["picture"]["caption"] == "Fishing boats in 1912"
    assert [section["grade"] for section in body["sections"]] == [None, GOOD, None]


def test_open_sections_are_searched_and_turned_over_without_a_gap(client):
    first = client.get("/api/unillustrated").json()
    assert (len(first["sections"]), first["after"]) == (50, SECTIONS[49][0])
    second = client.get("/api/unillustrated", params={"after": first["after"]}).json()
    assert second["after"] is None
    ids = [section["text_id"] for page in (first, second) for section in page["sections"]]
    assert ids == [text_id for text_id, _, _ in SECTIONS]
    body = client.get("/api/unillustrated", params={"search": "abbey"}).json()
    assert [section["page_title"] for section in body["sections"]] == ["Merle Abbey"]


def test_a_verdict_is_stored_as_a_judgement_and_comes_back(client, folder):
    assert give(client).json() == {"grade": GOOD}
    assert give(client, image_id="i1", grade=ICON).json() == {"grade": ICON}
    rows = read_verdicts([folder / "town/suggestions/ann.jsonl"])
    assert rows.select("text_id", "image_id", "verdict", "reason", "assessor").rows() == [
        ("s0", "i0", "good", None, "ann"),
        ("s0", "i1", "bad", "icon", "ann"),
    ]
    answers = client.get("/api/section", params={"id": "s0"}).json()["answers"]
    assert [answer["grade"] for answer in answers] == [GOOD, ICON, None, None]


def test_a_verdict_is_taken_back(client, folder):
    give(client)
    assert give(client, grade=None, expected=GOOD).json() == {"grade": None}
    assert read_verdicts([folder / "town/suggestions/ann.jsonl"]).is_empty()
    assert client.get("/api/verdicts", params={"text": "s0"}).json() == {"grades": {}}


@pytest.mark.parametrize(
    "reason", ["already there", "icon", "wrong subject", "low quality", "offensive", "other"]
)
def test_every_reason_of_a_rejection_is_stored(client, folder, reason):
    grade = {"verdict": "offensive" if reason == "offensive" else "bad", "reason": reason}
    assert give(client, grade=grade).json() == {"grade": grade}
    assert read_verdicts([folder / "town/suggestions/ann.jsonl"])["reason"].to_list() == [reason]


def test_the_second_of_two_tabs_hears_what_the_first_has_said(client, town, folder):
    give(client)
    other = TestClient(app(town, open_ledger("town", "ann", folder)), ADDRESS)
    assert give(other, grade=ICON).json() == {"grade": GOOD}
    assert give(other, grade=ICON, expected=GOOD).json() == {"grade": ICON}
    assert client.get("/api/verdicts", params={"text": "s0"}).json()["grades"] == {"i0": ICON}
    assert client.get("/api/verdicts", params={"picture": "i0"}).json()["grades"] == {"s0": ICON}


def test_a_verdict_on_a_pasted_text_is_stored_under_its_digest(client, folder):
    text_id = ask(client, "a red lighthouse").json()["text_id"]
    assert give(client, text_id=text_id).json() == {"grade": GOOD}
    assert ask(client, "a red lighthouse").json()["answers"][0]["grade"] == GOOD
    assert ask(client, "a red lighthouse!").json()["answers"][0]["grade"] is None
    assert "lighthouse" not in (folder / "town/suggestions/ann.jsonl").read_text("utf-8")


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"text_id": "s999"}, 422),
        ({"image_id": "i999"}, 422),
        ({"text_id": "../s0"}, 422),
        ({"text_id": "text:abc"}, 422),
        ({"text_id": ""}, 422),
        ({"image_id": ""}, 422),
        ({"grade": "good"}, 422),
        ({"grade": {"verdict": "good", "reason": "icon"}}, 422),
        ({"grade": {"verdict": "bad", "reason": "ugly"}}, 422),
        ({"grade": {"verdict": "bad", "reason": None}}, 422),
        ({"grade": {"verdict": "okay", "reason": None}}, 422),
        ({"expected": "good"}, 422),
        ({"assessor": "bob"}, 409),
        ({"collection": "toy"}, 409),
    ],
)
def test_what_is_no_verdict_of_this_page_is_refused_and_nothing_is_written(
    client, folder, changes, status
):
    refused = give(client, **changes)
    assert (refused.status_code, bool(refused.json()["error"])) == (status, True)
    for content in (b"[]", b"{}"):
        headers = {**ORIGIN, "Content-Type": "application/json"}
        assert client.post("/api/verdict", content=content, headers=headers).status_code == 422
    assert not folder.exists()


POSTS = ["/api/pictures", "/api/sections", "/api/verdict"]


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("headers", foreign.posts(ORIGIN))
def test_a_post_from_another_site_is_refused(client, town, folder, path, headers):
    content_type = "image/png" if path == "/api/sections" else "application/json"
    sent = client.post(
        path, content=json.dumps(verdict()), headers={"Content-Type": content_type, **headers}
    )
    assert sent.status_code == (400 if "Host" in headers else 403)
    assert (town.texts, town.dropped, folder.exists()) == ([], [], False)


def test_a_picture_is_taken_by_its_own_address_only(client):
    for path in ("/api/pictures", "/api/verdict"):
        assert client.post(path, content=b"x", headers=OCTETS).status_code == 403
    json_headers = {**ORIGIN, "Content-Type": "application/json"}
    assert client.post("/api/sections", content=b"{}", headers=json_headers).status_code == 403


@pytest.mark.parametrize("host", foreign.HOSTS)
def test_the_page_is_not_to_be_had_under_a_foreign_name(client, host):
    for path in ("/", "/api/unillustrated", "/thumbnail/i0"):
        refused = client.get(path, headers={"Host": host})
        assert (refused.status_code, "Fanal" in refused.text) == (400, False)


PATHS = [
    "/thumbnail/../../../etc/passwd",
    "/thumbnail/..%2f..%2f..%2fetc%2fpasswd",
    "/thumbnail//etc/passwd",
    "/thumbnail/%2fetc%2fpasswd",
    "/thumbnail/i0/..%2fi1",
    "/thumbnail/i0%00",
    "/thumbnail/",
    "/../ask.html.j2",
    "/ask.html.j2",
    "/..%2fjudge.js",
    "/report.js",
    "/api/section?id=../../etc/passwd",
    "/api/section?id=%00",
    "/api/picture?id=/etc/passwd",
]


def test_no_path_from_outside_leads_anywhere(town, folder):
    with hosting() as host:
        address = host(app(town, open_ledger("town", "ann", folder))).split("/")[2]
        # As it is: a client for people would make such a path a proper one.
        for path in PATHS:
            connection = http.client.HTTPConnection(address, timeout=10)
            connection.request("GET", path)
            answer = connection.getresponse()
            assert (path, answer.status, b"root:" in answer.read()) == (path, 404, False)
            connection.close()


def test_bodies_that_are_too_long_are_refused_unread(client, town):
    for path, most in (("/api/pictures", TEXT_BYTES), ("/api/verdict", 2**14)):
        headers = {**ORIGIN, "Content-Type": "application/json"}
        assert client.post(path, content=b" " * (most + 1), headers=headers).status_code == 413
    assert (
        client.post("/api/sections", content=bytes(100 * 10**6), headers=OCTETS).status_code == 413
    )
    most = client.post("/api/sections", content=bytes(PICTURE_BYTES), headers=OCTETS)
    assert (most.status_code, [len(picture) for picture in town.dropped]) == (422, [PICTURE_BYTES])


@pytest.mark.parametrize("content", [b"[]", b'"x"', b"{}", b'{"text": 1}'])
def test_what_is_no_text_is_refused(client, content):
    headers = {**ORIGIN, "Content-Type": "application/json"}
    answer = client.post("/api/pictures", content=content, headers=headers)
    assert (answer.status_code, answer.json()) == (422, {"error": "not a text"})


@pytest.mark.parametrize("path", ["/api/verdict", "/api/pictures"])
@pytest.mark.parametrize("content", UNREADABLE)
def test_json_that_cannot_be_read_is_400(client, path, content):
    headers = {**ORIGIN, "Content-Type": "application/json"}
    answer = client.post(path, content=content, headers=headers)
    assert (answer.status_code, list(answer.json())) == (400, ["error"])


class Bombed(Town):
    """Decodes for long."""

    def sections(self, picture: bytes | str, *, top: int = 10) -> AnswerList[SectionAnswer]:
        """Return places when `released`."""
        self.released.wait(30)
        return super().sections(picture, top=top)


def test_verdicts_are_taken_while_bombs_and_questions_wait(folder):
    town = Bombed()
    page = app(town, open_ledger("town", "ann", folder), workers=Workers(1, 1))
    octets = {"Content-Type": "application/octet-stream"}
    with hosting() as host, ThreadPoolExecutor(20) as askers:
        at = host(page).rstrip("/")
        bombs = [
            askers.submit(send, at, "/api/sections", painting("red"), octets) for _ in range(16)
        ]
        asked = [askers.submit(post, at, "wait") for _ in range(4)]
        # Two are at work in each queue, or wait; these are refused.
        until(lambda: sum(future.done() for future in [*bombs, *asked]) == 6 + 2)
        replies = [
            send(at, "/api/verdict", json.dumps(verdict(text_id=f"s{n}")).encode())[0]
            for n in range(40)
        ]
        town.released.set()
        statuses = [sorted(future.result()[0] for future in some) for some in (bombs, asked)]
    assert replies == [200] * 40
    assert statuses == [[200] * 10 + [503] * 6, [200] * 2 + [503] * 2]


def test_what_the_engine_refuses_is_a_sentence(client):
    empty = ask(client, "  ")
    assert (empty.status_code, empty.json()["error"]) == (
        422,
        "the text: it is empty; paste or type some",
    )
    bomb = client.post("/api/sections", content=b"\x89PNG bomb", headers=OCTETS)
    assert (bomb.status_code, bomb.json()["error"]) == (
        422,
        "the picture: no picture that can be decoded; choose another",
    )
    unknown = client.get("/api/section", params={"id": "s999"})
    assert (unknown.status_code, "no 's999'" in unknown.json()["error"]) == (404, True)
    assert client.get("/api/section").status_code == 422
    assert client.get("/thumbnail/i9").status_code == 404


def test_a_collection_without_vectors_says_what_to_run(client, town, monkeypatch):
    def without(*_: object, **__: object) -> None:
        raise MissingFile("data/encode/town", "no vectors of pictures", "run snakemake encode")

    monkeypatch.setattr(town, "sections", without)
    answer = client.post("/api/sections", content=painting("red"), headers=OCTETS)
    assert (answer.status_code, "run snakemake encode" in answer.json()["error"]) == (422, True)


def test_a_broken_file_under_the_page_is_named(client, folder):
    give(client)
    path = folder / "town/suggestions/ann.jsonl"
    path.write_bytes(path.read_bytes() + b"{}\n")
    answer = client.get("/api/section", params={"id": "s0"})
    assert (answer.status_code, f"{path}:2" in answer.json()["error"]) == (500, True)


def test_words_of_others_reach_the_page_as_json_only(client, town):
    town.pictured = [replace(answer, caption=HOSTILE, credit=HOSTILE) for answer in town.pictured]
    answer = ask(client, "x")
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.json()["answers"][0]["caption"] == HOSTILE


def test_names_of_collection_and_assessor_are_text_in_the_page(town, tmp_path):
    town.collection = HOSTILE
    page = TestClient(app(town, Ledger(tmp_path / "x.jsonl", HOSTILE, FORM)), ADDRESS).get("/")
    assert HOSTILE not in page.text
    assert page.text.count("&lt;script&gt;") >= 2


def test_the_page_has_nothing_from_elsewhere_and_may_load_nothing_from_there(client):
    page = client.get("/")
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["Cache-Control"] == "no-store"
    for name in ("", "report.css", "ask.css", "ask.js", "ask_cards.js", "judge.svg"):
        text = client.get(f"/{name}").text
        assert "http://" not in text.replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert "https://" not in text
        assert "innerHTML" not in text
    for reason in ("already there", "icon", "wrong subject", "low quality", "offensive", "other"):
        assert f"<li>{reason}</li>" in page.text


class Slow(Town):
    """Takes its time for each text, to be found out by others."""

    def pictures(
        self, text: str, *, top: int = 10, section: str | None = None
    ) -> AnswerList[Answer]:
        """Return nothing, once released."""
        self.texts.append(text)
        self.released.wait(20)
        return AnswerList()


@pytest.fixture
def crowded(folder) -> Iterator[tuple[Slow, str]]:
    """A server with a thread and room for one more question."""
    town = Slow()
    page = app(town, open_ledger("town", "ann", folder), workers=Workers(1, 1))
    with hosting() as host:
        yield town, host(page).rstrip("/")
        town.released.set()


def post(at: str, text: str, timeout: float = 20) -> tuple[int, Any, str | None]:
    """Ask for pictures; return status, content and when to come again."""
    return send(at, "/api/pictures", json.dumps({"text": text}).encode(), timeout=timeout)


def send(
    at: str, path: str, body: bytes, kind: dict[str, str] | None = None, timeout: float = 20
) -> tuple[int, Any, str | None]:
    """Post a body, JSON if nothing else is said; return as `post`."""
    connection = http.client.HTTPConnection(at.removeprefix("http://"), timeout=timeout)
    with closing(connection):
        headers = {"Origin": at, "Content-Type": "application/json", **(kind or {})}
        connection.request("POST", path, body, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read()), answer.headers["Retry-After"]


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_when_too_many_ask_at_once_the_next_is_told_when_to_come_again(crowded):
    town, at = crowded
    with ThreadPoolExecutor(4) as askers:
        asking = [askers.submit(post, at, str(n)) for n in range(4)]
        until(lambda: sum(future.done() for future in asking) == 2)
        # Who looks at what needs no answer is let in all the while.
        assert urllib.request.urlopen(f"{at}/thumbnail/i0").status == 200
        town.released.set()
        answers = [future.result() for future in asking]
    assert sorted(status for status, _, _ in answers) == [200, 200, 503, 503]
    refused = next(answer for answer in answers if answer[0] == 503)
    assert refused[2] == str(RETRY_S)
    assert "too many questions at once" in refused[1]["error"]


def test_a_text_whose_typist_has_typed_on_is_not_looked_for(crowded):
    town, at = crowded
    with ThreadPoolExecutor(1) as askers:
        first = askers.submit(post, at, "1")
        until(lambda: town.texts == ["1"])
        with pytest.raises(TimeoutError):
            post(at, "2", timeout=0.3)
        town.released.set()
        assert first.result()[0] == 200
    assert post(at, "3")[0] == 200
    assert town.texts == ["1", "3"]


def test_a_client_that_sends_slowly_or_leaves_blocks_nobody(crowded):
    town, at = crowded
    town.released.set()
    host, port = at.removeprefix("http://").split(":")
    slow = [socket.create_connection((host, int(port))) for _ in range(20)]
    for connection in slow:
        head = f"POST /api/sections HTTP/1.1\r\nHost: {host}:{port}\r\nOrigin: {at}\r\n"
        connection.sendall(f"{head}Content-Type: image/png\r\nContent-Length: 99\r\n\r\nx".encode())
    assert post(at, "1")[0] == 200
    for connection in slow:
        connection.close()
    assert post(at, "2")[0] == 200
    assert town.dropped == []


def test_it_serves_until_it_is_interrupted_and_says_what_was_judged(
    town, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    open_ledger("town", "ann").give(Suggestion("s0", "i0"), None, expected=None)
    monkeypatch.setattr("isotope_judge.guards.serve", lambda page, listening: listening.close())
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        summary = serve(town, "town", "ann", listening)
    assert summary == "0 suggestions judged by ann in judgements/town/suggestions/ann.jsonl\n"
    line = f"suggestions of town for ann: http://127.0.0.1:{port}/ (Ctrl-C ends)\n"
    assert capsys.readouterr().out == line


def test_a_bad_name_or_a_broken_file_of_verdicts_is_named_before_anything_is_served(
    town, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        with pytest.raises(BadParams, match="can't be the name of a file"):
            serve(town, "town", "../ann", listening)
        path = Path("judgements/town/suggestions/ann.jsonl")
        path.parent.mkdir(parents=True)
        path.write_text("{}\n")
        with pytest.raises(CorruptFile, match=r"ann\.jsonl:1"):
            serve(town, "town", "ann", listening)
