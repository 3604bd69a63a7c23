"""S6: goodput and re-sequencing buffer of ADAS and weighted round robin."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    table = report.table("S6")
    with style.canvas("620, 720, 720 and 860 kbit/s", 2) as (figure, axes):
        for panel, column, label in zip(
            axes,
            list(table.columns)[:2],
            ["goodput with headers (Mbit/s)", "highest - left (packets, mean)"],
            strict=True,
        ):
            for row, scheduler in enumerate(table.labels[:2]):
                point = table.column(column)[row]
                if point is None:
                    continue
                look = style.look(scheduler)
                error = [[point.mean - point.low], [point.high - point.mean]]
                panel.bar(row, point.mean, 0.6, yerr=error, color=look.colour, hatch=look.hatch, edgecolor="white")
            panel.set_xticks(range(2), [style.look(name).name for name in table.labels[:2]])
            panel.set_ylabel(label)
            panel.set_ylim(bottom=0)
        for row, claim in enumerate(("PR-040", "PR-041")):
            reported = report.claim(claim).number
            charts.paper(axes[0], reported, f"{reported:g}", ends=(row - 0.4, row + 0.4))
        adas = table.column("buffer in packets")[0]
        if adas is not None:
            ratio = report.claim("PR-039").number
            charts.paper(axes[1], ratio * adas.mean, f"{ratio:g} × ADAS", ends=(0.6, 1.4))
        return figure
