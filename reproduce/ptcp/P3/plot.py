"""P3: two to five pipes."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("2, 5, 0.5, 1 and 10 Mbit/s, joining in this order") as (figure, (panel,)):
        charts.over_pipes(panel, report, "P3", 4, "sum of the rates")
        charts.legend(figure)
        return figure
