"""What Python adds to a run: processor time beside the command line, and the cost of a decision made in Python.

python python/benches/cost.py [--command target/release/prismux] [--blocks 12]

Build the package as the command was built: `.ci/python release`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import time

import prismux

SECONDS = 60
#: Scenarios, and runs of each in a block.
SCENARIOS = {"prism-heterogeneity": 50, "demo-today": 2}
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


def from_command(command: str, scenario: str, runs: int) -> float:
    """Seconds of processor time for each of the seeds 2 to `runs` + 1, without the start of the process."""
    override = [f"--set={key}={value}" for key, value in SETTINGS.items()]
    one = [command, "run", scenario, "--jobs", "1", "--json", *override]
    return (child_cpu_s([*one, "--runs", str(runs + 1)]) - child_cpu_s([*one, "--runs", "1"])) / runs


def from_python(scenario: str, runs: int) -> float:
    """The same for the same seeds in this process, the scenario found and read anew for each run."""
    start = time.process_time()
    for seed in range(2, runs + 2):
        prismux.run(scenario, seed=seed, set=SETTINGS)
    return (time.process_time() - start) / runs


def beside(command: str, scenario: str, runs: int, blocks: int) -> None:
    """Measure in turns, so that other load of the machine falls on both, and print."""
    prismux.run(scenario, set=SETTINGS)
    pairs = [(from_python(scenario, runs), from_command(command, scenario, runs)) for _ in range(blocks)]
    here, there = (statistics.median(side) for side in zip(*pairs, strict=True))
    added = sorted((python / native - 1) * 100 for python, native in pairs)
    print(f"{scenario}, {SECONDS} s: {blocks} blocks of {runs} runs in turns, medians")
    print(f"from Python          {here * 1e3:8.2f} ms of processor time for a run")
    print(f"from the command     {there * 1e3:8.2f} ms")
    low, high = added[blocks // 4], added[-1 - blocks // 4]
    print(f"Python adds          {statistics.median(added):8.1f} % (half of the blocks: {low:.1f} to {high:.1f} %)")


def main() -> None:
    """Measure both and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--command", default="target/release/prismux")
    parser.add_argument("--blocks", type=int, default=12, help="how often each is measured")
    given = parser.parse_args()
    for scenario, runs in SCENARIOS.items():
        beside(given.command, scenario, runs, given.blocks)
    result = prismux.run("prism-heterogeneity", set=SETTINGS, scheduler=first_usable)
    cost_us = (result.decision_cost_s or 0.0) * 1e6
    print(f"decision in Python   {cost_us:8.2f} µs ({result.decisions} decisions)")


if __name__ == "__main__":
    main()
