"""`prismux top` as somebody at a terminal sees it: it draws, ends by a key or a signal, and leaves all as it was."""

import json
import os
import pty
import select
import signal
import socket
import subprocess
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Path]:
    """The status socket of a home that carries a megabyte each time it is asked."""
    path = tmp_path / "home.sock"
    ends = threading.Event()

    def serve(server: socket.socket) -> None:
        server.settimeout(0.1)
        asked = 0
        while not ends.is_set():
            try:
                reader, _ = server.accept()
            except TimeoutError:
                continue
            asked += 1
            link = {"name": "wan0", "up": True, "state": "active", "reason": "carries traffic"}
            link |= {"forward_bytes": asked * 1_000_000, "return_bytes": 0}
            status = {"role": "home", "name": "house", "version": "1", "uptime_s": asked, "links": [link]}
            with reader:
                reader.sendall(json.dumps(status).encode())

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        thread = threading.Thread(target=serve, args=[server])
        thread.start()
        yield path
        ends.set()
        thread.join()


def read_until(terminal: int, word: bytes) -> bytes:
    """What comes from a terminal until a word is there."""
    seen, limit = b"", time.monotonic() + 20
    while word not in seen and time.monotonic() < limit:
        if select.select([terminal], [], [], 0.1)[0]:
            seen += os.read(terminal, 65536)
    assert word in seen, seen
    return seen


@pytest.mark.parametrize("end", [b"q", b"\x03", signal.SIGTERM])
def test_the_terminal_is_left_as_it_was(daemon: Path, end: bytes | signal.Signals) -> None:
    program = os.environ.get("PRISMUX", str(ROOT / "target/debug/prismux"))
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    before = termios.tcgetattr(theirs)
    top = subprocess.Popen([program, "top", "--socket", str(daemon)], stdin=theirs, stdout=theirs, stderr=theirs)
    drawn = read_until(ours, b"Mbit/s")
    assert drawn.startswith(ENTER) and b"wan0" in drawn and b"carries traffic" in drawn
    assert termios.tcgetattr(theirs) != before, "keys come without a line end"
    if isinstance(end, bytes):
        os.write(ours, end)
    else:
        top.send_signal(end)
    assert read_until(ours, LEAVE).endswith(LEAVE)
    assert top.wait(20) == 0
    assert termios.tcgetattr(theirs) == before
    os.close(ours)
    os.close(theirs)


def test_one_frame_is_printed_where_there_is_no_terminal(daemon: Path) -> None:
    program = os.environ.get("PRISMUX", str(ROOT / "target/debug/prismux"))
    top = subprocess.run([program, "top", "--socket", str(daemon)], capture_output=True, text=True, check=True)
    assert top.stdout.startswith("prismux home house") and "\x1b" not in top.stdout
    assert "Mbit/s" in top.stdout, "two looks make a rate"
    assert all(len(line) <= 80 for line in top.stdout.splitlines())
