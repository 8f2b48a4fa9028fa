"""A small collection with candidates: judged sections, open ones, and pictures that fit them."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from isotope.core import store
from isotope.core.vectors import created, write_ids
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.schemas.parse import PICTURES as PLACED
from isotope_suggest.origins import Origins
from isotope_suggest.params import Publishing
from isotope_suggest.schemas import CANDIDATES, PICTURE_KINDS, SECTION_ROLES
from isotope_suggest.verdicts import Suggestion, open_ledger, rejected

ABOUT = {
    **{"collection": "world", "origins": Origins(languages={"world": "en"})},
    **{"wikis": {"en": "worldwiki"}, "snapshot": "20230101"},
}
# Sections by role: the split, and how many pages have one.
ROLES = {"validation": 80, "test": 30, "open": 40}
_SYLLABLES = ["ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo"]
_DIM, _CANDIDATES = 16, 12
OUTPUTS = ("scored", "rejected", "calibration", "feed", "lines")


def word(n: int) -> str:
    """Return the n-th invented word; no two differ in a number."""
    letters = []
    for _ in range(3):
        n, last = divmod(n, len(_SYLLABLES))
        letters.append(_SYLLABLES[last])
    return "".join(letters)


class World:
    """Tables of a collection, in memory until `files` writes them; change them as a test needs.

    Section n stands on page n and is about picture n, whose caption has two words of its text.
    """

    def __init__(
        self,
        roles: dict[str, int] | None = None,
        *,
        seed: int = 0,
        wrong: int = 20,
        pairs: bool = False,
    ) -> None:
        """Make the sections of `roles`; for every `wrong`-th another picture is the best hit.

        With `pairs` each section has a second picture that fits, `seconds`, of another page.
        """
        self.seconds = dict[int, int]()
        self.has_pairs = pairs
        self.rng = np.random.default_rng(seed)
        self.wrong = wrong
        roles = ROLES if roles is None else roles
        self.roles = [name for name, count in roles.items() for _ in range(count)]
        count = len(self.roles)
        self.text_ids = [f"text-{n:04}" for n in range(count)]
        self.image_ids = [f"image-{n:04}" for n in range(count)]
        self.spec = Publishing()
        self.rejections = list[tuple[str, str]]()
        self.candidates = self._candidates()
        self.pictures = self._pictures()

    def _rows(self, schema: pa.Schema, rows: list[dict[str, Any]]) -> pl.DataFrame:
        return pl.DataFrame(rows, schema=pl.DataFrame(schema.empty_table()).schema)

    def _candidates(self) -> pl.DataFrame:
        count, rows = len(self.roles), list[dict[str, Any]]()
        for n in range(count):
            drawn = self.rng.choice(count, min(_CANDIDATES, count), replace=False)
            near = [n, *(int(m) for m in drawn if m != n)]
            if n % self.wrong == self.wrong - 1 and count > 1:
                near[0], near[1] = near[1], near[0]
            self.seconds[n] = near[1] if self.has_pairs else n
            fits = np.isin(near, [n, self.seconds[n]])
            bm25 = (
                np.sort(self.rng.gamma(2, 1, len(near)))[::-1]
                + (np.arange(len(near)) < 1 + self.has_pairs) * 6
            )
            dense = self.rng.normal(0.2, 0.1, len(near)) + fits * 0.3
            rank = (-dense).argsort().argsort() + 1
            for position, m in enumerate(near):
                scores = {"bm25": bm25[position], "bm25_rank": position + 1}
                scores |= {"dense": dense[position], "dense_rank": rank[position]}
                if position == 0 and n % 2:
                    scores |= {"links": 0.5, "links_on": [f"Page {word(m)}"]}
                if position == 0 and n % 3 == 0:
                    scores |= {"alignment": 0.8, "alignment_on": [f"de: Seite {word(m)} # Bau"]}
                rows.append({"text_id": self.text_ids[n], "image_id": self.image_ids[m], **scores})
        return self._rows(CANDIDATES, rows).sort("text_id", "image_id")

    def _pictures(self) -> pl.DataFrame:
        hashes = self.rng.integers(0, 2**64, len(self.roles), dtype=np.uint64)
        rows = [
            {
                **{"image_id": image_id, "file": f"{word(n).title()}.jpg", "kind": "photograph"},
                **{"illustrates": 0.98, "pages": 1, "width": 640, "height": 480, "colours": 900},
                **{"hash": int(hashes[n]), "author": f"Painter {word(n)}", "is_free": True},
                **{"licence": "CC BY-SA 4.0", "file_page": f"https://x.org/File:{word(n)}.jpg"},
            }
            for n, image_id in enumerate(self.image_ids)
        ]
        return self._rows(PICTURE_KINDS, rows)

    def _texts(self) -> pl.DataFrame:
        rows = [
            {
                **{
                    "text_id": text_id,
                    "page_id": n,
                    "page_title": f"Page {word(n)}",
                    "language": "en",
                },
                **{"section_title": "Looks", "split": self._split(n)},
                "context_section_description": f"It has {word(n)}s and a {word(n + 900)} of old.",
            }
            for n, text_id in enumerate(self.text_ids)
        ]
        return self._rows(TEXTS, rows)

    def _split(self, n: int) -> str:
        return "other" if self.roles[n] == "open" else self.roles[n]

    def _images(self) -> pl.DataFrame:
        rows = [
            {
                **{
                    "image_id": image_id,
                    "image_url": f"https://upload.x.org/{word(n).title()}.jpg",
                },
                "caption_reference_description": [f"a {word(n)} beside a {word(n + 900)}"],
                **{"caption_alt_text_description": [], "width": 640, "height": 480},
            }
            for n, image_id in enumerate(self.image_ids)
        ]
        return self._rows(IMAGES, rows)

    def judged(self) -> list[int]:
        """Return the numbers of the judged sections."""
        return [n for n, role in enumerate(self.roles) if role != "open"]

    def _qrels(self) -> pl.DataFrame:
        rows = [
            {"text_id": self.text_ids[n], "image_id": self.image_ids[m], "relevance": 1}
            | {"split": self.roles[n]}
            for n in self.judged()
            for m in dict.fromkeys([n, self.seconds[n]])
        ]
        return self._rows(QRELS, rows)

    def _sections(self) -> pl.DataFrame:
        rows = [
            {
                **{"text_id": text_id, "page_id": n, "language": "en", "split": self._split(n)},
                **{"role": "open" if role == "open" else "judged", "page_class": "article"},
                **{"place": 2, "sections": 4, "probability": 0.9},
            }
            for n, (text_id, role) in enumerate(zip(self.text_ids, self.roles, strict=True))
        ]
        return self._rows(SECTION_ROLES, rows)

    def placed(self) -> pl.DataFrame:
        """Return what pages show: judged sections their pictures."""
        rows = [
            {"page_id": n, "text_id": self.text_ids[n], "file": f"{word(n).title()}.jpg"}
            | {"place": 2, "origin": "link"}
            for n in self.judged()
        ]
        return self._rows(PLACED, rows)

    def files(
        self, folder: Path, *, dense: bool = True, placed: pl.DataFrame | None = None
    ) -> dict[str, Any]:
        """Write what `write_feed` reads; return its arguments, outputs in `folder`/out."""
        tables = {
            "texts": (self._texts(), TEXTS),
            "images": (self._images(), IMAGES),
            "qrels": (self._qrels(), QRELS),
            "sections": (self._sections(), SECTION_ROLES),
            "candidates": (self.candidates, CANDIDATES),
            "pictures": (self.pictures, PICTURE_KINDS),
            "placed": (self.placed() if placed is None else placed, PLACED),
        }
        paths: dict[str, Any] = {name: folder / f"{name}.parquet" for name in tables}
        folder.mkdir(parents=True, exist_ok=True)
        for name, (rows, schema) in tables.items():
            store.write(rows.to_arrow(), paths[name], schema)
        paths |= {"placed": [paths["placed"]], "judgements": self._judgements(folder)}
        paths |= self._vectors(folder) if dense else {"image_vectors": [], "image_ids": []}
        endings = {"calibration": "json", "lines": "jsonl"}
        for name in OUTPUTS:
            paths[name] = folder / "out" / f"{name}.{endings.get(name, 'parquet')}"
        return {**paths, **ABOUT, "spec": self.spec}

    def _vectors(self, folder: Path) -> dict[str, list[Path]]:
        vectors = self.rng.normal(size=(len(self.roles), _DIM))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        shard = folder / "shard-00000.npy"
        with created(shard, vectors.shape) as block:
            block[:] = vectors
        ids = shard.with_suffix(".ids.parquet")
        write_ids(pl.Series(self.image_ids), ids)
        return {"image_vectors": [shard], "image_ids": [ids]}

    def _judgements(self, folder: Path) -> list[Path]:
        """Write what an assessor rejected: `rejections`, pairs of a text's and a picture's id."""
        if not self.rejections:
            return []
        ledger = open_ledger("world", "ada", folder / "judgements")
        for text_id, image_id in self.rejections:
            ledger.give(Suggestion(text_id, image_id), rejected("wrong subject"), expected=None)
        return [*(folder / "judgements").rglob("*.jsonl")]
