"""Figure 30: R²CP over two paths that differ."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style

_WAYS = ["r2cp", "r2cp-s", "apps"]


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("two pipes to two servers", 4, columns=2) as (figure, axes):
        charts.lines(axes[0], report.table("30a"), ["ideal", *_WAYS])
        axes[0].set_title("(a) 4 Mbit/s and another rate")
        charts.finish(axes[0], "second pipe (Mbit/s)", "goodput (Mbit/s)")
        charts.lines(axes[1], report.table("30b"), ["ideal", *_WAYS])
        charts.paper_at(axes[1], 30 * report.claim("R2-012").number, "R²CP-s falls behind beyond")
        axes[1].set_title("(b) 30 ms and another round trip")
        charts.finish(axes[1], "second round trip (ms)", "goodput (Mbit/s)")
        charts.lines(axes[2], report.table("30b", 1), _WAYS)
        axes[2].set_title("(c) buffer three quarters full")
        charts.finish(axes[2], "second round trip (ms)", "arrivals (percent)")
        charts.lines(axes[3], report.table("30d"), ["ideal", *_WAYS[:2]])
        axes[3].set_xscale("log")
        axes[3].set_title("(d) bursty neighbours")
        charts.finish(axes[3], "factor t of bursts and pauses", "goodput (Mbit/s)")
        charts.legend(figure)
        return figure
