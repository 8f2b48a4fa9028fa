"""What a server's X-Robots-Tag says of a picture's use, to all robots or to one by its name.

Sources: Google's specification of the robots meta tag and X-Robots-Tag (several rules in a header,
several headers, rules behind a robot's name, `none`, `unavailable_after`), and img2dataset's
downloader, whose default rules are those of `noai`, `noimageai`, `noindex` and `noimageindex`.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# Owners who say so keep their pictures out of data sets; `none` is noindex and nofollow.
_FORBIDDING = frozenset({"noai", "noimageai", "noindex", "noimageindex", "none"})
_UNTIL = "unavailable_after"
# Rules that have a value behind a colon, where a robot's name would have a rule.
_WITH_VALUE = frozenset({_UNTIL, "max-snippet", "max-image-preview", "max-video-preview"})
_EVERYONE = frozenset({"*", "robots"})
_ROBOT = re.compile(r"\s*(?P<name>[^:]*[^:\s])\s*:(?P<rest>.*)", re.DOTALL)
# A date of RFC 850 has a comma behind its day of the week.
_WEEKDAY = re.compile(r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?", re.I)
_DASHED_DATE = re.compile(r"(\d{1,2})-([A-Za-z]{3})[a-z]*-(\d{2,4})")


def forbids(tags: Sequence[str], agent: str, now: datetime | None = None) -> str | None:
    """Return the rule of the X-Robots-Tag headers `tags` that forbids a use; None if none does.

    A rule counts for all robots, or for the one that is named before it, up to the next name. The
    name is compared with the User-Agent `agent`, and with the product that it begins with.
    `unavailable_after` forbids from its moment on (RFC 822, RFC 850 or ISO 8601; UTC where it has
    no zone).
    """
    agent_name = agent.lower().strip()
    addressed = {*_EVERYONE, agent_name, re.split(r"[/\s]", agent_name)[0]}
    for tag in tags:
        for robot, rule, value in _rules(tag):
            if robot not in addressed:
                continue
            if rule in _FORBIDDING or (rule == _UNTIL and _has_passed(value, now)):
                return f"{rule}: {value}" if value else rule
    return None


def _rules(tag: str) -> Iterator[tuple[str, str, str]]:
    """Yield the robot (`*` is all), the rule and its value, of each rule in a header."""
    robot, parts = "*", re.split("[,;]", tag.lower())
    while parts:
        part = parts.pop(0)
        while (named := _ROBOT.fullmatch(part)) and named["name"] not in _WITH_VALUE:
            robot, part = named["name"], named["rest"]
        rule, _, value = (piece.strip() for piece in part.partition(":"))
        if rule == _UNTIL and parts and _WEEKDAY.fullmatch(value):
            value = f"{value}, {parts.pop(0).strip()}"
        if rule:
            yield robot, rule, value


def _has_passed(value: str, now: datetime | None) -> bool:
    """Tell whether a moment has passed; what can't be read has not, as where there is no rule."""
    for read in (datetime.fromisoformat, _of_mail):
        try:
            moment = read(value.upper())
            zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return zoned <= (now or datetime.now(UTC))
        except (ValueError, TypeError, OverflowError):
            continue
    return False


def _of_mail(value: str) -> datetime:
    """Read a date of RFC 822, or of RFC 850, which has dashes, or both at a time."""
    return parsedate_to_datetime(_DASHED_DATE.sub(r"\1 \2 \3", value))
