"""Articles of the toy encyclopedia as data, each a pure function of (seed, number).

No state is shared between pages, so any number of them can be made in bounded memory, and a page
that shows a picture of its neighbour makes that picture again.
"""

import hashlib
import random
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from isotope_toy import captions, words
from isotope_toy import scenes as toy_scenes
from isotope_toy.scenes import Scene

_VAL, _TEST = (3, 9, 16), (6, 12, 19)
SPLITS = tuple("val" if n in _VAL else "test" if n in _TEST else "train" for n in range(20))
_PARAGRAPH = 3
_SHARES = {"jpeg": 0.25, "lead": 0.25, "joined": 0.2, "nested": 0.4, "retitled": 0.04}
_SHARES["edited"] = 0.1
_SHARES["alike"] = 0.3
# Pictures that look alike show the things of one of so many scenes.
_MOTIFS = 40
_ICON_PX = 40
_DUE = {
    "abroad": (25, 13),
    "copies": (12, 5),
    "moved": (35, 21),
    "straddles": (80, 10),
    "twins": (45, 9),
    "val's guest": (80, 4),
    "train's guest": (80, 7),
}


@dataclass(frozen=True, slots=True)
class Picture:
    """One file on upload.wikimedia.org and the scene it shows."""

    name: str
    medium: str
    owner: str
    scene: Scene
    mime_type: str
    note: str = ""

    @property
    def path(self) -> str:
        """The decoded upload path: two folders from the MD5 of the name, as MediaWiki lays out."""
        name = self.name.replace(" ", "_")
        digest = hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()
        return f"/wikipedia/commons/{digest[0]}/{digest[:2]}/{name}"

    @property
    def url(self) -> str:
        """The percent-encoded address, as WIT's image_url has it."""
        return "https://upload.wikimedia.org" + quote(self.path)

    @property
    def sentence(self) -> str:
        """What it shows, as the article says it."""
        return toy_scenes.sentence(self.scene, f"The {self.medium.lower()}")


@dataclass(slots=True)
class ToySection:
    """One section: its text as WIT has it, and how the later dump differs.

    `origin` is its place in the page's first edition, -1 where it has none. `subject` is a picture
    that it describes and does not show, `added` the one that the second edition shows there.
    """

    title: str
    above: tuple[str, ...]
    sentences: list[str]
    pictures: list[Picture] = field(default_factory=list[Picture])
    splits: dict[str, str] = field(default_factory=dict[str, str])
    later_title: str = ""
    later_sentence: str = ""
    origin: int = -1
    subject: Picture | None = None
    added: Picture | None = None

    @property
    def text(self) -> str:
        """The plain text of 2020, a line a paragraph."""
        parts = [words.plain(sentence) for sentence in self.sentences]
        return "\n".join(" ".join(paragraph) for paragraph in paragraphs(parts))


@dataclass(slots=True)
class Page:
    """One article; `sections[0]` is the lead.

    `abroad` has the pictures that only other languages show on it, icons included.

    `first` is what a revised page was in the first edition.
    """

    number: int
    title: str
    later_title: str
    split: str
    sections: list[ToySection]
    abroad: list[Picture]
    first: "Page | None" = None

    @property
    def own_pictures(self) -> list[Picture]:
        """The pictures of which this page is the owner, each once."""
        pictures = [*(p for section in self.sections for p in section.pictures), *self.abroad]
        return list({p.url: p for p in pictures if p.owner == self.title}.values())


def _icon(name: str, medium: str, number: int, shape: str, colour: str) -> Picture:
    group = toy_scenes.Group(shape, colour, "large", 1, "centre")
    scene = Scene((group,), "slate", _ICON_PX, _ICON_PX, toy_scenes.FLAT)
    return Picture(name, medium, words.title(number), scene, "image/png")


# Files that very many pages show, and none as its picture; each is of one page in other languages.
LOGO = _icon("Valley-logo.png", "Logo", 1, "star", "white")
FLAG = _icon("Flag of the Valley.png", "Flag", 2, "cross", "yellow")
ICONS = (LOGO, FLAG)


def pictures(seed: int, number: int) -> list[Picture]:
    """Return the one to three pictures that a page shows, and a spare one."""
    rng = random.Random(f"{seed}/{number}/pictures")
    n = rng.choices((1, 2, 3), weights=(66, 24, 10))[0]
    return [_picture(rng, number, medium) for medium in rng.sample(words.MEDIA, n + 1)]


def _picture(rng: random.Random, number: int, medium: str, label: str = "") -> Picture:
    owner = words.title(number)
    jpeg = rng.random() < _SHARES["jpeg"]
    stem = captions.stem(rng, owner, number, label or medium.lower())
    name, mime = (f"{stem}.jpg", "image/jpeg") if jpeg else (f"{stem}.png", "image/png")
    scene = toy_scenes.scene(rng)
    if rng.random() < _SHARES["alike"]:
        motif = toy_scenes.scene(random.Random(f"motif/{rng.randrange(_MOTIFS)}"))
        scene = replace(scene, groups=motif.groups)
    return Picture(name, medium, owner, scene, mime)


def page(seed: int, number: int, pages: int) -> Page:
    """Make article `number` of `pages`; links point at other articles among them."""
    rng = random.Random(f"{seed}/{number}/text")
    title = words.title(number)
    *page_pictures, spare = pictures(seed, number)
    sections = [_lead(rng, title, pages), *_plain_sections(rng, pages)]
    _hang(rng, page_pictures, sections, pages)
    _oddities(rng, seed, number, sections)
    for section in sections[1:]:
        if not section.above:
            _edit(rng, section)
    moved = f"{title} Museum" if _due("moved", number) else title
    abroad = [spare] if has_spare_abroad(number) else []
    abroad += [icon for icon in ICONS if icon.owner == title]
    return Page(number, title, moved, SPLITS[number % len(SPLITS)], sections, abroad)


