"""Live suggestions: what they find, that it is what the feed has, and what bad input gets."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from workflow.plugins.isotope_suggest.tests import suggest_live
from workflow.plugins.isotope_suggest.tests.suggest_live import FIELDS, NAME, about
from workflow.plugins.isotope_suggest.tests.suggest_world import word

from isotope.core import digests, errors, lucene
from isotope.core.fields import parts_of
from isotope.core.prepare import ATOMIC, in_order, prepared
from isotope_suggest.ask.engine import MOST_CHARACTERS, Engine, capped
from isotope_suggest.ask.lookup import PictureTable
from isotope_suggest.ask.sources import AskedCollection

OPEN = "text-0100"
UNFILTERED = "nothing is filtered: run the phase suggest, which describes the pictures"
UNCALIBRATED = "nothing is calibrated: run the phase suggest for probabilities"


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    return suggest_live.project(tmp_path_factory.mktemp("live"))


@pytest.fixture(scope="module")
def engine(root) -> Iterator[Engine]:
    loaded = Engine.load("world", suggest_live.params(), root)
    yield loaded
    loaded.close()


@pytest.fixture(scope="module")
def bare(tmp_path_factory) -> Iterator[Engine]:
    """A collection of which the phase suggest knows nothing, and that has no vectors."""
    folder = suggest_live.project(tmp_path_factory.mktemp("bare"), feed=False)
    loaded = Engine.load("world", suggest_live.params(dense=False), folder)
    yield loaded
    loaded.close()


def results(root: Path, name: str) -> pl.DataFrame:
    return pl.read_parquet(root / f"results/suggest/world/{name}.parquet")


def test_a_text_finds_the_picture_that_it_is_about_with_all_that_a_reader_needs(engine):
    answers = engine.pictures(about(5))
    first = answers[0]
    assert first.image_id == "image-0005"
    assert first.caption == f"a {word(5)} beside a {word(905)}"
    assert first.pages == [f"Page {word(5)}"]
    assert first.probability is not None
    assert first.probability > 0.5
    assert first.reasons == [
        f"matches: {word(5)}s, {word(905)}",
        f"like the picture of *Page {word(5)}*",
    ]
    assert first.credit == f"Painter {word(5)}, CC BY-SA 4.0, https://x.org/File:{word(5)}.jpg"
    assert (first.width, first.height, first.kind) == (640, 480, "text")
    assert answers.notes == []
    assert len(answers) <= 10


def test_answers_for_judged_sections_of_test_are_the_feeds_in_its_order_and_probability(
    engine, root
):
    scored = results(root, "scored").filter(pl.col("system") == "suggest")
    qrels = pl.read_parquet(root / "data/collect/world/qrels.parquet")
    sections = qrels.filter(pl.col("split") == "test")["text_id"].to_list()
    assert len(sections) == suggest_live.ROLES["test"]
    for text_id in sections:
        feed_rows = scored.filter(pl.col("text_id") == text_id).sort("rank")
        answers = engine.pictures_of_section(text_id)
        assert [a.image_id for a in answers] == feed_rows["image_id"].to_list()
        assert [a.probability for a in answers] == pytest.approx(feed_rows["probability"].to_list())
        assert [a.kind for a in answers] == feed_rows["kind"].to_list()


@pytest.mark.parametrize("system", ["bm25", "dense", "wikimedia"])
def test_other_systems_answer_as_they_do_in_the_feeds_tables(root, system):
    system_rows = results(root, "scored").filter(pl.col("system") == system)
    engine = Engine.load("world", suggest_live.params(), root, system=system)
    try:
        for text_id in ("text-0080", "text-0081", "text-0084"):
            expected = (
                system_rows.filter(pl.col("text_id") == text_id).sort("rank")["image_id"].to_list()
            )
            assert [a.image_id for a in engine.pictures_of_section(text_id)] == expected
    finally:
        engine.close()


def test_a_section_without_rows_of_candidates_is_searched_as_it_is_asked_for(root, engine):
    # Train sections and illustrated ones have none; here a table without any stands for these.
    path = root / "results/suggest/world/candidates.parquet"
    before = path.read_bytes()
    try:
        pl.read_parquet(path).clear().write_parquet(path)
        answers = engine.pictures_of_section(OPEN)
    finally:
        path.write_bytes(before)
    assert answers[0].image_id == "image-0100"


def test_candidates_that_were_found_before_a_source_was_known_are_answers_still(root, engine):
    path = root / "results/suggest/world/candidates.parquet"
    before, wanted = path.read_bytes(), engine.pictures_of_section("text-0081")
    rows = pl.read_parquet(path).drop("wikidata", "wikidata_on", "is_named")
    try:
        rows.write_parquet(path)
        answers = engine.pictures_of_section("text-0081")
    finally:
        path.write_bytes(before)
    assert [(a.image_id, a.probability) for a in answers] == [
        (a.image_id, a.probability) for a in wanted
    ]
    assert answers


def test_what_is_on_the_page_is_no_answer_for_its_section_and_one_for_a_text(engine, root):
    # Page 3's own picture is judged, so hidden; shown elsewhere on the page it is no answer.
    placed = root / "data/parse/world/pictures.parquet"
    before = placed.read_bytes()
    rows = pl.read_parquet(placed)
    shown = rows.filter(pl.col("page_id") == 3).with_columns(
        page_id=pl.lit(100, pl.Int64), file=pl.lit(f"{word(100).title()}.jpg")
    )
    try:
        pl.concat([rows, shown]).write_parquet(placed)
        other = Engine.load("world", suggest_live.params(), root)
        answers = other.pictures_of_section(OPEN)
    finally:
        placed.write_bytes(before)
    try:
        assert "image-0100" not in [a.image_id for a in answers]
        assert "image-0100" in [a.image_id for a in other.pictures(about(100))]
        named = other.pictures(about(100), section=OPEN)
        assert "image-0100" not in [a.image_id for a in named]
    finally:
        other.close()


def test_the_words_of_a_section_are_those_that_the_search_reads(root):
    table = root / f"data/collect/{NAME}/texts.parquet"
    read = lucene.contents("texts", table, language="en", fields=FIELDS, prepare=ATOMIC)
    rows = pl.read_parquet(table).sort("text_id").iter_rows(named=True)
    texts = [prepared(parts_of(row, in_order(FIELDS, ATOMIC))) for row in rows]
    assert texts == read["contents"].to_list()


def test_a_text_that_somebody_writes_is_prepared_as_the_captions_are(bare):
    in_brackets = bare.pictures(f"{word(5)} ({word(7)})")
    assert [answer.image_id for answer in in_brackets] == ["image-0005"]
    both = bare.pictures(f"{word(5)} {word(7)}")
    assert {"image-0005", "image-0007"} <= {answer.image_id for answer in both}


def test_a_picture_finds_its_section_by_id_by_url_and_by_its_files_page(engine):
    names = ["image-0101", "https://upload.x.org/Fomiba.jpg", "https://x.org/File:fomiba.jpg"]
    assert word(101) == "fomiba"
    for name in names:
        first = engine.sections(name)[0]
        assert (first.text_id, first.is_open) == ("text-0101", True)
        assert first.text == f"It has {word(101)}s and a {word(1001)} of old."
        assert first.reasons == [f"matches: {word(101)}s, {word(1001)}"]


def test_a_pair_of_the_feed_has_its_probability(engine, root):
    row = results(root, "feed").row(0, named=True)
    places = engine.sections(row["image_id"])
    [section] = [section for section in places if section.text_id == row["text_id"]]
    assert section.probability == row["probability"]


def test_a_picture_from_outside_finds_sections_by_its_vector(engine):
    sections = engine.sections(suggest_live.webp(3), top=4)
    assert len(sections) == 4
    assert all(section.probability is None for section in sections)


def test_sections_that_lack_a_picture_come_likeliest_first_with_the_feeds_count(engine, root):
    feed = results(root, "feed")
    sections = engine.unillustrated()
    assert [p.text_id for p in sections][:10] == [f"text-{n:04}" for n in range(100, 110)]
    [note] = sections.notes
    assert note.startswith(
        f"{len(sections)} sections without a picture; 10 of them ought to have one"
    )
    for section in sections:
        count = len(feed.filter(pl.col("text_id") == section.text_id))
        some = [f"{count} sure suggestion{'' if count == 1 else 's'}"]
        assert section.reasons == (some if count else [])
        assert section.is_open


def test_they_are_paged_and_searched(engine):
    remaining = engine.unillustrated(after="text-0106", most=2)
    assert [p.text_id for p in remaining] == ["text-0107", "text-0108"]
    sections = engine.unillustrated(search=f"PAGE {word(104)}")
    assert [p.text_id for p in sections] == ["text-0104"]
    assert engine.unillustrated(search="no such page") == []
    with pytest.raises(errors.UnknownId, match="not in the list"):
        engine.unillustrated(after="text-0001")


def test_a_thumbnail_is_a_webp_and_one_that_is_not_there_is_named(engine):
    assert engine.thumbnail("image-0001")[8:12] == b"WEBP"
    with pytest.raises(errors.UnknownId, match="no such picture"):
        engine.thumbnail("../../etc/passwd")


def test_a_section_and_a_picture_are_shown_alone(engine):
    assert engine.section(OPEN).page_title == f"Page {word(100)}"
    assert engine.picture("image-0002").caption == f"a {word(2)} beside a {word(902)}"
    for unknown in (engine.section, engine.picture, engine.pictures_of_section, engine.sections):
        with pytest.raises(errors.UnknownId, match="no such"):
            unknown("nobody")


@pytest.mark.parametrize("text", ["", "  \n\t", "— … !"])
def test_a_text_without_words_is_refused(engine, text):
    with pytest.raises(errors.BadQuery, match="the text: it has no words; give the text of a sect"):
        engine.pictures(text)


def test_a_long_text_is_cut_with_a_note(engine):
    words, [note] = capped(f"{about(7)} " + "old " * 6_000)
    assert len(words) == MOST_CHARACTERS
    assert note == "the first 20,000 of 24,037 characters are read"
    answers = engine.pictures(f"{about(7)} " + "old " * 6_000)
    assert note in answers.notes
    assert "image-0007" in [a.image_id for a in answers]


def test_a_text_of_another_language_is_answered_with_a_note(engine):
    [note] = engine.pictures("\u041c\u0430\u044f\u043a \u0441\u0442\u043e\u0438\u0442").notes
    assert note == "the text is written in Cyrillic letters, the captions (English) in Latin"


def test_a_collection_without_vectors_answers_texts_by_words_and_says_so(bare):
    answers = bare.pictures(about(5))
    assert answers[0].image_id == "image-0005"
    assert answers[0].probability is None
    assert answers[0].credit == "author unknown, licence unknown, file page unknown"
    assert answers.notes == [
        "the collection has no vectors: pictures are found by the words of their captions alone",
        UNFILTERED,
        UNCALIBRATED,
    ]


def test_without_vectors_a_picture_from_outside_gets_what_to_run(bare):
    with pytest.raises(errors.MissingFile, match=r"no vectors, by which pictures.*phase encode"):
        bare.sections(suggest_live.webp(3))


def test_without_vectors_a_picture_of_the_collection_is_found_by_its_captions(bare):
    sections = bare.sections("image-0003")
    assert sections[0].text_id == "text-0003"
    assert sections.notes == [
        "no vectors: sections are found by the words of the captions alone",
    ]


def test_before_the_phase_suggest_ran_no_section_is_listed(bare):
    with pytest.raises(errors.MissingFile, match="run `snakemake --cores all suggest`"):
        bare.unillustrated()


def test_who_does_not_wait_for_the_model_is_answered_by_words(root, monkeypatch):
    from isotope_suggest.ask.dense import DenseVectors  # noqa: PLC0415 (beside its use)

    monkeypatch.setattr(DenseVectors, "is_ready", False)
    engine = Engine.load("world", suggest_live.params(), root, patient=False)
    try:
        answers = engine.pictures(about(5))
    finally:
        engine.close()
    assert answers[0].image_id == "image-0005"
    assert answers.notes == [
        "the model is being loaded: pictures are found by the words of their captions alone until "
        "then"
    ]


def test_what_nobody_learned_is_ranked_without_probabilities(root):
    path = root / "results/suggest/world/calibration.json"
    before = path.read_text()
    try:
        path.write_text(json.dumps({**json.loads(before), "weights": None, "why": "too few"}))
        engine = Engine.load("world", suggest_live.params(), root)
    finally:
        path.write_text(before)
    try:
        answers = engine.pictures(about(5))
    finally:
        engine.close()
    assert (answers[0].image_id, answers[0].probability) == ("image-0005", None)
    assert answers.notes == ["nothing is calibrated: too few"]


def test_a_large_collections_pictures_are_written_once_and_mapped(root, tmp_path, monkeypatch):
    from isotope_suggest.ask import lookup  # noqa: PLC0415 (beside its use)
    from isotope_suggest.ask.sources import AskedCollection  # noqa: PLC0415

    sources = AskedCollection.locate("world", suggest_live.params(), root)
    small = PictureTable.load(sources, tmp_path)
    assert not [*tmp_path.iterdir()]
    monkeypatch.setattr(lookup, "_SMALL", 0)
    for _ in range(2):
        large = PictureTable.load(sources, tmp_path)
        assert large.frame.equals(small.frame)
        assert dict(large.words.counts) == dict(small.words.counts)
    assert len([*tmp_path.iterdir()]) == 1


@pytest.mark.parametrize(
    ("collection", "system", "error", "message"),
    [
        ("worl", None, errors.BadParams, "no collection 'worl'; did you mean 'world'"),
        ("other", None, errors.MissingFile, "the collection is not built"),
        ("world", "google", errors.BadArgument, "choose one of suggest, wikimedia, bm25, dense"),
    ],
)
def test_a_collection_or_system_that_is_none_is_named(root, collection, system, error, message):
    world = {"kind": "wikipedia", "source": "world", "language": "en"}
    both = {"world": world, "other": world}
    with pytest.raises(error, match=message):
        Engine.load(collection, suggest_live.params(collect=both), root, system=system)


def test_wikimedias_system_reads_no_text(root):
    engine = Engine.load("world", suggest_live.params(), root, system="wikimedia")
    try:
        with pytest.raises(errors.BadArgument, match="wikimedia reads no text"):
            engine.pictures("a lighthouse")
    finally:
        engine.close()


def test_a_collection_that_nothing_searches_is_named(root, tmp_path):
    search = {**suggest_live.params().search.spec(), "systems": ["random"]}
    changed = suggest_live.params(systems={"random": {"kind": "random"}}, search=search)
    with pytest.raises(errors.MissingFile, match="neither an index of BM25 nor vectors"):
        Engine.load("world", changed, root)


def test_a_calibration_that_is_none_is_named(root):
    path = root / "results/suggest/world/calibration.json"
    before = path.read_text()
    try:
        path.write_text("[]")
        with pytest.raises(errors.CorruptFile, match="no calibration"):
            Engine.load("world", suggest_live.params(), root)
    finally:
        path.write_text(before)


@pytest.mark.parametrize(
    "name", ["texts", "images", "qrels", "vector_ids", "placed", "calibration"]
)
def test_a_table_with_a_turned_bit_is_refused_before_it_is_asked(root, monkeypatch, name):
    monkeypatch.chdir(root)
    sources = AskedCollection.locate("world", suggest_live.params())
    paths = {
        **{"texts": sources.texts, "images": sources.images, "qrels": sources.qrels},
        "vector_ids": next(iter(sources.vector_ids("images"))),
        "placed": next(iter(sources.placed), sources.texts),
        "calibration": sources.results / "calibration.json",
    }
    path = paths[name]
    before = path.read_bytes()
    digests.write(path)
    try:
        path.write_bytes(bytes([before[0] ^ 1]) + before[1:])
        with pytest.raises(errors.ChecksumMismatch, match=path.name):
            Engine.load("world", suggest_live.params())
    finally:
        path.write_bytes(before)
        digests.forget(path)


def test_words_alone_answer_without_torch(root):
    program = (
        "import sys; sys.path.insert(0, sys.argv[2]);"
        "from pathlib import Path;"
        "from workflow.plugins.isotope_suggest.tests import suggest_live as live;"
        "from isotope_suggest.ask.engine import Engine;"
        "e = Engine.load('world', live.params(), Path(sys.argv[1]), system='bm25');"
        "assert e.pictures(live.about(5))[0].image_id == 'image-0005'; e.close();"
        "assert not {'torch', 'open_clip', 'transformers', 'sklearn'} & {*sys.modules}"
    )
    repository = Path(__file__).parents[5]
    command = [sys.executable, "-W", "error", "-c", program, str(root), str(repository)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
