"""Figure 3 of the TCP-DOOR paper: improvement over TCP by setting."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    gains = [report.claim(f"TD-{number:03}").number for number in range(2, 8)]
    with style.canvas("goodput over that of TCP with SACK in the same networks", 2, columns=2) as (figure, axes):
        for number, (panel, title) in enumerate(zip(axes, ["(a) alone", "(b) congested"], strict=True)):
            charts.bars(panel, report.table("DOOR3", number), ["all", "sd", "rd"])
            panel.set_title(title)
            label = f"paper: {min(gains):.0f} to {max(gains):.0f} % more"
            panel.axhspan(100 + min(gains), 100 + max(gains), color="0.85", zorder=0, label=label)
            charts.finish(panel, "T1 x T2 (timer units)", "goodput over TCP (%)")
        charts.legend(figure)
        return figure
