"""Figure 49: dual-mode operation: a flow that is cut off."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("a flow that is cut off while hosts move") as (figure, (panel,)):
        charts.lines(panel, report.table("49"), ["peers", "dual mode"])
        charts.paper_at(panel, report.claim("DM-002").number, "first of the peers arrives")
        charts.finish(panel, "time (s)", "packets that have arrived")
        charts.legend(figure)
        return figure
