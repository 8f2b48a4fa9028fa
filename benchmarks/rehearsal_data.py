"""The snapshot of the rehearsal: dumps and WIT of an invented English wiki, in the published forms.

    python benchmarks/rehearsal_data.py FOLDER [SHARE]

FOLDER gets `dump/`, multistream files with their indexes as Wikimedia cuts a large wiki
(https://meta.wikimedia.org/wiki/Data_dumps/Dump_format#Multistream_dumps), and `wit/`, shards of
WIT's three splits (https://github.com/google-research-datasets/wit/blob/main/DATA.md). SHARE is the
part of the rehearsal's full size, which is a twentieth of enwiki. A part of the pages is made by
one process from its number alone; its files appear when complete, and what is there is left alone.
"""

import csv
import gzip
import io
import json
import multiprocessing
import os
import random
import sys
import time
from collections.abc import Generator, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import numpy as np
from corpus import Corpus
from numpy.typing import NDArray

from isotope.core import store
from isotope.core.uploads import upload_url
from isotope.schemas.acquire import WIT_COLUMNS
from isotope_toy.dump import Multistream, WikiPage

SEED = 17
# A twentieth of enwiki's 50 million sections and 6.6 million articles.
PAGES = 334_000
PARTS, FEWEST_PARTS = 10, 2
_MORE_SECTIONS, _MOST_SECTIONS = 6.0, 64
_SECTION_WORDS, _CAPTION_WORDS, _ABROAD_WORDS = 120, 25, 80
# Captions, and texts of one other language, that a page has at most, on average of a part.
_CAPTIONS, _ABROAD_TEXTS, _SPARE = 4, 2, 256
_PAGES_PER_STREAM = 100
_DAY = datetime(2022, 11, 1, tzinfo=UTC)
_WIKI = "enwiki-20221101-pages-articles-multistream"

# One article in four has pictures: two sections, of which 3 in 10 show two. Of the pictures one in
# four is shown before on the page; one more in seven only other languages show.
_ILLUSTRATED = 4
_SHOWS, _SHOWS_TWO, _SHOWN_BEFORE, _ABROAD_ONLY = 2.2, 0.3, 0.4, 0.36
# Table 1 of AToMiC: of 4.43 million pairs 17,801 are for validation and 9,873 for testing; of a
# small share at least so many pages.
_VALIDATION, _TEST, _FEWEST = 17_801 / 4_429_577, 9_873 / 4_429_577, 8
_LANGUAGES = ("de", "fr", "es", "ru", "ja")
_ABROAD = 2.2
# WIT is of 2020 and the dump of 2022: so much of a text was written anew in between.
_REWRITTEN = (0.0, 0.05, 0.1, 0.2, 0.4)
_RETITLED = 0.03

_KINDS = (
    "River", "Abbey", "railway station", "Township", "Lake", "School", "County", "football club",
    "Castle", "Bridge", "Island", "Museum", "Cup", "family", "Mountain", "Church", "novel", "album",
    "Park", "battle",
)  # fmt: skip
_SHARING = 3
_HEADINGS = (
    "History", "Geography", "Early life", "Career", "Description", "Legacy", "Plot", "Reception",
    "Production", "Background", "Demographics", "Education", "Transport", "Architecture", "Climate",
    "Economy", "Personal life", "Works", "Honours", "Distribution and habitat",
)  # fmt: skip
_SYLLABLES = tuple(a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "or"))


class Part(NamedTuple):
    """A range of pages, the files of which one process writes."""

    number: int
    of: int
    start: int
    stop: int
    share: float


class Picture(NamedTuple):
    """A picture: its file's name, and its size in pixels."""

    name: str
    height: int
    width: int


class Section(NamedTuple):
    """A section: its headings from the top one, none for the lead; words; pictures."""

    number: int
    headings: tuple[str, ...]
    text: str
    pictures: list[tuple[Picture, str]]


class Article(NamedTuple):
    """A page: its sections, and pictures that only other languages show."""

    number: int
    title: str
    sections: list[Section]
    abroad: list[Picture]


