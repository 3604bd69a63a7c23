"""P8: explicit loss notification on the pipe that damages packets, plain TCP on the other."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("2 Mbit/s with TCP-ELN and damaged packets beside 5 Mbit/s") as (figure, (panel,)):
        charts.lines(panel, report.table("P8"), ["ideal", "pTCP", "smart"])
        panel.set_xscale("log")
        charts.finish(panel, "packets damaged (%)", "goodput (Mbit/s)")
        charts.legend(figure)
        return figure
