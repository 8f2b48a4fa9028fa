"""Addresses of Wikimedia's files: which file an address shows, and where a file is requested.

A file is its repository and its name. Hosts, sizes, parameters and the ways to write a letter are
no part of it. Sources: MediaWiki's FileRepo (hashed folders, abbreviated names), its handlers'
names of thumbnails, and https://www.mediawiki.org/wiki/Common_thumbnail_sizes.
"""

import hashlib
import re
from typing import NamedTuple
from urllib.parse import parse_qs, quote, unquote, unquote_to_bytes, urlsplit

from isotope.core.titles import file_name

# ASSUME infoboxes show pictures of Wikimedia Commons, and the wiki's own are not found there; the
# paper does not say.
COMMONS = "wikipedia/commons"
# Other widths are not rendered on request.
WIDTHS = (20, 40, 60, 120, 250, 330, 500, 960, 1280, 1920, 3840)
STORE = "https://upload.wikimedia.org"
# Since August 2026; until then, and where a wiki has not moved, STORE has them.
THUMBNAILS = "https://thumb.wikimedia.org"
_STORES = frozenset({"upload.wikimedia.org", "thumb.wikimedia.org", "upload.wikipedia.org"})
_WITH_LANGUAGE = 3
# Wikis without a language, by their hosts, whose folders have another name; hosts by such folders.
_ALONE = {"wikisource": "sources"}
_HOSTS = {
    "sources": "wikisource.org",
    "mediawiki": "www.mediawiki.org",
    "wikidata": "www.wikidata.org",
}
_ON_WIKIMEDIA = frozenset({"commons", "meta", "species", "incubator", "foundation", "outreach"})
_OWNED = (
    *("wikimedia.org", "wikipedia.org", "wiktionary.org", "wikibooks.org", "wikinews.org"),
    *("wikiquote.org", "wikisource.org", "wikiversity.org", "wikivoyage.org", "wikidata.org"),
    *("mediawiki.org", "wikifunctions.org", "wikimediafoundation.org"),
)
_ENDINGS = (
    r"jpe?g|png|gif|svg|tiff?|webp|xcf|pdf|djvu|stl|og[gav]|webm|wav|mp3|midi?|flac|opus|mpe?g"
)
_NAME = re.compile(rf".+\.(?:{_ENDINGS})", re.IGNORECASE | re.DOTALL)
# What a thumbnail of another kind than its file, or one that Kiwix made smaller, adds to the name.
_THUMBNAIL = re.compile(
    r"(?P<name>.+\.(?:svg|tiff?|xcf|pdf|djvu|stl|og[gv]|webm|mpe?g))\.(?:png|jpe?g)", re.IGNORECASE
)
_SMALLER = re.compile(rf"(?P<name>.+\.(?:{_ENDINGS}))\.webp", re.IGNORECASE)
_SIZED = re.compile(
    r"(?:lossy-|lossless-)?(?:page\d+-|lang[\w-]+-)*\d+px-(?:seek=[\d.]+)?-*", re.IGNORECASE
)
_WIDTH = re.compile(r"(?:^|-)(\d+)px-")
_STORED = re.compile(
    r"/(?P<repository>[a-z]+/[a-z0-9-]+)/(?P<derived>(?:thumb|transcoded)/)?(?P<old>archive/)?"
    r"(?P<folder>[0-9a-f]/[0-9a-f]{2})/(?P<name>[^/]+)(?P<size>/[^/]+)?"
)
# The part of a canonical address that names a repository, between two that are kept.
REPOSITORY = (
    r"^(https://upload\.wikimedia\.org/)[a-z]+/[a-z0-9-]+/((?:archive/)?[0-9a-f]/[0-9a-f]{2}/)"
)
# An original's address as MediaWiki writes it: what is not reserved as it is, all else by its bytes
# (RFC 3986, 2.3). A name has no space, and no percent sign before two digits.
CANONICAL = (
    r"https://upload\.wikimedia\.org/[a-z]+/[a-z0-9-]+/(?:archive/)?[0-9a-f]/[0-9a-f]{2}/(?:"
    r"[A-Za-z0-9_.~-]|%(?:[0189A-F][0-9A-F]|2[1-46-9ABCF]|3[A-F]|[46]0|5[BCDE]|7[BCDF]))+"
)
_CANONICAL = re.compile(CANONICAL)
# What no file's name has (MediaWiki's $wgLegalTitleChars, and its characters of folders).
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f#<>\[\]|{}/:\\\ufffd\ud800-\udfff]|^\.*$")
_EARLIER = re.compile(r"\d{14}!.*[^.].*")
_ENCODED_TWICE = re.compile(r"%[0-9A-Fa-f]{2}")
# Where a wiki's page names a file, before the name, or after it (a picture over its article).
_PAGE = re.compile(r"/[^/]+/(?P<title>.+)")
_OVER_ARTICLE = "/media/"
# MediaWiki's handlers: the names of thumbnails by type. A film's has no second where it is taken.
_PAGED = {"pdf": "", "djvu": "", "tif": "lossy-", "tiff": "lossy-"}
_SUFFIXES = {"svg": "png", "webp": "png", "xcf": "png", "stl": "png"}
_FILMS = frozenset({"webm", "ogv", "ogg", "mpg", "mpeg"})
# $wgAbbreviationThreshold of Wikimedia's wikis: longer names, in bytes, are cut to "thumbnail".
_LONGEST_NAME_BYTES = 160


