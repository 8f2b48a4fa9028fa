"""Language links of Wikimedia's dumps come out as their pages have them, and damage is named."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotope.core.errors import CorruptFile, MissingFile, TruncatedFile
from isotope.parse.langlinks import read_langlinks

# The head and the rows are written as mysqldump writes them, by the definition of the table on
# mediawiki.org; the titles are those of real pages.
HEAD = """-- MySQL dump 10.19  Distrib 10.3.38-MariaDB, for debian-linux-gnu (x86_64)
DROP TABLE IF EXISTS `langlinks`;
CREATE TABLE `langlinks` (
  `ll_from` int(8) unsigned NOT NULL DEFAULT 0,
  `ll_lang` varbinary(35) NOT NULL DEFAULT '',
  `ll_title` varbinary(255) NOT NULL DEFAULT '',
  PRIMARY KEY (`ll_from`,`ll_lang`)
) ENGINE=InnoDB DEFAULT CHARSET=binary ROW_FORMAT=COMPRESSED;
LOCK TABLES `langlinks` WRITE;
"""
STATEMENTS = [
    r"INSERT INTO `langlinks` VALUES (1073,'de','Ray Charles'),(1073,'zh-min-nan','Ray Charles'),"
    r"(4402,'fr','L\'Amour (film, 2004)');",
    r"INSERT INTO `langlinks` VALUES (4402,'ru','«Любовь»; (\"кино\"),'),(9,'en','AC\\DC');",
]
LINKS = [
    (1073, "de", "Ray Charles"),
    (1073, "zh-min-nan", "Ray Charles"),
    (4402, "fr", "L'Amour (film, 2004)"),
    (4402, "ru", '«Любовь»; ("кино"),'),
    (9, "en", r"AC\DC"),
]


def written(folder: Path, *statements: str, name: str = "enwiki-20230101-langlinks.sql.gz") -> Path:
    path, text = folder / name, HEAD + "".join(f"{line}\n" for line in statements)
    raw = text.encode()
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path


@pytest.mark.parametrize("name", ["enwiki-20230101-langlinks.sql.gz", "langlinks.sql"])
def test_every_link_is_read_in_order_with_its_quotes_and_brackets(tmp_path, name):
    assert list(read_langlinks(written(tmp_path, *STATEMENTS, name=name))) == LINKS


@given(
    links=st.lists(
        st.tuples(
            st.integers(0, 10**9),
            st.sampled_from(["de", "be-x-old", "zh-classical"]),
            st.text(st.characters(blacklist_characters="_", blacklist_categories=["Cs"])),
        ),
        min_size=1,
    )
)
def test_any_title_comes_back_as_it_went_in(tmp_path_factory, links):
    signs = str.maketrans(
        {"\\": r"\\", "'": r"\'", '"': r"\"", "\n": r"\n", "\r": r"\r", "\0": r"\0", "\x1a": r"\Z"}
    )
    rows = ",".join(f"({page},'{code}','{title.translate(signs)}')" for page, code, title in links)
    path = written(tmp_path_factory.mktemp("sql"), f"INSERT INTO `langlinks` VALUES {rows};")
    assert list(read_langlinks(path)) == links


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("INSERT INTO `langlinks` VALUES (1,'de','A'),(2,'de');", r":10: no row .*\(2,'de'\);"),
        ("INSERT INTO `langlinks` VALUES (1,'de','A')x,(2,'de','B');", r":10: no row"),
        ("INSERT INTO `langlinks` VALUES (1,'de','A');(2,'de','B');", r":10: no row"),
        ("INSERT INTO `iwlinks` VALUES (1,'de','A');", "no rows of the table `langlinks`"),
    ],
)
def test_a_row_of_another_form_is_an_error_with_its_line(tmp_path, statement, found):
    with pytest.raises(CorruptFile, match=found):
        list(read_langlinks(written(tmp_path, statement)))


def test_data_that_break_off_are_named_so(tmp_path):
    with pytest.raises(TruncatedFile, match="a statement without its end"):
        list(read_langlinks(written(tmp_path, STATEMENTS[0][:-1].rstrip(";") + ",")))
    whole = written(tmp_path, *STATEMENTS)
    whole.write_bytes(whole.read_bytes()[:-20])
    with pytest.raises(CorruptFile, match=r"not a whole \.gz file: Compressed file ended"):
        list(read_langlinks(whole))


def test_what_is_no_archive_or_not_there_is_named_so(tmp_path):
    (tmp_path / "a.sql.gz").write_text("<html>404</html>")
    with pytest.raises(CorruptFile, match=r"not a whole \.gz file"):
        list(read_langlinks(tmp_path / "a.sql.gz"))
    with pytest.raises(MissingFile, match="no such file"):
        list(read_langlinks(tmp_path / "b.sql.gz"))
