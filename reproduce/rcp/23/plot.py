"""Figure 23: RCP over a radio link."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("damaged packets, a satellite link, a channel that is bad for a while", 5, columns=3) as (
        figure,
        axes,
    ):
        charts.lines(axes[0], report.table("23a"), ["tcp", "tcp-eln", "tcp-eln-sack", "rcp", "rcp-eln"])
        axes[0].set_xscale("log")
        axes[0].set_title("(a) damaged packets")
        charts.finish(axes[0], "damaged packets (percent)", "goodput (kbit/s)")
        charts.bars(axes[1], report.table("23b"), ["tcp-eln", "tcp-eln-sack", "rcp-eln"])
        axes[1].set_title("(b) seven losses of one window")
        charts.paper(axes[1], report.claim("RC-012").number, "TCP-ELN")
        charts.paper(axes[1], report.claim("RC-013").number, "RCP-ELN")
        charts.finish(axes[1], "delay of the backbone (ms)", "first to last repair (s)")
        charts.lines(axes[2], report.table("23c"), ["tcp", "tcp-sack", "stp", "rcp", "rcp-stp"])
        axes[2].set_title("(c) satellite link, crowded way back")
        charts.finish(axes[2], "delay of the link (ms)", "goodput (kbit/s)")
        for panel, index, title, unit in (
            (axes[3], 0, "(d) power", "mean power of the radio (W)"),
            (axes[4], 1, "(d) what arrives meanwhile", "goodput (kbit/s)"),
        ):
            charts.lines(panel, report.table("23d", index), ["tcp", "rcp"])
            panel.set_title(title)
            charts.finish(panel, "mean bad period (s)", unit)
        charts.legend(figure)
        return figure