class Upload(NamedTuple):
    """A file, and the width in px of the thumbnail that an address shows, if it shows one.

    `repository` is the folder of the store (`wikipedia/commons`, `wiktionary/fr`; with `/archive`
    for an earlier version, whose `name` begins with its moment), or the host of a wiki whose page
    does not tell whether it has the file or shows that of Commons. `name` has spaces.
    """

    repository: str
    name: str
    width: int | None = None

    @property
    def identity(self) -> tuple[str, str]:
        """What makes it this file, whatever host or width: repository and name."""
        return self.repository, self.name


def is_wikimedias(host: str | None) -> bool:
    """Tell whether a host is one of Wikimedia's."""
    name = (host or "").lower().rstrip(".")
    return any(name == owned or name.endswith(f".{owned}") for owned in _OWNED)


def upload_of(address: str) -> Upload | None:
    """Return the file that an address of Wikimedia's shows; None for any other address.

    It may be an original or a thumbnail on any of the hosts, an earlier version, a page of a file
    (also `Special:FilePath`, `Special:Redirect/file`, `#/media/File:`), or `thumb.php`; with or
    without scheme, parameters and fragment; its letters encoded, not at all, or twice.
    """
    match = _stored(address)
    if match is None:
        return _shown(address)
    name, width = _decoded(match["name"]), _WIDTH.search((match["size"] or "").lstrip("/"))
    repository = f"{match['repository']}/archive" if match["old"] else match["repository"]
    return Upload(repository, name, int(width[1]) if width else None)


def canonical_url(address: str) -> str:
    """Return the address of a file on upload.wikimedia.org, as WIT writes it.

    A wiki's page that does not tell whose the file is becomes that wiki's redirect to the file. Any
    other address is returned as it is. MediaWiki's own addresses of originals don't change.
    """
    if _CANONICAL.fullmatch(address):
        return address
    match = _stored(address)
    if match is not None:
        name, old = _decoded(match["name"]), match["old"] or ""
        folder = f"{match['repository']}/{old}{match['folder']}"
        return f"{STORE}/{folder}/{_quoted(name)}"
    upload = _shown(address)
    return upload_url(upload.name, upload.repository) if upload else address


