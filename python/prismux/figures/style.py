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
    "linux24": Look("TCP of Linux 2.4 with SACK", _RED, "s", "--", "//"),
    "linux24-newreno": Look("TCP of Linux 2.4, NewReno", _ORANGE, "^", "-.", "xx"),
    "textbook": Look("textbook TCP", _PURPLE, "v", ":", ".."),
    "wrr": Look("weighted round robin", _ORANGE, "^", "-.", "xx"),
    "rr": Look("round robin", _GREEN, "D", ":", ".."),
    "random": Look("random", _PURPLE, "v", (0, (3, 1, 1, 1)), "\\\\"),
    "hrtt": Look("hRTT only", _SKY, "P", ":", ".."),
    "nip": Look("NIP only", _GREEN, "D", "--", "//"),
    "partial": Look("resequencing only", _GREEN, "D", "--"),
    "none": Look("RPC off", _RED, "s", ":"),
    "tcp-ho": Look("TCP-HO", _BLUE, "o"),
    "tcp-ho x0.5": Look("TCP-HO, told half the bandwidth", _SKY, "P", ":", ".."),
    "tcp-ho x1": Look("TCP-HO", _BLUE, "o"),
    "tcp-ho x2": Look("TCP-HO, told twice the bandwidth", _GREEN, "D", "-.", "xx"),
    "saved": Look("saved by TCP-HO", _BLUE, "o", ""),
    "saved, by arithmetic": Look("saved, by arithmetic", _BLACK, "", "--"),
    "no proxy": Look("best single link", _GREEN, "D", ":", ".."),
    "tcp": Look("TCP", _RED, "s", "--", "//"),
    "door": Look("TCP-DOOR", _BLUE, "o"),
    "all": Look("both ends detect", _BLUE, "o"),
    "sd": Look("the sender detects", _ORANGE, "^", "-.", "xx"),
    "rd": Look("the receiver detects", _GREEN, "D", "-", "\\\\"),
    "802.11 and DSR": Look("802.11 and DSR", _RED, "o", "-"),
    "tcp-eln": Look("TCP-ELN", _ORANGE, "^", "-.", "xx"),
    "tcp-eln-sack": Look("TCP-ELN with SACK", _PURPLE, "v", ":", ".."),
    "rcp": Look("RCP", _BLUE, "o"),
    "rcp-eln": Look("RCP-ELN", _GREEN, "D", "-", "\\\\"),
    "tcp-sack": Look("TCP with SACK", _SKY, "P", ":", ".."),
    "stp": Look("STP", _ORANGE, "^", "-.", "xx"),
    "rcp-stp": Look("RCP-STP", _GREEN, "D", "-", "\\\\"),
    "late-tcp": Look("late TCP", _ORANGE, "^", "-."),
    "late-rcp": Look("late RCP", _SKY, "P", ":"),
    "variation": Look("all flows", _BLACK, "x"),
    "r2cp": Look("R²CP", _BLUE, "o"),
    "r2cp-s": Look("R²CP-s", _ORANGE, "^", "-.", "xx"),
    "cellular": Look("cellular", _BLACK, "s", "--"),
    "peers": Look("peers", _RED, "o", "-"),
    "peers, DSR": Look("peers, DSR", _RED, "o", "-"),
    "peers, DSDV": Look("peers, DSDV", _ORANGE, "^", "-."),
    "assisted": Look("peers with a schedule", _BLUE, "D", "-"),
    "dual mode": Look("dual mode", _BLUE, "D", "-"),
    "least range": Look("least range", _BLUE, "D", "-"),
    "half as much again": Look("half as much again", _GREEN, "o", "-."),
    "whole cell": Look("whole cell", _BLACK, "s", "--"),
    "spatial reuse": Look("spatial reuse", _BLUE, "D", "-"),
    "hops": Look("hops", _ORANGE, "^", "-."),
    "cell alone": Look("cell alone", _BLACK, "s", "--"),
    "one hop to an access point": Look("one hop to an access point", _ORANGE, "^", "-."),
    "relay to an access point": Look("relay to an access point", _BLUE, "D", "-"),
    "apps": Look("APPS", _RED, "s", "--", "//"),
    "dealt": Look("R²CP, one to one", _PURPLE, "v", ":", ".."),
    "rcp-1": Look("RCP-1", _RED, "", "--"),
    "rcp-2": Look("RCP-2", _ORANGE, "", "-."),
    "rcp-3": Look("RCP-3", _GREEN, "", "-."),
    "aggregate": Look("aggregate", _BLUE, ""),
    "total": Look("total", _BLUE, ""),
    "goodput": Look("goodput", _BLUE, "o"),
    "ideal": Look("ideal", _BLACK, "", "--", ""),
    "pTCP": Look("pTCP", _BLUE, "o"),
    "smart": Look("smart application", _ORANGE, "^", "-.", "xx"),
    "unaware": Look("unaware application", _RED, "s", "--", "//"),
    "unaware, W": Look("unaware, resequencing", _PURPLE, "D", ":", ".."),
    "sockets": Look("sockets of the fast pipe", _RED, "s", "--", "//"),
    "sockets and resequencing": Look("and the resequencing buffer", _ORANGE, "^", "-.", "xx"),
    "pTCP, pipe 1": Look("pTCP, pipe 1 (dark)", _SKY, "", ":"),
    "pTCP, pipe 2": Look("pTCP, pipe 2", _BLUE, ""),
    "smart, pipe 1": Look("smart, pipe 1 (dark)", _PURPLE, "", ":"),
    "smart, pipe 2": Look("smart, pipe 2", _ORANGE, "", "-."),
    "capacity": Look("capacity", _BLACK, "", "--", ""),
}


