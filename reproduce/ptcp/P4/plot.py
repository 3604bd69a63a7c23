"""P4: rates that change, by the number of pipes."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("2 to 5 pipes at a random tenth of 0.2 to 1 of the full rate") as (figure, (panel,)):
        charts.over_pipes(panel, report, "P4", 9, "mean available rate")
        charts.legend(figure)
        return figure
