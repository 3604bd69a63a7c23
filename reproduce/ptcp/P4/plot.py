"""P4: rates that change, by the number of pipes."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("2 to 5 pipes at a random tenth of 0.2 to 1 of the full rate") as (figure, (panel,)):
        charts.lines(panel, report.table("P4"), ["ideal", "pTCP", "smart", "unaware", "unaware, W"])
        claims = [report.claim(f"PT-{number:03}").number for number in range(9, 13)]
        charts.reported(panel, list(enumerate(claims, 2)), 0.15, "mean available rate")
        panel.set_xticks(range(2, 6))
        charts.finish(panel, "pipes", "goodput (Mbit/s)")
        charts.legend(figure)
        return figure
