"""Published claims and random mixes of links."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from prismux import _core

if TYPE_CHECKING:
    from prismux.figures import Report


def reproduce(
    name: str = "all",
    *,
    only: Iterable[str] = (),
    quick: bool = False,
    seeds: int | None = None,
    jobs: int | None = None,
) -> dict[str, Report]:
    """Repeat what was published and judge it, as ``prismux reproduce`` does; a report for each system by its name.

    ``name`` is a system ("prism", "ptcp", ...) or "all"; ``only`` names claims, experiments and figures.
    ``seeds`` runs at each point, by default 10, or 3 when ``quick``; ``jobs`` runs at the same time, by default one for
    each processor. Ctrl-C stops it.

    Raises ValueError for a name that does not exist, with those that do, and RunError for a run that fails.
    """
    # Figures are needed by few programs.
    from prismux.figures import Report

    return Report.parse(json.loads(_core.claims_json(name, only=list(only), quick=quick, seeds=seeds, jobs=jobs)))


def mixes(
    numbers: Iterable[int] = range(200),
    *,
    variants: Sequence[str] = ("single", "prism", "prism-receipts", "tcp-prism"),
    seed: int = 1,
    warm_s: int = 20,
    steady_s: int = 60,
    receive_buffer_bytes: int = 64_000_000,
    hystart: str = "rfc9406",
    jobs: int | None = None,
) -> dict[str, Any]:
    """Simulate one download over random mixes of two to five links, as ``prismux mixes`` does.

    ``numbers`` choose the mixes: the same number and seed give the same links. ``variants`` are "single" (each link
    alone), "prism", "prism-receipts" (members that measure their links, as the daemons do), "tcp-prism", "paper" and
    "striping"; ``hystart`` is what ends the sender's slow start before a loss does: "rfc9406", "linux" or "off". The
    answer has ``summaries``, one for each variant over all links, and ``mixes``, one for each mix with its links and
    outcomes. Ctrl-C stops it.

    Raises ValueError for a variant or a way to end slow start that does not exist.
    """
    text = _core.mixes_json(
        list(numbers),
        seed=seed,
        variants=list(variants),
        warm_s=warm_s,
        steady_s=steady_s,
        receive_buffer_bytes=receive_buffer_bytes,
        hystart=hystart,
        jobs=jobs,
    )
    answer: dict[str, Any] = json.loads(text)
    return answer
