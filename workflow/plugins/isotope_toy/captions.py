"""What is written of a picture: its file's name, and captions that often say little of it.

An editor names the place and what is seen, or names another thing of the same place, or writes
another language, or nothing. Which it is hangs on the picture alone: WIT and the dump agree.
Captions are missing as often as in AToMiC: Yang et al., SIGIR 2023, Table 2.
"""

import random
from collections.abc import Mapping

from isotope_toy import scenes, words
from isotope_toy.scenes import Scene

# ASSUME each kind's share: with them BM25 finds as much as the paper's does; no paper counts them.
_EMPTY = {"reference": 0.4228, "alt": 0.7479, "attribution": 0.0257}
_NAMED, _LOCATED, _WORK, _FOREIGN, _MAKER = "named", "place", "work", "foreign", "maker"
_REFERENCES = {_NAMED: 0.14, _LOCATED: 0.5, _WORK: 0.36}
_ATTRIBUTIONS = {_NAMED: 0.09, _WORK: 0.41, _FOREIGN: 0.3, _MAKER: 0.2}
_STEMS = {_NAMED: 0.3, _WORK: 0.7}
_NAMES = ("{} {}", "{} {}", "{} {}", "{} {} (detail)", "{} & {}", "{} — {} für Gäste")
_VIEWS = (
    "The {kind} from the river, {year}",
    "Steps behind the {kind} in the winter of {year}",
    "Market day in {year}",
    "The north door, repaired in {year}",
    "{who} at the {kind} in {year}",
    "The path that leads to the {kind}",
)
_WORKS = (
    "The {medium} in {year}",
    "A {medium} of the {kind}",
    "The ''{mood} {medium}'' after it was cleaned",
    "{medium}, made for {trade}",
    "A {medium} by {who}",
)


def stem(rng: random.Random, owner: str, number: int, medium: str) -> str:
    """Return the name of a file without its ending: of the page, or of a work with a shelfmark.

    `medium` tells the pictures of a page apart, `number` those of the same medium elsewhere.
    """
    of_page, of_work = rng.choice(_NAMES), f"{medium.capitalize()} {words.shelfmark(number)}"
    return of_page.format(owner, medium) if _one_of(rng, _STEMS) == _NAMED else of_work


def reference(scene: Scene, medium: str, owner: str, note: str = "") -> str:
    """Return the caption under the picture, in wikitext with links inside; none if it is empty.

    A picture with a `note`, which follows the caption, always has one.
    """
    rng = _rng(scene, "reference")
    if rng.random() < _EMPTY["reference"] and not note:
        return ""
    kind = _one_of(rng, _REFERENCES)
    if kind == _NAMED:
        objects = scenes.joined([scenes.noun(group) for group in scene.groups])
        return f"{medium} of [[{owner}|{owner}]]: ''{objects} on {scene.ground}''{note}"
    return _filled(rng, _VIEWS if kind == _LOCATED else _WORKS, medium, owner) + note


def alternative(scene: Scene, note: str = "") -> str:
    """Return the alternative text, a short list of what is seen; none if it is empty."""
    absent = _rng(scene, "alt").random() < _EMPTY["alt"]
    return "" if absent and not note else f"{scenes.listing(scene)}{note}"


def attribution(scene: Scene, medium: str, owner: str) -> str:
    """Return the description on the file's own page, after its language; none if it is empty."""
    rng = _rng(scene, "attribution")
    if rng.random() < _EMPTY["attribution"]:
        return ""
    kind = _one_of(rng, _ATTRIBUTIONS)
    if kind == _FOREIGN:
        language = rng.choice(words.LANGUAGES)
        return f"{words.language_name(language)}: {described(scene, language)}"
    if kind == _MAKER:
        return f"English: Own work by {rng.choice(words.PEOPLE)}"
    work = words.plain(_filled(rng, _WORKS, medium, owner))
    return f"English: {f'{owner}, {medium.lower()}' if kind == _NAMED else work}"


def described(scene: Scene, language: str) -> str:
    """Return what another language says of a scene."""
    _, _, ground, _ = words.phrases(language)
    parts = [
        f"{g.count} {words.word(g.shape, language)} ({words.word(g.colour, language)})"
        for g in scene.groups
    ]
    return f"{', '.join(parts)}; {ground}: {words.word(scene.ground, language)}"


def _filled(rng: random.Random, stock: tuple[str, ...], medium: str, owner: str) -> str:
    sentence = rng.choice(stock).format(
        kind=owner.rsplit(maxsplit=1)[-1].lower(),
        medium=medium.lower(),
        year=rng.randrange(1850, 2015),
        who=rng.choice(words.PEOPLE),
        mood=rng.choice(words.MOODS),
        trade=rng.choice(words.TRADES),
    )
    return sentence[0].upper() + sentence[1:]


def _one_of(rng: random.Random, shares: Mapping[str, float]) -> str:
    return rng.choices(list(shares), weights=list(shares.values()))[0]


def _rng(scene: Scene, purpose: str) -> random.Random:
    return random.Random(f"{scene.seed}/{purpose}")