#: Colours for the values of a parameter, from low to high: viridis without its yellow end, which print loses.
_SCALE = ("#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#bddf26")


def shade(index: int, count: int) -> str:
    """Return the colour of the parameter's value number ``index`` of ``count``."""
    return _SCALE[round(index * (len(_SCALE) - 1) / max(count - 1, 1))]


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
    # Letters stay letters in PDF (TrueType), which journals ask for.
    "pdf.fonttype": 42,
    # The same input gives the same bytes.
    "svg.hashsalt": "prismux",
}


@contextmanager
def canvas(title: str, panels: int = 1, *, columns: int | None = None) -> Iterator[tuple[Figure, list[Axes]]]:
    """Make a figure of so many panels in this style, side by side or in so many columns."""
    columns = columns or panels
    rows = -(-panels // columns)
    with plt.rc_context(_SETTINGS):
        width = 5.2 if columns == 1 else 3.6 * columns
        size = (width, 3.6 if rows == 1 else 3.0 * rows)
        figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
        _title(figure, title)
        for unused in list(axes.flat)[panels:]:
            unused.remove()
        try:
            yield figure, list(axes.flat)[:panels]
        except BaseException:
            # A figure that cannot be drawn is not kept open.
            plt.close(figure)
            raise


def _title(figure: Figure, text: str) -> None:
    wrapped = textwrap.fill(text, int(14.5 * figure.get_figwidth()))
    figure.suptitle(wrapped, fontsize=10, x=0.01, ha="left")


def cite(figure: Figure, source: str) -> None:
    """Say behind the title where the figure was published."""
    _title(figure, f"{' '.join(figure.get_suptitle().split())} [{source}]")


def save(figure: Figure, stem: str) -> list[str]:
    """Write ``stem.svg``, ``stem.png`` and ``stem.pdf``, the same bytes for the same figure, and close it."""
    paths = []
    with plt.rc_context(_SETTINGS):
        for suffix, metadata in (
            ("svg", {"Date": None, "Creator": "prismux"}),
            ("png", {"Software": "prismux"}),
            ("pdf", {"CreationDate": None, "Creator": "prismux", "Producer": None}),
        ):
            figure.savefig(f"{stem}.{suffix}", metadata=metadata)
            paths.append(f"{stem}.{suffix}")
    plt.close(figure)
    return paths
