"""What ``prismux sweep`` starts with ``--cluster`` or with policies written in Python: the same sweep."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from typing import Any

import prismux
from prismux import _policy_options, _sweep


def main(arguments: list[str] | None = None) -> int:
    """Run the sweep that the arguments describe and say what came of it."""
    parser = argparse.ArgumentParser(prog="python -m prismux.sweep_command", description=__doc__)
    parser.add_argument("scenario")
    parser.add_argument("--cluster", metavar="ADDRESS", help="of the scheduler: tcp://host:8786")
    parser.add_argument("--jobs", type=int, metavar="N")
    _policy_options.add_to(parser)
    parser.add_argument("--over", action="append", default=[], metavar="PATH=VALUES")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE")
    parser.add_argument("--variant", action="append", default=[], metavar="NAME")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", required=True, metavar="FILE")
    parser.add_argument("--prune", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    _policy_options.look_here()
    try:
        with _client_of(given.cluster) as client:
            result = prismux.sweep(
                given.scenario,
                dict(text.split("=", 1) for text in given.over),
                seeds=given.seeds,
                seed=given.seed,
                set=given.set,
                variants=given.variant,
                out=given.out,
                jobs=given.jobs,
                client=client,
                prune=given.prune,
                keep=given.keep,
                **_policy_options.of(given),
            )
    except ImportError as error:
        remedy = "" if "remedy: " in str(error) else "\n  remedy: PYTHONPATH names its folder"
        print(f"error: {error}{remedy}", file=sys.stderr)
        return 1
    except (prismux.SweepFileError, prismux.RunError, prismux.ScenarioError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if given.json:
        said = {
            "out": str(result.path),
            "runs": result.ran + result.already_there,
            "ran": result.ran,
            "already_there": result.already_there,
            "elapsed_s": result.elapsed_s,
        }
        print(json.dumps(said))
    else:
        there = result.already_there
        place = f" on {given.cluster}" if given.cluster else ""
        print(f"{result.ran} runs in {result.elapsed_s:.1f} s{place}, {there} were there")
        print(f"results: {result.path} ({len(result.table)} rows)")
    return 0


def _client_of(cluster: str | None) -> Any:
    """The client of a cluster, to be closed; of none, nothing."""
    if cluster is None:
        return contextlib.nullcontext()
    try:
        return _sweep.distributed().Client(cluster, timeout="10s")
    except (OSError, ValueError) as error:
        raise OSError(
            f"no cluster at {cluster}: {error}\n"
            "  remedy: the address that `dask scheduler` prints when it starts, for instance tcp://host:8786"
        ) from error


if __name__ == "__main__":
    sys.exit(main())
