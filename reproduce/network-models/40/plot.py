"""Figure 40: hosts that move."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("hosts that move") as (figure, (panel,)):
        charts.lines(panel, report.table("40"), ["cellular", "peers, DSR", "peers, DSDV"])
        charts.finish(panel, "highest speed (m/s)", "throughput of a flow (kbit/s)")
        charts.legend(figure)
        return figure
