"""P1: two pipes of unlike rate; and the fast one second by second."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("0.5 Mbit/s at 400 ms beside a faster pipe at 100 ms", 2) as (figure, (rates, time)):
        charts.lines(rates, report.table("P1"), ["ideal", "pTCP", "smart", "unaware", "unaware, W"])
        charts.finish(rates, "rate of pipe 2 / rate of pipe 1", "goodput (Mbit/s)")
        charts.lines(time, report.table("P1", 1), ["pTCP", "unaware", "unaware, W"])
        charts.finish(time, "time (s)", "fast pipe at ratio 6 (Mbit/s)")
        charts.legend(figure)
        return figure
