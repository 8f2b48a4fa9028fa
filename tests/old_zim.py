"""ZIM files of before 2021, version 5, which libzim reads and no longer writes.

Format: https://wiki.openzim.org/wiki/ZIM_file_format and .../wiki/ZIM_Namespaces: articles in the
namespace A, pictures in I, metadata in M. Addresses are those of mwoffliner before its version 1.9:
`.html` behind the title, and "_" for a slash in it.
"""

import hashlib
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HEADER = "<IHH16sIIQQQQIIQ"
_MAGIC, _NONE, _REDIRECT, _UNCOMPRESSED = 0x044D495A, 0xFFFFFFFF, 0xFFFF, b"\x01"


@dataclass(frozen=True)
class Item:
    """An entry by its full address such as `A/AC_DC.html`; `to` is a redirect's target address."""

    address: str
    title: str
    kind: str = "text/html"
    content: bytes = b""
    to: str = ""


def article(title: str, body: str) -> Item:
    """Return an article as mwoffliner filed it."""
    page = f'<html><body><h1 id="firstHeading">{title}</h1>{body}</body></html>'
    return Item(address_of(title), title, content=page.encode())


def redirect(title: str, to: str) -> Item:
    """Return a redirect from one title to another."""
    return Item(address_of(title), title, to=address_of(to))


def address_of(title: str) -> str:
    """Return where mwoffliner filed an article."""
    return f"A/{title.replace('/', '_').replace(' ', '_')}.html"


def write_old_zim(items: Sequence[Item], path: Path, told: Mapping[str, str] | None = None) -> Path:
    """Write a file with one uncompressed cluster; `told` are metadata."""
    named = [Item(f"M/{k}", "", "text/plain", v.encode()) for k, v in (told or {}).items()]
    entries = sorted([*items, *named], key=lambda i: i.address.encode())
    kinds = sorted({i.kind for i in entries if not i.to})
    mimes = b"".join(kind.encode() + b"\0" for kind in kinds) + b"\0"
    dirents = _dirents(entries, kinds)
    by_title = sorted(
        range(len(entries)), key=lambda n: (entries[n].address[0], _title(entries[n]).encode())
    )
    cluster = _cluster([i.content for i in entries if not i.to])
    at = struct.calcsize(HEADER) + len(mimes)
    places = [at + sum(map(len, dirents[:n])) for n in range(len(dirents))]
    urls = at + sum(map(len, dirents))
    titles = urls + 8 * len(entries)
    pointers = titles + 4 * len(entries)
    first, size = pointers + 8, pointers + 8 + len(cluster)
    head = (_MAGIC, 5, 0, bytes(16), len(entries), 1, urls, titles, pointers)
    data = struct.pack(HEADER, *head, struct.calcsize(HEADER), _NONE, _NONE, size)
    data += mimes + b"".join(dirents) + struct.pack(f"<{len(places)}Q", *places)
    data += struct.pack(f"<{len(by_title)}I", *by_title) + struct.pack("<Q", first) + cluster
    path.write_bytes(data + hashlib.md5(data, usedforsecurity=False).digest())
    return path


def split(path: Path, count: int) -> list[Path]:
    """Cut a file into `x.zimaa`, `x.zimab` and so on, as Kiwix does for small disks."""
    data = path.read_bytes()
    size = len(data) // count + 1
    parts = [path.with_name(f"{path.name}a{chr(ord('a') + n)}") for n in range(count)]
    for n, part in enumerate(parts):
        part.write_bytes(data[n * size : (n + 1) * size])
    path.unlink()
    return parts


def _title(item: Item) -> str:
    return item.title or item.address[2:]


def _dirents(entries: Sequence[Item], kinds: Sequence[str]) -> list[bytes]:
    numbers, blob, made = {e.address: n for n, e in enumerate(entries)}, 0, list[bytes]()
    for entry in entries:
        space, words = entry.address[0].encode(), f"{entry.address[2:]}\0{entry.title}\0".encode()
        if entry.to:
            made.append(struct.pack("<HBcII", _REDIRECT, 0, space, 0, numbers[entry.to]) + words)
        else:
            kind = kinds.index(entry.kind)
            made.append(struct.pack("<HBcIII", kind, 0, space, 0, 0, blob) + words)
            blob += 1
    return made


def _cluster(blobs: Sequence[bytes]) -> bytes:
    offsets = [4 * (len(blobs) + 1)]
    for blob in blobs:
        offsets.append(offsets[-1] + len(blob))
    return _UNCOMPRESSED + struct.pack(f"<{len(offsets)}I", *offsets) + b"".join(blobs)
