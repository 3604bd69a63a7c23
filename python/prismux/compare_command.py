"""What ``prismux compare`` starts with policies written in Python: the same comparison, as JSON."""

from __future__ import annotations

import argparse
import sys

import prismux
from prismux import _policy_options


def main(arguments: list[str] | None = None) -> int:
    """Run the comparison that the arguments describe and print its JSON form."""
    parser = argparse.ArgumentParser(prog="python -m prismux.compare_command", description=__doc__)
    parser.add_argument("scenario")
    parser.add_argument("--jobs", type=int, metavar="N")
    _policy_options.add_to(parser)
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE")
    parser.add_argument("--variant", action="append", default=[], metavar="NAME")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=1)
    given = parser.parse_args(arguments)
    _policy_options.look_here()
    try:
        compared = prismux.compare(
            given.scenario,
            variants=given.variant or None,
            seed=given.seed,
            runs=given.runs,
            set=given.set,
            jobs=given.jobs,
            **_policy_options.of(given),
        )
    except ImportError as error:
        print(f"error: {error}\n  remedy: PYTHONPATH names its folder", file=sys.stderr)
        return 1
    except (prismux.RunError, prismux.ScenarioError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(compared.to_json())
    return 0


if __name__ == "__main__":
    sys.exit(main())
