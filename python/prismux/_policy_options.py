"""Policies written in Python among the arguments of commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

#: Those that serve all flows or proxies alike.
_SINGLE = ("scheduler", "subflow_scheduler", "pipe_scheduler", "request_scheduler")


def add_to(parser: argparse.ArgumentParser) -> None:
    """Make `parser` take policies by import path."""
    for policy in _SINGLE:
        parser.add_argument(f"--{policy.replace('_', '-')}", metavar="MODULE:NAME")
    parser.add_argument("--congestion", action="append", default=[], metavar="[FLOW=]MODULE:NAME")


def look_here() -> None:
    """Look for modules in the folder that the command runs in, as `python -m` has it."""
    sys.path.insert(0, str(Path.cwd()))


def of(given: argparse.Namespace) -> dict[str, Any]:
    """The policies as keyword arguments of `prismux.run`, `compare` and `sweep`."""
    return {"congestion": _congestion_of(given.congestion)} | {policy: getattr(given, policy) for policy in _SINGLE}


def _congestion_of(texts: Sequence[str]) -> str | dict[str, str] | None:
    """One control for all flows, or one for each flow that is named."""
    named = [text.partition("=") for text in texts]
    if any(equals for _, equals, _ in named) or len(named) > 1:
        if unnamed := [text for text, equals, _ in named if not equals]:
            raise ValueError(
                f"--congestion {unnamed[0]} says no flow\n  expected: FLOW=MODULE:NAME for each of several"
            )
        return {flow: control for flow, _, control in named}
    return texts[0] if texts else None
