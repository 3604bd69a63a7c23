"""Figure 29: R²CP on the move, from two servers, at a target rate."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("a laptop with two WLAN cards and two servers", 4, columns=2) as (figure, axes):
        charts.lines(axes[0], report.table("29a"), ["rcp-1", "rcp-2", "aggregate"])
        axes[0].set_title("(a) handoff at 58 s, old pipe until 60 s")
        charts.finish(axes[0], "time (s)", "received since 56 s (MB)")
        charts.lines(axes[1], report.table("29b"), ["rcp-1", "rcp-3", "aggregate"])
        axes[1].set_title("(b) migration at 58 s")
        charts.finish(axes[1], "time (s)", "received since 56 s (MB)")
        charts.bars(axes[2], report.table("29c"), ["goodput"])
        axes[2].set_title("(c) two servers at once")
        charts.finish(axes[2], "servers", "goodput (Mbit/s)")
        charts.lines(axes[3], report.table("29d"), ["total", "rcp-1", "rcp-2"])
        charts.paper(axes[3], report.claim("R2-006").number, "target")
        axes[3].set_title("(d) a target rate")
        charts.finish(axes[3], "time (s)", "in bins of 1 s (kbit/s)")
        charts.legend(figure)
        return figure
