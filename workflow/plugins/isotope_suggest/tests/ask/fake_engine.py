"""An engine of a small harbour town, for tests of the page; what it is asked is recorded."""

import io
from threading import Event
from typing import TypeVar

from PIL import Image, ImageDraw

from isotope.core.errors import BadQuery, UnknownId
from isotope_suggest.ask.answers import Answer, AnswerList, SectionAnswer
from isotope_suggest.ask.engine import Engine

COMMONS = "https://upload.wikimedia.org/wikipedia/commons/a/ab"
WIKI = "https://en.wikipedia.org/wiki"
# Name, caption, pages, probability, reasons, credit.
PICTURES = [
    (
        "Fanal light.jpg",
        "The red lighthouse at the mouth of the harbour, seen from the ferry",
        ["Fanal", "List of lighthouses"],
        0.972,
        ["matches: red, lighthouse, harbour", "used by the German article"],
        "Ann Example, CC BY-SA 4.0, https://commons.wikimedia.org/wiki/File:Fanal_light.jpg",
    ),
    (
        "Fanal harbour 1912.png",
        "Fishing boats in 1912",
        ["Fanal"],
        0.87,
        ["like the picture of *Eddystone*"],
        "author unknown, public domain, https://commons.wikimedia.org/wiki/File:Fanal_harbour.png",
    ),
    (
        "Quay.jpg",
        "",
        [],
        0.55,
        ["matches: quay"],
        "author unknown, licence unknown, https://commons.wikimedia.org/wiki/File:Quay.jpg",
    ),
    ("Dunes_at_dusk.jpg", "Dunes | at [[dusk]]", ["Coast"], 0.31, ["matches: coast"], "unknown"),
]
_Row = TypeVar("_Row")
COLOURS = ("#b23a2e", "#38618c", "#5b7553", "#c9a227")
SECTIONS = [
    (f"s{n}", page, section)
    for n, (page, section) in enumerate(
        [("Fanal", "History"), ("Fanal", "Climate"), ("Merle Abbey", "Cloister")]
        + [(f"Village {n}", "Geography") for n in range(60)]
    )
]
TEXT = (
    "The town grew around its harbour, whose red lighthouse was lit in 1871. Fishing went on until "
    "the herring left; since then the ferries have brought those who walk along the dunes."
)


def answers(*, calibrated: bool = True) -> list[Answer]:
    """Return a picture for each of PICTURES: i0, i1, ..."""
    return [
        Answer(
            image_id=f"i{n}",
            image_url=f"{COMMONS}/{name.replace(' ', '_')}",
            file_page=f"https://commons.wikimedia.org/wiki/File:{name.replace(' ', '_')}",
            caption=caption,
            pages=pages,
            probability=probability if calibrated else None,
            kind="text",
            reasons=reasons,
            credit=credit,
            width=640,
            height=480,
            is_free="licence unknown" not in credit,
        )
        for n, (name, caption, pages, probability, reasons, credit) in enumerate(PICTURES)
    ]


def places() -> list[SectionAnswer]:
    """Return a place for each of SECTIONS, the first two of them open."""
    return [
        SectionAnswer(
            text_id=text_id,
            page_title=page,
            section_title=section,
            page_url=f"{WIKI}/{page.replace(' ', '_')}",
            text=TEXT,
            probability=0.9 - n / 100,
            reasons=["matches: harbour"],
            is_open=n < 2,
        )
        for n, (text_id, page, section) in enumerate(SECTIONS)
    ]


def painting(colour: str, size: tuple[int, int] = (320, 240)) -> bytes:
    """Return a WebP picture of a tower before a sky of `colour`."""
    image = Image.new("RGB", size, colour)
    w, h = size
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0.7 * h, w, h), fill="#22303c")
    draw.polygon(
        [(0.45 * w, 0.2 * h), (0.55 * w, 0.2 * h), (0.6 * w, 0.8 * h), (0.4 * w, 0.8 * h)], "white"
    )
    out = io.BytesIO()
    image.save(out, "WEBP")
    return out.getvalue()


class Town(Engine):
    """Answers in no time, unless the text has the word `wait`: then when `released`."""

    def __init__(self, *, calibrated: bool = True) -> None:
        """Have every picture and every section."""
        self.collection = "town"
        self.pictured = answers(calibrated=calibrated)
        self.placed = places()
        self.texts: list[str] = []
        self.dropped: list[bytes] = []
        self.released = Event()

    def pictures(
        self, text: str, *, top: int = 10, section: str | None = None
    ) -> AnswerList[Answer]:
        """Return all pictures, the one first whose number the text has."""
        self.texts.append(text)
        if "wait" in text:
            self.released.wait(30)
        if not text.strip():
            raise BadQuery("the text", "it is empty", "paste or type some")
        notes = ["Few of these words are in a caption."] if "étranger" in text else []
        first = [answer for answer in self.pictured if answer.image_id in text]
        return AnswerList([*first, *(p for p in self.pictured if p not in first)][:top], notes)

    def pictures_of_section(self, text_id: str, *, top: int = 10) -> AnswerList[Answer]:
        """Return all pictures."""
        self.section(text_id)
        return AnswerList(self.pictured[:top])

    def sections(self, picture: bytes | str, *, top: int = 10) -> AnswerList[SectionAnswer]:
        """Return the first places; any WebP is a picture."""
        if isinstance(picture, str):
            self.picture(picture)
        else:
            self.dropped.append(picture)
            if picture[8:12] != b"WEBP":
                raise BadQuery("the picture", "no picture that can be decoded", "choose another")
        return AnswerList(self.placed[: min(top, 3)])

    def unillustrated(
        self, *, search: str = "", after: str = "", most: int = 50
    ) -> AnswerList[SectionAnswer]:
        """Return places with `search` in a title."""
        ids = [section.text_id for section in self.placed]
        remaining = self.placed[ids.index(after) + 1 :] if after else self.placed
        titles = ((f"{p.page_title} {p.section_title}".lower(), p) for p in remaining)
        return AnswerList([section for title, section in titles if search.lower() in title][:most])

    def section(self, text_id: str) -> SectionAnswer:
        """Return one of the places."""
        return _demand_row(text_id, {section.text_id: section for section in self.placed})

    def picture(self, image_id: str) -> Answer:
        """Return one of the pictures."""
        return _demand_row(image_id, {answer.image_id: answer for answer in self.pictured})

    def thumbnail(self, image_id: str) -> bytes:
        """Paint one, a tall one for every second."""
        number = self.pictured.index(self.picture(image_id))
        size = (240, 320) if number % 2 else (320, 240)
        return painting(COLOURS[number % len(COLOURS)], size)

    def close(self) -> None:
        """End nothing."""


def _demand_row(ident: str, rows: dict[str, _Row]) -> _Row:
    if ident not in rows:
        raise UnknownId("the collection", f"no {ident!r}", "take an id that it has")
    return rows[ident]
