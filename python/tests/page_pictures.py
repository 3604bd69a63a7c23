"""Pictures of the page of a running daemon: `python page_pictures.py http://127.0.0.1:9587/ FOLDER NAME`."""

import sys
import tempfile
import time
from pathlib import Path

from browser import Browser

# Width, height and whether it is dark.
LOOKS = {
    "": (1200, 860, False),
    "-phone": (390, 844, True),
}


def main(url: str, folder: str, name: str) -> None:
    with tempfile.TemporaryDirectory() as profile, Browser(Path(profile)) as browser:
        browser.open(url)
        for suffix, (width, height, dark) in LOOKS.items():
            browser.emulate(width, height, dark)
            # The page draws anew each second.
            time.sleep(1.5)
            browser.screenshot(Path(folder) / f"{name}{suffix}.png")
        complaints = browser.complaints()
        assert complaints == [], complaints


if __name__ == "__main__":
    main(*sys.argv[1:])
