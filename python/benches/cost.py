"""What Python adds to a run: processor time beside the command line, and the cost of a decision made in Python.

python python/benches/cost.py [--command target/release/prismux] [--repeat 20]

Build the package as the command was built: `.ci/python release`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time

import prismux

SCENARIO, SECONDS = "prism-heterogeneity", 60
SETTINGS = {"duration": f"{SECONDS} s", "events": []}


def first_usable(
    now_s: float, links: list[prismux.LinkView], packet_bytes: int, retransmission: bool
) -> prismux.LinkView | None:
    """Decide as little as a decision can."""
    return links[0] if links else None


def child_cpu_s(command: list[str]) -> float:
    """Processor time of a command in seconds."""
    before = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    """Measure both and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--command", default="target/release/prismux")
    parser.add_argument("--repeat", type=int, default=20, help="runs in each process, so that its start counts little")
    given = parser.parse_args()
    prismux.run(SCENARIO, set=SETTINGS)
    here = []
    for seed in range(1, given.repeat + 1):
        start = time.process_time()
        prismux.run(SCENARIO, seed=seed, set=SETTINGS)
        here.append(time.process_time() - start)
    override = [f"--set={key}={value}" for key, value in SETTINGS.items()]
    one = [given.command, "run", SCENARIO, "--jobs", "1", "--json", *override]
    many = child_cpu_s([*one, "--runs", str(given.repeat + 1)]) - child_cpu_s([*one, "--runs", "1"])
    there = many / given.repeat
    mean = statistics.mean(here)
    print(f"{SCENARIO}, {SECONDS} s, {given.repeat} runs, Python {sys.version.split()[0]}")
    print(f"from Python          {mean * 1e3:8.2f} ms of processor time")
    print(f"from the command     {there * 1e3:8.2f} ms")
    print(f"Python adds          {(mean / there - 1) * 100:8.1f} %")
    result = prismux.run(SCENARIO, set=SETTINGS, scheduler=first_usable)
    cost_us = (result.decision_cost_s or 0.0) * 1e6
    print(f"decision in Python   {cost_us:8.2f} µs ({result.decisions} decisions)")


if __name__ == "__main__":
    main()