def has_spare_abroad(number: int) -> bool:
    """Tell whether other languages show the spare picture of a page, which it does not."""
    return _due("abroad", number)


def caption_of(picture: Picture) -> str:
    """Return the caption under a picture, in wikitext; none if it is empty."""
    return captions.reference(picture.scene, picture.medium, picture.owner, picture.note)


def paragraphs(sentences: list[str]) -> list[list[str]]:
    """Cut sentences into paragraphs of three."""
    starts = range(0, len(sentences), _PARAGRAPH)
    return [sentences[start : start + _PARAGRAPH] for start in starts]


def _due(feature: str, number: int) -> bool:
    period, first = _DUE[feature]
    return number % period == first


def _fill(rng: random.Random, sentence: str, pages: int, medium: str = "") -> str:
    return sentence.format(
        who=rng.choice(words.PEOPLE),
        year=rng.randrange(1700, 2015),
        place=words.title(rng.randrange(pages)),
        trade=rng.choice(words.TRADES),
        mood=rng.choice(words.MOODS),
        medium=medium,
    )


def stock_sentences(
    rng: random.Random, stock: tuple[str, ...], n: int, pages: int, medium: str = ""
) -> list[str]:
    """Return `n` sentences of a stock, with links to some of `pages` articles."""
    return [_fill(rng, sentence, pages, medium) for sentence in rng.sample(stock, n)]


def _lead(rng: random.Random, title: str, pages: int) -> ToySection:
    kind = title.rsplit(maxsplit=1)[-1].lower()
    first = f"'''{title}''' is a public {kind} near [[{words.title(rng.randrange(pages))}]]."
    return ToySection("", (), [first, *stock_sentences(rng, words.ABOUT_PLACE, 1, pages)])


def _plain_sections(rng: random.Random, pages: int) -> list[ToySection]:
    n = rng.choices((0, 1, 2, 3), weights=(32, 40, 20, 8))[0]
    titles = rng.sample(words.PLAIN_TITLES, n)
    nested = n > 1 and rng.random() < _SHARES["nested"]
    above = [(titles[i - 1],) if nested and i == n - 1 else () for i in range(n)]
    return [
        ToySection(t, a, stock_sentences(rng, words.ABOUT_PLACE, rng.randint(2, 5), pages))
        for t, a in zip(titles, above, strict=True)
    ]


def _hang(
    rng: random.Random, page_pictures: list[Picture], sections: list[ToySection], pages: int
) -> None:
    """Put each picture, and a sentence on it, into the lead, the last section or a new one."""
    for i, picture in enumerate(page_pictures):
        where = rng.random()
        if i == 0 and where < _SHARES["lead"]:
            _lead_with(sections[0], picture)
        elif i > 0 and where < _SHARES["joined"] and sections[-1].pictures:
            sections[-1].sentences.insert(1, picture.sentence)
            sections[-1].pictures.append(picture)
        else:
            more = stock_sentences(rng, words.ABOUT_ART, rng.randint(2, 3), pages, picture.medium)
            sections.append(ToySection(picture.medium, (), [picture.sentence, *more], [picture]))


def _lead_with(lead: ToySection, picture: Picture) -> None:
    name, predicate = lead.sentences[0].split(" is ", 1)
    lead.sentences[0] = f"{name[3:-3]} is {predicate}"
    subject = f"The {picture.medium.lower()} of {name}"
    lead.sentences.insert(0, toy_scenes.sentence(picture.scene, subject))
    lead.pictures.append(picture)


def _oddities(rng: random.Random, seed: int, number: int, sections: list[ToySection]) -> None:
    """Add what the filters of the qrels drop: copies, twins, pictures and texts in two splits."""
    pictured = next(s for s in sections if s.pictures)
    first = pictured.pictures[0]
    if _due("copies", number):
        copied = [first.sentence, "This copy was painted [[replica|from memory]]."]
        sections.append(ToySection("Copies", (), copied, [first]))
    if _due("twins", number):
        sections.extend(_twins(rng, seed, number))
    if _due("val's guest", number) or _due("train's guest", number):
        guest = pictures(seed, number - 1)[0]
        lent = [guest.sentence, f"It is on loan from [[{guest.owner}|its owner]]."]
        sections.append(ToySection("Loans", (), lent, [guest]))
    if _due("straddles", number):
        second = pictures(seed, number)[-1]
        pictured.pictures.append(second)
        pictured.sentences.insert(1, second.sentence)
        pictured.splits[second.url] = "val"


def _twins(rng: random.Random, seed: int, number: int) -> list[ToySection]:
    """Two sections with one title and one text under two parents, each with its own picture."""
    scenes = random.Random(f"{seed}/{number}/twins")
    pair = [_picture(scenes, number, "Plate", f"{side} plate") for side in ("east", "west")]
    text = [picture.sentence for picture in pair]
    year = rng.randrange(1700, 2015)
    halls = [f"{side} hall" for side in ("East", "West")]
    histories = [f"The {hall.lower()} was added in {year}." for hall in halls]
    nested = [
        (ToySection(hall, (), [history]), ToySection("Plates", (hall,), text, [picture]))
        for hall, history, picture in zip(halls, histories, pair, strict=True)
    ]
    return [section for both in nested for section in both]


def _edit(rng: random.Random, section: ToySection) -> None:
    """Change one section in ten between WIT and the dump: a new heading or a new sentence."""
    chance = rng.random()
    if chance < _SHARES["retitled"]:
        section.later_title = f"{section.title} today"
    elif chance < _SHARES["edited"]:
        section.later_sentence = rng.choice(words.EDITS)
