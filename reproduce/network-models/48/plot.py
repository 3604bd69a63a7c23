"""Figure 48: dual-mode operation: throughput of all flows."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("throughput of the flows of a cell, sorted") as (figure, (panel,)):
        charts.lines(panel, report.table("48"), ["peers", "dual mode"])
        charts.finish(panel, "flows, from the least served", "throughput of a flow (kbit/s)")
        charts.legend(figure)
        return figure
