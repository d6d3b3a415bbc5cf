# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""plot.py - dots and lines as SVG, with nothing but the standard library; colours follow the reader's light or dark screen

A plot is panels side by side, each with sizes or names along the bottom and a logarithmic scale up, and one line at 1: what
all else is compared with.
"""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 340, 250            # of a panel
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 44, 40
LINE_HEIGHT = 18                    # of the legend
# Told apart by colour and by shape, by those who see few colours as well (Okabe and Ito's).
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999"]
STYLE = """
.back { fill: #ffffff } .text { fill: #1f2328 } .grid { stroke: #d0d7de; stroke-width: 1 } .one { stroke: #57606a; stroke-width: 1.5 }
text { font: 11px sans-serif } .title { font-weight: bold } .series { stroke-width: 1.6; fill: none } .span { stroke-width: 1.2 }
@media (prefers-color-scheme: dark) {
.back { fill: #0d1117 } .text { fill: #e6edf3 } .grid { stroke: #30363d } .one { stroke: #8b949e } }
"""
TICKS = [0.1, 0.2, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50]


def number(value):
    return f"{value:.1f}".rstrip("0").rstrip(".")


class Panel:
    """series: name -> points (place, value) or (place, value, low, high); places: the names along the bottom; hollow: those
    points, (name, place), that say nothing."""

    def __init__(self, title, places, series, hollow=()):
        self.title, self.places, self.series, self.hollow = title, places, series, set(hollow)


class Scale:
    """From values, which may not be 0, to heights; one for all panels."""

    def __init__(self, panels):
        values = [v for p in panels for points in p.series.values() for point in points for v in point[1:]] + [1]
        self.low, self.high = min(values) / 1.05, max(values) * 1.05

    def at(self, value):
        part = (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return TOP + (1 - part) * (HEIGHT - TOP - BOTTOM)

    def ticks(self):
        """No closer to each other than the text is high."""
        kept = []
        for tick in sorted(TICKS, key=lambda t: (t != 1, abs(math.log(t)))):
            if self.low <= tick <= self.high and all(abs(self.at(tick) - self.at(k)) >= 14 for k in kept):
                kept.append(tick)
        return sorted(kept)


def mark(shape, x, y, colour, hollow=False):
    fill = f'class="back" stroke="{colour}"' if hollow else f'fill="{colour}"'
    if shape == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" {fill}/>'
    if shape == 1:
        return f'<rect x="{x - 3.2:.1f}" y="{y - 3.2:.1f}" width="6.4" height="6.4" {fill}/>'
    sides = {2: [(0, -4.5), (4, 3), (-4, 3)], 3: [(0, -4.5), (4.5, 0), (0, 4.5), (-4.5, 0)]}.get(shape, [(0, 4.5), (4, -3), (-4, -3)])
    points = " ".join(f"{x + a:.1f},{y + b:.1f}" for a, b in sides)
    return f'<polygon points="{points}" {fill}/>'


def draw_panel(panel, scale, names, left):
    inner = WIDTH - LEFT - RIGHT
    step = inner / len(panel.places)
    out = [f'<text class="text title" x="{left + LEFT}" y="{TOP - 14}">{escape(panel.title)}</text>']
    for tick in scale.ticks():
        y = scale.at(tick)
        kind, right = "one" if tick == 1 else "grid", left + WIDTH - RIGHT
        out.append(f'<line class="{kind}" x1="{left + LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(f'<text class="text" text-anchor="end" x="{left + LEFT - 6}" y="{y + 4:.1f}">{number(tick)}</text>')
    for i, place in enumerate(panel.places):
        x, y = left + LEFT + (i + 0.5) * step, HEIGHT - BOTTOM + 16
        out.append(f'<text class="text" text-anchor="middle" x="{x:.1f}" y="{y}">{escape(place)}</text>')
    for at, name in enumerate(names):
        points = sorted(panel.series.get(name, []), key=lambda point: panel.places.index(point[0]))
        colour = COLOURS[at % len(COLOURS)]
        beside = (at - (len(names) - 1) / 2) * min(7, step / (len(names) + 1))
        spots = [(p[0], left + LEFT + (panel.places.index(p[0]) + 0.5) * step + beside, *p[1:]) for p in points]
        if len(spots) > 1:
            line = " ".join(f"{x:.1f},{scale.at(v[0]):.1f}" for _, x, *v in spots)
            out.append(f'<polyline class="series" stroke="{colour}" stroke-opacity="0.55" points="{line}"/>')
        for place, x, value, *span in spots:
            if span:
                low, high = (scale.at(v) for v in span)
                out.append(f'<line class="span" stroke="{colour}" x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>')
            out.append(mark(at % 5, x, scale.at(value), colour, (name, place) in panel.hollow))
    return out


def draw(panels, upward):
    """The text of an SVG file; upward says what the scale means."""
    names = list(dict.fromkeys(name for panel in panels for name in panel.series))
    scale = Scale(panels)
    width = WIDTH * len(panels)
    each = max(120, 8 * max(map(len, names), default=0) + 30)
    in_a_row = max(1, (width - LEFT) // each)
    rows = math.ceil(len(names) / in_a_row)
    height = HEIGHT + rows * LINE_HEIGHT + 4
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
           f"<title>{escape(upward)}</title>", f"<style>{STYLE}</style>", f'<rect class="back" width="{width}" height="{height}"/>',
           f'<text class="text" x="8" y="14">{escape(upward)}</text>']
    for i, panel in enumerate(panels):
        out += draw_panel(panel, scale, names, i * WIDTH)
    for at, name in enumerate(names):
        x, y = LEFT + at % in_a_row * each, HEIGHT + at // in_a_row * LINE_HEIGHT
        out.append(mark(at % 5, x, y, COLOURS[at % len(COLOURS)]))
        out.append(f'<text class="text" x="{x + 10}" y="{y + 4}">{escape(name)}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"
