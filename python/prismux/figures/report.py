"""The output of ``prismux reproduce NAME --json``, and sweeps, as figures need them."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class ReportError(ValueError):
    """A file is not the output of ``prismux reproduce --json``, or lacks what a figure draws."""


#: 97.5 % quantiles of Student's t for 1, 2, ... degrees of freedom.
_STUDENT = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)


@dataclass(frozen=True)
class Point:
    """A measured mean with its 95 % interval, over ``n`` seeds."""

    mean: float
    low: float
    high: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Point:
        """Mean and interval (Student's t) of one value for each seed; one value alone has no width."""
        n, mean = len(values), statistics.fmean(values)
        if n == 1:
            return cls(mean, mean, mean, n)
        # Beyond the table, to a thousandth.
        quantile = _STUDENT[n - 2] if n - 2 < len(_STUDENT) else 1.96 + 2.4 / (n - 1)
        half = quantile * statistics.stdev(values) / math.sqrt(n)
        return cls(mean, mean - half, mean + half, n)


@dataclass(frozen=True)
class Table:
    """Measurements of one experiment: a row for each point, a column for each way of doing it."""

    #: What a row stands for, with the unit: "delay difference in ms".
    x: str
    #: What the columns hold, with the unit.
    quantity: str
    #: Labels of the rows.
    labels: tuple[str, ...]
    #: One point for each row, by column; None where nothing was measured.
    columns: Mapping[str, tuple[Point | None, ...]]

    @classmethod
    def of_sweep(cls, sweep: Any, x: str, y: str) -> Table:
        """Take column ``y`` of a sweep over its axis ``x``: means over the seeds, a column for each variant.

        ``sweep`` is ``prismux.sweep(...).table``, ``prismux.read_sweep(...)`` or any other table that speaks Arrow;
        without variants the one column is "all". Runs without a ``y`` are left out. Raises ReportError for a column
        that does not exist, and for several runs of one seed at one point: rows of another axis, to be filtered first.
        """
        import pyarrow

        table = pyarrow.table(sweep)
        names = table.column_names
        for name in (x, y, "seed"):
            if name not in names:
                paths = [found for found in names if found.startswith(("links.", "flows.", "nodes.", "total."))]
                raise ReportError(f'the sweep has no column "{name}"; it has {", ".join(paths)}')
        found: dict[tuple[Any, str], dict[int, float]] = {}
        for row in table.select([name for name in (x, y, "seed", "variant") if name in names]).to_pylist():
            if row[y] is not None:
                runs = found.setdefault((row[x], row.get("variant") or "all"), {})
                if row["seed"] in runs:
                    raise ReportError(f"several runs have {x} = {row[x]} and seed {row['seed']}: filter the other axes")
                runs[row["seed"]] = float(row[y])
        values = sorted({value for value, _ in found})
        points = {key: Point.of(list(runs.values())) for key, runs in found.items()}
        variants = dict.fromkeys(variant for _, variant in found)
        columns = {variant: tuple(points.get((value, variant)) for value in values) for variant in variants}
        return cls(x, y, tuple(str(value) for value in values), columns)

    @property
    def numbers(self) -> tuple[float, ...]:
        """The labels as numbers."""
        return tuple(float(label) for label in self.labels)

    def column(self, name: str) -> tuple[Point | None, ...]:
        """Return the column called ``name``, or raise ReportError."""
        if name not in self.columns:
            raise ReportError(f'the table has no column "{name}"; it has {", ".join(self.columns)}')
        return self.columns[name]


@dataclass(frozen=True)
class Spot:
    """A simulated point of a curve: ``point`` on ``axis`` ("x" or "y"), at a known place on the other one."""

    at: float
    axis: str
    point: Point


@dataclass(frozen=True)
class Curve:
    """A computed curve, and simulated points of it."""

    label: str
    points: tuple[tuple[float, float], ...]
    simulated: tuple[Spot, ...]


@dataclass(frozen=True)
class Drawing:
    """A figure of curves, with the names of its axes."""

    title: str
    x: str
    y: str
    curves: tuple[Curve, ...]


#: What a verdict may rest on.
KINDS = ("measured", "arithmetic", "read-back")


@dataclass(frozen=True)
class Claim:
    """What a paper reports, and what was measured."""

    id: str
    place: str
    metric: str
    unit: str
    #: A number, or a trend in words.
    reported: float | str
    #: "~" about equal, "<=" at most, ">=" at least, "shape" an ordering or a trend.
    comparison: str
    #: "measured", "arithmetic" or "read-back": what the verdict rests on.
    kind: str
    #: "holds", "differs", "not-testable" or "not-yet".
    verdict: str
    measured: float | str | None
    cause: str | None

    @property
    def number(self) -> float:
        """The reported value where it is a number; ReportError otherwise."""
        if isinstance(self.reported, str):
            raise ReportError(f"{self.id} reports no number but: {self.reported}")
        return self.reported


@dataclass(frozen=True)
class Report:
    """What a result file says of one system."""

    version: str
    claims: Mapping[str, Claim]
    #: Tables by the short name of their experiment ("T1").
    tables: Mapping[str, tuple[Table, ...]]
    #: Figures of curves by their number in the source ("6a").
    drawings: Mapping[str, Drawing]

    @classmethod
    def load(cls, path: str | Path) -> dict[str, Report]:
        """Read a file: what it says of each system, by name.

        ReportError, with the reason, for any other than the output of ``prismux reproduce NAME --json``.
        """
        text = Path(path).read_text(encoding="utf-8")
        try:
            return cls.parse(json.loads(text))
        except json.JSONDecodeError as error:
            raise ReportError(f"{path}: this is no JSON ({error})") from error
        except (KeyError, TypeError, AttributeError) as error:
            raise ReportError(f"{path}: this is not the output of `prismux reproduce --json` ({error!r})") from error

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> dict[str, Report]:
        """Take the parsed form of a file."""
        systems = list(dict.fromkeys(claim["system"] for claim in data["claims"]))
        return {system: cls._of(system, data) for system in systems}

    @classmethod
    def _of(cls, system: str, data: Mapping[str, Any]) -> Report:
        tables: dict[str, tuple[Table, ...]] = {}
        for entry in data["series"]:
            if entry["system"] == system:
                name = entry["table"]["experiment"].split()[0]
                tables[name] = (*tables.get(name, ()), _table(entry["table"]))
        claims = {claim["id"]: _claim(claim) for claim in data["claims"] if claim["system"] == system}
        figures = [entry["figure"] for entry in data["figures"] if entry["system"] == system]
        return cls(data["version"], claims, tables, {figure["name"]: _drawing(figure) for figure in figures})

    def table(self, experiment: str, index: int = 0) -> Table:
        """Return a table of an experiment, or raise ReportError where the file has no results for it."""
        tables = self.tables.get(experiment, ())
        if index >= len(tables):
            raise ReportError(f"the file has no results for {experiment}; it has {', '.join(self.tables)}")
        return tables[index]

    def drawing(self, name: str) -> Drawing:
        """Return a figure of curves, or raise ReportError where the file does not have it."""
        if name not in self.drawings:
            raise ReportError(f"the file has no curves of {name}; it has {', '.join(self.drawings) or 'none'}")
        return self.drawings[name]

    def claim(self, name: str) -> Claim:
        """Return a claim by its identifier, or raise ReportError."""
        if name not in self.claims:
            raise ReportError(f"the file says nothing of {name}")
        return self.claims[name]


def _point(summary: Mapping[str, Any] | None) -> Point | None:
    if summary is None or summary["mean"] is None:
        return None
    low, high = summary["ci95"] or (summary["mean"], summary["mean"])
    return Point(summary["mean"], low, high, summary["n"])


def _table(table: Mapping[str, Any]) -> Table:
    rows = [([_point(cell) for cell in cells], label) for label, cells in table["rows"]]
    columns = {name: tuple(cells[index] for cells, _ in rows) for index, name in enumerate(table["columns"])}
    return Table(table["x"], table["quantity"], tuple(label for _, label in rows), columns)


def _drawing(figure: Mapping[str, Any]) -> Drawing:
    curves = tuple(
        Curve(
            curve["label"],
            tuple((x, y) for x, y in curve["points"]),
            tuple(_spot(spot) for spot in curve["simulated"]),
        )
        for curve in figure["curves"]
    )
    return Drawing(figure["title"], figure["x"], figure["y"], curves)


def _spot(spot: Mapping[str, Any]) -> Spot:
    point = _point(spot["measured"])
    if point is None:
        raise ReportError(f"nothing was measured at {spot['at']}")
    return Spot(spot["at"], spot["axis"], point)


def _kind(claim: Mapping[str, Any]) -> str:
    kind: str = claim["kind"]
    if kind not in KINDS:
        raise ReportError(f"{claim['id']} is of no known kind: {kind}")
    return kind


def _claim(claim: Mapping[str, Any]) -> Claim:
    return Claim(
        id=claim["id"],
        place=claim["place"],
        metric=claim["metric"],
        unit=claim["unit"],
        reported=claim["reported"],
        comparison=claim["comparison"],
        kind=_kind(claim),
        verdict=claim["verdict"],
        measured=claim.get("measured"),
        cause=claim.get("cause"),
    )
