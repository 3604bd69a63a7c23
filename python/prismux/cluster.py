"""What ``prismux sweep --cluster ADDRESS`` starts: the same sweep on a Dask cluster."""

from __future__ import annotations

import argparse
import json
import sys

import prismux


def main(arguments: list[str] | None = None) -> int:
    """Run the sweep that the arguments describe and say what came of it."""
    parser = argparse.ArgumentParser(prog="python -m prismux.cluster", description=__doc__)
    parser.add_argument("scenario")
    parser.add_argument("--cluster", required=True, metavar="ADDRESS", help="of the scheduler: tcp://host:8786")
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
    try:
        from distributed import Client
    except ImportError:
        remedy = "pip install 'prismux[cluster]'"
        print(f'error: the Python package "distributed" is missing\n  remedy: {remedy}', file=sys.stderr)
        return 1
    over = dict(text.split("=", 1) for text in given.over)
    try:
        with Client(given.cluster, timeout="10s") as client:
            result = prismux.sweep(
                given.scenario,
                over,
                seeds=given.seeds,
                seed=given.seed,
                set=given.set,
                variants=given.variant,
                out=given.out,
                client=client,
                prune=given.prune,
                keep=given.keep,
            )
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
        print(f"{result.ran} runs in {result.elapsed_s:.1f} s on {given.cluster}, {there} were there")
        print(f"results: {result.path} ({len(result.table)} rows)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
