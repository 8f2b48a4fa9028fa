"""WIT's TSV shards: https://github.com/google-research-datasets/wit/blob/main/DATA.md (version 1).

Quoted where needed with inner quotes doubled, newlines inside quotes, one header a shard, and, as
in the published files, now and then a quote that nothing closes.
"""

import csv
import gzip
import io
import random
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import quote

from isotope.core import store
from isotope.schemas.acquire import WIT_COLUMNS
from isotope_toy import captions, words
from isotope_toy.edition import replay
from isotope_toy.pages import SPLITS, Page, Picture, ToySection, caption_of

Row = list[str]
SHARDS = {"train": 2, "val": 1, "test": 1}
_FOREIGN = 0.3


class WitShards:
    """Writes each page to a shard of its split; page `broken` leaves a quote open."""

    def __init__(self, files: Mapping[str, list[io.TextIOWrapper]], broken: int) -> None:
        self._files, self._broken = files, broken
        for file in (file for split in files.values() for file in split):
            _write(file, WIT_COLUMNS)

    def add(self, page: Page, seed: int) -> int:
        """Write the page's rows and return their number."""
        n = 0
        for n, (split, row) in enumerate(rows(page, seed), start=1):
            files = self._files[split]
            file = files[page.number // len(SPLITS) % len(files)]
            if n == 1 and page.number == self._broken:
                # In the last field an open quote moves no other column.
                last = words.plain(page.sections[0].sentences[0])
                file.write("\t".join([*row[:-2], last, f'"{last}']) + "\n")
            else:
                _write(file, row)
        return n


@contextmanager
def shards(
    folder: Path, counts: Mapping[str, int], broken: int
) -> Generator[WitShards, None, None]:
    """Open `wit_v1.<split>.all-<i>-of-<n>.tsv.gz` for every split; all appear when complete."""
    with ExitStack() as stack:
        files: dict[str, list[io.TextIOWrapper]] = {}
        for split, count in counts.items():
            names = [f"wit_v1.{split}.all-{i:05}-of-{count:05}.tsv.gz" for i in range(count)]
            files[split] = [stack.enter_context(_opened(folder / name)) for name in names]
        yield WitShards(files, broken)


@contextmanager
def _opened(path: Path) -> Generator[io.TextIOWrapper, None, None]:
    with (
        store.aside(path) as part,
        part.open("wb") as raw,
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed,
        io.TextIOWrapper(packed, "utf-8", newline="") as text,
    ):
        yield text


def _write(file: io.TextIOWrapper, row: Sequence[str]) -> None:
    csv.writer(file, delimiter="\t", quoting=csv.QUOTE_MINIMAL, lineterminator="\n").writerow(row)


def rows(page: Page, seed: int) -> Iterator[tuple[str, Row]]:
    """Yield (split, 17 fields) for every picture of every section, English first."""
    rng = random.Random(f"{seed}/{page.number}/wit")
    for section in replay(
        rng, page, lambda section_rng, section: list(_section(rng, section_rng, section))
    ):
        yield from section
    for picture in page.abroad:
        yield page.split, _foreign(page, picture, rng.choice(words.LANGUAGES))


def languages(page: Page, seed: int) -> list[str]:
    """Return the languages that have rows of the page in the first edition, English left out."""
    codes = (row[0] for _, row in rows(page.first or page, seed))
    return [code for code in dict.fromkeys(codes) if code != "en"]


def _section(rng: random.Random, page: Page, section: ToySection) -> Iterator[tuple[str, Row]]:
    for picture in section.pictures:
        split = section.splits.get(picture.url, page.split)
        yield split, _english(rng, page, section, picture)
        for language in words.LANGUAGES:
            if rng.random() < _FOREIGN / len(words.LANGUAGES):
                yield split, _foreign(page, picture, language)


def _row(language: str, page: Page, picture: Picture, *texts: str, main: bool, recent: bool) -> Row:
    """Fill the 17 columns; `texts` are section, hierarchy, three captions and two contexts."""
    section, hierarchy, reference, attribution, alt, about_page, about_section = texts
    url = f"https://{language}.wikipedia.org/wiki/{quote(page.title.replace(' ', '_'))}"
    scene = picture.scene
    fields = [language, url, picture.url, page.title, section, hierarchy]
    fields += [reference, attribution, alt, picture.mime_type]
    fields += [str(scene.height_px), str(scene.width_px)]
    fields += [str(flag).lower() for flag in (main, language == "en", recent)]
    return [*fields, about_page, about_section]


def _english(rng: random.Random, page: Page, section: ToySection, picture: Picture) -> Row:
    scene, medium = picture.scene, picture.medium
    texts = [
        words.plain(caption_of(picture)),
        captions.attribution(scene, medium, picture.owner),
        captions.alternative(scene, picture.note),
    ]
    steps = [page.title, *section.above, *filter(None, [section.title])]
    texts += [page.sections[0].text, section.text]
    main = not section.title and picture is section.pictures[0]
    headings = (section.title, " / ".join(steps))
    return _row("en", page, picture, *headings, *texts, main=main, recent=rng.choice((True, False)))


def _foreign(page: Page, picture: Picture, language: str) -> Row:
    lead, shows, _, heading = words.phrases(language)
    caption = captions.described(picture.scene, language)
    about = lead.format(page.title)
    section = f"{shows.format(page.title)}: {caption}.\n{about}"
    attribution = captions.attribution(picture.scene, picture.medium, picture.owner)
    texts = (heading, f"{page.title} / {heading}", caption, attribution, "", about, section)
    return _row(language, page, picture, *texts, main=False, recent=False)
