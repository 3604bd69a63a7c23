"""Figure 51: access points of another network."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("access points of another network in the cell", 2, columns=2) as (figure, axes):
        charts.lines(
            axes[0], report.table("51a"), ["cell alone", "one hop to an access point", "relay to an access point"]
        )
        in_use = [(count, report.claim(f"MM-00{number}").number) for number, count in ((1, 0), (2, 6), (3, 6))]
        charts.reported(axes[0], in_use, 0.3, "cell alone, one hop, relay at most")
        axes[0].set_title("(a) channel around the base station")
        charts.finish(axes[0], "access points", "in use (%)")
        charts.lines(
            axes[1], report.table("51b"), ["cell alone", "one hop to an access point", "relay to an access point"]
        )
        charts.paper(axes[1], report.claim("MM-005").number, "cell alone, at most")
        axes[1].set_title("(b) three access points")
        charts.finish(axes[1], "target of a flow (kbit/s)", "throughput (kbit/s)")
        charts.legend(figure)
        return figure
