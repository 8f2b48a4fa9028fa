"""Quantities in two units, as `{{convert}}` shows them.

Rounding as Template:Convert documents it: the second number is as precise as the first, with at
least two significant digits. The units are those below; any other leaves the quantity as it is
given.
"""

import math
import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from isotope.parse.transclusion.arguments import Arguments, quantity


class Unit(NamedTuple):
    """A unit: its symbol and names, what it is of its kind's own, and what it is shown in."""

    symbol: str
    singular: str
    many: str
    scale: float
    kind: str
    other: str
    offset: float = 0.0


def _metre(prefix: str, symbol: str, scale: float, other: str) -> Unit:
    return Unit(symbol, f"{prefix}metre", f"{prefix}metres", scale, "length", other)


_UNITS: dict[str, Unit] = {
    "mm": _metre("milli", "mm", 0.001, "in"),
    "cm": _metre("centi", "cm", 0.01, "in"),
    "m": _metre("", "m", 1.0, "ft"),
    "km": _metre("kilo", "km", 1000.0, "mi"),
    "in": Unit("in", "inch", "inches", 0.0254, "length", "mm"),
    "ft": Unit("ft", "foot", "feet", 0.3048, "length", "m"),
    "yd": Unit("yd", "yard", "yards", 0.9144, "length", "m"),
    "mi": Unit("mi", "mile", "miles", 1609.344, "length", "km"),
    "nmi": Unit("nmi", "nautical mile", "nautical miles", 1852.0, "length", "km mi"),
    "m2": Unit("m2", "square metre", "square metres", 1.0, "area", "sqft"),
    "km2": Unit("km2", "square kilometre", "square kilometres", 1e6, "area", "sqmi"),
    "ha": Unit("ha", "hectare", "hectares", 1e4, "area", "acre"),
    "acre": Unit("acres", "acre", "acres", 4046.8564224, "area", "ha"),
    "sqft": Unit("sq ft", "square foot", "square feet", 0.09290304, "area", "m2"),
    "sqmi": Unit("sq mi", "square mile", "square miles", 2589988.110336, "area", "km2"),
    "g": Unit("g", "gram", "grams", 0.001, "mass", "oz"),
    "kg": Unit("kg", "kilogram", "kilograms", 1.0, "mass", "lb"),
    "t": Unit("t", "tonne", "tonnes", 1000.0, "mass", "long ton"),
    "oz": Unit("oz", "ounce", "ounces", 0.028349523125, "mass", "g"),
    "lb": Unit("lb", "pound", "pounds", 0.45359237, "mass", "kg"),
    "long ton": Unit("long tons", "long ton", "long tons", 1016.0469088, "mass", "t"),
    "short ton": Unit("short tons", "short ton", "short tons", 907.18474, "mass", "t"),
    "km/h": Unit("km/h", "kilometre per hour", "kilometres per hour", 1 / 3.6, "speed", "mph"),
    "mph": Unit("mph", "mile per hour", "miles per hour", 0.44704, "speed", "km/h"),
    "m/s": Unit("m/s", "metre per second", "metres per second", 1.0, "speed", "ft/s"),
    "ft/s": Unit("ft/s", "foot per second", "feet per second", 0.3048, "speed", "m/s"),
    "kn": Unit("kn", "knot", "knots", 1852 / 3600, "speed", "km/h"),
    "l": Unit("L", "litre", "litres", 0.001, "volume", "impgal USgal"),
    "m3": Unit("m3", "cubic metre", "cubic metres", 1.0, "volume", "cuft"),
    "cuft": Unit("cu ft", "cubic foot", "cubic feet", 0.028316846592, "volume", "m3"),
    "usgal": Unit("US gal", "US gallon", "US gallons", 0.003785411784, "volume", "l"),
    "impgal": Unit("imp gal", "imperial gallon", "imperial gallons", 0.00454609, "volume", "l"),
    "kw": Unit("kW", "kilowatt", "kilowatts", 1000.0, "power", "hp"),
    "hp": Unit("hp", "horsepower", "horsepower", 745.69987158227, "power", "kw"),
    "c": Unit("°C", "degree Celsius", "degrees Celsius", 1.0, "temperature", "f", 273.15),
    "f": Unit("°F", "degree Fahrenheit", "degrees Fahrenheit", 5 / 9, "temperature", "c", 459.67),
    "k": Unit("K", "kelvin", "kelvins", 1.0, "temperature", "c"),
}
_ALIASES = {
    **{"metre": "m", "meter": "m", "metres": "m", "meters": "m", "kilometre": "km", "mile": "mi"},
    **{"kilometer": "km", "kilometers": "km", "kilometres": "km", "miles": "mi", "foot": "ft"},
    **{"feet": "ft", "inch": "in", "inches": "in", "yard": "yd", "acres": "acre", "kg": "kg"},
    **{"°c": "c", "°f": "f", "celsius": "c", "fahrenheit": "f", "kph": "km/h", "kmh": "km/h"},
    **{
        "lbs": "lb",
        "pound": "lb",
        "lt": "long ton",
        "st": "short ton",
        "knot": "kn",
        "knots": "kn",
    },
    **{"sqkm": "km2", "sqm": "m2", "sq mi": "sqmi", "sq ft": "sqft", "hectare": "ha", "bhp": "hp"},
    **{"tonne": "t", "mt": "t", "litre": "l", "u.s.gal": "usgal", "cu ft": "cuft"},
}
_RANGES = {
    **{"to": " to ", "-": "\u2013", "\u2013": "\u2013", "and": " and ", "or": " or ", "by": " by "},
    **{
        "x": " by ",
        "\u00d7": " \u00d7 ",
        "*": " \u00d7 ",
        "to(-)": " to ",
        "+/-": " ± ",
        "±": " ± ",
    },
}
_VALUE = re.compile(r"[-\u2212]?\d{1,15}(?:\.\d{0,10})?")
_AMERICAN = (("metre", "meter"), ("litre", "liter"), ("tonne", "metric ton"))


