"""Which segments the receiver of TCP-DOOR's study had already, and why they were sent: a trace of every segment.

python reproduce/tcp-door/resent.py tcp door --seeds 10 --set flows.download.tcp.dup_threshold=10
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SCENARIO, FLOW, SENDER, RECEIVER = "tcp-door-ad-hoc-flood", "download", "h-1", "h-2"
WRAP = 1 << 32
SEGMENT_BYTES = 1000
TIMEOUT, GO_BACK, THIRD, HOLE, FIRST = (
    "timeout",
    "after a timeout, the next from there on",
    "third duplicate ACK or later",
    "next hole in recovery",
    "sent once, overtaken by its own repetition",
)


class Trace:
    """One transfer, seen at both ends."""

    def __init__(self) -> None:
        """Nothing has been sent."""
        self.origin: int | None = None
        self.sent: dict[int, tuple[int, int, str]] = {}
        self.acks: dict[int, int] = {}
        self.acked = self.highest = self.back_until = 0
        self.last_ack: tuple[int, bool] = (-1, False)
        self.has = bytearray()
        self.arrived: set[int] = set()
        self.unnecessary: Counter[str] = Counter()
        self.resent: Counter[str] = Counter()

    def position(self, number: int) -> int:
        """Place of a sequence number in the stream."""
        return (number - (self.origin or 0) - 1) % WRAP

    def leaves(self, time: int, node: str, packet: dict[str, Any]) -> None:
        """A packet of the transfer sets out."""
        segment = packet["segment"]
        if node == RECEIVER:
            self.acks[packet["number"]] = self.position(segment["ack"])
        elif "S" in segment["flags"]:
            self.origin = segment["seq"]
        elif segment["payload_bytes"]:
            start = self.position(segment["seq"])
            end = start + segment["payload_bytes"]
            self.sent[packet["number"]] = (start, end, self.cause(time, start))
            self.highest = max(self.highest, end)

    def cause(self, time: int, start: int) -> str:
        """Why a segment leaves now: on an ACK that has just come, or on none."""
        if start >= self.highest:
            return FIRST
        if self.last_ack[0] != time:
            self.back_until = self.highest
            cause = TIMEOUT
        elif start < self.back_until:
            cause = GO_BACK
        else:
            cause = HOLE if self.last_ack[1] else THIRD
        self.resent[cause] += 1
        return cause

    def arrives(self, time: int, node: str, number: int) -> None:
        """A packet has come to its destination."""
        if node == SENDER and number in self.acks:
            ack = self.acks[number]
            self.last_ack = (time, ack > self.acked)
            self.acked = max(self.acked, ack)
        elif node == RECEIVER and number in self.sent:
            start, end, cause = self.sent[number]
            self.has.extend(bytes(max(0, end - len(self.has))))
            known = sum(self.has[start:end]) / SEGMENT_BYTES
            if known:
                self.unnecessary["copy made by the network" if number in self.arrived else cause] += known
            self.has[start:end] = b"\1" * (end - start)
            self.arrived.add(number)


def events(variant: str, seed: int, changes: list[str]) -> Iterator[dict[str, Any]]:
    """Every event of a run in which a packet sets out or arrives."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "events.jsonl"
        command = [os.environ.get("PRISMUX", "prismux"), "run", SCENARIO, "--variant", variant, "--seed", str(seed)]
        command += [word for change in changes for word in ("--set", change)]
        subprocess.run([*command, "--events", str(log)], check=True, stdout=subprocess.DEVNULL)
        with log.open() as lines:
            wanted = (line for line in lines if '"packet_originated"' in line or '"packet_arrived"' in line)
            yield from map(json.loads, wanted)


def trace(variant: str, seed: int, changes: list[str]) -> Trace:
    """One run."""
    seen = Trace()
    for event in events(variant, seed, changes):
        if event["event"] == "packet_arrived":
            seen.arrives(event["time_ns"], event["node"], event["number"])
        elif event["packet"].get("flow") == FLOW:
            seen.leaves(event["time_ns"], event["node"], event["packet"])
    return seen


def main() -> None:
    """Print, for each variant, means over the networks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variants", nargs="+", help="variants of the scenario")
    parser.add_argument("--seeds", type=int, default=10, help="networks")
    parser.add_argument("--set", action="append", default=[], help="a change, as of prismux run")
    given = parser.parse_args()
    for variant in given.variants:
        runs = [trace(variant, seed, given.set) for seed in range(1, given.seeds + 1)]
        delivered = sum(sum(run.has) for run in runs) / SEGMENT_BYTES / len(runs)
        known = sum((run.unnecessary for run in runs), Counter())
        print(f"\n{variant}: {delivered:.0f} segments delivered, {known.total() / len(runs):.0f} had come already\n")
        print("| sent for | times | had come already |")
        print("|---|---|---|")
        resent = sum((run.resent for run in runs), Counter())
        for cause in sorted(known | resent, key=known.__getitem__, reverse=True):
            print(f"| {cause} | {resent[cause] / len(runs):.1f} | {known[cause] / len(runs):.1f} |")


if __name__ == "__main__":
    main()
