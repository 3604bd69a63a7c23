"""S4: the schedulers under short and long congestion of each path."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    table = report.table("S4")
    with style.canvas("bursts of 1 s or 10 s at 20 to 80 % of each link's rate, 10 s off") as (figure, axes):
        (panel,) = axes
        charts.bars(panel, table, ["adas", "wrr", "nip"])
        for prefix, claim in (("1 s", "PR-031"), ("10 s", "PR-032")):
            rows = [row for row, label in enumerate(table.labels) if label.startswith(f"{prefix},")]
            reported = report.claim(claim).number
            charts.paper(panel, reported, f"{reported}", ends=(rows[0] - 0.45, rows[-1] + 0.45))
        charts.finish(panel, "length and level of the bursts", "goodput / sum of TCP on each link", top=1.15)
        charts.legend(figure)
        return figure
