"""P3: two to five pipes."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("2, 5, 0.5, 1 and 10 Mbit/s, joining in this order") as (figure, (panel,)):
        charts.lines(panel, report.table("P3"), ["ideal", "pTCP", "smart", "unaware", "unaware, W"])
        claims = [report.claim(f"PT-{number:03}").number for number in range(4, 8)]
        charts.reported(panel, list(enumerate(claims, 2)), 0.15, "sum of the rates")
        panel.set_xticks(range(2, 6))
        charts.finish(panel, "pipes", "goodput (Mbit/s)")
        charts.legend(figure)
        return figure