def converted(call: Arguments) -> str:
    """Return `5 kilometres (3.1 mi)` for `{{convert|5|km|mi}}`."""
    values, joints, remaining = _values(call.positional)
    unit = _unit(remaining[0]) if remaining else None
    if not values or unit is None:
        return quantity(call)
    is_next = len(remaining) > 1 and not _VALUE.fullmatch(remaining[1])
    target = _unit(remaining[1] if is_next and remaining[1] else unit.other.split()[0])
    if (
        target is None
        or target.kind != unit.kind
        or (len(remaining) > 1 and not is_next and not remaining[1].lstrip("-").isdecimal())
    ):
        return quantity(call)
    digits = next((int(word) for word in remaining[1:] if re.fullmatch(r"-?\d", word)), None)
    sigfig = call.named.get("sigfig", "")
    numbers = [_in(value, unit, target, digits, sigfig) for value in values]
    return _shown(call, (values, numbers), joints, (unit, target))


def _unit(name: str) -> Unit | None:
    name = name.strip().lower()
    return _UNITS.get(_ALIASES.get(name, name))


def _values(words: Sequence[str]) -> tuple[list[str], list[str], Sequence[str]]:
    """Cut `5|to|10|km|mi` into its values, what joins them, and the rest."""
    values, joints = list[str](), list[str]()
    for position, word in enumerate(words):
        bare = word.strip().replace(",", "")
        if len(values) == len(joints) and _VALUE.fullmatch(bare):
            values.append(bare.replace("\u2212", "-"))
        elif len(values) > len(joints) and word.strip() in _RANGES:
            joints.append(_RANGES[word.strip()])
        else:
            return values, joints[: max(len(values) - 1, 0)], words[position:]
    return values, joints, ()


def _in(value: str, unit: Unit, target: Unit, digits: int | None, sigfig: str) -> str:
    amount = float(value)
    base = (amount + unit.offset) * unit.scale
    out = base / target.scale - target.offset
    if digits is None and re.fullmatch(r"[1-9]", sigfig) and out:
        digits = int(sigfig) - 1 - math.floor(math.log10(abs(out)))
    if digits is None:
        digits = _precision(value, out, unit, base)
    step = Decimal(1).scaleb(-digits)
    rounded = Decimal(repr(out)).quantize(step, rounding=ROUND_HALF_UP)
    return f"{rounded:,.{max(digits, 0)}f}"


def _precision(value: str, out: float, unit: Unit, base: float) -> int:
    """Return the number of decimals of the second number; negative before the point."""
    integer, _, decimals = value.lstrip("-").partition(".")
    precision = (
        len(decimals) if decimals or "." in value else -(len(integer) - len(integer.rstrip("0")))
    )
    if unit.kind == "temperature":
        least = 2 - math.floor(math.log10(abs(base))) if abs(base) > 1e-8 else 2  # noqa: PLR2004
        return max(precision, least)
    number, out = abs(float(value)), abs(out)
    if not number or not out:
        return 0
    adjusted = precision + math.log10(number / out) + math.log10(2)
    return max(math.floor(adjusted), 1 - math.floor(math.log10(out) + 1e-14))


def _shown(
    call: Arguments, both: tuple[list[str], list[str]], joints: list[str], units: tuple[Unit, Unit]
) -> str:
    named = call.named
    short = call.name == "cvt" or named.get("abbr") in ("on", "in", "~")
    as_word = named.get("adj") in ("on", "mid")
    formatted_values = [_with_commas(value) for value in both[0]]
    first = _quantity(formatted_values, joints, units[0], (short, as_word))
    second = _quantity(
        both[1], joints, units[1], (named.get("abbr") not in ("off", "none"), as_word)
    )
    if named.get("sp", "").lower() == "us":
        for british, american in _AMERICAN:
            first, second = first.replace(british, american), second.replace(british, american)
    if named.get("order") == "flip" or named.get("disp") == "flip":
        first, second = (
            _quantity(both[1], joints, units[1], (short, as_word)),
            _quantity(formatted_values, joints, units[0], (True, as_word)),
        )
    display = named.get("disp", "")
    if display in ("out", "output only"):
        return second
    if display == "or":
        form = (named.get("abbr") == "on", as_word)
        return f"{first} or {_quantity(both[1], joints, units[1], form)}"
    return f"{first} ({second})"


def _quantity(values: list[str], joints: list[str], unit: Unit, form: tuple[bool, bool]) -> str:
    number = values[0] + "".join(j + v for j, v in zip(joints, values[1:], strict=False))
    is_short, as_word = form
    if is_short or unit.kind == "temperature":
        return f"{number} {unit.symbol}"
    if as_word:
        return f"{number}-{unit.singular}"
    return f"{number} {unit.singular if values == ['1'] else unit.many}"


def _with_commas(value: str) -> str:
    sign, digits = ("\u2212", value[1:]) if value.startswith("-") else ("", value)
    integer, point, decimals = digits.partition(".")
    return f"{sign}{int(integer):,}{point}{decimals}"
