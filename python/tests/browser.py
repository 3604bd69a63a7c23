"""A real browser without a screen, spoken to as W3C WebDriver says, with nothing but the standard library."""

import base64
import json
import re
import shutil
import subprocess
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any

DRIVER = shutil.which("chromedriver")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
MISSING = "needs chromium and chromedriver: `.ci/setup tests` installs them"


class Browser:
    """One window of Chromium."""

    def __init__(self, profile: Path, width: int = 1500, height: int = 2200) -> None:
        assert DRIVER and CHROMIUM, MISSING
        self.driver = subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, text=True)
        assert self.driver.stdout is not None
        line = next(line for line in self.driver.stdout if "started successfully" in line)
        found = re.search(r"port (\d+)", line)
        assert found, line
        self.base = f"http://127.0.0.1:{found.group(1)}"
        arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--window-size={width},{height}",
            f"--user-data-dir={profile}",
        ]
        options = {"binary": CHROMIUM, "args": arguments}
        always = {
            "browserName": "chrome",
            # Longer than a script waits for what it looks for, so that it is the script that says what is missing.
            "timeouts": {"script": 45_000},
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "WARNING"},
        }
        session = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": always}})
        self.base += f"/session/{session['sessionId']}"

    def __enter__(self) -> "Browser":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._ask("DELETE", "", None)
        finally:
            self.driver.terminate()
            self.driver.communicate()

    def _ask(self, method: str, path: str, body: object) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)["value"]

    def open(self, url: str) -> None:
        """Goes to a page and waits until it has loaded."""
        self._ask("POST", "/url", {"url": url})

    def run(self, script: str) -> Any:
        """The value that a script returns; of a promise, what it resolves to."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": []})

    def wheel(self, x: int, y: int, delta: int) -> None:
        """Turns the wheel over a point of the window."""
        scroll = {"type": "scroll", "x": x, "y": y, "deltaX": 0, "deltaY": delta, "duration": 0}
        self._act({"type": "wheel", "id": "wheel", "actions": [scroll]})

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Presses, moves and lets go."""
        moves = [{"type": "pointerMove", "x": x, "y": y, "duration": 50} for x, y in (start, end)]
        actions = [moves[0], {"type": "pointerDown", "button": 0}, moves[1], {"type": "pointerUp", "button": 0}]
        self._act({"type": "pointer", "id": "mouse", "actions": actions})

    def point(self, x: int, y: int) -> None:
        """Moves the pointer."""
        move = {"type": "pointerMove", "x": x, "y": y, "duration": 20}
        self._act({"type": "pointer", "id": "mouse", "actions": [move]})

    def press(self, key: str) -> None:
        """Presses a key."""
        strokes = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keys", "actions": strokes})

    def _act(self, source: dict[str, Any]) -> None:
        self._ask("POST", "/actions", {"actions": [source]})

    def complaints(self) -> list[str]:
        """Errors and warnings on the page's console."""
        return [entry["message"] for entry in self._ask("POST", "/se/log", {"type": "browser"})]

    def emulate(self, width: int, height: int, dark: bool) -> None:
        """Makes the window a device of so many pixels, for a reader who likes light or dark."""
        device = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._devtools("Emulation.setDeviceMetricsOverride", device)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._devtools("Emulation.setEmulatedMedia", {"features": [scheme]})

    def _devtools(self, command: str, parameters: dict[str, Any]) -> None:
        self._ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def screenshot(self, file: Path) -> None:
        """What the window shows, as PNG."""
        file.write_bytes(base64.b64decode(self._ask("GET", "/screenshot", None)))
