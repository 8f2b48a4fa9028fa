"""`isotope init`: what it guesses of data in many forms, what it counts, writes and prints."""

import gzip
import io
import json
import re
import tarfile
import zipfile
from pathlib import Path
from unicodedata import normalize

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from PIL import Image
from tests import own_data
from tests.pairs import built

from isotope.cli import commands as main
from isotope.cli import new
from isotope.cli.guess import GuessedColumn, guess
from isotope.cli.languages import spoken
from isotope.cli.overlay import name_of
from isotope.core import extras
from isotope.core.schemas import UNKNOWN
from isotope.params import files
from isotope.parse.forms import forms
from isotope.parse.forms.base import FILE, ROW

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/init.md").read_text("utf-8")


def png(shade: int = 0) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (4, 3), (shade, 0, 0)).save(out, "PNG")
    return out.getvalue()


def written(path: Path, data) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(data, list):
        data = "\n".join(map(json.dumps, data))
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """The folder of an experiment, in which commands run."""
    monkeypatch.chdir(tmp_path)
    new.complete(tmp_path)
    return tmp_path


@pytest.fixture
def init(place, capsys):
    """Run `isotope init --json`; return what it prints, once isotope has read the overlay."""

    def run(*words, status=0):
        assert main.main(["init", *map(str, words), "--json"]) == status
        out, err = capsys.readouterr()
        if status:
            return err
        said = json.loads(out)
        overlay = Path(said["output"])
        assert yaml.safe_load(overlay.read_text("utf-8")) == said["overlay"]
        # What isotope itself says of the overlay: every key, name and reference is right.
        params = files.load([place / overlay], [], root=ROOT)
        assert params.collect[said["name"]].kind == "pairs"
        return said

    return run


def entry(said) -> dict:
    return said["overlay"]["collect"][said["name"]]


def fence(language: str) -> str:
    [block] = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    return block


def test_the_page_shows_what_is_printed_and_written(place, capsys):
    written(place / "captions.csv", fence("csv"))
    for name in "abd":
        written(place / f"pictures/{name}.png", png())
    [line] = fence("sh").splitlines()
    assert main.main(line.split()[1:]) == 0
    assert capsys.readouterr().out == fence("text")
    overlay = place / "params/captions.yaml"
    assert "".join(overlay.read_text().splitlines(keepends=True)[2:]) == fence("yaml")
    assert overlay.read_text().startswith("# captions.csv as a collection")


def test_a_folder_that_is_no_experiment_becomes_one_and_what_lies_there_stays(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "captions.csv", fence("csv"))
    for name in "abd":
        written(tmp_path / f"pictures/{name}.png", png())
    (tmp_path / ".gitignore").write_text("/drafts/\n")
    assert main.main(["init", "captions.csv"]) == 0
    lacking = [name for name in new.FILES if name != ".gitignore"]
    assert f"\nMade this folder an experiment: {', '.join(lacking)}.\n" in capsys.readouterr().out
    assert (tmp_path / ".gitignore").read_text() == "/drafts/\n"
    for name in lacking:
        assert (tmp_path / name).read_bytes() == new.template(name)
    assert files.load([Path("params/captions.yaml")], []).collect["captions"].kind == "pairs"


