"""How figures look: colours that the colour-blind tell apart, marks that survive a photocopy, sizes for print."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib

# Figures are files: no window system is asked for.
matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure


@dataclass(frozen=True)
class Look:
    """How one way of doing things is drawn, in every figure alike."""

    name: str
    colour: str
    marker: str
    dashes: str | tuple[float, tuple[float, ...]] = "-"
    hatch: str = ""


_BLUE, _ORANGE, _GREEN, _RED, _PURPLE, _SKY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9"
_BLACK = "#000000"

#: Looks by the name of a column. Colours are those of Okabe and Ito.
LOOKS = {
    "prism": Look("PRISM", _BLUE, "o"),
    "adas": Look("ADAS", _BLUE, "o"),
    "full": Look("RPC on", _BLUE, "o"),
    "vanilla": Look("TCP with SACK", _RED, "s", "--", "//"),
    "vanilla-newreno": Look("TCP NewReno", _ORANGE, "^", "-.", "xx"),
    "textbook": Look("textbook TCP", _PURPLE, "v", ":", ".."),
    "wrr": Look("weighted round robin", _ORANGE, "^", "-.", "xx"),
    "rr": Look("round robin", _GREEN, "D", ":", ".."),
    "random": Look("random", _PURPLE, "v", (0, (3, 1, 1, 1)), "\\\\"),
    "hrtt": Look("hRTT only", _SKY, "P", ":", ".."),
    "nip": Look("NIP only", _GREEN, "D", "--", "//"),
    "partial": Look("resequencing only", _GREEN, "D", "--"),
    "none": Look("RPC off", _RED, "s", ":"),
    "no proxy": Look("best single link", _GREEN, "D", ":", ".."),
    "ideal": Look("ideal", _BLACK, "", "--", ""),
    "capacity": Look("capacity", _BLACK, "", "--", ""),
}


def look(name: str) -> Look:
    """Return the look of a column; one that is not known is black."""
    return LOOKS.get(name, Look(name, _BLACK, "x"))


_SETTINGS: Any = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "errorbar.capsize": 2.5,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "hatch.linewidth": 0.5,
    "savefig.dpi": 200,
    # The same input gives the same bytes.
    "svg.hashsalt": "prismux",
}


@contextmanager
def canvas(title: str, panels: int = 1) -> Iterator[tuple[Figure, list[Axes]]]:
    """Make a figure of so many panels side by side, in this style."""
    with plt.rc_context(_SETTINGS):
        width = 5.2 if panels == 1 else 3.6 * panels
        figure, axes = plt.subplots(1, panels, figsize=(width, 3.6), layout="constrained", squeeze=False)
        wrapped = textwrap.fill(title, int(14.5 * width))
        figure.suptitle(wrapped, fontsize=10, x=0.01, ha="left")
        yield figure, list(axes[0])


def save(figure: Figure, stem: str) -> list[str]:
    """Write ``stem.svg`` and ``stem.png``, the same bytes for the same figure, and close it."""
    paths = []
    with plt.rc_context(_SETTINGS):
        for suffix, metadata in (
            ("svg", {"Date": None, "Creator": "prismux"}),
            ("png", {"Software": "prismux"}),
        ):
            figure.savefig(f"{stem}.{suffix}", metadata=metadata)
            paths.append(f"{stem}.{suffix}")
    plt.close(figure)
    return paths
