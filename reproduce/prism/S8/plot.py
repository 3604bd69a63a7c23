"""S8: congestion windows of three PRISM flows."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    table = report.table("S8")
    with style.canvas("three PRISM flows over 600, 900, 1200 and 1500 kbit/s") as (figure, axes):
        (panel,) = axes
        look = style.look("prism")
        means, deviations = table.column("mean"), table.column("standard deviation")
        for row, (mean, deviation) in enumerate(zip(means, deviations, strict=True)):
            if mean is not None and deviation is not None:
                panel.bar(row, mean.mean, 0.6, yerr=deviation.mean, color=look.colour, ecolor="#222222", capsize=2.5)
        for row, claim in enumerate(("PR-046", "PR-048", "PR-050")):
            reported = report.claim(claim).number
            charts.paper(panel, reported, f"{reported:g}", ends=(row - 0.4, row + 0.4))
        panel.set_xticks(range(len(table.labels)), [f"flow {row + 1}" for row in range(len(table.labels))])
        panel.set_ylabel("congestion window (segments)")
        panel.set_ylim(bottom=0)
        return figure
