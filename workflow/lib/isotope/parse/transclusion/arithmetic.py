"""The expressions of `#expr` and `#ifexpr`.

Grammar and order of operators: https://www.mediawiki.org/wiki/Help:Extension:ParserFunctions.
"""

import math
import re
from collections.abc import Callable, Iterator

_TOKEN = re.compile(
    r"\s*(?:(\d+\.?\d*(?:e[+-]?\d+)?|\.\d+)|([a-z]+)|(<=|>=|<>|!=|[-+*/^=<>()]))", re.I
)
_CONSTANTS = {"e": math.e, "pi": math.pi}
_LONGEST = 500
_EXACT = 1e15
_FUNCTIONS: dict[str, Callable[[float], float]] = {
    **{"not": lambda x: float(not x), "abs": abs, "trunc": math.trunc, "floor": math.floor},
    **{"ceil": math.ceil, "sqrt": math.sqrt, "exp": math.exp, "ln": math.log, "sin": math.sin},
    **{"cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos, "atan": math.atan},
}


def _rounded(value: float, digits: float) -> float:
    scale = 10.0 ** int(digits)
    return math.copysign(math.floor(abs(value) * scale + 0.5) / scale, value)


_BINARY: dict[str, tuple[int, Callable[[float, float], float]]] = {
    "^": (8, lambda a, b: float(a**b)),
    "*": (7, lambda a, b: a * b),
    "/": (7, lambda a, b: a / b),
    "div": (7, lambda a, b: a / b),
    "mod": (7, lambda a, b: math.fmod(int(a), int(b))),
    "fmod": (7, math.fmod),
    "+": (6, lambda a, b: a + b),
    "-": (6, lambda a, b: a - b),
    "round": (5, _rounded),
    **{"=": (4, lambda a, b: float(a == b)), "<>": (4, lambda a, b: float(a != b))},
    **{"!=": (4, lambda a, b: float(a != b)), "<": (4, lambda a, b: float(a < b))},
    **{">": (4, lambda a, b: float(a > b)), "<=": (4, lambda a, b: float(a <= b))},
    ">=": (4, lambda a, b: float(a >= b)),
    "and": (3, lambda a, b: float(bool(a and b))),
    "or": (2, lambda a, b: float(bool(a or b))),
}
_UNARY = 9


def value_of(expression: str) -> float | None:
    """Return the value of an expression; None of an empty one.

    Raises:
        ValueError: it is no expression, or has no value.
    """
    expression = expression.replace("\u2212", "-").replace("&minus;", "-").strip()
    if not expression:
        return None
    if len(expression) > _LONGEST:
        raise ValueError("too long")
    reader = _Reader(_tokens(expression))
    try:
        value = reader.expression(0)
    except (ArithmeticError, RecursionError, TypeError) as error:
        raise ValueError(str(error)) from error
    if reader.token or not math.isfinite(value):
        raise ValueError(expression)
    return value


def number(value: float) -> str:
    """Return a value as MediaWiki writes it."""
    return str(int(value)) if value == int(value) and abs(value) < _EXACT else f"{value:.14g}"


def _tokens(expression: str) -> Iterator[str]:
    at = 0
    while at < len(expression):
        token = _TOKEN.match(expression, at)
        if token is None:
            raise ValueError(expression)
        yield token[0].strip().lower()
        at = token.end()


class _Reader:
    """A reader of operands and operators, the stronger ones first."""

    def __init__(self, tokens: Iterator[str]) -> None:
        self._tokens = tokens
        self.token = ""
        self._next()

    def _next(self) -> str:
        token, self.token = self.token, next(self._tokens, "")
        return token

    def expression(self, least: int) -> float:
        left = self._operand()
        while (operator := _BINARY.get(self.token)) and operator[0] >= least:
            self._next()
            left = float(operator[1](left, self.expression(operator[0] + 1)))
        return left

    def _operand(self) -> float:
        token = self._next()
        if token == "(":
            value = self.expression(0)
            if self._next() != ")":
                raise ValueError("a bracket that is not closed")
            return value
        if token in ("-", "+"):
            value = self.expression(_UNARY)
            return -value if token == "-" else value
        if token in _FUNCTIONS:
            return float(_FUNCTIONS[token](self.expression(_UNARY)))
        if token in _CONSTANTS:
            return _CONSTANTS[token]
        return float(token)
