"""Lines and bars with intervals, and the paper's value beside them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from prismux.figures.report import Curve, Drawing, Point, Report, Spot, Table
from prismux.figures.style import look, shade

_PAPER = "#555555"
#: More points than these are a course in time, whose marks would hide it.
_MANY = 40


def _errors(points: Sequence[Point]) -> list[list[float]]:
    return [[p.mean - p.low for p in points], [p.high - p.mean for p in points]]


def lines(axes: Axes, table: Table, names: Sequence[str], *, scale: float = 1.0) -> None:
    """Draw a line with intervals for each of ``names`` over the numbers of the rows."""
    for name in names:
        measured = [(x, point) for x, point in zip(table.numbers, table.column(name), strict=True) if point is not None]
        if not measured:
            continue
        points = [Point(p.mean * scale, p.low * scale, p.high * scale, p.n) for _, p in measured]
        style = look(name)
        axes.errorbar(
            [x for x, _ in measured],
            [point.mean for point in points],
            yerr=_errors(points),
            label=style.name,
            color=style.colour,
            marker=style.marker if len(measured) <= _MANY else None,
            linestyle=style.dashes,
        )


def bars(axes: Axes, table: Table, names: Sequence[str]) -> None:
    """Draw a group of bars with intervals for each row, one bar for each of ``names``."""
    width = 0.8 / len(names)
    for index, name in enumerate(names):
        style = look(name)
        column = table.column(name)
        measured = [(row, point) for row, point in enumerate(column) if point is not None]
        points = [point for _, point in measured]
        axes.bar(
            [row + (index - (len(names) - 1) / 2) * width for row, _ in measured],
            [point.mean for point in points],
            width * 0.92,
            yerr=_errors(points),
            label=style.name,
            color=style.colour,
            hatch=style.hatch,
            edgecolor="white",
            ecolor="#222222",
        )
    # Many labels side by side need more lines.
    many = len(table.labels) > 4
    labels = [textwrap.fill(label, 8, break_long_words=False) if many else label for label in table.labels]
    axes.set_xticks(range(len(labels)), labels, fontsize=7 if many else None)
    axes.tick_params(axis="x", length=0)


def curves(axes: Axes, drawing: Drawing, letter: str, *, top: float | None = None) -> None:
    """Draw computed curves as lines and simulated points of them as circles with intervals.

    A curve's label is "who, parameter". Lines of the application are solid, of the transport dashed; each value of
    the parameter has one colour for both.
    """
    parameters = list(dict.fromkeys(_parameter(curve) for curve in drawing.curves))
    for curve in drawing.curves:
        parameter = _parameter(curve)
        colour = shade(parameters.index(parameter), len(parameters))
        style = "--" if curve.label.startswith("transport") else "-"
        width = 0.9 if "total delay" in curve.label else 1.4
        axes.plot(*zip(*curve.points, strict=True), style, color=colour, linewidth=width, label="_nolegend_")
        if parameter and style == "-" and width > 1:
            axes.plot([], [], style, color=colour, label=parameter)
        for spot in curve.simulated:
            _simulated(axes, spot, colour)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(loc="best", fontsize=7, frameon=True, framealpha=0.85, edgecolor="none")
    axes.set_title(f"({letter}) {drawing.title}")
    finish(axes, drawing.x, drawing.y.replace(", ", ",\n"), top=top)


def _parameter(curve: Curve) -> str:
    """What tells a curve of a figure from the others of the same splitter."""
    return curve.label.rpartition(", ")[2] if ", " in curve.label else ""


def _simulated(axes: Axes, spot: Spot, colour: str) -> None:
    point = spot.point
    error = [[point.mean - point.low], [point.high - point.mean]]
    kind: dict[str, Any] = {"color": colour, "marker": "o", "linestyle": "", "markerfacecolor": "white", "zorder": 3}
    if spot.axis == "x":
        axes.errorbar([point.mean], [spot.at], xerr=error, label="_nolegend_", **kind)
    else:
        axes.errorbar([spot.at], [point.mean], yerr=error, label="_nolegend_", **kind)


def curve_legend(figure: Figure) -> None:
    """Say below the panels what the lines and circles of :func:`curves` are."""
    grey = "#333333"
    handles = [
        Line2D([], [], color=grey, linestyle="-", label="application splits, computed"),
        Line2D([], [], color=grey, linestyle="--", label="transport splits, computed"),
        Line2D([], [], color=grey, linestyle="", marker="o", markerfacecolor="white", label="simulated, 95 % interval"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)


def levels(axes: Axes, table: Table, name: str) -> None:
    """Mark one level for each row of :func:`bars`: what is possible there."""
    style = look(name)
    for row, point in enumerate(table.column(name)):
        if point is not None:
            ends = (row - 0.44, row + 0.44)
            label = style.name if row == 0 else "_nolegend_"
            axes.hlines(point.mean, *ends, color=style.colour, linestyle="--", linewidth=1, label=label)


def paper(axes: Axes, value: float, text: str, *, ends: tuple[float, float] | None = None, left: bool = False) -> None:
    """Mark the value that the paper reports: over all of the axes, named at the right or left, or between ``ends``."""
    style: dict[str, Any] = {"color": _PAPER, "linewidth": 1.0, "linestyle": (0, (1, 1.5))}
    label: dict[str, Any] = {"va": "bottom", "fontsize": 7, "color": _PAPER, "zorder": 4}
    box: dict[str, Any] = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85}
    if ends is None:
        axes.axhline(value, zorder=1, **style)
        place, align = (0.01, "left") if left else (0.995, "right")
        axes.text(place, value, f"paper: {text}", transform=axes.get_yaxis_transform(), ha=align, bbox=box, **label)
    else:
        axes.hlines(value, *ends, zorder=3, **style)
        axes.text(sum(ends) / 2, value, f"paper: {text}", ha="center", bbox=box, **label)


def paper_at(axes: Axes, x: float, text: str) -> None:
    """Mark the place on the horizontal axis at which the paper reports something."""
    axes.axvline(x, zorder=1, color=_PAPER, linewidth=1.0, linestyle=(0, (1, 1.5)))
    label: dict[str, Any] = {"rotation": 90, "va": "top", "ha": "right", "fontsize": 7, "color": _PAPER, "zorder": 4}
    axes.text(x, 0.99, f"paper: {text}", transform=axes.get_xaxis_transform(), **label)


def reported(axes: Axes, places: Sequence[tuple[float, float]], half: float, text: str) -> None:
    """Mark a reported value at each of ``places``, ``half`` to both sides, and say in the legend what they are."""
    ends = [(x - half, x + half) for x, _ in places]
    values = [value for _, value in places]
    style: dict[str, Any] = {"color": _PAPER, "linewidth": 1.4, "linestyle": (0, (1, 1)), "zorder": 3}
    axes.hlines(values, [low for low, _ in ends], [high for _, high in ends], label=f"paper: {text}", **style)


def over_pipes(axes: Axes, report: Report, experiment: str, first_claim: int, text: str) -> None:
    """Goodput over two to five pipes: pTCP beside striping, and the values of four claims from ``first_claim`` on."""
    lines(axes, report.table(experiment), ["ideal", "pTCP", "smart", "unaware", "unaware, W"])
    claims = [report.claim(f"PT-{number:03}").number for number in range(first_claim, first_claim + 4)]
    reported(axes, list(enumerate(claims, 2)), 0.15, text)
    axes.set_xticks(range(2, 6))
    finish(axes, "pipes", "goodput (Mbit/s)")


def finish(axes: Axes, x: str, y: str, *, top: float | None = None) -> None:
    """Label the axes and begin the values at 0; without a ``top``, with room above all that is drawn so far."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_ylim(bottom=0, top=1.05 * axes.dataLim.y1 if top is None else top)


def legend(figure: Figure) -> None:
    """Say below the panels what the lines and bars are, each once."""
    known: dict[str, Artist] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            known.setdefault(label, handle)
    columns = min(len(known), 3 if figure.get_figwidth() < 6 else 5)
    if sum(len(label) + 6 for label in known) > 14 * figure.get_figwidth():
        columns = min(columns, 2)
    figure.legend(list(known.values()), list(known), loc="outside lower center", ncols=columns)