class Words:
    """Words of the pages of a part, in their order."""

    def __init__(self, part: Part) -> None:
        """Start at the first page."""
        starts = section_starts()
        first, pages = int(starts[part.start]), part.stop - part.start
        sections = int(starts[part.stop]) - first
        captions, abroad = (pages * n + _SPARE for n in (_CAPTIONS, _ABROAD_TEXTS))
        self.english = Corpus(SEED)
        self.sections = self.english.sections(sections, first, mean=_SECTION_WORDS)
        self.captions = self.english.captions(captions, part.start * _CAPTIONS, mean=_CAPTION_WORDS)
        self.abroad = {
            language: Corpus(SEED, language).sections(
                abroad, part.start * _ABROAD_TEXTS, mean=_ABROAD_WORDS
            )
            for language in _LANGUAGES
        }


@cache
def section_starts() -> NDArray[np.int64]:
    """Return the number of sections before each page."""
    more = np.random.Generator(np.random.Philox(SEED)).exponential(_MORE_SECTIONS, PAGES)
    counts = np.minimum(1 + more.astype(np.int64), _MOST_SECTIONS)
    return np.append(0, np.cumsum(counts))


def parts(share: float) -> list[Part]:
    """Return the ranges of pages for a share of the full size."""
    pages = max(round(PAGES * share), 40)
    count = PARTS if share * PARTS >= 1 else FEWEST_PARTS
    cuts = [pages * n // count for n in range(count + 1)]
    return [Part(n, count, cuts[n], cuts[n + 1], share) for n in range(count)]


def title(number: int) -> str:
    """Return an article's title: a name that few articles share, and what it is."""
    place, kind = divmod(number, _SHARING)
    name, left = "", place * 7919 % 10_000_019
    while left or not name:
        left, digit = divmod(left, len(_SYLLABLES))
        name += _SYLLABLES[digit]
    return f"{name.capitalize()} {_KINDS[(place + kind * 7) % len(_KINDS)]}"


def article(number: int, words: Words) -> Article:
    """Make an article of the next words."""
    rng = random.Random(f"{SEED}/{number}")
    name = title(number)
    starts = section_starts()
    count = int(starts[number + 1] - starts[number])
    shows = number % _ILLUSTRATED == 0
    chosen = set(rng.sample(range(count), min(count, _about(rng, _SHOWS)))) if shows else set[int]()
    headings = _headings(rng, count)
    shown: list[Picture] = []
    sections: list[Section] = []
    for n, heading in enumerate(headings):
        text = next(words.sections)
        pictures = _pictures(rng, name, words.captions, shown) if n in chosen else []
        sections.append(Section(n, heading, f"{name} {text}" if n == 0 else text, pictures))
    extra = _about(rng, _ABROAD_ONLY) if shows else 0
    abroad = [_picture(rng, name, len(shown) + n) for n in range(extra)]
    return Article(number, name, sections, abroad)


def _about(rng: random.Random, mean: float) -> int:
    return int(mean) + (rng.random() < mean % 1)


def _headings(rng: random.Random, count: int) -> Iterator[tuple[str, ...]]:
    yield ()
    top = ""
    order = rng.sample(_HEADINGS, len(_HEADINGS))
    for n in range(1, count):
        name = order[n % len(order)] + (f" {n}" if n >= len(order) else "")
        if top and rng.random() < 0.3:  # noqa: PLR2004
            yield top, name
        else:
            top = name
            yield (name,)


def _picture(rng: random.Random, name: str, n: int) -> Picture:
    ending = rng.choices(("jpg", "png"), (9, 1))[0]
    return Picture(f"{name} {n + 1}.{ending}", rng.randrange(400, 3000), rng.randrange(400, 4000))


def _pictures(
    rng: random.Random, name: str, captions: Iterator[str], shown: list[Picture]
) -> list[tuple[Picture, str]]:
    found: list[tuple[Picture, str]] = []
    for _ in range(1 + (rng.random() < _SHOWS_TWO)):
        before = [p for p in shown if all(p != own for own, _ in found)]
        if before and rng.random() < _SHOWN_BEFORE:
            picture = rng.choice(before)
        else:
            picture = _picture(rng, name, len(shown))
            shown.append(picture)
        found.append((picture, f"{name} {next(captions)}"))
    return found


# The dump.


def wikitext(page: Article) -> str:
    """Return an article as its editors wrote it: headings, files, links, templates, references."""
    rng = random.Random(f"{SEED}/{page.number}/wiki")
    blocks = ["{{Short description|" + page.title.split()[-1] + "}}"]
    for section in page.sections:
        bars = "=" * (1 + len(section.headings))
        blocks += [f"{bars} {section.headings[-1]} {bars}"] if section.headings else []
        pictures = section.pictures
        if not section.headings and pictures:
            (first, caption), *pictures = pictures
            blocks.append(
                f"{{{{Infobox\n| name = {page.title}\n| image = {first.name}\n| caption = {caption}"
                f"\n| established = {{{{start date|{rng.randrange(900, 2000)}}}}}\n}}}}"
            )
        blocks += [f"[[File:{p.name}|thumb|upright=1.1|{caption}]]" for p, caption in pictures]
        blocks.append(_marked(rng, section.text, page))
    blocks.append(f"== References ==\n{{{{Reflist}}}}\n\n[[Category:{page.title.split()[-1]}]]")
    return "\n\n".join(blocks)


def _marked(rng: random.Random, text: str, page: Article) -> str:
    """Link a word in twenty, and cite something every sixty words."""
    words = text.split(" ")
    for place in range(rng.randrange(4, 20), len(words), rng.randrange(15, 26)):
        other = max(0, page.number - 1 - int(rng.expovariate(1 / 200)))
        words[place] = f"[[{title(other)}|{words[place]}]]"
    for place in range(rng.randrange(20, 60), len(words), 60):
        year = rng.randrange(1950, 2022)
        words[place] += (
            f"<ref>{{{{cite web |title={words[place - 1]} |year={year} |url=https://example.org/{page.number}}}}}</ref>"
        )
    if not page.number % 2:
        words[0] = f"'''{words[0]}'''"
    return " ".join(words)


def _others(page: Article) -> Iterator[WikiPage]:
    """Yield what a real dump mixes in: for two articles a redirect, now and then another page."""
    first = page.number * 10 + 1000
    if page.number % 2:
        text = f"#REDIRECT [[{page.title}]]\n\n{{{{R from move}}}}"
        yield WikiPage(first + 1, 0, f"The {page.title}", text, page.title)
    if not page.number % 12:
        text = f"'''{page.title}''' may refer to:\n* [[{page.title}]]\n\n{{{{disambiguation}}}}"
        yield WikiPage(first + 2, 0, f"{page.title} (disambiguation)", text)
    if not page.number % 10:
        yield WikiPage(first + 3, 14, f"Category:{page.title}", "[[Category:Places]]")


# WIT.


def splits(page: int, share: float) -> str:
    """Return the split of an article's pairs."""
    illustrated = max(round(PAGES * share), 40) / _ILLUSTRATED
    least = _FEWEST / illustrated
    place = page // _ILLUSTRATED * 0.6180339887498949 % 1
    validation, test = (max(each, least) for each in (_VALIDATION, _TEST))
    return "val" if place < validation else "test" if place < validation + test else "train"


def wit_rows(page: Article, words: Words) -> Iterator[list[str]]:
    """Yield the 17 fields of each row: English sections with pictures, then other languages."""
    rng = random.Random(f"{SEED}/{page.number}/wit")
    own: list[Picture] = []
    for section in page.sections:
        for picture, caption in section.pictures:
            yield _english(rng, page, section, (picture, caption), words.english)
            own.append(picture)
    for picture in dict.fromkeys([*own, *page.abroad]):
        least = 1 if picture in page.abroad else 0
        for language in rng.sample(_LANGUAGES, max(least, _about(rng, _ABROAD))):
            texts = words.abroad[language]
            yield _foreign(rng, page, picture, language, texts)


def _english(
    rng: random.Random, page: Article, section: Section, shown: tuple[Picture, str], words: Corpus
) -> list[str]:
    picture, caption = shown
    number = (page.number * _MOST_SECTIONS + section.number) * 2
    share = rng.choice(_REWRITTEN)
    name = f"{page.title} and others" if rng.random() < _RETITLED else page.title
    heading = section.headings[-1] if section.headings else ""
    captions = (
        caption if rng.random() < 0.75 else "",  # noqa: PLR2004
        f"English: {picture.name.rsplit('.', 1)[0]}" if rng.random() < 0.9 else "",  # noqa: PLR2004
        caption[:60] if rng.random() < 0.15 else "",  # noqa: PLR2004
    )
    steps = " / ".join([name, *section.headings])
    old = (page.sections[0].text, section.text)
    texts = [words.copy(text, number + n, share) for n, text in enumerate(old)]
    is_main = not section.headings and picture == section.pictures[0][0]
    about = ("en", name, heading, steps)
    return _row(rng, about, picture, captions, (texts[0], texts[1]), is_main=is_main)


def _foreign(
    rng: random.Random, page: Article, picture: Picture, language: str, texts: Iterator[str]
) -> list[str]:
    text = next(texts)
    heading, caption, half = text[:12].strip(), text[: len(text) // 8], len(text) // 3
    captions = (caption, f"English: {picture.name.rsplit('.', 1)[0]}", "")
    about = (language, page.title, heading, f"{page.title} / {heading}")
    return _row(rng, about, picture, captions, (text[:half], text[half:]), is_main=False)


def _row(  # noqa: PLR0913
    rng: random.Random,
    about: tuple[str, str, str, str],
    picture: Picture,
    captions: tuple[str, str, str],
    contexts: tuple[str, str],
    *,
    is_main: bool,
) -> list[str]:
    language, name, heading, steps = about
    kind = "image/png" if picture.name.endswith(".png") else "image/jpeg"
    url = f"https://{language}.wikipedia.org/wiki/{quote(name.replace(' ', '_'))}"
    flags = (is_main, language == "en", rng.random() < 0.5)  # noqa: PLR2004
    return [
        *(language, url, upload_url(picture.name), name, heading, steps, *captions, kind),
        *(str(picture.height), str(picture.width), *(str(flag).lower() for flag in flags)),
        *contexts,
    ]


# Files.


def dump_files(folder: Path, part: Part) -> tuple[Path, Path]:
    """Return a part's dump and its index, named by number and page ids as Wikimedia does."""
    ids = f"p{part.start * 10 + 1000}p{part.stop * 10 + 999}"
    dump = folder / f"dump/{_WIKI}{part.number + 1}.xml-{ids}.bz2"
    index = folder / f"dump/{_WIKI}-index{part.number + 1}.txt-{ids}.bz2"
    return dump, index


def wit_files(folder: Path, part: Part) -> dict[str, Path]:
    """Return a part's shard of each split."""
    names = ("train", "val", "test")
    shard = f"{part.number:05d}-of-{part.of:05d}.tsv.gz"
    return {split: folder / f"wit/wit_v1.{split}.all-{shard}" for split in names}


def write_part(folder: Path, part: Part) -> float:
    """Write a part's files, unless they are there; return the seconds that it took."""
    start = time.perf_counter()
    dump, index = dump_files(folder, part)
    wit = wit_files(folder, part)
    done = folder / f"parts/{part.number:05d}-of-{part.of:05d}.json"
    if done.exists():
        return json.loads(done.read_text())["seconds"]
    with ExitStack() as stack:
        writers = {s: stack.enter_context(_tsv(path)) for s, path in wit.items()}
        xml, lines = (stack.enter_context(_binary(path)) for path in (dump, index))
        out = Multistream(xml, lines, _DAY, _PAGES_PER_STREAM)
        words, rows = Words(part), 0
        for number in range(part.start, part.stop):
            page = article(number, words)
            out.add(WikiPage(number * 10 + 1000, 0, page.title, wikitext(page)))
            for other in _others(page):
                out.add(other)
            split = splits(number, part.share)
            for row in wit_rows(page, words):
                writers[split].writerow(row)
                rows += 1
        out.close()
    seconds = time.perf_counter() - start
    with store.aside(done) as aside:
        aside.write_text(json.dumps({"seconds": seconds, "rows": rows}) + "\n")
    return seconds


@contextmanager
def _binary(path: Path) -> Generator[io.BufferedWriter, None, None]:
    with store.aside(path) as part, part.open("wb") as file:
        yield file


@contextmanager
def _tsv(path: Path) -> Generator["csv.writer", None, None]:  # pyright: ignore
    with (
        _binary(path) as raw,
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed,
        io.TextIOWrapper(packed, "utf-8", newline="") as text,
    ):
        out = csv.writer(text, delimiter="\t", quoting=csv.QUOTE_MINIMAL, lineterminator="\n")
        out.writerow(WIT_COLUMNS)
        yield out


def write(folder: Path, share: float, processes: int | None = None) -> float:
    """Write the whole snapshot; return the processor seconds that its parts took."""
    tasks = parts(share)
    # Spawned ones have this process's environment, by which the rehearsal knows them again.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes or os.cpu_count(), context) as pool:
        done = [pool.submit(write_part, folder, part) for part in tasks]
        return sum(each.result() for each in done)


if __name__ == "__main__":
    write(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 1.0)  # noqa: PLR2004