def test_where_nothing_builds_the_line_that_installs_it_comes_first(place, monkeypatch, capsys):
    written(place / "captions.csv", fence("csv"))
    for name in "abd":
        written(place / f"pictures/{name}.png", png())
    monkeypatch.setattr(extras, "is_installed", lambda module: module != "snakemake")
    assert main.main(["init", "captions.csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    installing = lines.index("  pip install 'isotope-ir[all]'    # what builds is not installed")
    assert lines[installing + 1].startswith("  snakemake ")


def test_what_init_has_made_is_told_once(tmp_path, init):
    (tmp_path / "Snakefile").unlink()
    written(tmp_path / "captions.csv", fence("csv"))
    assert init("captions.csv")["experiment"] == ["Snakefile"]
    assert init("captions.csv", "--force")["experiment"] == []


def test_a_table_that_can_t_be_read_makes_no_experiment(tmp_path, init):
    (tmp_path / "Snakefile").unlink()
    written(tmp_path / "captions.csv", "a,b\n1,2\n")
    assert init("captions.csv", status=1).startswith("MissingColumn")
    assert not (tmp_path / "Snakefile").exists()


def test_the_page_lists_every_form_and_every_option():
    rows = dict(re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| (.*) \|$", PAGE, re.MULTILINE))
    listed = {name for names in rows for name in re.findall(r"`(\w+)`", names)}
    options = {name for form in forms().values() for name in form.options}
    assert {*forms()} | options == listed - {"TABLE"}
    for form in forms().values():
        for name, sentence in form.options.items():
            assert sentence in PAGE, name


# Guesses by names, types and values


def columns(**values) -> list[GuessedColumn]:
    return [GuessedColumn(name, pa.array(each).type, each) for name, each in values.items()]


@pytest.mark.parametrize(
    ("table", "roles"),
    [
        (
            {"file": ["a.jpg", "b.jpg"], "caption_2": ["x", None], "caption_10": ["y", "z"]},
            {"image": ["file"], "text": ["caption_2", "caption_10"]},
        ),
        (
            {"id": [1, 2], "url": ["http://h/a?w=1", "http://h/b"], "alt": ["A dog", "A sea"]},
            {"image": ["url"], "text": ["alt"], "text_id": ["id"]},
        ),
        (
            {"img_path": ["x/a.PNG"], "title": ["Dogs"], "description": ["All about dogs."]},
            {"image": ["img_path"], "text": ["description"], "title": ["title"]},
        ),
        (
            {"image": ["a.jpg"], "grade": [2], "lang": ["pt-BR"], "year": [1907], "tags": [["a"]]},
            {
                "image": ["image"],
                **{"relevance": ["grade"], "language": ["lang"], "date": ["year"]},
                "objects": ["tags"],
            },
        ),
        # Values speak against a name: a fold that is a number, a language that is a sentence.
        (
            {"image": ["a.jpg"], "text": ["A"], "fold": [3], "language": ["in English"]},
            {"image": ["image"], "text": ["text"]},
        ),
        # A sentence that no name announces.
        (
            {"a": ["x.webp"], "b": ["Leica"], "c": ["Three dogs on a hill."]},
            {"image": ["a"], "text": ["c"]},
        ),
        ({"image": [None], "text": ["A dog"]}, {"text": ["text"]}),
    ],
)
def test_roles_are_guessed_by_name_type_and_values(table, roles):
    assert guess(columns(**table)) == roles


def test_a_column_that_names_pictures_that_are_there_is_the_image():
    table = columns(code=["k1", "k2"], thumbnail=["x.jpg", "y.jpg"], text=["A", "B"])
    assert guess(table)["image"] == ["thumbnail"]
    assert guess(table, {"k1", "k2"}.__contains__)["image"] == ["code"]


@pytest.mark.parametrize(
    ("table", "roles"),
    [
        # A name of the picture and its tags, in the order in which emoji sets have them.
        (
            {
                **{"file": ["1.png", "2.png"], "label": ["grinning face", "cat"]},
                **{"tags": ["face; grin; smile", "cat; pet"], "group": ["Faces all", "Faces all"]},
            },
            {"image": ["file"], "text": ["label"], "objects": ["tags"]},
        ),
        (
            {"file": ["1.png", "2.png"], "keywords": ["a, b, c", "d, e"], "name": ["ox", "cat"]},
            {"image": ["file"], "text": ["name"], "objects": ["keywords"]},
        ),
        # Tags of two hands, some of one word each, beside the annotation that is the text.
        (
            {
                **{"file": ["1.png", "2.png"], "annotation": ["red heart", "wolf"]},
                **{"tags": ["heart, love", "face, wild"], "set_tags": ["love, adore", "animals"]},
            },
            {"image": ["file"], "text": ["annotation"], "objects": ["tags"]},
        ),
        (
            {
                **{"file": ["1.png", "2.png"], "meaning": ["red heart", "grey wolf"]},
                **{"set_tags": ["love and more love", "many kinds of animals"]},
            },
            {"image": ["file"], "text": ["meaning"]},
        ),
        ({"file": ["1.png"], "tags": ["a dog; a cat"]}, {"image": ["file"], "text": ["tags"]}),
        (
            {
                **{"id": ["7"], "f": ["1.png"], "en": ["dog"], "de": ["Hund"], "pt-BR": ["cão"]},
                "title": ["Dogs"],
            },
            {
                **{"image": ["f"], "text": ["en", "de", "pt-BR"], "text_id": ["id"]},
                "title": ["title"],
            },
        ),
        # Captions of two languages, several of each, as Multi30k's second task has them.
        (
            {
                **{"f": ["1.png"], "en_1": ["dog"], "en_2": ["dogs"], "de_1": ["Hund"]},
                **{"de_2": ["Hunde"]},
            },
            {"image": ["f"], "text": ["en_1", "en_2", "de_1", "de_2"]},
        ),
        (
            {"f": ["1.png"], "caption_en": ["dog"], "caption_de": ["Hund"], "text_id": ["7"]},
            {"image": ["f"], "text": ["caption_en", "caption_de"], "text_id": ["text_id"]},
        ),
        # One slip among many values, which a run sets aside, does not cost the role.
        (
            {
                **{"f": ["1.png"] * 3, "text": ["a", "b", "c"], "fold": ["train", "test", "tset"]},
                **{"day": ["1907", "1908", "?"], "grade": ["1", "2", "often"]},
            },
            {
                **{"image": ["f"], "split": ["fold"], "text": ["text"]},
                **{"relevance": ["grade"], "date": ["day"]},
            },
        ),
    ],
)
def test_columns_of_real_tables_are_guessed(table, roles):
    assert guess(columns(**table)) == roles


def test_a_role_that_is_known_takes_no_other_column():
    table = columns(f=["1.png"], a=["A dog"], title=["Dogs"])
    assert guess(table, settled=["text"]) == {"image": ["f"], "title": ["title"]}


SENTENCES = {
    "nl": "Een man zit op een bank in het park en leest de krant. Een vrouw staat voor het huis.",
    "it": "Un uomo è seduto su una panchina nel parco e legge il giornale che è della sua donna.",
    "pt": "Um homem está sentado em um banco no parque e lê o jornal que é da sua mulher, não.",
    "sv": "En man sitter på en bänk i parken och läser tidningen. En kvinna är vid bron, och det",
    "ru": "Мужчина сидит на скамейке в парке и читает газету. Женщина в пальто стоит, и ей не",
    "fi": "Mies istuu penkillä ja lukee lehteä. Nainen, jolla on takki, on talon edessä ja hän",
    "ja": "ベンチに座っている男",
    "ko": "공원 벤치에 앉아 신문을 읽는 남자",
    "el": "Ένας άντρας κάθεται στο πάρκο",
    "gu": "બાગમાં બેઠેલો માણસ",
    "zh": "坐在长椅上的男人",
}


@pytest.mark.parametrize(("code", "sentence"), SENTENCES.items())
def test_a_language_is_told_by_script_and_commonest_words(code, sentence):
    assert spoken([sentence, sentence]) == code


def test_too_little_says_nothing_of_its_language():
    assert spoken([]) is None
    assert spoken(["grinning face", "red apple"] * 50) is None
    assert spoken(["one two"]) is None


def test_captions_in_many_languages_are_told_or_nothing_is_said(shared):
    known = 0
    for path in sorted((shared / "collections/xm3600").glob("captions_*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            texts = [json.loads(line)["caption"] for line in file]
        code = path.name.removeprefix("captions_").partition(".")[0]
        told = [spoken(texts[n : n + 100]) for n in range(0, len(texts), 100)]
        # Those in Quechua have English sentences among them.
        unknown = UNKNOWN if code in ("ar", "fa", "hi", "ru", "uk") else None
        assert {*told} <= {code, unknown, *(["en"] if code == "quz" else [])}
        known += spoken(texts) == code
    assert known >= 7


# What a run will leave out, and what systems of words have to go by


def test_what_a_run_will_leave_out_is_named_with_its_first_place(init, place, capsys):
    own_data.dirty(place)
    said = init("dirty.csv", "--pictures", "photos")
    assert said["columns"]["split"] == ["split"]
    assert said["pairs"] == {"train": 4, "validation": 3, "test": 3}
    assert {each["reason"]: each["times"] for each in said["aside"]} == {
        **{"repeated_pair": 2, "bad_date": 1, "bad_relevance": 1, "no_text": 1},
        **{"unknown_split": 1, "unreadable": 1, "missing_picture": 1},
    }
    assert said["unused"]["columns"] == {"licence note": "empty"}
    assert main.main(["init", "dirty.csv", "--pictures", "photos", "--force"]) == 0
    printed = capsys.readouterr().out
    assert "1: a split of an unknown name; the first is dirty.csv:7 (trian)" in printed
    assert "1: a picture that is not there; the first is dirty.csv:2 (00.jpg)" in printed
    assert "(its pair stays); the first is dirty.csv:9 (08/04/2021)" in printed
    assert "not used: licence note (empty)" in printed


def test_what_init_rehearses_is_what_a_run_sets_aside(init, place, tmp_path):
    own_data.dirty(place)
    said = init("dirty.csv", "--pictures", "photos")
    made = built(tmp_path, entry(said))
    reasons = {each["reason"]: each["times"] for each in said["aside"]}
    assert made.reasons() == reasons


def test_a_file_that_is_there_and_no_picture_is_told_from_one_that_is_missing(
    init, place, capsys, tmp_path
):
    contents = {
        **{"a.png": png(), "b.avif": b"\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf"},
        **{"c.jpg": b"<html>moved</html>", "d.svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>"},
        # Another form than the name says, none, and the nearest of two of one name.
        **{"f.gif": png(2), "g": png(3), "x/h.png": b"", "y/h.png": png(4)},
    }
    for name, content in contents.items():
        written(place / "photos" / name, content)
    names = [*contents, "e.avif", "i.png"]
    rows = [[name, f"A dog runs, {n}"] for n, name in enumerate(names)]
    own_data.table(place / "t.csv", ["image", "text"], rows)
    said = init("t.csv", "--pictures", "photos")
    undecodable = {"b.avif": "not_an_image", "c.jpg": "not_an_image", "d.svg": "svg"}
    assert said["counts"]["undecodable"] == undecodable | {"x/h.png": "not_an_image"}
    assert said["counts"]["missing"] == ["e.avif", "i.png"]
    made = built(tmp_path, entry(said))
    assert made.reasons() == {each["reason"]: each["times"] for each in said["aside"]}
    assert main.main(["init", "t.csv", "--pictures", "photos", "--force"]) == 0
    printed = capsys.readouterr().out
    assert "10 pictures, 4 in photos, 2 missing: e.avif, i.png, 4 there, but no picture" in printed
    assert "3: a file that is there, but of no format that is read as a picture" in printed
    assert "2: a picture that is not there; the first is t.csv:10 (e.avif)" in printed


def test_a_column_that_is_not_used_is_named_with_why(init, place, capsys):
    table = "image,text,width,my note,fold,day\na.png,A dog,3,x,1,03/04/2021\n"
    said = init(written(place / "a.csv", table))
    assert {*said["unused"]["columns"]} == {"width", "my note"}
    assert said["unused"]["refused"] == {"fold": "split", "day": "date"}
    assert main.main(["init", "a.csv", "--force"]) == 0
    printed = capsys.readouterr().out
    assert "fold looks like the split, but few of its values are: train, validation" in printed
    assert "not used: width (the collection has a column of this name" in printed


def test_columns_in_several_languages_have_a_language_each(init, place):
    said = init(own_data.figures(place))
    own = entry(said)
    assert own["columns"]["text"] == ["en", "de", "fr"]
    assert own["languages"] == {"en": "en", "de": "de", "fr": "fr"}
    assert own["language"] == "mul"


def test_the_language_of_texts_is_found_and_may_be_said(init, place):
    rows = [[f"{n}.png", SENTENCES["nl"]] for n in range(3)]
    table = own_data.table(place / "a.csv", ["image", "text"], rows)
    assert entry(init(table))["language"] == "nl"
    said = init(table, "--language", "af", "--force")
    assert entry(said)["language"] == "af"
    said = init(table, "--language", "mul", "text=nl", "--force")
    assert (entry(said)["language"], entry(said)["languages"]) == ("mul", {"text": "nl"})
    assert "'caption' is no column of texts" in init(
        table, "--language", "caption=nl", "--force", status=1
    )
    assert "give a code such as de" in init(table, "--language", "Dutch", "--force", status=1)


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (("красная собака", "синее море"), UNKNOWN),
        (("كلب أحمر", "بحر أزرق", "canon eos"), UNKNOWN),
        (("लाल कुत्ता", "नीला समुद्र"), UNKNOWN),
        (("κόκκινος σκύλος", "γαλάζια θάλασσα"), "el"),
        (("红色的狗", "蓝色的海 (canon)"), "zh"),
        (("כלב אדום", "ים כחול"), "he"),
        (("a red dog", "a blue sea (море)"), None),
    ],
)
def test_texts_in_a_script_that_is_not_latin_are_not_taken_for_english(
    init, place, capsys, texts, language
):
    rows = [[f"{n}.png", text] for n, text in enumerate(texts)]
    table = own_data.table(place / "a.csv", ["image", "caption"], rows)
    assert entry(init(table)).get("language") == language
    main.main(["init", str(table), "--force"])
    [line] = re.findall("^language: .*$", capsys.readouterr().out, re.MULTILINE)
    assert ("taken for English" in line) == (language is None)
    assert ("unknown (und)" in line) == (language == UNKNOWN)
    assert ("say it by --language CODE" in line) == (language in (None, UNKNOWN))
    assert entry(init(table, "--language", "uk", "--force"))["language"] == "uk"


def test_a_column_of_unknown_language_beside_another_is_named(init, place, capsys):
    rows = [[f"{n}.png", SENTENCES["nl"], "красная собака"] for n in range(3)]
    table = own_data.table(place / "a.csv", ["image", "text_1", "text_2"], rows)
    assert entry(init(table))["languages"] == {"text_1": "nl", "text_2": UNKNOWN}
    main.main(["init", str(table), "--force"])
    assert "und is unknown: say it by --language COLUMN=CODE" in capsys.readouterr().out


def test_several_columns_between_commas_are_answered_with_how_to_say_it(init, place):
    table = written(place / "a.csv", "image,a,b\nx.png,One two,Three\n")
    said = init(table, "--columns", "text=a,b", status=1)
    assert "no column 'a,b'; of several columns say text=a text=b" in said


def test_texts_of_a_role_that_is_said_do_not_take_the_title(init, place):
    table = written(place / "a.csv", "image,a,b,c,title\nx.png,One,Two,Three,Numbers\n")
    said = init(table, "--columns", "text=a", "text=b", "text=c")
    assert said["columns"]["text"] == ["a", "b", "c"]
    assert said["columns"]["title"] == ["title"]


def test_bm25_is_proposed_only_where_pictures_have_words(init, place):
    def systems(said) -> list[str]:
        return said["overlay"]["search"]["systems"]

    said = init(own_data.emoji(place), "--pictures", "png")
    assert (said["words"], entry(said)["columns"]["caption"]) == ("objects", "tags")
    assert systems(said) == ["random", "bm25", "hash"]
    said = init(own_data.multi30k(place))
    assert (said["words"], entry(said)["texts"]) == ("first", "first")
    assert systems(said) == ["random", "bm25", "hash"]
    said = init(own_data.figures(place))
    assert (said["words"], systems(said)) == ("", ["random", "hash"])
    assert said["overlay"]["tabulate"]["system"] == "hash"
    overlay = Path(said["output"]).read_text()
    assert "# bm25 is left out: no column has words" in overlay
    said = init(written(place / "a.csv", "image,text\nx.png,One two\n"))
    assert (systems(said), said["overlay"]["tabulate"]["system"]) == (["random"], "random")
    overlay = (place / "params/a.yaml").read_text()
    assert "# Only random is run, which is chance: no picture is read, and no column" in overlay


@pytest.mark.parametrize("role", ["objects", "caption"])
def test_words_that_no_text_has_do_not_stand_for_pictures_and_are_named(init, place, role):
    rows = ["x.png,One dog,cat;pet", "y.png,A cat,dog;pet", "z.png,A bird,"]
    table = written(place / "a.csv", "".join(f"{row}\n" for row in ["image,text,tags", *rows]))
    chosen = ("--columns", f"{role}=tags")
    said = init(table, *chosen)
    assert (said["words"], said["overlay"]["search"]["systems"]) == ("", ["random"])
    assert entry(said)["columns"].get("caption") == ("tags" if role == "caption" else None)
    overlay = " ".join((place / "params/a.yaml").read_text().replace("#", "").split())
    assert "no picture is read, and no text has a word of tags." in overlay
    written(place / "a.csv", (place / "a.csv").read_text() + "u.png,My Cat,cat\n")
    said = init(table, *chosen, "--force")
    assert said["overlay"]["search"]["systems"] == ["random", "bm25", "hash"]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        # Two captions of each language: in columns, and in rows.
        ("image,en_1,en_2,de_1,de_2\nx.png,A dog,Dogs,Ein Hund,Hunde\n", "first"),
        (
            "image,lang,text\n"
            + "".join(f"x.png,{c},{c} {n}\n" for c in ("en", "de") for n in "12"),
            "first",
        ),
        # One of each: no word of a language meets another's.
        ("image,en,de\nx.png,A dog,Ein Hund\n", ""),
        ("image,lang,text\n" + "".join(f"x.png,{c},{c}\n" for c in ("en", "de", "fr")), ""),
    ],
)
def test_texts_stand_for_a_picture_where_it_has_several_of_one_language(init, place, table, words):
    said = init(written(place / "a.csv", table))
    assert (said["words"], said["languages"]["language"]) == (words, "mul")
    overlay = (place / "params/a.yaml").read_text()
    assert ("a picture's first text of each language is a query" in " ".join(overlay.split())) == (
        words == "first"
    )


# Forms


def test_columns_that_are_equal_in_all_rows_of_a_picture_travel_with_it(init, place):
    rows = [
        {"image": f"{n % 2}.png", "text": f"T{n}", "camera": f"c{n % 2}", "author": f"a{n}"}
        for n in range(4)
    ]
    said = init(written(place / "a.jsonl", rows))
    assert entry(said)["keep"] == {"image": ["camera"], "text": ["author"]}


def test_what_is_wrong_is_counted(init, place):
    table = "image,text,id,split\na.png,A,1,train\na.png,B,1,test\nb.png,,3,test\n,C,4,test\nlone\n"
    written(place / "pictures/a.png", png())
    counts = init(written(place / "a.csv", table), "--columns", "text_id=id")["counts"]
    assert counts["rows"] == 5
    assert counts["unreadable"] == 1
    assert (counts["without_picture"], counts["without_text"]) == (1, 0)
    assert (counts["pictures"], counts["pictures_found"], counts["missing"]) == (2, 1, ["b.png"])
    assert counts["repeated_text_ids"] == 1
    assert counts["captions"] == [0, 1.0, 2]
    assert counts["splits"] == {"train": 1, "test": 3}
    assert counts["mixed_splits"] == 1


def test_pictures_are_found_in_a_folder_an_archive_and_beside_the_table(init, place):
    table = written(place / "a.csv", "image,text\nx/a.jpg,A dog\nb.jpg,A sea\n")
    with zipfile.ZipFile(place / "p.zip", "w") as archive:
        archive.writestr("train/a.png", png())
    with tarfile.open(place / "p.tar", "w") as archive:
        for name in ("a.jpg", "b.jpg"):
            archive.addfile(tarfile.TarInfo(name))
    assert init(table, "--pictures", "p.zip")["counts"]["missing"] == ["b.jpg"]
    assert init(table, "--pictures", "p.tar", "--force")["counts"]["missing"] == []
    written(place / "images/x/a.jpg", png())
    said = init("a.csv", "--force")
    assert entry(said)["pictures"] == "images"
    assert said["counts"]["missing"] == ["b.jpg"]


def test_names_of_other_systems_are_those_of_the_pictures(init, place, tmp_path):
    """macOS writes é in two parts, Windows parts folders by a backslash, and paths are absolute."""
    for n, name in enumerate(("é.png", "한.png", "x/a.png", "y/a.png")):
        written(place / "photos" / normalize("NFD", name), png(n))
    names = [*(normalize("NFC", n) for n in ("é.png", "한.png")), r"C:\me\x\a.png", "/at/y/a.png"]
    own_data.table(place / "t.csv", ["image", "text"], [[n, f"Dog {n}"] for n in names])
    said = init("t.csv", "--pictures", "photos")
    assert said["counts"]["missing"] == []
    made = built(tmp_path, entry(said))
    assert made.reasons() == {}
    shown = {text: normalize("NFC", url) for text, url in made.urls()}
    assert shown == {
        f"Dog {name}": normalize("NFC", path)
        for name, path in zip(names, ("é.png", "한.png", "x/a.png", "y/a.png"), strict=True)
    }


def test_pictures_beside_are_found_in_either_form_and_by_paths_from_the_root(init, place):
    written(place / "fotos" / normalize("NFD", "é.png"), png())
    written(place / "far/off/a.png", png())
    own_data.table(place / "t.csv", ["image", "text"], [[normalize("NFC", "é.png"), "A dog"]])
    assert entry(init("t.csv"))["pictures"] == "fotos"
    own_data.table(place / "u.csv", ["image", "text"], [[place / "far/off/a.png", "A dog"]])
    said = init("u.csv")
    assert entry(said)["pictures"] == str(place / "far/off")
    assert said["counts"]["missing"] == []


def test_data_in_the_folder_of_the_experiment_are_not_what_isotope_keeps_there(init, place):
    with tarfile.open(place / "a.tar", "w") as archive:
        for name, data in (("1.png", png()), ("1.txt", b"A dog."), ("1.alt.txt", b"A red dog.")):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    for words in (["."], [place, "--force"]):
        said = init(*words, "--name", "mine")
        assert said["form"] == "webdataset"
        assert said["columns"]["text"] == ["text"]
        assert said["columns"]["caption"] == ["alt"]


def test_a_table_in_another_language_is_understood_by_what_is_in_it(init, place):
    rows = [f"foto {n}.jpg;Un cuadro rojo con {n} casas;es;{s}" for n, s in enumerate(("train",
        "val", "test"))]  # fmt: skip
    head = "Archivo;Descripción;Idioma;Partición"
    written(place / "leyendas.csv", "\n".join([head, *rows, ""]))
    for n in range(3):
        written(place / f"fotografías/foto {n}.jpg", png())
    said = init("leyendas.csv")
    assert entry(said)["pictures"] == "fotografías"
    assert entry(said)["columns"] == {
        **{"image": "Archivo", "text": "Descripción"},
        **{"split": "Partición", "language": "Idioma"},
    }
    assert said["counts"]["splits"] == {"train": 1, "validation": 1, "test": 1}
    assert said["counts"]["missing"] == []


@pytest.mark.parametrize(
    ("head", "language"),
    [("Sprache", True), ("LANGUE", True), ("язык", True), ("言語", True), ("país", False)],
)
def test_a_column_of_codes_is_a_language_where_it_is_called_so(init, place, head, language):
    written(place / "pictures/a.png", png())
    table = written(place / "t.csv", f"image,text,{head}\na.png,Eine Burg am See,de\n")
    assert (entry(init(table))["columns"].get("language") == head) is language


@pytest.mark.parametrize("values", [("test", "test"), ("train", "other"), ("yes", "no")])
def test_a_column_of_other_words_than_two_splits_is_none(init, place, values):
    rows = "".join(f"{n}.png,A dog in place {n},{value}\n" for n, value in enumerate(values))
    table = written(place / "t.csv", f"image,text,part\n{rows}")
    written(place / "pictures/0.png", png())
    assert "split" not in entry(init(table))["columns"]


def image_folder(place: Path, form: str) -> Path:
    """An imagefolder of three splits, with equal names of pictures in subfolders of each."""
    for shade, split in enumerate(("train", "validation", "test")):
        rows = [
            {"file_name": f"{kind}/1.png", "text": f"{kind} of {split}"}
            for kind in ("cats", "dogs")
        ]
        for n, row in enumerate(rows):
            written(place / "set" / split / row["file_name"], png(shade * 9 + n))
        table = place / "set" / split / f"metadata.{form}"
        if form == "parquet":
            pq.write_table(pa.Table.from_pylist(rows), table)
        elif form == "jsonl":
            written(table, rows)
        else:
            own_data.table(table, [*rows[0]], [[*row.values()] for row in rows])
    written(place / "set/README.md", "# A card")
    return place / "set"


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_an_imagefolder_has_the_splits_of_its_folders(form, init, place, tmp_path):
    said = init(image_folder(place, form))
    assert said["form"] == "imagefolder"
    assert said["pairs"] == {"train": 2, "validation": 2, "test": 2}
    assert (said["aside"], said["counts"]["pictures_found"]) == ([], 6)
    assert said["overlay"]["search"]["splits"] == ["validation", "test"]
    pairs = built(tmp_path, entry(said)).table("qrels")
    assert dict(pairs["split"].value_counts().rows()) == {"train": 2, "validation": 2, "test": 2}


@pytest.mark.parametrize("form", ["imagefolder", "folder"])
def test_files_within_the_data_that_are_no_pictures_are_told_too(form, init, place, tmp_path):
    contents = {"a.png": png(), "b.jpg": b"<html>", "c.avif": b"\0\0\0\x1cftypavif"}
    lost = {"b.jpg": "not_an_image"}
    for name, content in contents.items():
        written(place / "set" / name, content)
    if form == "folder":
        for name in "ab":
            written(place / f"set/{name}.txt", f"A dog, {name}")
    else:
        rows = [{"file_name": name, "text": f"A dog, {name}"} for name in (*contents, "d.png")]
        written(place / "set/metadata.jsonl", rows)
        lost["c.avif"] = "not_an_image"
    said = init("set")
    assert said["form"] == form
    assert said["counts"]["undecodable"] == lost
    assert said["counts"]["missing"] == (["d.png"] if form == "imagefolder" else [])
    made = built(tmp_path, entry(said))
    assert made.reasons() == {each["reason"]: each["times"] for each in said["aside"]}


def test_a_split_of_a_path_is_that_of_a_folder_or_a_table_and_of_no_picture(init, place):
    for split in ("training", "val"):
        written(place / f"beside/{split}/a.png", png())
        written(place / f"beside/{split}/a.txt", f"A dog in {split}")
        written(place / f"tables/{split}.csv", f"image,text\n{split}.png,A dog in {split}\n")
        written(place / f"globbed/{split}/rows.jsonl", [{"image": f"{split}.png", "text": "A dog"}])
        written(place / f"named/{split}.png", png())
        written(place / f"named/{split}.txt", "A dog")
        written(place / f"said/{split}.csv", f"image,text,fold\n{split}.png,A dog,test\n")
    splits = {"train": 1, "validation": 1}
    assert init("beside")["counts"]["splits"] == splits
    assert init("tables")["counts"]["splits"] == splits
    assert init("globbed/*/rows.jsonl")["counts"]["splits"] == splits
    assert init("named")["counts"]["splits"] == {}
    assert init("said")["counts"]["splits"] == {"test": 2}
    # One table alone is called as it is for any reason.
    assert init("tables/val.csv")["counts"]["splits"] == {}


def test_an_imagefolder_whose_table_names_no_picture_says_which_column_it_needs(init, place):
    written(place / "set/a.png", png())
    written(place / "set/metadata.csv", "image,text\na.png,A dog\n")
    assert "name the pictures in `file_name`" in init("set", status=1)
    written(place / "set/x/metadata.jsonl", [{"file_name": "a.png", "text": "A dog"}])
    assert "tables of several formats: metadata.csv, metadata.jsonl" in init("set", status=1)


def test_urls_are_downloaded_and_pictures_in_the_data_need_no_place(init, place):
    said = init(written(place / "u.tsv", "url\tcaption\nhttp://h/a.jpg\tA dog\n"))
    assert entry(said)["pictures"] == "urls"
    table = pa.table({"picture": [png(n) for n in range(3)], "caption": ["A", "B", "C"]})
    pq.write_table(table, place / "b.parquet")
    said = init("b.parquet")
    assert "pictures" not in entry(said)
    assert entry(said)["columns"] == {"image": "picture", "text": "caption"}
    assert said["counts"]["pictures_found"] == 3


def test_names_of_pictures_that_are_nowhere_are_read_without_pixels(init, place):
    table = written(place / "a.csv", 'image,text,tags\nx.png,One,"[{}]"\n')
    said = init(table)
    assert entry(said)["pictures"] == "none"
    assert entry(said)["columns"] == {"image": "image", "text": "text"}
    assert said["overlay"]["models"]["hash"]["images"] == "captions"
    assert main.main(["init", str(table), "--force"]) == 0


def test_a_first_line_that_is_a_row_and_quotes_of_a_tsv_are_noticed(init, place):
    said = init(written(place / "a.tsv", '1.png\t"One\ttwo"\n2.png\tThree four five\n'))
    assert entry(said)["options"] == {"header": False, "quote": '"'}
    assert said["rows"][0]["text"] == "One\ttwo"
    assert entry(said)["columns"] == {"image": "column_1", "text": "column_2"}


def test_what_a_form_says_itself_is_left_out(init, place):
    said = init(written(place / "x.token", "a.jpg#0\tA dog .\na.jpg#1\tA hound .\n"))
    assert entry(said) == {
        **{"kind": "pairs", "data": str(place / "x.token"), "pictures": "none"},
        **{"texts": "first", "splits": {"test": 1.0}},
    }


def test_a_beir_folder_of_words_reads_no_picture(init, place):
    written(place / "set/corpus.jsonl", [{"_id": "d", "title": "Dogs", "text": "bark."}])
    written(place / "set/queries.jsonl", [{"_id": "q", "text": "who barks?"}])
    written(place / "set/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq\td\t1\n")
    said = init("set")
    assert said["form"] == "beir"
    assert entry(said) == {"kind": "pairs", "data": "set", "pictures": "none"}
    assert said["overlay"]["models"]["hash"]["images"] == "captions"
    assert said["overlay"]["search"]["splits"] == ["test"]


def test_without_a_split_to_search_in_shares_are_proposed(init, place):
    rows = [{"image": f"{n}.png", "text": "A", "split": "train"} for n in range(100)]
    said = init(written(place / "a.jsonl", rows))
    assert entry(said)["splits"] == {"validation": 0.1, "test": 0.1}
    assert "split" not in entry(said)["columns"]
    said = init(written(place / "b.jsonl", rows[:99]))
    assert entry(said)["splits"] == {"test": 1.0}


def test_wrong_guesses_are_mended_and_columns_keep_their_order(init, place):
    table = written(place / "a.csv", "image,b,a,title\nx.png,One,Two,Three\n")
    said = init(table, "--columns", "text=b", "text=a", "title=title")
    assert entry(said)["columns"] == {"image": "image", "text": ["b", "a"], "title": "title"}


def test_a_file_that_is_there_is_replaced_only_by_force(init, place):
    table = written(place / "a.csv", "image,text\nx.png,One\n")
    kept = written(place / "params/a.yaml", "mine")
    assert "params/a.yaml is there; name another file, or add --force" in init(table, status=1)
    assert kept.read_text() == "mine"
    assert init(table, "--force")["name"] == "a"
    assert init(table, "--name", "b-1", "--output", "x/y.yaml")["output"] == "x/y.yaml"


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("d/Flickr8k.token.txt", "flickr8k"),
        ("My Photos/", "my-photos"),
        ("captions_*.jsonl.gz", "captions"),
        ("ir_datasets:beir/scifact", "scifact"),
        ("???", "mine"),
    ],
)
def test_a_collection_is_called_as_its_data(table, name):
    assert name_of(table) == name


