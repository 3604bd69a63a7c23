"""Figure 3 of the TCP-DOOR paper: improvement over TCP by setting."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("goodput over that of TCP with SACK in the same networks", 2, columns=2) as (figure, axes):
        for number, (panel, title) in enumerate(zip(axes, ["(a) alone", "(b) congested"], strict=True)):
            charts.bars(panel, report.table("DOOR3", number), ["all", "sd", "rd"])
            panel.set_title(title)
            panel.axhspan(145, 157, color="0.85", zorder=0)
            charts.finish(panel, "T1 x T2 (timer units)", "goodput over TCP (%)")
        charts.legend(figure)
        return figure
