"""Figure 31: spatial reuse against range and hosts."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("transmissions at the same time") as (figure, (panel,)):
        charts.lines(panel, report.table("31"), ["least range", "half as much again", "whole cell"])
        charts.finish(panel, "hosts", "transmissions in a slot")
        charts.legend(figure)
        return figure
