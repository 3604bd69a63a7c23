"""Figure 38: spatial reuse of whole journeys against locality."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("spatial reuse of whole journeys") as (figure, (panel,)):
        charts.lines(panel, report.table("38"), ["spatial reuse", "hops"])
        charts.finish(panel, "non-local flows (%)", "transmissions in a slot; hops")
        charts.legend(figure)
        return figure
