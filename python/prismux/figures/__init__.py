"""Figures of published experiments, each a pure function of a result file.

``prismux reproduce all --json > claims.json`` writes the results, and
``python -m prismux.figures claims.json --out FOLDER`` draws every figure that the file has results for. The code of a
figure lies in ``reproduce/``, in a folder of its own beside what the paper did; this package holds what they share:
:class:`Report` reads a result file, :mod:`.style` makes pictures that print well and can be read by the colour-blind,
:mod:`.charts` draws lines and bars with intervals.
"""

from prismux.figures.report import Claim, Curve, Drawing, Point, Report, ReportError, Spot, Table

__all__ = ["Claim", "Curve", "Drawing", "Point", "Report", "ReportError", "Spot", "Table"]