# Real collections


def test_real_collections_are_understood(init, shared):
    here = shared / "collections"
    coco = init(here / "coco-mini/captions_val2017.json", "--pictures", here / "coco-mini/images")
    assert coco["form"] == "coco"
    assert coco["counts"]["captions"] == [5, 5.0, 5]
    assert (coco["counts"]["pictures"], coco["counts"]["missing"]) == (79, [])
    oven = here / "oven-gallery"
    said = init(oven / "gallery.jsonl", "--pictures", oven / "images")
    assert said["columns"] == {"image": ["image"], "text": ["question"]}
    assert entry(init(oven / "gallery.jsonl", "--force"))["pictures"] == str(oven / "images")
    topics = here / "atomic/topics.atomic.validation.image-caption.jsonl.gz"
    said = init(topics, "--columns", "image_id=id")
    assert said["columns"] == {"image_id": ["id"], "text": ["title"]}
    assert said["counts"]["rows"] == 16_131
    pictures = here / "ticrc/dev-0/pictures"
    ticrc = here / "ticrc/dev-0/in.tsv"
    assert "no column of column_1, column_2 looks like the text" in init(
        ticrc, "--pictures", pictures, status=1
    )
    said = init(here / "xm3600/captions_sw.jsonl.gz")
    assert said["columns"] == {
        **{"image_id": ["image_id"], "text": ["caption"]},
        **{"language": ["language"], "objects": ["synsets"]},
    }
    assert entry(said)["pictures"] == "none"


def test_rows_are_located_by_columns_that_no_guess_takes(init, place):
    said = init(written(place / "a.csv", "file,row,caption\na.png,3,A dog\n"))
    assert not {FILE, ROW} & {name for names in said["columns"].values() for name in names}
    assert said["rows"][0]["row"] == "a.csv:2"
