"""The command ``prismux`` of a wheel: the program that lies in the package."""

from __future__ import annotations

import os
import sys
from pathlib import Path

PROGRAM = Path(__file__).parent / "bin" / "prismux"


def main() -> int:
    """Become the program, with the same arguments; policies written in Python run in this interpreter."""
    if not PROGRAM.is_file():
        print(
            "error: this installation of the Python package comes without the prismux command\n"
            "  remedy: a wheel made by `make wheel`, or `make build` for the command alone",
            file=sys.stderr,
        )
        return 1
    os.environ.setdefault("PRISMUX_PYTHON", sys.executable)
    os.execv(PROGRAM, [str(PROGRAM), *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
