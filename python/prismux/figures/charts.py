"""Lines and bars with intervals, and the paper's value beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prismux.figures.report import Point, Table
from prismux.figures.style import look

_PAPER = "#555555"


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
            marker=style.marker or None,
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
    axes.set_xticks(range(len(table.labels)), table.labels)
    axes.tick_params(axis="x", length=0)


def levels(axes: Axes, table: Table, name: str) -> None:
    """Mark one level for each row of :func:`bars`: what is possible there."""
    style = look(name)
    for row, point in enumerate(table.column(name)):
        if point is not None:
            ends = (row - 0.44, row + 0.44)
            label = style.name if row == 0 else "_nolegend_"
            axes.hlines(point.mean, *ends, color=style.colour, linestyle="--", linewidth=1, label=label)


def paper(axes: Axes, value: float, text: str, *, ends: tuple[float, float] | None = None) -> None:
    """Mark the value that the paper reports: over all of the axes, or between two ``ends``."""
    style: dict[str, Any] = {"color": _PAPER, "linewidth": 1.0, "linestyle": (0, (1, 1.5))}
    label: dict[str, Any] = {"va": "bottom", "fontsize": 7, "color": _PAPER, "zorder": 4}
    box: dict[str, Any] = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85}
    if ends is None:
        axes.axhline(value, zorder=1, **style)
        place = axes.get_yaxis_transform()
        axes.text(0.995, value, f"paper: {text}", transform=place, ha="right", bbox=box, **{**label, "zorder": 1.5})
    else:
        axes.hlines(value, *ends, zorder=3, **style)
        axes.text(sum(ends) / 2, value, f"paper: {text}", ha="center", bbox=box, **label)


def finish(axes: Axes, x: str, y: str, *, top: float | None = None) -> None:
    """Label the axes and begin the values at 0."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_ylim(bottom=0, top=top)


def legend(figure: Figure) -> None:
    """Say below the panels what the lines and bars are, each once."""
    known: dict[str, Artist] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            known.setdefault(label, handle)
    columns = min(len(known), 3 if len(figure.axes) == 1 else 5)
    figure.legend(list(known.values()), list(known), loc="outside lower center", ncols=columns)
