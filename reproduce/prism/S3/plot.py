"""S3: the schedulers under bursts of foreign traffic."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    table = report.table("S3")
    with style.canvas("600, 900, 1200 kbit/s; bursts of 400 and 800 kbit/s on the outer two") as (figure, axes):
        (panel,) = axes
        charts.lines(panel, table, ["ideal", "adas", "wrr", "random", "hrtt", "nip"])
        charts.paper(panel, report.claim("PR-027").number, "hRTT only", left=True)
        charts.finish(panel, "mean burst (ms)", "goodput with headers (Mbit/s)")
        charts.legend(figure)
        return figure