def upload_url(name: str, repository: str = COMMONS) -> str:
    """Return the canonical address of a file, as WIT writes it.

    Source: https://www.mediawiki.org/wiki/Manual:$wgHashedUploadDirectory.
    """
    if "/" not in repository:
        return f"https://{repository}/wiki/Special:Redirect/file/{_quoted(name)}"
    folder = _folder(_current(Upload(repository, name)))
    return f"{STORE}/{repository}/{folder}/{_quoted(name)}"


def request_url(address: str, width: int | None) -> str:
    """Return the address to request for one of Wikimedia's, as a thumbnail if there is a `width`.

    Where there is no `width`, an original keeps its spelling, and a thumbnail of a permitted width
    stays one. Any address that is not Wikimedia's is returned unchanged.
    """
    upload, canonical = upload_of(address), canonical_url(address)
    if upload is None:
        return address
    if width is None:
        match = _stored(address)
        stays = match and (not match["derived"] or upload.width in WIDTHS)
        return "https://{}{}".format(*_host_and_path(address)) if stays else canonical
    if "/" not in upload.repository:
        return redirect_url(upload, width)
    project, wiki, file_path = canonical.removeprefix(f"{STORE}/").split("/", 2)
    return f"{THUMBNAILS}/{project}/{wiki}/thumb/{file_path}/{_thumbnail(upload, width)}"


def thumbnail_elsewhere(address: str) -> str | None:
    """Return the address of a thumbnail on the other host that may have it; None without one."""
    match = _stored(address)
    if match is None or not match["derived"]:
        return None
    for host, other in ((THUMBNAILS, STORE), (STORE, THUMBNAILS)):
        if address.startswith(f"{host}/"):
            return other + address.removeprefix(host)
    return None


def repository_of(host: str) -> str:
    """Return the repository of a wiki's own uploads, as Wikimedia's $wgUploadPath composes it.

    A wiki of a language has `<project>/<language>`, one that stands alone `wikipedia/<name>`.
    """
    labels = _labels(host)
    if len(labels) < _WITH_LANGUAGE or labels[0] == "www":
        name = labels[-2] if len(labels) > 1 else host
        return f"wikipedia/{_ALONE.get(name, name)}"
    language, project, *_ = labels
    return f"wikipedia/{language}" if project == "wikimedia" else f"{project}/{language}"


def host_of(repository: str) -> str:
    """Return the host of the wiki that has a repository."""
    project, _, wiki = repository.removesuffix("/archive").partition("/")
    if not wiki:
        return repository
    if wiki in _ON_WIKIMEDIA:
        return f"{wiki}.wikimedia.org"
    return _HOSTS.get(wiki, f"{wiki}.{project}.org")


def redirect_url(upload: Upload, width: int | None = None) -> str:
    """Return the page of a file's wiki that leads to it, or to what it was renamed to.

    Source: https://www.mediawiki.org/wiki/Manual:Special:Redirect.
    """
    page = upload_url(_current(upload), host_of(upload.repository))
    return f"{page}?width={width}" if width else page


def file_page(address: str) -> str:
    """Return the page of the file that an address shows; empty where no wiki has it."""
    upload = upload_of(address)
    if upload is None:
        return ""
    return f"https://{host_of(upload.repository)}/wiki/File:{_quoted(_current(upload))}"


def local_url(name: str, host: str) -> str:
    """Return the address of a file that a wiki has uploaded itself."""
    return upload_url(name, repository_of(host))


def decoded_name(last: str) -> str:
    """Return a file's name as people write it, of the last part of its address."""
    return unquote(last).replace("_", " ")


def file_of(address: str) -> str | None:
    """Return the name of the file that an address shows, or that the page of a file has.

    Beside Wikimedia's addresses, `./File:A_b.jpg` and a path within a ZIM file will do.
    """
    upload = upload_of(address)
    if upload is not None:
        last = _current(upload)
    else:
        last = unquote(address.partition("?")[0].partition("#")[0]).rpartition("/")[2]
        _, colon, name = last.rpartition(":")
        last = name if colon else _plain(last)
    return file_name(last) if _NAME.fullmatch(last) else None


