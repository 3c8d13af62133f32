"""Values for people: short ones in a line, others as YAML."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from reconciler.views.safe import is_safe, safe

if TYPE_CHECKING:
    import yaml

UNSET = "(unset)"
# What can't be mistaken for another type or for the text around it stands without quotes.
_PLAIN = re.compile(r"[A-Za-z_./][\w./:@%+=-]*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off"})
_NUMBER = re.compile(r"[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|0o[0-7]+")  # YAML 1.2's; PyYAML knows 1.1's
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def inline(value: Any) -> str:
    """A value in one safe line, as YAML's flow style would write it."""
    match value:
        case None:
            return UNSET
        case bool():
            return "true" if value else "false"
        case str():
            return _string(value)
        case list():
            return f"[{', '.join(map(inline, value))}]"
        case dict():
            return "{" + ", ".join(f"{_string(str(key))}: {inline(item)}" for key, item in value.items()) + "}"
        case _:
            return safe(str(value))


def _string(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return safe(json.dumps(text, ensure_ascii=False))


def yaml_text(value: Any) -> str:
    """Block YAML that reads back as the same value; what isn't safe stands escaped inside double quotes."""
    import yaml

    text = yaml.dump(value, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=1_000_000)
    if text.endswith("\n...\n"):  # the end mark that PyYAML puts after a bare scalar
        text = text[:-4]
    # What isn't safe stands in double quotes by now, where these escapes mean the characters themselves.
    return "\n".join(safe(line, tabs=True) for line in text.split("\n"))


@cache
def _dumper() -> type[yaml.SafeDumper]:
    """PyYAML's safe dumper, in C where there is one, that writes scripts as literal blocks."""
    import yaml

    base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    dumper: Any = type("Dumper", (base,), {"ignore_aliases": lambda _self, _data: True})
    dumper.add_representer(str, _represent)
    dumper.add_multi_representer(str, _represent)
    chosen: type[yaml.SafeDumper] = dumper
    return chosen


def _represent(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if not is_safe(text.replace("\n", "").replace("\t", "")) or _NUMBER.fullmatch(text):
        style = '"'
    elif "\n" in text:
        style = "|"
    encodable = _SURROGATE.sub("\ufffd", text)  # YAML has no way to write half a character
    return dumper.represent_scalar("tag:yaml.org,2002:str", encodable, style=style)
