"""GitHub's expressions, as far as our workflows use them: contexts, literals, `==`, `!=`, `!`, `&&`, `||`, functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

_TOKEN = re.compile(r"\s*(?:(?P<op>==|!=|&&|\|\||[!().])|'(?P<text>(?:[^']|'')*)'|(?P<name>[A-Za-z_][\w-]*))")
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_STATUS = re.compile(r"\b(?:always|cancelled|failure|success)\(\)")

Functions = Mapping[str, Callable[[], bool]]


class Evaluator:
    """Evaluates against contexts (`github`, `steps` …) and the functions that ask for the job's status."""

    def __init__(self, contexts: Mapping[str, Any], functions: Functions) -> None:
        self._contexts = contexts
        self._functions = functions

    def text(self, template: Any) -> str:
        """A value of a workflow file with its expressions replaced."""
        if not isinstance(template, str):
            return _shown(template)
        return _EXPRESSION.sub(lambda found: _shown(self.value(found[1])), template)

    def holds(self, condition: str | bool | None) -> bool:
        """An `if:`; without a function that asks for the status, it holds only while all went well."""
        if condition is None:
            return self._functions["success"]()
        source = str(condition).strip()
        whole = _EXPRESSION.fullmatch(source)
        source = whole[1] if whole else source
        if not _STATUS.search(source) and not self._functions["success"]():
            return False
        return bool(self.value(source))

    def value(self, source: str) -> Any:
        """An expression's value. Raises ValueError for what isn't understood here."""
        tokens = _tokens(source)
        value = self._or(tokens)
        if tokens:
            raise ValueError(f"{source!r}: {tokens} is left over")
        return value

    def _or(self, tokens: list[tuple[str, str]]) -> Any:
        value = self._and(tokens)
        while _take(tokens, "op", "||"):
            other = self._and(tokens)
            value = value or other
        return value

    def _and(self, tokens: list[tuple[str, str]]) -> Any:
        value = self._compared(tokens)
        while _take(tokens, "op", "&&"):
            other = self._compared(tokens)
            value = value and other
        return value

    def _compared(self, tokens: list[tuple[str, str]]) -> Any:
        value = self._one(tokens)
        for operator, equal in (("==", True), ("!=", False)):
            if _take(tokens, "op", operator):
                return (_shown(value).lower() == _shown(self._one(tokens)).lower()) is equal
        return value

    def _one(self, tokens: list[tuple[str, str]]) -> Any:
        kind, token = tokens.pop(0)
        if (kind, token) == ("op", "!"):
            return not self._one(tokens)
        if (kind, token) == ("op", "("):
            value = self._or(tokens)
            _need(tokens, ")")
            return value
        if kind == "text":
            return token.replace("''", "'")
        if kind != "name":
            raise ValueError(f"unexpected {token!r}")
        if _take(tokens, "op", "("):
            _need(tokens, ")")
            return self._functions[token]()
        if token in ("true", "false", "null"):
            return {"true": True, "false": False, "null": None}[token]
        value = self._contexts[token]
        while _take(tokens, "op", "."):
            _, member = tokens.pop(0)
            value = value.get(member) if isinstance(value, Mapping) else None
        return value


def _tokens(source: str) -> list[tuple[str, str]]:
    tokens = []
    source = source.strip()
    while source:
        found = _TOKEN.match(source)
        if not found:
            raise ValueError(f"not understood: {source!r}")
        kind = found.lastgroup or ""
        tokens.append((kind, found[kind]))
        source = source[found.end() :].strip()
    return tokens


def _take(tokens: list[tuple[str, str]], kind: str, text: str) -> bool:
    if tokens[:1] == [(kind, text)]:
        tokens.pop(0)
        return True
    return False


def _need(tokens: list[tuple[str, str]], text: str) -> None:
    if not _take(tokens, "op", text):
        raise ValueError(f"{text!r} expected, got {tokens[:1]}")


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