def _stored(address: str) -> re.Match[str] | None:
    """Match the path of an address of the store."""
    host, path = _host_and_path(address)
    match = _STORED.fullmatch(path) if host in _STORES else None
    if match is None or (match["size"] and not match["derived"]):
        return None
    name = _decoded(match["name"])
    return match if name and (not match["old"] or _EARLIER.fullmatch(name)) else None


def _host_and_path(address: str) -> tuple[str, str]:
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return "", ""
    return (host, parts.path) if parts.scheme in ("http", "https", "") else ("", "")


def _shown(address: str) -> Upload | None:
    """Return the file of a page, or of a program that draws it."""
    host, path = _host_and_path(address)
    if not is_wikimedias(host) or host in _STORES:
        return None
    parts = urlsplit(address)
    asked, over, page = parse_qs(parts.query), unquote(parts.fragment), _PAGE.fullmatch(path)
    titles = [over.removeprefix(_OVER_ARTICLE)] if over.startswith(_OVER_ARTICLE) else []
    titles += [*asked.get("title", []), unquote(page["title"]) if page else ""]
    named = [*asked.get("f", []), *asked.get("file", []), *(t for t in titles if ":" in t)]
    files = (file_name(_decoded(name.rpartition("/")[2].rpartition(":")[2])) for name in named)
    file = next(filter(_NAME.fullmatch, files), None)
    [width, *_] = [*asked.get("width", []), *asked.get("w", []), ""]
    digits = width.removesuffix("px")
    return Upload(_wiki(host), file, int(digits) if digits.isdecimal() else None) if file else None


def _wiki(host: str) -> str:
    """Return the repository of Commons, or the host of another wiki, without its mobile label."""
    wiki = ".".join(_labels(host))
    return COMMONS if wiki == "commons.wikimedia.org" else wiki


def _labels(host: str) -> list[str]:
    return [label for label in host.lower().split(".") if label not in ("m", "zero")]


def _decoded(written: str) -> str:
    """Return a name of an address; empty where it can be no file's."""
    try:
        name = unquote_to_bytes(written).decode()
        while _ENCODED_TWICE.search(name):
            name = unquote_to_bytes(name).decode()
    except UnicodeError:
        return ""
    name = name.replace("_", " ").strip()
    return "" if _FORBIDDEN.search(name) else name


def _quoted(name: str) -> str:
    return quote(name.replace(" ", "_"), safe="")


def _folder(file: str) -> str:
    digest = hashlib.md5(file.replace(" ", "_").encode(), usedforsecurity=False).hexdigest()
    return f"{digest[0]}/{digest[:2]}"


def _current(upload: Upload) -> str:
    """Return the name of a file without the moment that an earlier version has before it."""
    is_earlier = upload.repository.endswith("/archive")
    return upload.name.partition("!")[2] if is_earlier else upload.name


def _thumbnail(upload: Upload, width: int) -> str:
    """Return the last part of a thumbnail's address."""
    name = _current(upload).replace(" ", "_")
    ending = name.rpartition(".")[2].lower()
    base = name if len(name.encode()) <= _LONGEST_NAME_BYTES else f"thumbnail.{ending}"
    base = quote(base, safe="")
    if ending in _FILMS:
        return f"{width}px--{base}.jpg"
    if ending in _PAGED:
        return f"{_PAGED[ending]}page1-{width}px-{base}.jpg"
    suffix = f".{_SUFFIXES[ending]}" if ending in _SUFFIXES else ""
    return f"{width}px-{base}{suffix}"


def _plain(last: str) -> str:
    last = _SIZED.sub("", last, count=1) if _SIZED.match(last) else last
    for added in (_SMALLER, _THUMBNAIL):
        match = added.fullmatch(last)
        last = match["name"] if match else last
    return last
