"""Sweeps: a scenario at every point of some axes, on this machine or on a Dask cluster."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prismux._core import RunError, Scenario, SweepPlan, SweepStore, Table, run_task

if TYPE_CHECKING:
    from distributed import Client

#: How often a task goes to another worker after its own died or its run raised.
RETRIES = 5
#: Tasks under way at once for each thread of the cluster: enough that none waits, few enough to hold.
TASKS_PER_THREAD = 4


@dataclass(frozen=True)
class SweepResult:
    """What a sweep measured, and where it is."""

    #: One row for each task: the point, the seed, everything measured.
    table: Table = field(repr=False)
    #: The Parquet file with the same rows.
    path: Path
    #: Runs that this call did.
    ran: int
    #: Runs that were there before.
    already_there: int
    #: Seconds that the call took.
    elapsed_s: float
    #: Paths of ``over`` whose every value gave the same results.
    without_effect: list[str] = field(default_factory=list)


def sweep(
    scenario: Scenario | str | os.PathLike[str],
    over: Mapping[str, str | Iterable[object]],
    *,
    seeds: int = 1,
    seed: int = 1,
    set: Mapping[str, object] | Sequence[str] | None = None,
    variants: Sequence[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    client: Client | None = None,
    progress: bool | None = None,
    prune: bool = False,
    keep: bool = False,
    scheduler: str | None = None,
    congestion: str | Mapping[str, str] | None = None,
    subflow_scheduler: str | None = None,
    pipe_scheduler: str | None = None,
    request_scheduler: str | None = None,
) -> SweepResult:
    """Run a scenario at every point of ``over`` with each of ``seeds`` seeds, into one Parquet file.

    ``over`` maps paths to lists of values or to ranges, ``{"links.wwan2.delay": "500ms..1000ms/50ms"}``. The
    runs share the processors of this machine, ``jobs`` at a time, or with ``client`` (a
    ``distributed.Client``) the workers of a Dask cluster. Results are stored as they finish: after an
    interruption the same call goes on where it stopped, and a call with more seeds or points adds to the file.

    A setting that does not exist raises ScenarioError before the first run. ``out`` is ``NAME-sweep.parquet``
    unless given; a damaged or foreign file there raises SweepFileError, and so does one with rows of other
    experiments (another scenario, or this one before a change), unless ``prune`` removes them or ``keep`` leaves
    them in the file, beside the new ones; the table has the rows of this call only. A path whose values change
    nothing is warned of. ``progress`` draws a bar on standard error, by default on a terminal only.

    ``scheduler``, ``congestion``, ``subflow_scheduler``, ``pipe_scheduler`` and ``request_scheduler`` are as
    for ``run``, each named by its import path, "module:name", which the workers of a cluster must be able to
    import too. They decide wherever they have something to do. The columns ``policy`` and ``policy_hash`` say
    which did and from what source: the file of the module and the attribute ``version`` of the policy, if it
    has one. Rows of an edited policy are rows of another experiment. A policy without anything to do at any
    point raises ScenarioError, and an exception in one ends the sweep and is raised.
    """
    if not isinstance(over, Mapping):
        raise TypeError(
            "over: expected a dictionary {path: values or a range}, for instance "
            f'{{"links.wwan2.delay": "500ms..1000ms/50ms"}}, not {type(over).__name__}'
        )
    plan = SweepPlan(
        scenario,
        dict(over),
        set=set,
        variants=variants,
        seed=seed,
        seeds=seeds,
        scheduler=scheduler,
        congestion=congestion,
        subflow_scheduler=subflow_scheduler,
        pipe_scheduler=pipe_scheduler,
        request_scheduler=request_scheduler,
    )
    path = Path(out) if out is not None else Path(f"{plan.scenario}-sweep.parquet")
    store = SweepStore(path, plan, prune=prune, keep=keep)
    try:
        missing = store.missing(plan)
        shown = sys.stderr.isatty() if progress is None else progress
        bar = _Bar(len(missing)) if shown else None
        start = time.perf_counter()
        try:
            if client is None:
                store.run(plan, jobs, bar)
            else:
                _run_on_cluster(client, plan, store, missing, bar)
        finally:
            if bar is not None:
                bar.close()
        elapsed = time.perf_counter() - start
        table = store.finish()
    finally:
        store.close()
    inert = plan.without_effect(table)
    if inert:
        warnings.warn(f"{', '.join(inert)} changes nothing: every run is the same whatever its value", stacklevel=2)
    return SweepResult(table, path, len(missing), len(plan) - len(missing), elapsed, inert)


def _run_on_cluster(
    client: Client,
    plan: SweepPlan,
    store: SweepStore,
    missing: Sequence[int],
    report: Callable[[int], object] | None,
) -> None:
    """Send what is missing to the workers, and store what comes back."""
    as_completed = distributed().as_completed
    if not hasattr(client, "nthreads"):
        raise TypeError(
            f"client is {client!r}\n  expected: a distributed.Client, for instance Client('tcp://host:8786')"
        )
    threads = sum(client.nthreads().values())
    if threads == 0:
        scheduler = client.scheduler_info(n_workers=0)["address"] if hasattr(client, "scheduler_info") else "ADDRESS"
        raise RunError(
            f"the cluster at {scheduler} has no workers\n"
            f"  remedy: start some, `dask worker {scheduler}`, where prismux is installed too"
        )
    waiting = iter(missing)

    def submit(index: int) -> Any:
        # The key is the task's id: whoever submits it twice gets one run.
        return client.submit(run_task, plan.message(index), key=f"prismux-{plan.tasks[index]}", retries=RETRIES)

    done = 0
    futures = as_completed()
    try:
        for index in _first(waiting, TASKS_PER_THREAD * threads):
            futures.add(submit(index))
        while futures.count() > 0:
            future = next(futures)
            # A row that was there before, because a worker was thought dead, is dropped by the store.
            store.add(future.result())
            future.release()
            done += 1
            if report is not None:
                report(done)
            for index in _first(waiting, 1):
                futures.add(submit(index))
    finally:
        client.cancel(list(futures.futures), force=True)


def distributed() -> Any:
    """The package of Dask clusters, which sweeps on this machine do without."""
    try:
        import distributed
    except ImportError as error:
        words = f"clusters need the package distributed ({error})\n  remedy: pip install 'prismux[cluster]'"
        raise ImportError(words, name="distributed") from error
    return distributed


def _first(indexes: Iterable[int], count: int) -> list[int]:
    """The next ``count`` of an iterator, fewer at its end."""
    return [index for _, index in zip(range(count), indexes, strict=False)]


class _Bar:
    """A bar with rate and time left, on one line of standard error."""

    WIDTH = 40

    def __init__(self, total: int) -> None:
        self.total = total
        self.start = time.perf_counter()
        self.drawn = 0.0

    def __call__(self, done: int) -> None:
        now = time.perf_counter()
        if now - self.drawn < 0.2 and done < self.total:
            return
        self.drawn = now
        rate = done / max(now - self.start, 1e-9)
        left = f"{(self.total - done) / rate:.0f} s left" if done else "starting"
        filled = self.WIDTH * done // max(self.total, 1)
        bar = "█" * filled + "░" * (self.WIDTH - filled)
        print(
            f"\rsweep [{bar}] {done}/{self.total} ({rate:.1f}/s, {left}) ",
            end="",
            file=sys.stderr,
            flush=True,
        )

    def close(self) -> None:
        print(file=sys.stderr)
