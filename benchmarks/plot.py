"""Cost against fleet size, as an SVG: CPU and peak memory of planning beside the floor's, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10

from benchmarks.cases import Row

_WIDTH, _HEIGHT = 400, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 12, 40, 44
_TOOL, _FLOOR = "#1a6fb5", "#999999"
_STYLE = "text{font:12px sans-serif;fill:#444}.t{font-weight:bold}.g{stroke:#ddd}line,polyline{fill:none}"


def plot(rows: Sequence[Row]) -> str:
    """The picture of a run's plans without latency; empty where fewer than two fleet sizes were measured."""
    plans = sorted((row for row in rows if row.what == "plan" and not row.latency), key=lambda row: row.size)
    sizes = [row.size for row in plans]
    if len(sizes) < 2:
        return ""
    panels = [
        ("CPU, seconds", [row.pairs.median("cpu") for row in plans], [row.pairs.floor_median("cpu") for row in plans]),
        (
            "peak memory, MiB",
            [row.pairs.median("memory") for row in plans],
            [row.pairs.floor_median("memory") for row in plans],
        ),
    ]
    drawn = [
        f'<g transform="translate({index * _WIDTH} 0)">{_panel(title, sizes, tool, bare)}</g>'
        for index, (title, tool, bare) in enumerate(panels)
    ]
    box = f'viewBox="0 0 {_WIDTH * len(panels)} {_HEIGHT}" width="{_WIDTH * len(panels)}" height="{_HEIGHT}"'
    ground = '<rect width="100%" height="100%" fill="white"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}><style>{_STYLE}</style>{ground}{"".join(drawn)}</svg>\n'


class _Axis:
    """Powers of ten from `values`' least to their greatest, laid over pixels from `start` to `end`."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self._low = floor(log10(min(values)))
        self._high = max(ceil(log10(max(values))), self._low + 1)
        self._start, self._end = start, end

    def at(self, value: float) -> float:
        share = (log10(value) - self._low) / (self._high - self._low)
        return round(self._start + share * (self._end - self._start), 1)

    def ticks(self) -> list[float]:
        return [10.0**power for power in range(self._low, self._high + 1)]


def _panel(title: str, sizes: Sequence[int], tool: Sequence[float], bare: Sequence[float]) -> str:
    x = _Axis(sizes, _LEFT, _WIDTH - _RIGHT)
    y = _Axis([*tool, *bare], _HEIGHT - _BOTTOM, _TOP)
    parts = [f'<text class="t" x="{_LEFT}" y="18">plan: {escape(title)}</text>']
    for tick in y.ticks():
        parts.append(_line(_LEFT, y.at(tick), _WIDTH - _RIGHT, y.at(tick)))
        parts.append(f'<text x="{_LEFT - 6}" y="{y.at(tick) + 4}" text-anchor="end">{tick:,g}</text>')
    for tick in x.ticks():
        parts.append(_line(x.at(tick), _TOP, x.at(tick), _HEIGHT - _BOTTOM))
        parts.append(f'<text x="{x.at(tick)}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle">{tick:,.0f}</text>')
    parts.append(f'<text x="{(_LEFT + _WIDTH) / 2}" y="{_HEIGHT - 8}" text-anchor="middle">clusters</text>')
    for name, colour, values, row in (("reconciler", _TOOL, tool, 0), ("floor", _FLOOR, bare, 1)):
        points = " ".join(f"{x.at(size)},{y.at(value)}" for size, value in zip(sizes, values, strict=True))
        parts.append(f'<polyline points="{points}" stroke="{colour}" stroke-width="2"/>')
        label = f'<text x="{_LEFT + 26}" y="{_TOP + 16 + 16 * row}">{name}</text>'
        parts.append(_line(_LEFT + 6, _TOP + 12 + 16 * row, _LEFT + 20, _TOP + 12 + 16 * row, colour) + label)
    return "".join(parts)


def _line(x1: float, y1: float, x2: float, y2: float, colour: str = "") -> str:
    style = f'stroke="{colour}" stroke-width="2"' if colour else 'class="g"'
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" {style}/>'
